//! Decoding undoes the encoding of the question, and its equations are those of the records.

use sprifed_query::{Constant, FeatureList, Limit, Question, Record, ReleasedModel, Scales};

use super::*;

/// Sums of a second-moment question over `rows`, nothing clipped, as an answer without noise.
fn answer(rows: &[([f32; 2], f32)], intercept: bool, norm: f64) -> AnswerBlock {
    let question = Question::SecondMoment {
        support: FeatureList::of(&[1, 0]),
        constant: if intercept {
            Constant::One
        } else {
            Constant::Absent
        },
        model: ReleasedModel::default(),
        scales: Scales {
            feature: Limit::nearest(1.0),
            residual: Limit::nearest(1.0),
        },
        norm: Limit::nearest(norm),
    };
    let mut sums = vec![0f32; question.coordinates()];
    for (features, response) in rows {
        question.add_contribution(
            Record {
                features,
                response: *response,
                is_present: true,
            },
            &mut sums,
        );
    }
    AnswerBlock {
        values: sums.into_iter().map(f64::from).collect(),
        noise_std_dev: 0.25,
    }
}

const ROWS: [([f32; 2], f32); 5] = [
    ([1.0, 2.0], 3.0),
    ([-1.0, 0.5], 2.0),
    ([0.0, 1.0], -1.0),
    ([2.0, 2.0], 0.5),
    ([1.0, 0.0], 1.0),
];

#[test]
fn decoding_undoes_the_encoding_of_the_question() {
    for intercept in [false, true] {
        let moments = Moments::decode(&answer(&ROWS, intercept, 50.0), 2, intercept, 50.0, 5.0);
        let z = |row: &([f32; 2], f32)| {
            let one = intercept.then_some(1.0);
            let rest = [row.0[1], row.0[0], row.1].map(f64::from);
            one.into_iter().chain(rest).collect::<Vec<f64>>()
        };
        let size = 3 + usize::from(intercept);
        for row in 0..size {
            for column in 0..size {
                let expected: f64 = ROWS.iter().map(|r| z(r)[row] * z(r)[column]).sum();
                let found = moments.matrix[(row, column)];
                assert!((found - expected).abs() < 1e-3, "{found} for {expected}");
            }
        }
        assert!((moments.noise - 0.25 * 2500.0).abs() < 1e-9);
    }
}

#[test]
fn the_equations_without_an_intercept_are_those_of_the_records() {
    let moments = Moments::decode(&answer(&ROWS, false, 50.0), 2, false, 50.0, 5.0);
    let equations = moments.normal_equations();
    let gram = [equations.gram.row(0), equations.gram.row(1)].concat();
    for (found, expected) in gram.iter().zip([9.25, 5.5, 5.5, 7.0]) {
        assert!((found - expected).abs() < 1e-3, "{found} for {expected}");
    }
    for (found, expected) in equations.cross.iter().zip([7.0, 3.0]) {
        assert!((found - expected).abs() < 1e-3, "{found} for {expected}");
    }
    assert!((equations.cross_noise * SQRT_2 - equations.gram_noise).abs() < 1e-9);
    assert!(moments.intercept_change(&[1.0, 1.0]).abs() < 1e-12);
}

#[test]
fn the_intercept_is_eliminated_and_found_again() {
    // y = 3 + 2·x_0 − x_1 exactly.
    let rows = ROWS.map(|(x, _)| (x, 3.0 + 2.0 * x[0] - x[1]));
    let moments = Moments::decode(&answer(&rows, true, 50.0), 2, true, 50.0, 5.0);
    let coefficients = moments.normal_equations().restricted(&[0, 1]).exact();
    assert!((coefficients[0] + 1.0).abs() < 1e-3, "{coefficients:?}");
    assert!((coefficients[1] - 2.0).abs() < 1e-3, "{coefficients:?}");
    let intercept = moments.intercept_change(&coefficients);
    assert!((intercept - 3.0).abs() < 1e-2, "{intercept}");
}

impl NoisyNormalEquations {
    /// The solution as if there were no noise.
    fn exact(self) -> Vec<f64> {
        Self {
            gram_noise: 0.0,
            ..self
        }
        .solve()
        .coefficients
    }
}

#[test]
fn an_answer_that_is_too_short_reads_as_zeros() {
    let short = AnswerBlock {
        values: vec![1.0],
        noise_std_dev: 1.0,
    };
    let moments = Moments::decode(&short, 2, false, 1.0, 5.0);
    assert!((moments.matrix.length() - 1.0).abs() < 1e-12);
}

#[test]
fn noise_on_the_number_of_records_does_not_make_a_mean_explode() {
    let mut block = answer(&ROWS, true, 50.0);
    block.values[0] = -1e6;
    let moments = Moments::decode(&block, 2, true, 50.0, 5.0);
    assert!((moments.count() - 2.5).abs() < 1e-12);
    assert!(moments.intercept_change(&[0.0; 2]).abs() < 3.0);
}
