//! Every procedure, by name: what it plans, what it costs, what it refuses.

use proptest::prelude::*;
use sprifed_noise::{NoiseGenerator, Provenance};
use sprifed_privacy::{NoiseOrigin, Participation, PrivacyUnit, Relation};
use sprifed_query::{Curator, PlannedStep, Records};

use super::*;
use crate::paper::tests::small_world;
use crate::setting::Intercept;
use crate::setting::tests::{budget, legal_setting};

const NEEDS_NO_INTERCEPT: [CertifiedProcedure; 2] = [
    CertifiedProcedure::HonestOmp,
    CertifiedProcedure::HonestGrad,
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn no_plan_costs_more_than_its_budget(
        n_records in 2u32..200_000,
        n_features in 2u32..4000,
        sparsity in 1u32..12,
        epsilon in prop_oneof![0.05f64..1.0, 1.0f64..20.0],
        exponent in 3i32..10,
        replace in any::<bool>(),
        by_client in any::<bool>(),
        intercept in any::<bool>(),
        known_scale in any::<bool>(),
    ) {
        let setting = Setting {
            n_records,
            n_features,
            sparsity: sparsity.min(n_features - 1),
            budget: budget(epsilon, 10f64.powi(-exponent)),
            relation: if replace { Relation::ReplaceOne } else { Relation::ZeroOut },
            unit: if by_client { PrivacyUnit::Client } else { PrivacyUnit::Record },
            intercept: if intercept { Intercept::Estimated } else { Intercept::Absent },
            feature_scale: known_scale.then_some(1.0),
            ..legal_setting()
        };
        for procedure in CertifiedProcedure::ALL {
            let plan = procedure.plan(&setting);
            if intercept && NEEDS_NO_INTERCEPT.contains(&procedure) {
                prop_assert!(plan.is_err());
                continue;
            }
            let plan = plan.unwrap();
            let spent = plan.spending().unwrap().to_approx_dp(setting.budget.delta()).unwrap();
            let (spent, most) = (spent.epsilon().get(), epsilon);
            prop_assert!(spent <= most, "{procedure}: {spent} of {most}");
            prop_assert!(spent >= 0.9 * most, "{procedure} wastes: {spent} of {most}");
            prop_assert_eq!(plan.unit, setting.unit);
            prop_assert_eq!(plan.relation, setting.relation);
        }
    }
}

#[test]
fn noise_shares_of_many_clients_cost_no_more_than_the_budget() {
    let origin = NoiseOrigin::Shares(Participation::new(400, 360, 20).unwrap());
    for relation in [Relation::ZeroOut, Relation::ReplaceOne] {
        let setting = Setting {
            origin,
            relation,
            ..legal_setting()
        };
        for procedure in CertifiedProcedure::ALL {
            let spending = procedure.plan(&setting).unwrap().spending().unwrap();
            let spent = spending.to_approx_dp(setting.budget.delta()).unwrap();
            assert!(
                spent.epsilon().get() <= setting.budget.epsilon().get(),
                "{procedure}"
            );
        }
    }
}

#[test]
fn every_procedure_refuses_what_makes_no_sense_in_clear_words() {
    for procedure in CertifiedProcedure::ALL {
        for (setting, words) in [
            (
                Setting {
                    sparsity: 0,
                    ..legal_setting()
                },
                "a sparsity of 0 for 30 features",
            ),
            (
                Setting {
                    sparsity: 30,
                    ..legal_setting()
                },
                "a sparsity of 30 for 30 features",
            ),
            (
                Setting {
                    n_records: 1,
                    ..legal_setting()
                },
                "1 records, but at least 2",
            ),
            (
                Setting {
                    feature_scale: Some(-1.0),
                    ..legal_setting()
                },
                "a feature scale of -1",
            ),
        ] {
            let refused = procedure.plan(&setting).unwrap_err().to_string();
            assert!(refused.contains(words), "{procedure}: {refused}");
        }
    }
}

#[test]
fn only_argmax_asks_for_choices() {
    for procedure in CertifiedProcedure::ALL {
        let steps = procedure.plan(&legal_setting()).unwrap().steps;
        let chooses = steps
            .iter()
            .any(|step| matches!(step, PlannedStep::Choice(_)));
        assert_eq!(
            chooses,
            procedure == CertifiedProcedure::Argmax,
            "{procedure}"
        );
    }
}

