//! Drawn times against what was asked for, and scores against counts of pairs.

use rand_distr::{Distribution, StandardNormal};
use sprifed_query::Records;

use super::reference::{martingale_residuals, most_likely_hazards};
use super::*;
use crate::world::stream_of;

fn model(spread: f64, events: f64) -> LinearModel {
    let drawn = LinearModel {
        intercept: 0.0,
        terms: vec![(0, 1.0)],
    };
    hazard_model(drawn, 1.0, spread, events)
}

/// Predictors of the truth and responses.
fn drawn(spread: f64, events: f64, count: usize) -> Vec<(f64, FollowUp)> {
    let model = model(spread, events);
    let mut stream = stream_of(3, 4);
    (0..count)
        .map(|_| {
            let z: f64 = StandardNormal.sample(&mut stream);
            let predictor = model.intercept + spread * z;
            (spread * z, FollowUp::of(draw(predictor, &mut stream)))
        })
        .collect()
}

#[test]
fn the_share_of_events_is_as_asked() {
    for (spread, events) in [(1.0, 0.6), (0.7, 0.25), (2.0, 0.5), (0.0, 0.9)] {
        let records = drawn(spread, events, 40_000);
        let found = records.iter().filter(|(_, one)| one.is_event).count() as f64 / 40_000.0;
        // Four standard errors of a share.
        assert!((found - events).abs() < 0.01, "{found} for {events}");
        assert!(
            records
                .iter()
                .all(|(_, one)| (0.0..=1.0).contains(&one.time))
        );
    }
}

#[test]
fn concordance_is_that_of_pairs() {
    // With constant hazards every pair is decided by its predictors alone, so times without censoring do.
    let mut stream = stream_of(5, 6);
    let records: Vec<(f64, f64, f64)> = (0..3000)
        .map(|_| {
            let known: f64 = StandardNormal.sample(&mut stream);
            let rest: f64 = StandardNormal.sample(&mut stream);
            let time = -(1.0 - uniform(&mut stream)).ln() / (known + 0.5 * rest).exp();
            (known, rest, time)
        })
        .collect();
    let (mut wins, mut pairs) = (0.0, 0.0);
    for (place, one) in records.iter().enumerate() {
        for other in &records[..place] {
            pairs += 1.0;
            wins += f64::from(u8::from((one.0 > other.0) == (one.2 < other.2)));
        }
    }
    let scores = TimeScores::of(Spread {
        truth: 1.25,
        model: 4.0,
        covariance: 2.0,
    });
    assert!(
        (scores.concordance - wins / pairs).abs() < 0.015,
        "{} for {}",
        scores.concordance,
        wins / pairs
    );
    let true_one = TimeScores::of(Spread {
        truth: 1.0,
        model: 1.0,
        covariance: 1.0,
    });
    assert!((true_one.deviance_share.unwrap() - 1.0).abs() < 1e-9);
    let none = TimeScores::of(Spread {
        truth: 1.0,
        model: 0.0,
        covariance: 0.0,
    });
    assert!((none.concordance - 0.5).abs() < 1e-12 && none.deviance_share.unwrap().abs() < 1e-9);
}

#[test]
fn cox_finds_the_truth_and_the_factor_of_what_is_left_out() {
    let count = 20_000;
    let (intercept, spread) = (model(1.0, 0.6).intercept, 0.5f64.sqrt());
    let mut stream = stream_of(7, 8);
    let (mut features, mut responses) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let row: [f64; 2] = core::array::from_fn(|_| StandardNormal.sample(&mut stream));
        let predictor = intercept + spread * (row[0] + row[1]);
        responses.push(draw(predictor, &mut stream));
        features.extend(row.map(|value| value as f32));
    }
    let records = Records::each_a_unit(&features, &responses, 2).unwrap();
    // A standard error is about 0.01.
    let both = most_likely_hazards(&records, &[0, 1]);
    assert!(
        both.terms
            .iter()
            .all(|(_, value)| (value - spread).abs() < 0.04),
        "{both:?}"
    );
    let one = most_likely_hazards(&records, &[0]);
    let factor = projected_factor(intercept, 0.5, 0.5);
    assert!(
        factor < 0.95 && (one.terms[0].1 - factor * spread).abs() < 0.04,
        "{one:?}, {factor}"
    );
    // Residuals of the records without features add up to zero.
    let residuals = martingale_residuals(&responses);
    let sum: f64 = residuals.iter().map(|one| f64::from(*one)).sum();
    assert!(sum.abs() < 0.1, "{sum}");
}
