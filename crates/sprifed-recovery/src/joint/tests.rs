//! The closed form of the covariance against drawn noise, and the solve against least squares.

use rand_core::Rng;
use sprifed_noise::{NoiseGenerator, Provenance};
use sprifed_query::AnswerBlock;

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
