//! Times, hazards and what a record contributes to the two histograms.

use proptest::prelude::*;

use super::*;
use crate::model::LinearModel;
use crate::question::Question;
use crate::records::Record;

fn contribution(question: &Question, features: &[f32], response: f32) -> Vec<f32> {
    let mut out = vec![0.0; question.coordinates()];
    let record = Record {
        features,
        response,
        is_present: true,
    };
    question.add_contribution(record, &mut out);
    out
}

fn weighted(coefficient: f64) -> Question {
    let model = LinearModel {
        intercept: 5.0,
        terms: vec![(0, coefficient)],
    };
    Question::LeftInBins {
        risk: Some(model.into()),
    }
}

fn one_in(bin: usize, size: f32) -> Vec<f32> {
    let mut bins = vec![0.0; TIME_BINS];
    bins[bin] = size;
    bins
}

#[test]
fn a_response_holds_a_time_and_an_event() {
    for time in [0.0, 1e-9, 0.25, 0.5, 0.95, 1.0] {
        for is_event in [true, false] {
            let follow_up = FollowUp::new(time, is_event);
            let again = FollowUp::of(follow_up.response());
            assert_eq!(again.is_event, is_event, "{time}");
            assert!((again.time - time).abs() < 1e-7, "{time}");
        }
    }
    let beyond = FollowUp::new(1.001, true);
    assert_eq!(beyond, FollowUp::new(1.0, false));
    assert_eq!(FollowUp::of(beyond.response()), beyond);
    for broken in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0] {
        assert_eq!(FollowUp::of(broken), FollowUp::new(0.0, false));
    }
    assert_eq!(FollowUp::new(f64::NAN, true), FollowUp::new(0.0, false));
}

#[test]
fn a_hazard_is_linear_within_its_bins() {
    let hazard = ReleasedHazard::new(|bin| if bin < 2 { 0.1 } else { 0.4 });
    for (time, expected) in [
        (0.0, 0.0),
        (0.025, 0.05),
        (0.05, 0.1),
        (0.125, 0.4),
        (1.0, 7.4),
        (7.0, 7.4),
        (f64::NAN, 0.0),
    ] {
        assert!((hazard.at(time) - expected).abs() < 1e-12, "{time}");
    }
    // An event at half of the third bin, a censored record there, and one with the largest hazard.
    for (response, expected) in [(0.125, 0.6), (-0.125, -0.4), (1.0, -3.0), (-1.0, -4.0)] {
        let found = hazard.martingale(response);
        assert!((found - expected).abs() < 1e-6, "{response}: {found}");
    }
}

#[test]
fn what_is_not_a_number_is_no_part_of_a_released_hazard() {
    let broken = ReleasedHazard::new(|bin| [f64::NAN, -3.0, f64::INFINITY, 0.5][bin.min(3)]);
    assert_eq!(broken.bins()[..4], [0.0, 0.0, MOST_HAZARD, 0.5]);
    let stated: Vec<f64> = broken.clone().into();
    assert_eq!(ReleasedHazard::try_from(stated), Ok(broken));
    let count = Err(IllegalHazard { found: None });
    assert_eq!(ReleasedHazard::try_from(vec![0.1; TIME_BINS - 1]), count);
    assert_eq!(ReleasedHazard::try_from(vec![0.1; TIME_BINS + 1]), count);
    let negative = Err(IllegalHazard { found: Some(-0.1) });
    assert_eq!(ReleasedHazard::try_from(vec![-0.1; TIME_BINS]), negative);
    assert!(ReleasedHazard::try_from(vec![f64::NAN; TIME_BINS]).is_err());
}

#[test]
fn a_record_is_in_one_bin_of_each_histogram() {
    let left = Question::LeftInBins { risk: None };
    for (response, bin, events) in [
        (0.5, 10, 1.0),
        (-0.5, 10, 0.0),
        (1.0, 19, 1.0),
        (-1.0, 19, 0.0),
        (2.0, 19, 0.0),
        (f32::MIN_POSITIVE, 0, 1.0),
        (f32::NAN, 0, 0.0),
    ] {
        let found = contribution(&Question::EventsInBins, &[], response);
        assert_eq!(found, one_in(bin, events), "{response}");
        assert_eq!(contribution(&left, &[], response), one_in(bin, 1.0));
    }
}

#[test]
fn a_weight_is_the_relative_risk_and_at_most_three() {
    // The intercept does not count.
    for (coefficient, feature, expected) in [
        (0.5, 1.0, 0.5f64.exp() / 3.0),
        (-0.5, 1.0, (-0.5f64).exp() / 3.0),
        (1.0, 1.2, 1.0),
        (1.0, 1e30, 1.0),
        (-1.0, 1e30, (-8.0f64).exp() / 3.0),
        (1.0, f32::NAN, 1.0 / 3.0),
    ] {
        let found = contribution(&weighted(coefficient), &[feature], -0.5);
        let expected = one_in(10, expected as f32);
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-6, "{coefficient} {feature}");
        }
    }
}

fn squares(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum()
}

proptest! {
    /// docs/proofs/event_times.md#1-the-two-histograms: one under zero-out, √2 under replace-one, less than the two that
    /// is charged. In units of the weights, three times as much.
    #[test]
    fn a_record_moves_a_histogram_by_one_or_by_the_root_of_two(
        one in any::<f32>(),
        other in any::<f32>(),
        features in prop::array::uniform2(any::<f32>()),
        coefficient in -3.0f64..3.0,
    ) {
        for question in [Question::EventsInBins, Question::LeftInBins { risk: None }, weighted(coefficient)] {
            let first = contribution(&question, &features[..1], one);
            let second = contribution(&question, &features[1..], other);
            prop_assert!(squares(first.iter().map(|value| f64::from(*value))) <= 1.0);
            let moved = squares(first.iter().zip(&second).map(|(a, b)| f64::from(*a) - f64::from(*b)));
            prop_assert!(moved <= 2.0, "{moved}");
        }
    }
}

#[test]
fn the_root_of_two_is_reached() {
    for question in [
        Question::EventsInBins,
        Question::LeftInBins { risk: None },
        weighted(2.0),
    ] {
        let first = contribution(&question, &[1.0], 0.1);
        let second = contribution(&question, &[1.0], 0.9);
        let moved = first.iter().zip(&second).map(|(a, b)| f64::from(a - b));
        assert!((squares(moved) - 2.0).abs() < 1e-12, "{question:?}");
    }
}
