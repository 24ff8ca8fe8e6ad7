//! The sieve and certified GRAD against a backend that adds no noise.

use sprifed_noise::Provenance;
use sprifed_query::{AnswerBlock, PlannedStep, Record, run};

use super::*;
use crate::fit::FitStatus;
use crate::setting::Intercept;
use crate::test_support::legal_setting;
use crate::test_support::small_world;

/// Answers without noise, and remembers the queries.
#[derive(Default)]
pub(crate) struct Exact {
    pub(crate) rows: Vec<(Vec<f32>, f32)>,
    pub(crate) queries: Vec<SumQuery>,
}

#[derive(Debug, thiserror::Error)]
#[error("never")]
pub(crate) struct Never;

impl Exact {
    pub(crate) fn new(features: &[f32], responses: &[f32]) -> Self {
        let width = features.len() / responses.len();
        let rows = features
            .chunks(width)
            .map(<[f32]>::to_vec)
            .zip(responses.iter().copied());
        Self {
            rows: rows.collect(),
            queries: Vec::new(),
        }
    }

    pub(crate) fn sum(&self, question: &Question) -> Vec<f64> {
        let mut total = vec![0.0; question.coordinates()];
        for (features, response) in &self.rows {
            let mut values = vec![0f32; total.len()];
            question.add_contribution(
                Record {
                    features,
                    response: *response,
                    is_present: true,
                },
                &mut values,
            );
            for (total, value) in total.iter_mut().zip(values) {
                *total += f64::from(value);
            }
        }
        total
    }
}

impl sprifed_query::SumBackend for Exact {
    type Error = Never;

    fn answer(&mut self, query: &SumQuery) -> Result<Answer, Never> {
        self.queries.push(query.clone());
        let blocks = query.questions.iter().map(|question| AnswerBlock {
            values: self.sum(question),
            noise_std_dev: 1e-6,
        });
        Ok(Answer {
            blocks: blocks.collect(),
            provenance: Provenance::Simulated,
            absent: Vec::new(),
        })
    }
}

fn setting(n_records: u32, n_features: u32, sparsity: u32) -> Setting {
    Setting {
        n_records,
        n_features,
        sparsity,
        feature_scale: Some(1.0 / 3f64.sqrt()),
        ..legal_setting()
    }
}

fn fit(setting: Setting, working: Working, backend: &mut Exact) -> Fit {
    let schedule = Schedule::of(&setting, working).unwrap();
    run(Pooled::new(setting, schedule), backend, |_| ()).unwrap()
}

#[test]
fn without_noise_the_true_model_is_found() {
    let world = small_world(400, 60, &[3, 17, 40], 5);
    for working in [Working::Pooled, Working::LeastSquares] {
        let mut backend = Exact::new(&world.features, &world.responses);
        let fit = fit(setting(400, 60, 3), working, &mut backend);
        world.assert_found(&fit, 0.02);
        assert_eq!(fit.status, FitStatus::Complete);
        assert_eq!(fit.provenance, Some(Provenance::Simulated));
    }
}

#[test]
fn a_fit_does_not_depend_on_the_units_of_the_features() {
    let world = small_world(400, 60, &[3, 17, 40], 5);
    let scaled: Vec<f32> = world.features.iter().map(|value| value * 0.3).collect();
    for working in [Working::Pooled, Working::LeastSquares] {
        let mut backend = Exact::new(&scaled, &world.responses);
        let unknown = Setting {
            feature_scale: None,
            ..setting(400, 60, 3)
        };
        let fit = fit(unknown, working, &mut backend);
        for (feature, value) in &fit.model.terms {
            let expected = world.coefficient(*feature) / 0.3;
            assert!(
                (value - expected).abs() < 0.1,
                "{feature}: {value} for {expected}"
            );
        }
        assert_eq!(fit.model.terms.len(), 3);
    }
}

#[test]
fn every_question_fits_the_step_that_was_planned_for_it() {
    let world = small_world(100, 60, &[3, 17, 40], 5);
    for working in [Working::Pooled, Working::LeastSquares] {
        for intercept in [Intercept::Absent, Intercept::Estimated] {
            for feature_scale in [None, Some(1.0)] {
                let setting = Setting {
                    intercept,
                    feature_scale,
                    ..setting(100, 60, 3)
                };
                let plan = Schedule::of(&setting, working)
                    .unwrap()
                    .plan(&setting)
                    .unwrap();
                let mut backend = Exact::new(&world.features, &world.responses);
                let _ = fit(setting, working, &mut backend);
                assert_eq!(backend.queries.len(), plan.steps.len());
                for (place, (query, step)) in backend.queries.iter().zip(&plan.steps).enumerate() {
                    let PlannedStep::Sum(sum) = step else {
                        panic!("only sums are planned")
                    };
                    assert_eq!(query.step, place);
                    assert!(sum.admits(&query.questions), "step {place}");
                }
            }
        }
    }
}

#[test]
fn an_intercept_and_features_that_are_not_centred_are_separated() {
    let world = small_world(600, 40, &[3, 17], 9);
    let features: Vec<f32> = world.features.iter().map(|value| value + 0.2).collect();
    let responses: Vec<f32> = world.responses.iter().map(|value| value + 1.5).collect();
    for working in [Working::Pooled, Working::LeastSquares] {
        let mut backend = Exact::new(&features, &responses);
        let estimated = Setting {
            intercept: Intercept::Estimated,
            ..setting(600, 40, 2)
        };
        let fit = fit(estimated, working, &mut backend);
        world.assert_found(&fit, 0.05);
        // Coefficients 1 and 1.5 on features moved by 0.2.
        let expected = 1.5 - 0.2 * 2.5;
        let found = fit.model.intercept;
        assert!(
            (found - expected).abs() < 0.05,
            "{working:?}: {found} for {expected}"
        );
    }
}

#[test]
fn two_equal_columns_share_a_coefficient_and_the_fit_says_so() {
    let world = small_world(300, 20, &[3], 5);
    let mut features = world.features.clone();
    for row in features.chunks_mut(20) {
        row[11] = row[3];
    }
    for working in [Working::Pooled, Working::LeastSquares] {
        let mut backend = Exact::new(&features, &world.responses);
        let fit = fit(setting(300, 20, 2), working, &mut backend);
        let together: f64 = fit
            .model
            .terms
            .iter()
            .filter(|(feature, _)| [3, 11].contains(feature))
            .map(|(_, value)| value)
            .sum();
        assert!((together - 1.0).abs() < 0.05, "{working:?}: {fit:?}");
        assert!(
            fit.model.terms.iter().all(|(_, value)| value.abs() < 2.0),
            "{fit:?}"
        );
        if fit.model.support().contains(&3) && fit.model.support().contains(&11) {
            assert!(
                matches!(fit.status, FitStatus::IllConditioned { .. }),
                "{fit:?}"
            );
        }
    }
}

#[test]
fn answers_without_blocks_end_with_nothing_instead_of_a_panic() {
    struct Silent;
    impl sprifed_query::SumBackend for Silent {
        type Error = Never;

        fn answer(&mut self, _: &SumQuery) -> Result<Answer, Never> {
            Ok(Answer {
                blocks: Vec::new(),
                provenance: Provenance::Simulated,
                absent: Vec::new(),
            })
        }
    }
    for working in [Working::Pooled, Working::LeastSquares] {
        let setting = setting(50, 10, 2);
        let schedule = Schedule::of(&setting, working).unwrap();
        let fit = run(Pooled::new(setting, schedule), &mut Silent, |_| ()).unwrap();
        assert!(matches!(fit.status, FitStatus::NoFeatureAboveNoise { .. }));
    }
}
