//! The closed form of the covariance against drawn noise, and the solve against least squares.

use rand_core::Rng;
use sprifed_noise::{NoiseGenerator, Provenance};
use sprifed_query::{AnswerBlock, Record};

use super::*;
use crate::test_support::legal_setting;

/// Standard normal numbers.
struct Normals(NoiseGenerator);

impl Normals {
    fn seeded(seed: u64) -> Self {
        Self(NoiseGenerator::simulated(seed))
    }

    fn next(&mut self) -> f64 {
        let mut uniform = || (f64::from(self.0.next_u32()) + 0.5) / f64::from(u32::MAX);
        let (radius, turn) = (uniform(), uniform());
        (-2.0 * radius.ln()).sqrt() * (2.0 * core::f64::consts::PI * turn).cos()
    }

    /// Symmetric noise: 1 on the diagonal, 1/√2 off it.
    fn symmetric(&mut self, size: usize) -> SquareMatrix {
        let mut noise = SquareMatrix::zeros(size);
        for row in 0..size {
            for column in row..size {
                let scale = if row == column { 1.0 } else { 0.5f64.sqrt() };
                let value = scale * self.next();
                noise[(row, column)] = value;
                noise[(column, row)] = value;
            }
        }
        noise
    }
}

/// An answer whose matrix is `matrix` when read with the clip factor 1, with noise τ on the diagonal.
fn answer_of(matrix: &SquareMatrix, noise: f64) -> Answer {
    let size = matrix.size();
    let square_norm = size as f64;
    let mut values = Vec::new();
    for row in 0..size {
        for column in row..size {
            let weight = if row == column { 1.0 } else { 2f64.sqrt() };
            values.push(matrix[(row, column)] * weight / square_norm);
        }
    }
    let block = AnswerBlock {
        values,
        noise_std_dev: noise / square_norm,
    };
    Answer {
        blocks: vec![block],
        provenance: Provenance::Simulated,
        absent: Vec::new(),
    }
}

const RECORDS: u32 = 800;

/// Second moments of (1, four correlated features, residual).
fn moments() -> SquareMatrix {
    let mut normals = Normals::seeded(3);
    let mut sums = SquareMatrix::zeros(6);
    for _ in 0..RECORDS {
        let common = normals.next();
        let x: Vec<f64> = (0..4).map(|_| 0.5 * common + normals.next()).collect();
        let residual = 0.3 + 0.4 * x[0] - 0.2 * x[2] + normals.next();
        let z = [1.0, x[0], x[1], x[2], x[3], residual];
        for (row, left) in z.iter().enumerate() {
            for (column, right) in z.iter().enumerate() {
                sums[(row, column)] += left * right;
            }
        }
    }
    sums
}

fn setting(always: u32, intercept: Intercept) -> Setting {
    Setting {
        n_records: RECORDS,
        always,
        intercept,
        ..legal_setting()
    }
}

const CURRENT: [f64; 4] = [0.1, -0.3, 0.0, 0.25];

fn last(matrix: &SquareMatrix, noise: f64, always: u32, intercept: Intercept) -> LastAnswer {
    let setting = setting(always, intercept);
    LastAnswer::new(&setting, &answer_of(matrix, noise), CURRENT.to_vec(), 1.0).unwrap()
}

#[test]
fn the_covariance_of_noise_times_a_vector_is_that_of_drawn_noise() {
    let vector = [0.7, -1.3, 0.2, 1.0];
    let length = dot(&vector, &vector);
    let expected = noise_covariance(&vector, length, 1.0);
    let mut normals = Normals::seeded(8);
    let mut sums = SquareMatrix::zeros(4);
    let draws = 100_000;
    for _ in 0..draws {
        let product = normals.symmetric(4).times(&vector);
        for row in 0..4 {
            for column in 0..4 {
                sums[(row, column)] += product[row] * product[column] / f64::from(draws);
            }
        }
    }
    for row in 0..4 {
        for column in 0..4 {
            let (found, wanted) = (sums[(row, column)], expected[(row, column)]);
            let unit = (expected[(row, row)] * expected[(column, column)]).sqrt();
            assert!(
                (found - wanted).abs() < 0.02 * unit,
                "{row} {column}: {found} for {wanted}"
            );
        }
    }
}

