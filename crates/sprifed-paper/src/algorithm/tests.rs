//! The paper's algorithms find what is there, ask what is planned, and keep to the budget.

use proptest::prelude::*;
use sprifed_noise::NoiseGenerator;
use sprifed_privacy::{
    ApproxDp, Delta, Epsilon, NoiseOrigin, Participation, PrivacyUnit, Relation,
};
use sprifed_query::{
    Answer, AnswerBlock, Curator, FeatureSet, LinearModel, Plan, PlannedStep, Procedure, Question,
    Record, Records, Step, run,
};

use super::{
    Limits, PaperGradient, PaperOmp, SupportNoise, plan_honest_gradient, plan_honest_omp,
    plan_honest_reusing,
};
use sprifed_recovery::Fit;
use sprifed_recovery::test_support::{SmallWorld, small_world};
use sprifed_recovery::{
    ColumnScales, Groups, InferenceMethod, Intercept, Keep, Outcome, Setting, Sites,
};

fn setting(n_records: u32, n_features: u32, sparsity: u32, epsilon: f64) -> Setting {
    let delta = Delta::try_from(1e-5).unwrap();
    Setting {
        n_records,
        n_features,
        sparsity,
        choice: Keep::Exactly,
        inference: InferenceMethod::Selective,
        always: 0,
        groups: Groups::NONE,
        sites: Sites::NONE,
        column_scales: ColumnScales::NONE,
        outcome: Outcome::Linear,
        budget: ApproxDp::new(Epsilon::try_from(epsilon).unwrap(), delta),
        relation: Relation::ZeroOut,
        unit: PrivacyUnit::Record,
        origin: NoiseOrigin::Curator,
        response_bound: 8.0,
        feature_bound: 1.0,
        feature_scale: None,
        intercept: Intercept::Absent,
        robust: false,
    }
}

fn fit<P: Procedure<Fit = Fit>>(world: &SmallWorld, plan: Plan, procedure: P) -> Fit {
    let n_features = world.features.len() / world.responses.len();
    let records = Records::each_a_unit(&world.features, &world.responses, n_features).unwrap();
    let mut curator = Curator::open(records, plan, NoiseGenerator::simulated(11)).unwrap();
    run(procedure, &mut curator, |_| ()).unwrap()
}

#[test]
fn with_a_huge_budget_a_curator_leads_both_to_the_true_model() {
    let world = small_world(400, 60, &[5, 20, 41], 1);
    let setting = setting(400, 60, 3, 2e4);
    let found = fit(
        &world,
        plan_honest_omp(&setting).unwrap(),
        PaperOmp::honest(&setting),
    );
    world.assert_found(&found, 0.05);
    let plan = plan_honest_reusing(&setting).unwrap();
    let limits = Limits::of(&setting);
    let reusing = PaperOmp::honest_within(&setting, limits, SupportNoise::Reused);
    world.assert_found(&fit(&world, plan, reusing), 0.05);
    let limits = Limits {
        residual: 8.0,
        ..limits
    };
    let gradient = PaperGradient::honest_within(&setting, limits);
    let found = fit(&world, plan_honest_gradient(&setting).unwrap(), gradient);
    world.assert_found(&found, 0.05);
}

#[test]
fn a_clipped_residual_still_leads_to_the_true_support() {
    let world = small_world(600, 60, &[5, 20, 41], 2);
    let setting = setting(600, 60, 3, 2e4);
    let limits = Limits {
        residual: 0.5,
        ..Limits::of(&setting)
    };
    let gradient = PaperGradient::honest_within(&setting, limits);
    let found = fit(&world, plan_honest_gradient(&setting).unwrap(), gradient);
    world.assert_found(&found, 0.05);
}

#[test]
fn an_ordinary_budget_is_enough_for_many_records() {
    let world = small_world(6000, 40, &[5, 20], 3);
    let setting = Setting {
        response_bound: 2.0,
        ..setting(6000, 40, 2, 4.0)
    };
    let omp = fit(
        &world,
        plan_honest_omp(&setting).unwrap(),
        PaperOmp::honest(&setting),
    );
    let gradient = fit(
        &world,
        plan_honest_gradient(&setting).unwrap(),
        PaperGradient::honest(&setting),
    );
    world.assert_found(&omp, 0.3);
    world.assert_found(&gradient, 0.3);
}

/// Answers zeros and collects the questions.
fn transcript<P: Procedure>(procedure: P) -> Vec<Vec<Question>> {
    let mut asked = Vec::new();
    let mut step = procedure.start();
    while let Step::Ask(query, waiting) = step {
        let block = |question: &Question| AnswerBlock {
            values: vec![0.0; question.coordinates()],
            noise_std_dev: 1.0,
        };
        let blocks = query.questions.iter().map(block).collect();
        asked.push(query.questions);
        let provenance = sprifed_noise::Provenance::Simulated;
        step = waiting.resume(Answer {
            blocks,
            provenance,
            absent: Vec::new(),
        });
    }
    asked
}

fn assert_admits(plan: &Plan, asked: &[Vec<Question>]) {
    assert_eq!(plan.steps.len(), asked.len());
    for (step, questions) in plan.steps.iter().zip(asked) {
        assert!(
            matches!(step, PlannedStep::Sum(sum) if sum.admits(questions)),
            "{questions:?}"
        );
    }
}