#[test]
fn every_procedure_asks_exactly_what_it_planned_and_spends_exactly_that() {
    let world = small_world(200, 12, &[2, 7], 3);
    for procedure in CertifiedProcedure::ALL {
        for relation in [Relation::ZeroOut, Relation::ReplaceOne] {
            let setting = Setting {
                n_records: 200,
                n_features: 12,
                sparsity: 2,
                relation,
                ..legal_setting()
            };
            let plan = procedure.plan(&setting).unwrap();
            let records = Records::each_a_unit(&world.features, &world.responses, 12).unwrap();
            let mut curator =
                Curator::open(records, plan.clone(), NoiseGenerator::simulated(5)).unwrap();
            let mut steps = Vec::new();
            let fit = procedure
                .run(&setting, &mut curator, |step| steps.push(step))
                .unwrap();
            assert_eq!(
                steps,
                (0..plan.steps.len()).collect::<Vec<_>>(),
                "{procedure}"
            );
            assert_eq!(*curator.ledger().spending(), plan.spending().unwrap());
            assert_eq!(fit.provenance, Some(Provenance::Simulated));
            assert_eq!(fit.model.terms.len(), 2, "{procedure}");
            assert_eq!(fit.noise_std_devs.len(), 2, "{procedure}");
        }
    }
}

#[test]
fn a_fit_of_a_seed_does_not_depend_on_the_number_of_threads() {
    let world = small_world(300, 40, &[2, 17], 3);
    for procedure in CertifiedProcedure::ALL {
        let setting = Setting {
            n_records: 300,
            n_features: 40,
            sparsity: 2,
            ..legal_setting()
        };
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            let records = Records::each_a_unit(&world.features, &world.responses, 40).unwrap();
            let plan = procedure.plan(&setting).unwrap();
            let mut curator = Curator::open(records, plan, NoiseGenerator::simulated(8)).unwrap();
            pool.install(|| procedure.run(&setting, &mut curator, |_| ()).unwrap())
        };
        assert_eq!(with(1), with(2), "{procedure}");
    }
}

#[test]
fn a_run_under_another_plan_is_refused_by_the_backend() {
    let world = small_world(50, 12, &[2, 7], 3);
    let setting = Setting {
        n_records: 50,
        n_features: 12,
        sparsity: 2,
        ..legal_setting()
    };
    let other = Setting {
        sparsity: 4,
        ..setting
    };
    for procedure in CertifiedProcedure::ALL {
        let records = Records::each_a_unit(&world.features, &world.responses, 12).unwrap();
        let plan = procedure.plan(&setting).unwrap();
        let mut curator = Curator::open(records, plan, NoiseGenerator::simulated(5)).unwrap();
        let refused = procedure.run(&other, &mut curator, |_| ()).unwrap_err();
        assert!(
            matches!(refused, RunError::Backend(_)),
            "{procedure}: {refused}"
        );
    }
}

#[test]
fn a_tiny_budget_still_ends_with_a_finite_fit_that_says_how_little_it_knows() {
    let world = small_world(30, 12, &[2, 7], 3);
    for procedure in CertifiedProcedure::ALL {
        let setting = Setting {
            n_records: 30,
            n_features: 12,
            sparsity: 2,
            budget: budget(0.02, 1e-6),
            ..legal_setting()
        };
        let records = Records::each_a_unit(&world.features, &world.responses, 12).unwrap();
        let plan = procedure.plan(&setting).unwrap();
        let mut curator = Curator::open(records, plan, NoiseGenerator::simulated(5)).unwrap();
        let fit = procedure.run(&setting, &mut curator, |_| ()).unwrap();
        assert!(
            fit.model.terms.iter().all(|(_, value)| value.is_finite()),
            "{procedure}"
        );
        assert!(
            fit.noise_std_devs.iter().all(|noise| *noise > 0.0),
            "{procedure}"
        );
        assert_ne!(
            fit.status,
            crate::fit::FitStatus::Complete,
            "{procedure}: {fit:?}"
        );
    }
}

#[test]
fn names_are_those_of_the_command_line() {
    let names = CertifiedProcedure::ALL.map(|procedure| procedure.to_string());
    assert_eq!(
        names,
        [
            "grad",
            "sieve",
            "argmax",
            "honest-omp",
            "honest-grad",
            "dp-sgd",
            "dp-gcd"
        ]
    );
}
