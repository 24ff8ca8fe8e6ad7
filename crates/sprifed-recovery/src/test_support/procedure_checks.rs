//! What every procedure must do, whichever list it is in.
//!
//! Each function panics, with the name of the procedure, when it does not.

use rayon::ThreadPoolBuilder;
use sprifed_noise::{NoiseGenerator, Provenance};
use sprifed_privacy::{NoiseOrigin, Participation, PrivacyUnit, Relation};
use sprifed_query::{Curator, Plan, PlannedStep, Records};

use super::{SmallWorld, budget, legal_setting, small_world};
use crate::catalogue::{CertifiedProcedure, Needs, RunError};
use crate::fit::{Fit, FitStatus};
use crate::setting::{Keep, Setting};

fn setting(n_records: u32, n_features: u32) -> Setting {
    Setting {
        n_records,
        n_features,
        sparsity: 2,
        ..legal_setting()
    }
}

fn curator<'a>(
    procedure: CertifiedProcedure,
    world: &'a SmallWorld,
    setting: &Setting,
    seed: u64,
) -> Curator<Records<'a>> {
    let width = setting.n_features as usize;
    let records = Records::each_a_unit(&world.features, &world.responses, width).expect("records");
    let plan = procedure.plan(setting).expect("a plan");
    Curator::open(records, plan, NoiseGenerator::simulated(seed)).expect("a curator")
}

/// The plan for `setting` costs at most the budget, and not much less.
///
/// # Panics
/// When it does not.
pub fn uses_its_budget(procedure: CertifiedProcedure, setting: &Setting) {
    let plan = procedure.plan(setting).expect("a plan");
    let spending = plan.spending().expect("a cost");
    let spent = spending.to_approx_dp(setting.budget.delta()).expect("sums");
    let (spent, most) = (spent.epsilon().get(), setting.budget.epsilon().get());
    assert!(spent <= most, "{procedure}: {spent} of {most}");
    assert!(spent >= 0.9 * most, "{procedure} wastes: {spent} of {most}");
    assert_eq!(plan.unit, setting.unit, "{procedure}");
    assert_eq!(plan.relation, setting.relation, "{procedure}");
}

/// Noise shares of many clients, and those of trustees, cost no more than the budget.
///
/// # Panics
/// When they do.
pub fn keeps_its_budget_in_shares(procedure: CertifiedProcedure) {
    let shares = NoiseOrigin::Shares(Participation::new(400, 360, 20).expect("legal"));
    let cases = [Relation::ZeroOut, Relation::ReplaceOne]
        .into_iter()
        .flat_map(|relation| [(shares, relation), (NoiseOrigin::Trustees, relation)]);
    for (origin, relation) in cases {
        let setting = Setting {
            origin,
            relation,
            ..legal_setting()
        };
        let spending = procedure.plan(&setting).expect("a plan").spending();
        let spent = spending
            .expect("a cost")
            .to_approx_dp(setting.budget.delta());
        let spent = spent.expect("sums").epsilon();
        assert!(spent <= setting.budget.epsilon(), "{procedure}");
    }
}

/// Settings that make no sense are refused with a clear message.
///
/// # Panics
/// When one is not.
pub fn refuses_nonsense(procedure: CertifiedProcedure) {
    let legal = legal_setting();
    let sparsity = |sparsity| Setting { sparsity, ..legal };
    let feature_scale = Some(-1.0);
    for (setting, words) in [
        (sparsity(0), "a sparsity of 0 for 30 features"),
        (sparsity(30), "a sparsity of 30 for 30 features"),
        (
            Setting {
                n_features: 1,
                ..legal
            },
            "for 1 feature,",
        ),
        (
            Setting {
                n_records: 1,
                ..legal
            },
            "1 record, but at least 2",
        ),
        (
            Setting {
                feature_scale,
                ..legal
            },
            "a feature scale of -1",
        ),
    ] {
        let refused = procedure.plan(&setting).expect_err("nonsense").to_string();
        assert!(refused.contains(words), "{procedure}: {refused}");
    }
}

/// The plan has choices if the procedure says that it needs them, and only then.
///
/// # Panics
/// When it is otherwise.
pub fn needs_what_it_says(procedure: CertifiedProcedure) {
    let steps = procedure.plan(&legal_setting()).expect("a plan").steps;
    let chooses = steps
        .iter()
        .any(|step| matches!(step, PlannedStep::Choice(_)));
    assert_eq!(chooses, procedure.needs() == Needs::Choices, "{procedure}");
}

/// The queries are exactly the planned ones, and cost exactly as much.
///
/// # Panics
/// When it is otherwise.
pub fn asks_exactly_what_it_planned(procedure: CertifiedProcedure) {
    let world = small_world(200, 12, &[2, 7], 3);
    for relation in [Relation::ZeroOut, Relation::ReplaceOne] {
        let setting = Setting {
            relation,
            ..setting(200, 12)
        };
        let plan = procedure.plan(&setting).expect("a plan");
        let mut curator = curator(procedure, &world, &setting, 5);
        let mut steps = Vec::new();
        let fit = procedure.run(&setting, &mut curator, |step| steps.push(step));
        let fit = fit.expect("a fit");
        assert_eq!(
            steps,
            (0..plan.steps.len()).collect::<Vec<_>>(),
            "{procedure}"
        );
        let planned = plan.spending().expect("a cost");
        assert_eq!(*curator.ledger().spending(), planned, "{procedure}");
        assert_eq!(fit.provenance, Some(Provenance::Simulated), "{procedure}");
        assert_eq!(fit.model.terms.len(), 2, "{procedure}");
    }
}

