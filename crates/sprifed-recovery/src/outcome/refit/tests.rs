//! The step without noise against the maximum of the likelihood, and what noise makes of it.

use sprifed_noise::Provenance;
use sprifed_query::{AnswerBlock, Record};

use super::*;
use crate::inference::{Inference, Role};
use crate::portable::{dot, norm};
use crate::setting::InferenceMethod;

/// Records whose response follows from their number, so that nothing is drawn.
fn records(count: u32) -> Vec<([f32; 3], f32)> {
    (0..count)
        .map(|index| {
            let wave = |step: f64| ((f64::from(index) * step).sin() * 1.3) as f32;
            let row = [wave(0.7), wave(1.9), wave(3.1)];
            let predictor = 0.4 + 1.1 * f64::from(row[0]) - 0.7 * f64::from(row[2]);
            let share = 1.0 / (1.0 + (-predictor).exp());
            // A sequence that fills the interval evenly.
            let place = (f64::from(index) * 0.618_033_988_75).fract();
            (row, f32::from(u8::from(place < share)))
        })
        .collect()
}

fn linear() -> Fit {
    let term = |feature: u32| ReportedTerm {
        feature,
        role: Role::Selected,
        group: None,
        estimate: 0.0,
        interval: None,
        level: 0.95,
        p_value: Some(0.01),
        privacy_share: None,
    };
    Fit {
        model: LinearModel::default(),
        sites: Vec::new(),
        inference: Inferred::Available(Inference {
            method: 1,
            sought: 2,
            kept: 2,
            false_share: Some(0.1),
            clip_factor: 1.0,
            moment_noise: 0.0,
            residual_moment_noise: None,
            records: 900,
            inference: InferenceMethod::Selective,
            estimated_by: None,
            score: None,
            survival: None,
            no_intervals: None,
            intercept: Some(ReportedIntercept {
                estimate: 0.0,
                interval: None,
                level: 0.95,
                privacy_share: None,
            }),
            terms: vec![term(2), term(0)],
            covariance: Vec::new(),
        }),
        status: FitStatus::Complete,
        residual_scale: Some(0.5),
        baseline: None,
        cuts: Vec::new(),
        provenance: None,
    }
}

/// What another program fits to the records of a file.
#[derive(serde::Deserialize)]
struct Known {
    /// Three features and a response each.
    records: Vec<[f32; 4]>,
    /// The constant first.
    coefficients: Vec<f64>,
    standard_errors: Vec<f64>,
}

fn refit(intercept: f64, coefficients: &[f64], explained: f64) -> Refit {
    Refit {
        link: Link::Logit,
        mean: 0.5,
        features: vec![2, 0],
        start: Start {
            intercept,
            coefficients: coefficients.to_vec(),
            explained,
        },
        feature_scale: 0.5,
        has_records: true,
        linear: linear(),
    }
}

/// The answer without noise, or with noise that is stated and not added.
fn answer(refit: &Refit, records: &[([f32; 3], f32)], noise: f64) -> Answer {
    let block = |question: &Question| {
        let mut sums = vec![0.0f64; question.coordinates()];
        for (features, response) in records {
            let mut out = vec![0f32; sums.len()];
            let record = Record {
                features,
                response: *response,
                is_present: true,
            };
            question.add_contribution(record, &mut out);
            for (sum, value) in sums.iter_mut().zip(out) {
                *sum += f64::from(value);
            }
        }
        // Room of the plan that is not used.
        sums.push(0.0);
        AnswerBlock {
            values: sums,
            noise_std_dev: noise,
        }
    };
    Answer {
        blocks: refit.questions().iter().map(block).collect(),
        provenance: Provenance::Simulated,
        absent: Vec::new(),
    }
}

