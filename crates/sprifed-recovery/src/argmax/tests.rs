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

/// Runs to the end with choices of these features, and returns the fit, the choices and the updates.
fn with_choices(
    setting: Setting,
    exact: &mut Exact,
    named: &[u32],
) -> (Fit, Vec<ChoiceQuery>, Vec<Question>) {
    let mut named = named.iter();
    let (mut choices, mut updates) = (Vec::new(), Vec::new());
    let mut step = Argmax::new(setting).unwrap().start();
    loop {
        step = match step {
            ChoosingStep::Ask(query, waiting) => {
                let is_update = |asked: &&Question| matches!(asked, Question::SupportUpdate { .. });
                updates.extend(query.questions.iter().find(is_update).cloned());
                waiting.resume(exact.answer(&query).unwrap())
            }
            ChoosingStep::Choose(query, waiting) => {
                let Question::BoxedGradient { features, .. } = &query.scores else {
                    panic!("{query:?}");
                };
                let feature = named.next().unwrap();
                let index = features.iter().position(|known| known == *feature).unwrap();
                choices.push(query);
                waiting.chosen(index)
            }
            ChoosingStep::Done(fit) => return (fit, choices, updates),
        };
    }
}

#[test]
fn a_choice_of_one_column_brings_its_group_and_a_second_one_adds_nothing() {
    let world = small_world(400, 60, &[3, 17, 40], 5);
    let grouped = Setting {
        groups: crate::groups::Groups::of([10..13, 50..52]).unwrap(),
        ..setting(400, 60, 4)
    };
    let mut exact = Exact::new(&world.features, &world.responses);
    let (fit, choices, updates) = with_choices(grouped, &mut exact, &[11, 12, 17, 50]);
    let expected: [(u32, &[u32]); 4] = [
        (3, &[10, 11, 12]),
        (0, &[10, 11, 12]),
        (1, &[10, 11, 12, 17]),
        (2, &[10, 11, 12, 17, 50, 51]),
    ];
    assert_eq!(updates.len(), expected.len());
    for (update, (rows, columns)) in updates.iter().zip(expected) {
        let Question::SupportUpdate {
            newest, support, ..
        } = update
        else {
            panic!("{update:?}");
        };
        assert_eq!((newest.count(), support.as_slice()), (rows, columns));
        assert_eq!(update.coordinates(), (rows as usize + 1) * columns.len());
    }
    // As many candidates as the plan says, whatever was named before.
    let candidates: Vec<usize> = choices.iter().map(|one| one.scores.coordinates()).collect();
    assert_eq!(candidates, [60, 59, 58, 57]);
    assert_eq!(fit.model.support(), [10, 11, 12, 17, 50, 51]);
    let report = fit.inference.available().unwrap();
    assert_eq!((report.kept, report.sought), (3, 4));
    let plan = plan_argmax(&grouped).unwrap();
    let sums = plan.steps.iter().filter_map(|step| match step {
        PlannedStep::Sum(sum) if sum.purpose.starts_with("support update") => Some(sum),
        _ => None,
    });
    for (sum, update) in sums.zip(updates) {
        assert!(sum.admits(&[update]));
    }
}

#[test]
fn the_plan_has_room_for_the_widest_groups() {
    let grouped = Setting {
        groups: crate::groups::Groups::of([10..13, 50..52]).unwrap(),
        ..setting(400, 60, 3)
    };
    let plan = plan_argmax(&grouped).unwrap();
    let room = |start: &str| -> Vec<u32> {
        let sums = plan.steps.iter().filter_map(|step| match step {
            PlannedStep::Sum(sum) if sum.purpose.starts_with(start) => Some(sum),
            _ => None,
        });
        sums.map(|sum| sum.blocks[0].block.coordinates).collect()
    };
    // 3, 5 and 6 columns at most, four rows of each; and (6 + 2)(6 + 3)/2 second moments at the end.
    assert_eq!(room("support update"), [4 * 3, 4 * 5, 4 * 6]);
    assert_eq!(room("second moments of the support"), [36]);
}