/// With robust intervals the last sum has one block more, at a twentieth of the budget, and each relation and origin is
/// charged for all that is asked. Clients as the unit of privacy are refused.
///
/// # Panics
/// When it is otherwise.
pub fn asks_robust_intervals(procedure: CertifiedProcedure) {
    let world = small_world(400, 12, &[2, 7], 3);
    for relation in [Relation::ZeroOut, Relation::ReplaceOne] {
        let plain = Setting {
            relation,
            choice: Keep::Exactly,
            ..setting(400, 12)
        };
        let robust = Setting {
            robust: true,
            ..plain
        };
        let plan = procedure.plan(&robust).expect("a plan");
        let blocks = |plan: &Plan| match plan.steps.last() {
            Some(PlannedStep::Sum(sum)) => sum.blocks.clone(),
            _ => Vec::new(),
        };
        assert_eq!(blocks(&procedure.plan(&plain).expect("a plan")).len(), 1);
        let [moments, residuals] = &blocks(&plan)[..] else {
            panic!("{procedure}: the last sum has other blocks");
        };
        // Both are calibrated to contributions of norm one: the residual moments lack the variable residual.
        assert!(residuals.block.coordinates < moments.block.coordinates);
        let shares = [moments, residuals].map(|one| one.noise_std_dev(1));
        assert!(shares[1] > shares[0], "{procedure}: {shares:?}");
        let mut curator = curator(procedure, &world, &robust, 5);
        let fit = procedure.run(&robust, &mut curator, |_| ());
        let fit = fit.expect("a fit");
        let planned = plan.spending().expect("a cost");
        assert_eq!(*curator.ledger().spending(), planned, "{procedure}");
        let noise = fit.inference.available().expect("a report");
        let noise = noise.residual_moment_noise.expect("robust intervals");
        assert!(noise > 0.0, "{procedure}");
        uses_its_budget(procedure, &robust);
    }
    for origin in [
        NoiseOrigin::Shares(Participation::new(400, 360, 20).expect("legal")),
        NoiseOrigin::Trustees,
    ] {
        let setting = Setting {
            origin,
            robust: true,
            ..legal_setting()
        };
        let spending = procedure.plan(&setting).expect("a plan").spending();
        let spent = spending.expect("a cost");
        let spent = spent.to_approx_dp(setting.budget.delta()).expect("sums");
        assert!(spent.epsilon() <= setting.budget.epsilon(), "{procedure}");
    }
    let by_client = Setting {
        unit: PrivacyUnit::Client,
        robust: true,
        ..legal_setting()
    };
    let refused = procedure.plan(&by_client).expect_err("clients").to_string();
    assert!(
        refused.contains("robust intervals with clients"),
        "{refused}"
    );
}

/// The fit of a seed does not depend on the number of threads.
///
/// # Panics
/// When it does.
pub fn fits_alike_on_any_number_of_threads(procedure: CertifiedProcedure) {
    let world = small_world(300, 40, &[2, 17], 3);
    let setting = setting(300, 40);
    let with = |threads: usize| -> Fit {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        let mut curator = curator(procedure, &world, &setting, 8);
        let fit = pool
            .expect("threads")
            .install(|| procedure.run(&setting, &mut curator, |_| ()));
        fit.expect("a fit")
    };
    assert_eq!(with(1), with(2), "{procedure}");
}

/// A backend that follows another plan refuses the run.
///
/// # Panics
/// When it does not.
pub fn is_refused_under_another_plan(procedure: CertifiedProcedure) {
    let world = small_world(50, 12, &[2, 7], 3);
    let setting = setting(50, 12);
    let other = Setting {
        sparsity: 4,
        ..setting
    };
    let mut curator = curator(procedure, &world, &setting, 5);
    let refused = procedure
        .run(&other, &mut curator, |_| ())
        .expect_err("another plan");
    assert!(
        matches!(refused, RunError::Backend(_)),
        "{procedure}: {refused}"
    );
}

/// A tiny budget still ends with a finite fit that says how little it knows.
///
/// # Panics
/// When it does not.
pub fn admits_how_little_it_knows(procedure: CertifiedProcedure) {
    let world = small_world(30, 12, &[2, 7], 3);
    let setting = Setting {
        budget: budget(0.02, 1e-6),
        ..setting(30, 12)
    };
    let mut curator = curator(procedure, &world, &setting, 5);
    let fit = procedure.run(&setting, &mut curator, |_| ());
    let fit = fit.expect("a fit");
    let is_finite = fit.model.terms.iter().all(|(_, value)| value.is_finite());
    assert!(is_finite, "{procedure}: {fit:?}");
    assert_ne!(fit.status, FitStatus::Complete, "{procedure}: {fit:?}");
}

/// All of the above but [`uses_its_budget`], which takes a setting.
///
/// # Panics
/// When one of them does.
pub fn does_what_every_procedure_does(procedure: CertifiedProcedure) {
    keeps_its_budget_in_shares(procedure);
    refuses_nonsense(procedure);
    needs_what_it_says(procedure);
    asks_exactly_what_it_planned(procedure);
    fits_alike_on_any_number_of_threads(procedure);
    is_refused_under_another_plan(procedure);
    admits_how_little_it_knows(procedure);
}