#[test]
fn the_part_of_privacy_is_the_spread_of_solves_with_drawn_noise() {
    let exact = moments();
    let noise = 15.0;
    for (always, kept, intercept) in [
        (0, vec![0, 2], Intercept::Estimated),
        (1, vec![3], Intercept::Estimated),
        (0, vec![0, 1, 2, 3], Intercept::Absent),
    ] {
        let solved = last(&exact, noise, always, intercept).solve(&kept);
        assert_eq!(solved.repaired, 0);
        let size = solved.privacy.size();
        let mut normals = Normals::seeded(21);
        let draws = 20_000;
        let (mut sums, mut squares) = (vec![0.0; size], vec![0.0; size]);
        for _ in 0..draws {
            let drawn = normals.symmetric(6);
            let noisy = SquareMatrix::from_fn(6, |row, column| {
                exact[(row, column)] + noise * drawn[(row, column)]
            });
            let found = last(&noisy, noise, always, intercept).solve(&kept);
            let mut values = found.coefficients.clone();
            if found.first == 1 {
                values.insert(0, found.intercept_change);
            }
            for (index, value) in values.iter().enumerate() {
                sums[index] += value;
                squares[index] += value * value;
            }
        }
        let count = f64::from(draws);
        for index in 0..size {
            let mean = sums[index] / count;
            let spread = (squares[index] / count - mean * mean).sqrt();
            let expected = solved.privacy[(index, index)].sqrt();
            // First order in the noise, which is 2 % of the moments here.
            assert!(
                (spread / expected - 1.0).abs() < 0.03,
                "{index}: {spread} for {expected}"
            );
        }
    }
}

#[test]
fn without_noise_the_solve_is_least_squares_with_its_standard_errors() {
    let exact = moments();
    let solved = last(&exact, 1e-9, 0, Intercept::Estimated).solve(&[0, 2]);
    // The response is the residual with the coefficients of features 1 and 3 put back.
    let variables = [0, 1, 3];
    let response = |row: usize| exact[(row, 5)] - 0.3 * exact[(row, 2)] + 0.25 * exact[(row, 4)];
    let gram = exact.restricted(&variables);
    let cross: Vec<f64> = variables.iter().map(|row| response(*row)).collect();
    let inverse = gram.inverse().unwrap();
    let expected = inverse.times(&cross);
    assert!((solved.intercept_change - expected[0]).abs() < 1e-9);
    assert!((solved.coefficients[0] - (0.1 + expected[1])).abs() < 1e-9);
    assert!((solved.coefficients[1] - expected[2]).abs() < 1e-9);
    let total = response(5) - 0.3 * response(2) + 0.25 * response(4);
    let left = total - dot(&cross, &expected);
    let variance = left / f64::from(RECORDS - 3);
    assert!((solved.residual_variance / variance - 1.0).abs() < 1e-9);
    for index in 0..3 {
        let wanted = variance * inverse[(index, index)];
        assert!((solved.sampling[(index, index)] / wanted - 1.0).abs() < 1e-9);
        assert!(solved.privacy_share(index).unwrap() < 1e-9);
    }
}

#[test]
fn a_direction_that_is_all_noise_is_repaired_and_said() {
    let mut exact = moments();
    // A fifth variable that is a copy of the second.
    for index in 0..6 {
        let copied = exact[(index, 1)];
        exact[(index, 2)] = copied;
        exact[(2, index)] = copied;
    }
    exact[(2, 2)] = exact[(1, 1)];
    let answer = last(&exact, 5.0, 0, Intercept::Estimated);
    assert_eq!(answer.solve(&[0, 1]).repaired, 1);
    assert_eq!(answer.solve(&[0, 2]).repaired, 0);
}

#[test]
fn the_clip_is_loosened_as_far_as_the_noise_allows() {
    let setting = |n_records: u32| Setting {
        n_records,
        ..legal_setting()
    };
    // k = 7, ν = 2: a = 0.6·√(2n)/14.
    let (size, noise) = (5, 2.0);
    let factor = |n_records: u32| setting(n_records).clip_factor(size, noise);
    assert!((factor(100) - 1.0).abs() < 1e-12);
    assert!((factor(5000) - 0.6 * 100.0 / 14.0).abs() < 1e-12);
    assert!((factor(1_000_000) - 8.0).abs() < 1e-12);
    let noisier = setting(5000).clip_factor(size, 2.0 * noise);
    assert!(
        (noisier - 0.6 * 100.0 / 28.0).abs() < 1e-12,
        "twice the noise, half the factor"
    );
    for bad in [f64::INFINITY, f64::NAN] {
        assert!((setting(5000).clip_factor(size, bad) - 1.0).abs() < 1e-12);
    }
}

