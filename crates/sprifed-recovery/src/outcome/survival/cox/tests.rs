//! Cox's model without noise against other programs, and what noise makes of it.

use sprifed_noise::Provenance;
use sprifed_query::{AnswerBlock, FollowUp, Record};

use super::*;
use crate::outcome::survival::questions;

const RECORDS: u32 = 2000;

/// Features and times that follow from the number of a record, so that nothing is drawn.
fn records() -> Vec<([f32; 2], f32)> {
    (1..=RECORDS)
        .map(|index| {
            let index = f64::from(index);
            let row = [(0.7 * index).sin() * 1.3, (1.9 * index).sin() * 1.3];
            let predictor = 0.45 * row[0] - 0.35 * row[1];
            let place = (index * 0.618_033_988_749_894_9).fract();
            let time = -(1.0 - place).ln() / (0.6 * predictor.exp());
            let censored = 0.2 + 1.3 * (index * 2f64.sqrt()).fract();
            let last = censored.min(1.0);
            let follow_up = FollowUp::new(time.min(last), time <= last);
            (row.map(|value| value as f32), follow_up.response())
        })
        .collect()
}

/// The answer without noise, or with noise that is stated and not added.
fn answer(questions: &[Question], records: &[([f32; 2], f32)], noise: f64) -> Answer {
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
        AnswerBlock {
            values: sums,
            noise_std_dev: noise,
        }
    };
    Answer {
        blocks: questions.iter().map(block).collect(),
        provenance: Provenance::Simulated,
        absent: Vec::new(),
    }
}

fn term(feature: u32, role: Role, level: f64) -> ReportedTerm {
    ReportedTerm {
        feature,
        role,
        group: None,
        estimate: 0.0,
        interval: None,
        level,
        p_value: Some(1e-4),
        privacy_share: None,
    }
}

/// What a linear procedure ends with: the first feature is in every model.
fn linear(coefficients: [f64; 2]) -> Fit {
    let terms = vec![term(0, Role::Always, 0.95), term(1, Role::Selected, 0.95)];
    Fit {
        model: LinearModel {
            intercept: 0.0,
            terms: vec![(0, coefficients[0]), (1, coefficients[1])],
        },
        sites: Vec::new(),
        inference: Inferred::Available(Inference {
            method: 1,
            sought: 1,
            kept: 1,
            false_share: Some(0.1),
            clip_factor: 1.0,
            moment_noise: 0.0,
            residual_moment_noise: None,
            records: RECORDS,
            inference: crate::setting::InferenceMethod::Selective,
            estimated_by: None,
            score: None,
            survival: None,
            no_intervals: None,
            intercept: None,
            terms,
            covariance: Vec::new(),
        }),
        status: FitStatus::Complete,
        residual_scale: Some(1.0),
        baseline: None,
        cuts: Vec::new(),
        provenance: None,
    }
}

fn opening() -> Opening {
    Opening {
        scale: 1.0,
        intercept: 0.0,
        mean_noise: None,
        feature_scale: 1.0,
    }
}

fn first(records: &[([f32; 2], f32)]) -> Baseline {
    let answer = answer(&questions(None), records, 0.0);
    Baseline::of(
        &answer.blocks[0],
        &answer.blocks[1],
        Counted::AsOne,
        RECORDS,
    )
}

fn refit(linear: Fit, records: &[([f32; 2], f32)], noise: f64) -> Fit {
    let mut refit = CoxRefit::of(linear, &first(records), &opening(), RECORDS);
    loop {
        let answer = answer(&refit.questions(), records, noise);
        match refit.resume(&answer) {
            Next::Ask(_, next) => refit = *next,
            Next::Done(fit) => return *fit,
        }
    }
}

/// Coefficients and standard errors of these records, with times and features in double precision:
/// `CoxPHFitter` of lifelines 0.30.3 and `PHReg` of statsmodels 0.15.0 (ties by Breslow) agree on all digits shown.
const OTHER_PROGRAMS: ([f64; 2], [f64; 2]) = ([0.397_133, -0.349_492], [0.041_264, 0.040_751]);

#[test]
fn repeated_steps_without_noise_come_to_the_partial_likelihood_of_another_program() {
    let records = records();
    let share = first(&records).event_share;
    let mut coefficients = [0.1, 0.0];
    let mut fit = linear(coefficients);
    for _ in 0..4 {
        fit = refit(
            linear(coefficients.map(|value| value * share)),
            &records,
            0.0,
        );
        coefficients = [fit.model.terms[0].1, fit.model.terms[1].1];
    }
    let report = fit.inference.available().unwrap();
    for (place, term) in report.terms.iter().enumerate() {
        let (expected, std_error) = (OTHER_PROGRAMS.0[place], OTHER_PROGRAMS.1[place]);
        // A hazard of twenty bins in place of exact times: with 400 bins the same steps come within 0.005 standard errors.
        assert!(
            (term.estimate - expected).abs() < 0.15 * std_error,
            "{} for {expected}",
            term.estimate
        );
        let interval = term.interval.unwrap();
        let found = (interval.high - interval.low) / (2.0 * 1.959_964);
        assert!(
            (found / (BASELINE_FACTOR * std_error) - 1.0).abs() < 0.05,
            "{found} for {std_error}"
        );
    }
}

#[test]
fn stated_noise_widens_intervals_and_the_hazard_is_that_of_no_features() {
    let records = records();
    let share = first(&records).event_share;
    let start = [0.397 * share, -0.349 * share];
    let (exact, noisy) = (
        refit(linear(start), &records, 0.0),
        refit(linear(start), &records, 4.0),
    );
    let width = |fit: &Fit, place: usize| {
        let interval = fit.inference.available().unwrap().terms[place]
            .interval
            .unwrap();
        interval.high - interval.low
    };
    for place in [0, 1] {
        assert!(width(&noisy, place) > 1.1 * width(&exact, place));
        let share = |fit: &Fit| fit.inference.available().unwrap().terms[place].privacy_share;
        assert!(share(&noisy).unwrap() > share(&exact).unwrap());
    }
    // The times have the constant hazard 0.6 up to the horizon, and the intercept is what is left of it.
    let total = |fit: &Fit| {
        let baseline = fit.baseline.as_ref().unwrap();
        baseline.hazard.iter().sum::<f64>() * fit.model.intercept.exp()
    };
    assert!((total(&exact) - 0.6).abs() < 0.05, "{}", total(&exact));
    let errors = |fit: &Fit| fit.baseline.as_ref().unwrap().std_errors[10];
    assert!(errors(&noisy) > 1.1 * errors(&exact));
}

#[test]
fn what_the_linear_procedure_says_of_intervals_holds() {
    let records = records();
    let mut few = linear([0.1, -0.1]);
    let Inferred::Available(report) = &mut few.inference else {
        unreachable!("it is available")
    };
    report.no_intervals = Some(NoInterval::FewRecords);
    let fit = refit(few, &records, 1.0);
    let report = fit.inference.available().unwrap();
    assert!(report.terms.iter().all(|term| term.interval.is_none()));
    // That of every model has a p-value of its own, the selected one keeps that of its selection.
    assert!(report.terms[0].p_value.unwrap() < 1e-9);
    assert_eq!(report.terms[1].p_value, Some(1e-4));
    assert!(report.intercept.is_none() && report.covariance.len() == 3);
}

#[test]
fn noise_that_hides_the_curvature_is_said() {
    let records = records();
    let fit = refit(linear([0.1, -0.1]), &records, 2000.0);
    assert!(
        matches!(fit.status, FitStatus::IllConditioned { .. }),
        "{:?}",
        fit.status
    );
}