/// Newton's method on the weighted records, from zero: in bounded units, the constant first.
fn maximum(records: &[([f32; 3], f32)], norm: f64) -> (Vec<f64>, SquareMatrix) {
    let mut model = vec![0.0; 3];
    let mut inverse = SquareMatrix::zeros(3);
    for _ in 0..40 {
        let mut gradient = vec![0.0; 3];
        let mut curvature = SquareMatrix::zeros(3);
        for (row, response) in records {
            let z = [1.0, f64::from(row[2]) / 0.5, f64::from(row[0]) / 0.5];
            let length = dot(&z, &z);
            let weight = (norm * norm / length).min(1.0);
            let share = 1.0 / (1.0 + (-dot(&z, &model)).exp());
            for left in 0..3 {
                gradient[left] += weight * z[left] * (f64::from(*response) - share);
                for right in 0..3 {
                    curvature[(left, right)] += weight * share * (1.0 - share) * z[left] * z[right];
                }
            }
        }
        inverse = curvature.inverse().unwrap();
        let step = inverse.times(&gradient);
        for (entry, change) in model.iter_mut().zip(step) {
            *entry += change;
        }
    }
    (model, inverse)
}

#[test]
fn repeated_steps_without_noise_come_to_the_maximum_of_the_likelihood() {
    let records = records(900);
    let norm = clip_norm(2);
    let (expected, inverse) = maximum(&records, norm);
    let mut from = vec![0.0; 3];
    for _ in 0..8 {
        let refit = refit(from[0], &from[1..], 0.2);
        let answer = answer(&refit, &records, 0.0);
        let step = refit.step(&answer).unwrap();
        for (entry, change) in from.iter_mut().zip(&step.plain) {
            *entry += change;
        }
    }
    for (found, expected) in from.iter().zip(&expected) {
        assert!((found - expected).abs() < 1e-4, "{found} for {expected}");
    }
    // One step from there stays there, and reports it in bounded units.
    let last = refit(from[0], &from[1..], 0.2);
    let answer = answer(&last, &records, 0.0);
    let fit = last.finish(&answer);
    assert_eq!(fit.status, FitStatus::Complete);
    assert_eq!(fit.residual_scale, None);
    let report = fit.inference.available().unwrap();
    for (term, place) in report.terms.iter().zip(1..) {
        assert!((term.estimate - expected[place] / 0.5).abs() < 1e-3);
        let interval = term.interval.unwrap();
        let reach = 1.959_964 * inverse[(place, place)].sqrt() / 0.5;
        assert!((interval.high - interval.low - 2.0 * reach).abs() < 1e-3);
        let variance = report.covariance_of(place, place).unwrap();
        assert!((variance - inverse[(place, place)] / 0.25).abs() < 1e-4);
        assert_eq!(term.p_value, Some(0.01));
    }
    assert_eq!(report.score.unwrap().link, Link::Logit);
}

/// Repeats steps without noise, and compares with what another program says of the same records.
fn assert_known(link: Link, text: &str) {
    let known: Known = serde_json::from_str(text).unwrap();
    let records: Vec<([f32; 3], f32)> = known
        .records
        .iter()
        .map(|[first, second, third, response]| ([*first, *second, *third], *response))
        .collect();
    let mut from = vec![0.0; 4];
    let mut errors = Vec::new();
    for _ in 0..12 {
        let refit = Refit {
            link,
            features: vec![0, 1, 2],
            feature_scale: 1.0,
            ..refit(from[0], &from[1..], 0.2)
        };
        let step = refit.step(&answer(&refit, &records, 0.0)).unwrap();
        for (entry, change) in from.iter_mut().zip(&step.plain) {
            *entry += change;
        }
        errors = (0..4)
            .map(|place| step.sampling[(place, place)].sqrt())
            .collect();
    }
    let expected = known.coefficients.iter().chain(&known.standard_errors);
    for (found, expected) in from.iter().chain(&errors).zip(expected) {
        // Contributions are of single precision.
        assert!((found - expected).abs() < 2e-6, "{found} for {expected}");
    }
}

