//! The baselines find what is there, ask what is planned, keep to the budget and refuse the rest.

use proptest::prelude::*;
use sprifed_noise::NoiseGenerator;
use sprifed_privacy::{Mu, Relation};
use sprifed_query::{
    AnswerBlock, Curator, PlannedStep, Procedure, Question, Records, Step, SumBackend, SumQuery,
    run,
};

use super::*;
use crate::algorithm::PaperDescent;
use crate::paper_noise::{PaperBackend, PaperNoise};
use sprifed_recovery::test_support::small_world;
use sprifed_recovery::test_support::{budget, legal_setting};

fn both(sparsity: u32) -> [Baseline; 2] {
    [
        Baseline::DpSgd(DpSgdParameters::certified()),
        Baseline::DpGcd(DpGcdParameters::certified(sparsity)),
    ]
}

fn setting_of(n_records: u32, n_features: u32, epsilon: f64) -> Setting {
    Setting {
        n_records,
        n_features,
        sparsity: 3,
        budget: budget(epsilon, 1e-5),
        // Features uniform on [−1, 1].
        feature_scale: Some((1.0f64 / 3.0).sqrt()),
        ..legal_setting()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_parameters_make_a_plan_cost_more_than_its_budget(
        steps in 1u32..40,
        step_size in 0.01f64..5.0,
        penalty in 0.0f64..5.0,
        clip in 0.05f64..5.0,
        epsilon in 0.05f64..20.0,
        replace in any::<bool>(),
        count in 1usize..4,
    ) {
        let relation = if replace { Relation::ReplaceOne } else { Relation::ZeroOut };
        let setting = Setting { budget: budget(epsilon, 1e-6), relation, ..legal_setting() };
        let sgd = DpSgdParameters { steps, step_size, penalty, clip, batch: Batch::Full };
        let gcd = DpGcdParameters { steps, step_size, clip };
        for baseline in [Baseline::DpSgd(sgd), Baseline::DpGcd(gcd)] {
            let candidates = vec![baseline; count];
            for plan in [baseline.plan(&setting), Tuned::plan(&setting, &candidates)] {
                let spending = plan.unwrap().spending().unwrap();
                let spent = spending.to_approx_dp(setting.budget.delta()).unwrap().epsilon().get();
                prop_assert!(spent <= epsilon, "{baseline}: {spent} of {epsilon}");
                prop_assert!(spent >= 0.9 * epsilon, "{baseline} wastes: {spent} of {epsilon}");
            }
        }
    }

    #[test]
    fn a_proximal_step_shrinks_towards_zero_and_never_past_it(
        start in -3.0f64..3.0,
        slope in -3.0f64..3.0,
        step_size in 0.01f64..2.0,
        penalty in 0.0f64..3.0,
    ) {
        let mut iterate = Iterate::zero(1);
        iterate.move_one(0, start);
        iterate.proximal_step(vec![slope], step_size, penalty);
        let found = iterate.strongest(1)[0].1;
        let plain = start + step_size * slope;
        prop_assert!(found * plain >= 0.0);
        prop_assert!((plain.abs() - found.abs()).abs() <= step_size * penalty + 1e-12);
        // The minimiser of (a − plain)²/2 + step_size·penalty·|a|, by trying neighbours.
        let value = |a: f64| 0.5 * (a - plain).powi(2) + step_size * penalty * a.abs();
        for other in [found - 1e-4, found + 1e-4] {
            prop_assert!(value(found) <= value(other) + 1e-12);
        }
    }
}

#[test]
fn a_generous_budget_finds_the_support_and_the_coefficients() {
    let world = small_world(2000, 60, &[3, 17, 40], 9);
    let setting = setting_of(2000, 60, 100.0);
    for baseline in both(3) {
        let records = Records::each_a_unit(&world.features, &world.responses, 60).unwrap();
        let plan = baseline.plan(&setting).unwrap();
        let mut curator = Curator::open(records, plan, NoiseGenerator::simulated(4)).unwrap();
        let fit = run(Descent::new(setting, baseline), &mut curator, |_| ()).unwrap();
        world.assert_found(&fit, 0.1);
    }
}

#[test]
fn without_noise_the_published_baselines_find_the_support() {
    let world = small_world(600, 80, &[3, 17, 40], 9);
    let records = Records::each_a_unit(&world.features, &world.responses, 80).unwrap();
    // The features have variance 1/3: a step of three is a full one.
    let sgd = DpSgdParameters {
        steps: 12,
        step_size: 2.0,
        ..DpSgdParameters::published()
    };
    let gcd = DpGcdParameters {
        steps: 40,
        step_size: 2.5,
        ..DpGcdParameters::published(3)
    };
    for (baseline, tolerance) in [(Baseline::DpSgd(sgd), 1e-3), (Baseline::DpGcd(gcd), 0.05)] {
        let mut backend = PaperBackend::open(&records, PaperNoise::none(), 1);
        let procedure = PaperDescent::as_published(600, 80, 3, baseline);
        let fit = run(procedure, &mut backend, |_| ()).unwrap();
        world.assert_found(&fit, tolerance);
    }
}

#[test]
fn the_noise_of_an_answer_is_that_of_the_plan() {
    // No record contributes: the answer is the noise alone.
    let setting = setting_of(400, 3000, 2.0);
    let zeros = vec![0.0; 400 * 3000];
    let records = Records::each_a_unit(&zeros, &[0.0; 400], 3000).unwrap();
    for baseline in both(3) {
        let plan = baseline.plan(&setting).unwrap();
        let Some(PlannedStep::Sum(planned)) = plan.steps.get(1).cloned() else {
            panic!("a gradient follows the opening");
        };
        let block = &planned.blocks[0];
        let expected = block.block.share_variance.to_f64().sqrt() / block.steps;
        let mut curator =
            Curator::open(records.clone(), plan, NoiseGenerator::simulated(6)).unwrap();
        let Step::Ask(query, descent) = Descent::new(setting, baseline).start() else {
            panic!("a descent asks first");
        };
        let answer = curator.answer(&query).unwrap();
        let Step::Ask(query, _) = descent.resume(answer) else {
            panic!("a descent asks for a gradient");
        };
        let AnswerBlock {
            values,
            noise_std_dev,
        } = curator.answer(&query).unwrap().blocks.remove(0);
        assert!((noise_std_dev - expected).abs() < 1e-12 * expected);
        let found = (values.iter().map(|value| value * value).sum::<f64>() / 3000.0).sqrt();
        // Six standard errors of a standard deviation from 3000 normal numbers.
        let error = 6.0 / (2.0f64 * 3000.0).sqrt();
        assert!(
            (found / expected - 1.0).abs() < error,
            "{found} for {expected}"
        );
        // And it is not less than the cost of a step allows: 1/μ in units of the norm.
        let gradients = f64::from(baseline.steps());
        let largest = setting.total_mu().unwrap().get() / gradients.sqrt();
        assert!(expected >= 1.0 / largest);
    }
}

#[test]
fn the_paper_adds_less_noise_to_the_coordinate_that_is_queried_again() {
    let mu = |value: f64| Mu::try_from(value).unwrap();
    let noise = PaperNoise::of(2500, 5, mu(0.5), mu(0.02));
    let world = small_world(20, 4, &[1], 3);
    let records = Records::each_a_unit(&world.features, &world.responses, 4).unwrap();
    let mut backend = PaperBackend::open(&records, noise, 1);
    let gcd = Baseline::DpGcd(DpGcdParameters::published(1));
    let Step::Ask(query, descent) = PaperDescent::as_published(20, 4, 1, gcd).start() else {
        panic!("a descent asks first");
    };
    let answer = backend.answer(&query).unwrap();
    assert!((answer.blocks[0].noise_std_dev - 100.0).abs() < 1e-9);
    let Step::Ask(query, _) = descent.resume(answer) else {
        panic!("a coordinate follows");
    };
    let answer = backend.answer(&query).unwrap();
    assert!((answer.blocks[0].noise_std_dev - 2.0).abs() < 1e-9);
}

#[test]
fn mini_batches_are_refused_with_the_reason() {
    let sampled = Baseline::DpSgd(DpSgdParameters {
        batch: Batch::Sampled { rate: 0.1 },
        ..DpSgdParameters::certified()
    });
    let refused = sampled.plan(&legal_setting()).unwrap_err().to_string();
    assert!(refused.contains("sampling rate of 0.1"), "{refused}");
    assert!(refused.contains("knows who contributes"), "{refused}");
}

#[test]
fn illegal_parameters_are_refused_with_a_clear_message() {
    let sgd = DpSgdParameters::certified();
    let gcd = DpGcdParameters::certified(3);
    for (baseline, words) in [
        (
            Baseline::DpSgd(DpSgdParameters { steps: 0, ..sgd }),
            "0 steps",
        ),
        (
            Baseline::DpGcd(DpGcdParameters {
                steps: 20_000,
                ..gcd
            }),
            "20000 steps",
        ),
        (
            Baseline::DpSgd(DpSgdParameters {
                step_size: f64::NAN,
                ..sgd
            }),
            "a step size of NaN",
        ),
        (
            Baseline::DpSgd(DpSgdParameters {
                penalty: -1.0,
                ..sgd
            }),
            "a penalty of -1",
        ),
        (
            Baseline::DpGcd(DpGcdParameters { clip: 0.0, ..gcd }),
            "a clip of 0",
        ),
    ] {
        let refused = baseline.plan(&legal_setting()).unwrap_err().to_string();
        assert!(refused.contains(words), "{refused}");
    }
}

#[test]
fn a_search_runs_every_candidate_asks_what_it_planned_and_keeps_the_best_score() {
    let world = small_world(1500, 30, &[3, 17, 21], 9);
    let setting = setting_of(1500, 30, 60.0);
    // A step so small that the model stays empty until the refit, and good parameters.
    let useless = Baseline::DpGcd(DpGcdParameters {
        steps: 1,
        step_size: 1e-9,
        clip: 1e-3,
    });
    let [sgd, gcd] = both(3);
    let candidates = [useless, sgd, gcd];
    let plan = Tuned::plan(&setting, &candidates).unwrap();
    let records = Records::each_a_unit(&world.features, &world.responses, 30).unwrap();
    let mut curator = Curator::open(records, plan.clone(), NoiseGenerator::simulated(4)).unwrap();
    let mut steps = Vec::new();
    let tuned = Tuned::new(setting, &candidates).unwrap();
    let chosen = run(tuned, &mut curator, |step| steps.push(step)).unwrap();
    assert_eq!(steps, (0..plan.steps.len()).collect::<Vec<_>>());
    assert_eq!(*curator.ledger().spending(), plan.spending().unwrap());
    assert_ne!(chosen.baseline, useless);
    world.assert_found(&chosen.fit, 0.2);
    assert!(Tuned::plan(&setting, &[]).is_err());
    assert!(Tuned::new(setting, &[]).is_err());
}

#[test]
fn a_descent_asks_only_questions_that_bound_every_record() {
    let setting = setting_of(400, 30, 5.0);
    let world = small_world(400, 30, &[3, 17, 21], 9);
    for baseline in both(3) {
        let records = Records::each_a_unit(&world.features, &world.responses, 30).unwrap();
        let plan = baseline.plan(&setting).unwrap();
        let mut curator = Curator::open(records, plan, NoiseGenerator::simulated(4)).unwrap();
        let mut step = Descent::new(setting, baseline).start();
        while let Step::Ask(
            SumQuery {
                step: number,
                questions,
            },
            waiting,
        ) = step
        {
            let bounded = |question: &Question| {
                matches!(
                    question,
                    Question::RowClippedGradient { .. }
                        | Question::ResidualScale { .. }
                        | Question::SecondMoment { .. }
                )
            };
            assert!(questions.iter().all(bounded), "{questions:?}");
            let query = SumQuery {
                step: number,
                questions,
            };
            step = waiting.resume(curator.answer(&query).unwrap());
        }
    }
}