#[test]
fn the_questions_are_the_planned_ones() {
    for sparsity in 1..6 {
        let setting = setting(100, 9, sparsity, 1.0);
        let rounds = sparsity as usize;
        let asked = transcript(PaperOmp::honest(&setting));
        assert_eq!(asked.len(), rounds + 1);
        assert_admits(&plan_honest_omp(&setting).unwrap(), &asked);
        let asked = transcript(PaperGradient::honest(&setting));
        assert_eq!(asked.len(), 2 * rounds);
        assert_admits(&plan_honest_gradient(&setting).unwrap(), &asked);
        let limits = Limits::of(&setting);
        let reusing = PaperOmp::honest_within(&setting, limits, SupportNoise::Reused);
        assert_admits(
            &plan_honest_reusing(&setting).unwrap(),
            &transcript(reusing),
        );
    }
}

#[test]
fn no_feature_is_chosen_twice_even_if_all_correlations_are_equal() {
    let asked = transcript(PaperOmp::as_published(7, 6, SupportNoise::Fresh));
    let last = asked.last().unwrap().last().unwrap();
    let Question::SupportRow { support, .. } = last else {
        panic!("{last:?}")
    };
    let chosen = FeatureSet::only(support.as_slice());
    assert_eq!(chosen.len(), 6);
}

#[test]
fn the_rounding_of_all_records_is_small_beside_the_noise() {
    for n_records in [100, 5000, 1_000_000] {
        let setting = setting(n_records, 2500, 5, 5.34);
        for plan in [plan_honest_omp, plan_honest_gradient, plan_honest_reusing] {
            for step in plan(&setting).unwrap().steps {
                let PlannedStep::Sum(sum) = step else {
                    panic!("{step:?}")
                };
                for planned in sum.blocks {
                    let rounding = 0.25 * f64::from(n_records);
                    assert!(rounding <= 0.0126 * planned.block.share_variance.to_f64());
                }
            }
        }
    }
}

#[test]
fn an_intercept_is_refused() {
    let setting = Setting {
        intercept: Intercept::Estimated,
        ..setting(100, 9, 2, 1.0)
    };
    let plans = [plan_honest_omp, plan_honest_gradient, plan_honest_reusing];
    assert!(plans.iter().all(|plan| plan(&setting).is_err()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn honest_plans_keep_within_the_budget_and_use_it(
        n_features in 2u32..30_000,
        sparsity in 0u32..1000,
        epsilon in 0.05..12.0f64,
        replace in proptest::bool::ANY,
        clients in proptest::option::of(20u32..5000),
    ) {
        let sparsity = 1 + sparsity % (n_features - 1).min(30);
        let relation = if replace { Relation::ReplaceOne } else { Relation::ZeroOut };
        let shares = |clients| Participation::new(clients, clients - clients / 10, 2).unwrap();
        let origin = clients.map_or(NoiseOrigin::Curator, |n| NoiseOrigin::Shares(shares(n)));
        let setting = Setting { relation, origin, ..setting(5000, n_features, sparsity, epsilon) };
        for plan in [plan_honest_omp, plan_honest_gradient, plan_honest_reusing] {
            let plan = plan(&setting).unwrap();
            let spent = plan.spending().unwrap().to_approx_dp(setting.budget.delta()).unwrap();
            let (spent, budget) = (spent.epsilon().get(), setting.budget.epsilon().get());
            prop_assert!(spent <= budget, "{spent} of {budget}");
            // Replace-one saves a little at the squares; grids of few steps cost a little.
            prop_assert!(spent >= 0.9 * budget, "{spent} of {budget}");
        }
    }

    #[test]
    fn no_record_moves_a_question_by_more_than_its_box(
        values in proptest::collection::vec(-1e3..1e3f32, 6),
        response in -1e3..1e3f32,
        coefficient in -10.0..10.0f64,
    ) {
        let setting = setting(100, 6, 4, 1.0);
        let record = Record { features: &values, response, is_present: true };
        let asked = transcript(PaperOmp::honest(&setting));
        let gradients = transcript(PaperGradient::honest(&setting));
        for mut question in asked.into_iter().chain(gradients).flatten() {
            if let Question::BoxedGradient { model, .. } = &mut question {
                let terms = vec![(1, coefficient)];
                *model = LinearModel { intercept: 0.0, terms }.into();
            }
            let mut moved = vec![0.0f32; question.coordinates()];
            question.add_contribution(record, &mut moved);
            // Zero-out: a box of d coordinates moves by at most √d; single precision rounds.
            prop_assert!(moved.iter().all(|value| value.abs() <= 1.0 + 1e-5), "{question:?}");
            if matches!(question, Question::SupportRow { .. }) {
                prop_assert!(moved.last().is_some_and(|square| *square >= 0.0));
            }
        }
    }
}

#[test]
fn the_worst_record_attains_the_bound_of_every_question() {
    let setting = Setting {
        response_bound: 2.0,
        ..setting(100, 6, 4, 1.0)
    };
    let record = Record {
        features: &[1.0; 6],
        response: 2.0,
        is_present: true,
    };
    let asked = transcript(PaperOmp::honest(&setting));
    for question in asked
        .into_iter()
        .chain(transcript(PaperGradient::honest(&setting)))
        .flatten()
    {
        let mut moved = vec![0.0f32; question.coordinates()];
        question.add_contribution(record, &mut moved);
        assert!(
            moved.iter().all(|value| (value - 1.0).abs() < 1e-6),
            "{question:?}"
        );
    }
}