#[test]
fn the_limit_without_noise_is_the_logistic_regression_of_other_programs() {
    assert_known(Link::Logit, include_str!("known/logistic.json"));
}

#[test]
fn noise_widens_intervals_and_shrinks_the_step_that_predicts() {
    let records = records(900);
    let from_zero = refit(0.0, &[0.0, 0.0], 0.2);
    let clear = from_zero.step(&answer(&from_zero, &records, 0.0)).unwrap();
    let noisy = from_zero.step(&answer(&from_zero, &records, 8.0)).unwrap();
    assert_eq!((clear.repaired, noisy.repaired), (0, 0));
    for place in 0..3 {
        assert!((clear.plain[place] - noisy.plain[place]).abs() < 1e-9);
        assert!(clear.privacy[(place, place)].abs() < 1e-12);
        assert!(noisy.privacy[(place, place)] > 0.0);
    }
    assert!(norm(&noisy.shrunk) < 0.999 * norm(&clear.shrunk));
}

#[test]
fn the_covariance_is_that_of_drawn_noise() {
    let records = records(900);
    let from = refit(0.2, &[-0.2, 0.4], 0.2);
    let clear = answer(&from, &records, 0.0);
    let stated = answer(&from, &records, 3.0);
    let predicted = from.step(&stated).unwrap().privacy;
    let centre = from.step(&clear).unwrap().plain;
    let mut uniform = 0.5f64;
    let mut normal = || {
        // Twelve numbers of a fixed sequence.
        (0..12).fold(-6.0, |sum, _| {
            uniform = (uniform * 997.0 + 0.123_456_789).fract();
            sum + uniform
        })
    };
    let (mut sums, draws) = (SquareMatrix::zeros(3), 40_000);
    for _ in 0..draws {
        let mut noisy = stated.clone();
        for block in &mut noisy.blocks {
            for value in &mut block.values {
                *value += 3.0 * normal();
            }
        }
        let step = from.step(&noisy).unwrap().plain;
        for row in 0..3 {
            for column in 0..3 {
                sums[(row, column)] += (step[row] - centre[row]) * (step[column] - centre[column]);
            }
        }
    }
    for row in 0..3 {
        let (found, expected) = (sums[(row, row)] / f64::from(draws), predicted[(row, row)]);
        assert!(
            (found / expected - 1.0).abs() < 0.05,
            "{found} for {expected}"
        );
    }
}

#[test]
fn almost_separated_values_have_no_intervals() {
    let records = records(900);
    let refit = refit(0.0, &[0.0, 0.0], 0.5);
    let fit = refit.clone().finish(&answer(&refit, &records, 0.0));
    assert_eq!(fit.status, FitStatus::AlmostSeparated { explained: 0.5 });
    let report = fit.inference.available().unwrap();
    assert_eq!(report.no_intervals, Some(NoInterval::AlmostSeparated));
    assert!(report.terms.iter().all(|term| term.interval.is_none()));
    assert!(report.intercept.as_ref().unwrap().interval.is_none());
    assert!(report.covariance.is_empty());
}

#[test]
fn an_ill_conditioned_curvature_keeps_its_intervals() {
    let records = records(30);
    let refit = refit(0.0, &[0.0, 0.0], 0.2);
    let fit = refit.clone().finish(&answer(&refit, &records, 40.0));
    assert!(matches!(fit.status, FitStatus::IllConditioned { repaired, .. } if repaired > 0));
    let report = fit.inference.available().unwrap();
    assert_eq!(report.no_intervals, None);
    assert!(report.terms.iter().all(|term| term.interval.is_some()));
}

#[test]
fn a_step_that_predicts_has_a_limit() {
    let cut = at_most_long(vec![30.0, 40.0], LONGEST_STEP);
    assert!((norm(&cut) - LONGEST_STEP).abs() < 1e-12);
    assert_eq!(at_most_long(vec![1.0, 2.0], LONGEST_STEP), [1.0, 2.0]);
}