/// Two features and a response, the errors of which grow with the first feature.
const ROWS: [[f32; 3]; 16] = [
    [-2.0, 0.5, -0.5],
    [-1.5, -1.0, -2.5],
    [-1.0, 0.25, -0.75],
    [-0.75, 1.5, -1.75],
    [-0.5, -0.5, 0.25],
    [-0.25, 2.0, -1.0],
    [0.0, -1.5, 2.0],
    [0.25, 0.75, 1.0],
    [0.5, 0.0, 2.5],
    [0.75, -0.25, 2.0],
    [1.0, 1.0, 1.0],
    [1.5, -2.0, 8.0],
    [2.0, 0.5, 1.5],
    [2.5, 1.25, 8.75],
    [-2.5, -0.75, -6.75],
    [0.125, -1.25, 2.75],
];

/// The answer about [`ROWS`] of statsmodels 0.15.0: `OLS(y, add_constant(x)).fit(cov_type="HC0")` and without the type.
const LEAST_SQUARES: [f64; 3] = [1.0353265904667937, 2.3234580489543077, -0.7113154071759454];
const HC0: [[f64; 3]; 3] = [
    [0.19369154992761858, 0.0323828325778226, 0.02383225956468639],
    [
        0.03238283257782259,
        0.2506945582550773,
        0.006404592892467198,
    ],
    [
        0.02383225956468639,
        0.006404592892467207,
        0.10402317483459282,
    ],
];
const PLAIN: [[f64; 3]; 3] = [
    [
        0.24118698357649138,
        -0.0004734917688813877,
        -0.00607929610403054,
    ],
    [
        -0.0004734917688813877,
        0.13582449598768648,
        -0.01880438739271754,
    ],
    [
        -0.00607929610403054,
        -0.01880438739271754,
        0.19923857217715657,
    ],
];

/// So loose that no record of [`ROWS`] is clipped.
const LOOSE: f64 = 100.0;

/// The last questions about [`ROWS`] at a model with the slopes `slopes`, answered without noise.
fn answered(slopes: [f64; 2]) -> (Setting, Answer) {
    let setting = Setting {
        n_records: 16,
        n_features: 3,
        robust: true,
        intercept: Intercept::Estimated,
        ..legal_setting()
    };
    let model = LinearModel {
        intercept: LEAST_SQUARES[0],
        terms: vec![(0, slopes[0]), (1, slopes[1])],
    };
    let scales = Scales {
        feature: Limit::ONE,
        residual: Limit::ONE,
    };
    let blocks = setting.last_questions(&[0, 1], model, scales, LOOSE);
    let blocks = blocks.iter().map(|question| {
        let mut sums = vec![0.0; question.coordinates()];
        for row in &ROWS {
            let (features, response) = (&row[..2], row[2]);
            let record = Record {
                features,
                response,
                is_present: true,
            };
            question.add_contribution(record, &mut sums);
        }
        AnswerBlock {
            values: sums.into_iter().map(f64::from).collect(),
            noise_std_dev: 0.0,
        }
    });
    let answer = Answer {
        blocks: blocks.collect(),
        provenance: Provenance::Simulated,
        absent: Vec::new(),
    };
    (setting, answer)
}

fn robust(slopes: [f64; 2]) -> LastAnswer {
    let (setting, answer) = answered(slopes);
    LastAnswer::new(&setting, &answer, slopes.to_vec(), LOOSE).unwrap()
}

/// wᵀ·matrix·w.
fn variance_of(matrix: &SquareMatrix, weights: &[f64; 3]) -> f64 {
    dot(weights, &matrix.times(weights))
}

#[test]
fn without_noise_the_residual_moments_give_the_covariance_that_statsmodels_calls_hc0() {
    let answer = robust([LEAST_SQUARES[1], LEAST_SQUARES[2]]);
    let inverse = answer
        .joint
        .matrix()
        .restricted(&[0, 1, 2])
        .inverse()
        .unwrap();
    let middle = &answer.residual_moments.as_ref().unwrap().matrix;
    let found = robust_covariance(&inverse, middle, 0.0);
    for (row, expected) in HC0.iter().enumerate() {
        for (column, wanted) in expected.iter().enumerate() {
            let value = found[(row, column)];
            assert!(
                (value - wanted).abs() < 1e-6,
                "{row} {column}: {value} for {wanted}"
            );
        }
    }
    // The same solve without the option has the ordinary covariance.
    let plain = LastAnswer {
        residual_moments: None,
        ..answer
    };
    let plain = plain.solve(&[0, 1]).sampling;
    for (row, expected) in PLAIN.iter().enumerate() {
        for (column, wanted) in expected.iter().enumerate() {
            let value = plain[(row, column)];
            assert!(
                (value - wanted).abs() < 1e-5,
                "{row} {column}: {value} for {wanted}"
            );
        }
    }
}

