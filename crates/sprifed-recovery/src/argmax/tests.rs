//! Argmax OMP against a backend that adds no noise.

use sprifed_query::{ChoiceBackend, PlannedStep, SumBackend, run_choosing};

use super::*;
use crate::pooled::tests::{Exact, Never};
use crate::setting::Intercept;
use crate::test_support::{SmallWorld, small_world};
use crate::test_support::{budget, legal_setting};

/// Sums and choices without noise.
struct Showing {
    exact: Exact,
    choices: Vec<ChoiceQuery>,
}

impl SumBackend for Showing {
    type Error = Never;

    fn answer(&mut self, query: &SumQuery) -> Result<Answer, Never> {
        self.exact.answer(query)
    }
}

impl ChoiceBackend for Showing {
    fn choose(&mut self, query: &ChoiceQuery) -> Result<usize, Never> {
        self.choices.push(query.clone());
        let scores = self.exact.sum(&query.scores);
        let best = scores
            .iter()
            .enumerate()
            .max_by(|(_, a), (_, b)| a.abs().total_cmp(&b.abs()));
        Ok(best.map_or(0, |(index, _)| index))
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

fn fit(setting: Setting, features: &[f32], responses: &[f32]) -> (Fit, Showing) {
    let mut backend = Showing {
        exact: Exact::new(features, responses),
        choices: Vec::new(),
    };
    let fit = run_choosing(Argmax::new(setting).unwrap(), &mut backend, |_| ()).unwrap();
    (fit, backend)
}

fn world() -> SmallWorld {
    small_world(400, 60, &[3, 17, 40], 5)
}

#[test]
fn without_noise_the_true_model_is_found() {
    let world = world();
    let (fit, _) = fit(setting(400, 60, 3), &world.features, &world.responses);
    world.assert_found(&fit, 0.1);
    assert_eq!(fit.status, FitStatus::Complete);
    assert_eq!(fit.provenance, Some(Provenance::Simulated));
}

#[test]
fn a_fit_does_not_depend_on_the_units_of_the_features() {
    let world = world();
    let scaled: Vec<f32> = world.features.iter().map(|value| value * 0.3).collect();
    let unknown = Setting {
        feature_scale: None,
        ..setting(400, 60, 3)
    };
    let (fit, _) = fit(unknown, &scaled, &world.responses);
    for (feature, value) in &fit.model.terms {
        let expected = world.coefficient(*feature) / 0.3;
        assert!(
            (value - expected).abs() < 0.5,
            "{feature}: {value} for {expected}"
        );
    }
}

#[test]
fn every_request_fits_the_step_that_was_planned_for_it() {
    let world = world();
    for (intercept, feature_scale) in [
        (Intercept::Absent, None),
        (Intercept::Estimated, Some(1.0)),
        (Intercept::Estimated, None),
    ] {
        let setting = Setting {
            intercept,
            feature_scale,
            ..setting(400, 60, 3)
        };
        let plan = plan_argmax(&setting).unwrap();
        let (_, backend) = fit(setting, &world.features, &world.responses);
        let (mut sums, mut choices) = (backend.exact.queries.iter(), backend.choices.iter());
        for (place, step) in plan.steps.iter().enumerate() {
            match step {
                PlannedStep::Sum(sum) => {
                    let query = sums.next().unwrap();
                    assert_eq!(query.step, place);
                    assert!(sum.admits(&query.questions), "step {place}");
                }
                PlannedStep::Choice(choice) => {
                    let query = choices.next().unwrap();
                    assert_eq!(query.step, place);
                    let candidates = choice.purchase.candidates as usize;
                    assert_eq!(query.scores.coordinates(), candidates);
                }
            }
        }
        assert!(sums.next().is_none() && choices.next().is_none());
    }
}

#[test]
fn no_feature_is_chosen_twice() {
    let world = world();
    let (fit, _) = fit(setting(400, 60, 20), &world.features, &world.responses);
    let mut support = fit.model.support();
    support.sort_unstable();
    support.dedup();
    assert_eq!(support.len(), 20);
}

#[test]
fn two_equal_columns_do_not_make_a_coefficient_explode() {
    let world = small_world(300, 20, &[3], 5);
    let mut features = world.features.clone();
    for row in features.chunks_mut(20) {
        row[11] = row[3];
    }
    let (fit, _) = fit(setting(300, 20, 2), &features, &world.responses);
    assert!(
        fit.model.terms.iter().all(|(_, value)| value.abs() < 3.0),
        "{fit:?}"
    );
}

#[test]
fn a_setting_that_makes_no_sense_is_refused_before_the_first_question() {
    for illegal in [
        Setting {
            sparsity: 0,
            ..legal_setting()
        },
        Setting {
            sparsity: 30,
            ..legal_setting()
        },
        Setting {
            n_records: 0,
            ..legal_setting()
        },
    ] {
        assert!(Argmax::new(illegal).is_err());
        assert!(plan_argmax(&illegal).is_err());
    }
}

#[test]
fn a_smaller_budget_clips_tighter() {
    let clips = |epsilon: f64| {
        Argmax::new(Setting {
            budget: budget(epsilon, 1e-5),
            ..legal_setting()
        })
        .unwrap()
        .clips
    };
    let (tight, loose) = (clips(0.1), clips(50.0));
    assert!(
        tight.0 <= loose.0 && tight.1 <= loose.1,
        "{tight:?} against {loose:?}"
    );
    assert!(tight.0 * tight.1 < loose.0 * loose.1);
}
