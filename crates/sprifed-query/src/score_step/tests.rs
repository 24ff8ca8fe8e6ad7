//! A step against hand computation, and its bounds where they are reached.

use super::*;
use crate::model::LinearModel;
use crate::question::Question;

fn step(intercept: f64, norm: f64) -> ScoreStep {
    ScoreStep {
        expects: Expectation::Response(Link::Logit),
        support: FeatureList::of(&[2, 0]),
        constant: Constant::One,
        model: LinearModel {
            intercept,
            terms: vec![(2, 0.5)],
        }
        .into(),
        feature: Limit::nearest(2.0),
        norm: Limit::nearest(norm),
    }
}

fn contributions(step: &ScoreStep, features: &[f32], response: f32) -> (Vec<f64>, Vec<f64>) {
    let of = |question: Question| {
        let mut out = vec![0.0; question.coordinates()];
        let record = Record {
            features,
            response,
            is_present: true,
        };
        question.add_contribution(record, &mut out);
        out.into_iter().map(f64::from).collect()
    };
    (
        of(Question::ScoreGradient(step.clone())),
        of(Question::ScoreCurvature(step.clone())),
    )
}

fn assert_close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-6, "{found} for {expected}");
    }
}

fn norm(values: &[f64]) -> f64 {
    length(values)
}

#[test]
fn a_short_record_counts_in_full() {
    // z = (1, 4/2, 2/2), of length √6; the predictor is 0.5 + 0.5·4.
    let (gradient, curvature) = contributions(&step(0.5, 3.0), &[2.0, 9.0, 4.0], 1.0);
    let expected = 1.0 / (1.0 + (-2.5f64).exp());
    let left = (1.0 - expected) / 3.0;
    assert_close(&gradient, &[left, 2.0 * left, left]);
    let weight = 4.0 * expected * (1.0 - expected) / 9.0;
    let root = core::f64::consts::SQRT_2;
    let triangle = [1.0, 2.0 * root, root, 4.0, 2.0 * root, 1.0];
    assert_close(&curvature, &triangle.map(|entry| weight * entry));
}

#[test]
fn a_long_record_is_weighed_down_by_its_variables_alone() {
    let long = [2.0, 9.0, 4.0];
    let weight = 2.0 / 6.0;
    let short = step(0.5, 6.0f64.sqrt());
    let (full, full_curvature) = contributions(&short, &long, 0.0);
    let (gradient, curvature) = contributions(&step(0.5, 2.0f64.sqrt()), &long, 0.0);
    // In units of C = √6 and √2 instead of one another.
    let units = (3.0f64).sqrt();
    assert_close(
        &gradient,
        &full
            .iter()
            .map(|entry| weight * units * entry)
            .collect::<Vec<_>>(),
    );
    assert_close(
        &curvature,
        &full_curvature
            .iter()
            .map(|entry| weight * units * units * entry)
            .collect::<Vec<_>>(),
    );
}

#[test]
fn the_bounds_are_reached_and_never_passed() {
    // |z| = C at a response that was thought impossible; and at even odds.
    let at_norm = 6.0f64.sqrt();
    let (gradient, _) = contributions(&step(-32.0, at_norm), &[2.0, 9.0, 4.0], 1.0);
    assert!((norm(&gradient) - 1.0).abs() < 1e-6, "{gradient:?}");
    let (_, curvature) = contributions(&step(-2.0, at_norm), &[2.0, 9.0, 4.0], 1.0);
    assert!((norm(&curvature) - 1.0).abs() < 1e-6, "{curvature:?}");
    for response in [-1e30, 0.0, 0.5, 1.0, 7.0, f32::MAX, f32::NAN] {
        for size in [0.0, 1e-20, 1.0, 1e10, f32::MAX, f32::NAN] {
            for intercept in [-1e300, -3.0, 0.0, 1e300] {
                let step = step(intercept, 1.2);
                let (gradient, curvature) = contributions(&step, &[size, 0.0, -size], response);
                assert!(norm(&gradient) <= 1.0 + 1e-6, "{size} {response}");
                assert!(norm(&curvature) <= 1.0 + 1e-6, "{size} {response}");
            }
        }
    }
}

/// The same step about events, where twenty bins add `of_bin` each.
fn of_events(of_bin: f64, intercept: f64, norm: f64) -> ScoreStep {
    ScoreStep {
        expects: Expectation::Events(ReleasedHazard::new(|_| of_bin)),
        ..step(intercept, norm)
    }
}

#[test]
fn events_are_expected_by_the_hazard_up_to_the_time() {
    // Half of the time passed: Λ = 10 bins of 0.02; the predictor is -1 + 0.5·4.
    let (gradient, curvature) = contributions(&of_events(0.02, -1.0, 3.0), &[2.0, 9.0, 4.0], 0.5);
    let expected = 0.2 * 1.0f64.exp();
    let left = (1.0 - expected) / 2.0 / 3.0;
    assert_close(&gradient, &[left, 2.0 * left, left]);
    assert!((curvature[0] - expected / 2.0 / 9.0).abs() < 1e-6);
    // Censored at the same time.
    let (censored, same) = contributions(&of_events(0.02, -1.0, 3.0), &[2.0, 9.0, 4.0], -0.5);
    assert!((censored[0] + expected / 2.0 / 3.0).abs() < 1e-6);
    assert_close(&same, &curvature);
}

#[test]
fn the_bounds_of_events_are_reached_and_never_passed() {
    let at_norm = 6.0f64.sqrt();
    let worst = of_events(1.0, 9.0, at_norm);
    let (gradient, curvature) = contributions(&worst, &[2.0, 9.0, 4.0], -1.0);
    assert!((norm(&gradient) - 1.0).abs() < 1e-6, "{gradient:?}");
    assert!((norm(&curvature) - 1.0).abs() < 1e-6, "{curvature:?}");
    for response in [-1e30, -0.3, 0.0, 0.5, 1.0, 7.0, f32::MAX, f32::NAN] {
        for size in [0.0, 1e-20, 1.0, 1e10, f32::MAX, f32::NAN] {
            for (hazard, intercept) in [(1e300, 1e300), (0.05, 0.0), (f64::NAN, -1e300)] {
                let step = of_events(hazard, intercept, 1.2);
                let (gradient, curvature) = contributions(&step, &[size, 0.0, -size], response);
                assert!(norm(&gradient) <= 1.0 + 1e-6, "{size} {response}");
                assert!(norm(&curvature) <= 1.0 + 1e-6, "{size} {response}");
            }
        }
    }
}