#[test]
fn the_robust_variance_of_no_combination_is_below_the_ordinary_or_the_sandwich_one() {
    let found = robust([LEAST_SQUARES[1], LEAST_SQUARES[2]])
        .solve(&[0, 1])
        .sampling;
    let matrix = |entries: &[[f64; 3]; 3], factor: f64| {
        SquareMatrix::from_fn(3, |row, column| factor * entries[row][column])
    };
    // n/(n − 3) times HC0, which statsmodels calls HC1.
    let (sandwich, plain) = (matrix(&HC0, 16.0 / 13.0), matrix(&PLAIN, 1.0));
    let mut normals = Normals::seeded(5);
    let units = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let drawn = (0..200).map(|_| [normals.next(), normals.next(), normals.next()]);
    let mut apart = 0;
    for weights in units.into_iter().chain(drawn) {
        let value = variance_of(&found, &weights);
        let (one, other) = (
            variance_of(&sandwich, &weights),
            variance_of(&plain, &weights),
        );
        assert!(
            value > one.max(other) * (1.0 - 1e-5),
            "{weights:?}: {value}"
        );
        assert!(value < one + other, "{weights:?}: {value}");
        apart += u32::from(one > 1.3 * other) + u32::from(other > 1.3 * one);
    }
    assert!(apart > 50, "the two covariances hardly differ: {apart}");
    // The errors grow with the first feature, and its variance with them.
    assert!(found[(1, 1)] > 2.0 * PLAIN[1][1]);
}

#[test]
fn residual_moments_that_noise_made_negative_leave_the_ordinary_covariance() {
    let mut answer = robust([LEAST_SQUARES[1], LEAST_SQUARES[2]]);
    answer.residual_moments = answer.residual_moments.map(|moments| ResidualMoments {
        matrix: SquareMatrix::from_fn(3, |row, column| -100.0 * moments.matrix[(row, column)]),
        ..moments
    });
    let found = answer.solve(&[0, 1]).sampling;
    for (row, expected) in PLAIN.iter().enumerate() {
        for (column, wanted) in expected.iter().enumerate() {
            let value = found[(row, column)];
            assert!(
                (value - wanted).abs() < 1e-5,
                "{row} {column}: {value} for {wanted}"
            );
        }
    }
}

#[test]
fn features_that_are_left_out_add_to_the_residual_that_robust_variances_are_made_from() {
    // The residual is that of both features, and the second one is left out.
    let found = robust([LEAST_SQUARES[1], LEAST_SQUARES[2]]).solve(&[0]);
    // HC1 of the regression on the first feature alone, by its definition.
    let rows: Vec<[f64; 2]> = ROWS.iter().map(|row| [1.0, f64::from(row[0])]).collect();
    let gram = SquareMatrix::from_fn(2, |row, column| {
        rows.iter().map(|x| x[row] * x[column]).sum()
    });
    let inverse = gram.inverse().unwrap();
    let cross: Vec<f64> = (0..2)
        .map(|place| {
            let products = rows.iter().zip(&ROWS);
            products.map(|(x, row)| x[place] * f64::from(row[2])).sum()
        })
        .collect();
    let slopes = inverse.times(&cross);
    let middle = SquareMatrix::from_fn(2, |row, column| {
        let products = rows.iter().zip(&ROWS);
        products
            .map(|(x, values)| {
                let error = f64::from(values[2]) - dot(x, &slopes);
                error * error * x[row] * x[column] * (16.0 / 14.0)
            })
            .sum()
    });
    let sandwich = inverse.times_matrix(&middle).times_matrix(&inverse);
    let (value, wanted) = (found.sampling[(1, 1)], sandwich[(1, 1)]);
    assert!(
        (0.9..1.5).contains(&(value / wanted)),
        "{value} for {wanted}"
    );
    assert!(found.sampling[(1, 1)] >= found.residual_variance * inverse[(1, 1)] * (1.0 - 1e-5));
}

#[test]
fn an_answer_without_the_residual_moments_is_refused_where_they_were_asked() {
    let (setting, mut answer) = answered([2.0, -1.0]);
    assert!(LastAnswer::new(&setting, &answer, vec![2.0, -1.0], LOOSE).is_some());
    answer.blocks.pop();
    assert!(LastAnswer::new(&setting, &answer, vec![2.0, -1.0], LOOSE).is_none());
}
