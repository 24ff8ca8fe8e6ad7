//! Private least squares is least squares when there is no noise, and bounded when there is.

use nalgebra::{DMatrix, DVector};
use proptest::prelude::*;

use super::*;

/// The Gram matrix and correlations of a few columns of numbers, and the numbers' own least
/// squares.
fn exact(columns: &[Vec<f64>], response: &[f64]) -> NoisyNormalEquations {
    let design = DMatrix::from_columns(
        &columns
            .iter()
            .map(|column| DVector::from_column_slice(column))
            .collect::<Vec<_>>(),
    );
    let gram = design.transpose() * &design;
    let cross = design.transpose() * DVector::from_column_slice(response);
    NoisyNormalEquations {
        gram: SquareMatrix::from_fn(columns.len(), |row, column| gram[(row, column)]),
        cross: cross.iter().copied().collect(),
        gram_noise: 0.0,
        cross_noise: 0.0,
    }
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!(
            (found - expected).abs() < tolerance,
            "{found} for {expected}"
        );
    }
}

proptest! {
    #[test]
    fn without_noise_it_agrees_with_an_exact_solve(
        entries in prop::collection::vec(-1.0f64..1.0, 60),
        response in prop::collection::vec(-1.0f64..1.0, 15),
    ) {
        let columns: Vec<Vec<f64>> = entries.chunks(15).map(<[f64]>::to_vec).collect();
        let equations = exact(&columns, &response);
        let gram = DMatrix::from_fn(4, 4, |row, column| equations.gram[(row, column)]);
        let cross = DVector::from_column_slice(&equations.cross);
        let expected = gram.clone().lu().solve(&cross).unwrap();
        let smallest = gram.symmetric_eigen().eigenvalues.min();
        prop_assume!(smallest > 1e-3);
        let solution = equations.solve();
        prop_assert_eq!(solution.repaired, 0);
        for (found, expected) in solution.coefficients.iter().zip(expected.iter()) {
            prop_assert!((found - expected).abs() < 1e-8, "{found} for {expected}");
        }
    }

    #[test]
    fn no_noise_makes_a_coefficient_larger_than_the_floor_allows(
        noise in prop::collection::vec(-1.0f64..1.0, 16),
        cross in prop::collection::vec(-1.0f64..1.0, 4),
        level in 0.01f64..1.0,
    ) {
        let equations = NoisyNormalEquations {
            gram: SquareMatrix::from_fn(4, |row, column| noise[4 * row + column]),
            cross,
            gram_noise: level,
            cross_noise: level,
        };
        let solution = equations.solve();
        let size = norm(&solution.coefficients);
        let floor = level * 2f64.sqrt();
        prop_assert!(size <= norm(&equations.cross) / floor * (1.0 + 1e-9));
    }
}

#[test]
fn an_eigenvalue_below_the_noise_is_raised_and_reported() {
    let equations = NoisyNormalEquations {
        gram: SquareMatrix::from_fn(2, |_, _| 100.0),
        cross: vec![100.0, 100.0],
        gram_noise: 2.0,
        cross_noise: 1.0,
    };
    let solution = equations.solve();
    assert_eq!(solution.repaired, 1);
    assert_close(&solution.coefficients, &[0.5, 0.5], 1e-9);
    let status = solution.status_of(&[50.0, 50.0]);
    assert!(
        matches!(status, FitStatus::IllConditioned { repaired: 1, .. }),
        "{status:?}"
    );
    let (gram, repaired) = equations.repaired_gram();
    assert_eq!(repaired, 1);
    let (largest, smallest) = gram.symmetric_eigen().extremes();
    assert_close(&[largest, smallest], &[200.0, 2.0], 1e-9);
}

#[test]
fn the_noise_of_a_coefficient_is_that_of_the_correlations_through_the_inverse() {
    let equations = NoisyNormalEquations {
        gram: SquareMatrix::diagonal(&[4.0, 10.0]),
        cross: vec![4.0, 20.0],
        gram_noise: 0.1,
        cross_noise: 2.0,
    };
    let solution = equations.solve();
    assert_close(&solution.coefficients, &[1.0, 2.0], 1e-12);
    assert_close(&solution.noise_std_devs, &[0.5, 0.2], 1e-12);
    assert_eq!(solution.status_of(&[1.0, 2.0]), FitStatus::Complete);
    let status = solution.status_of(&[0.5, 0.1]);
    assert_eq!(
        status,
        FitStatus::NoFeatureAboveNoise { largest_ratio: 1.0 }
    );
}

#[test]
fn an_empty_support_has_an_empty_solution() {
    let equations = NoisyNormalEquations {
        gram: SquareMatrix::zeros(0),
        cross: Vec::new(),
        gram_noise: 1.0,
        cross_noise: 1.0,
    };
    assert!(equations.solve().coefficients.is_empty());
}

#[test]
fn shifting_and_restricting_are_the_same_question() {
    let columns = [
        vec![1.0, 0.0, 2.0, 1.0],
        vec![0.0, 1.0, 1.0, -1.0],
        vec![1.0, 1.0, 0.0, 3.0],
    ];
    let equations = exact(&columns, &[1.0, 2.0, 3.0, 4.0]);
    let whole = equations.solve().coefficients;
    let shift = [0.5, -1.0, 2.0];
    let shifted = equations.shifted(&shift).solve().coefficients;
    let expected: Vec<f64> = whole.iter().zip(shift.iter()).map(|(a, b)| a + b).collect();
    assert_close(&shifted, &expected, 1e-9);
    let some = equations.restricted(&[2, 0]).solve().coefficients;
    let alone = exact(
        &[columns[2].clone(), columns[0].clone()],
        &[1.0, 2.0, 3.0, 4.0],
    );
    assert_close(&some, &alone.solve().coefficients, 1e-9);
}

#[test]
fn the_best_of_many_features_without_effect_does_not_count_as_found() {
    // A thousand records and hardly any added noise: a coefficient has a standard error of 0.03.
    let equations = NoisyNormalEquations {
        gram: SquareMatrix::diagonal(&[1000.0; 2]),
        cross: vec![120.0, 20.0],
        gram_noise: 0.01,
        cross_noise: 0.01,
    };
    let solution = equations.solve();
    assert_close(&solution.sampling_std_devs, &[1e-3f64.sqrt(); 2], 1e-9);
    assert_eq!(
        solution.status_of(&solution.coefficients),
        FitStatus::Complete
    );
    // 3.8 standard errors: much for one feature, little for the best of a thousand.
    assert_eq!(
        solution.status_among(&solution.coefficients, 1),
        FitStatus::Complete
    );
    let status = solution.status_among(&solution.coefficients, 1000);
    assert!(
        matches!(status, FitStatus::NoFeatureAboveNoise { .. }),
        "{status:?}"
    );
    let strong = solution.status_among(&[0.3, 0.0], 1000);
    assert_eq!(strong, FitStatus::Complete);
}

#[test]
fn expecting_small_coefficients_shrinks_noise_and_leaves_a_clear_signal() {
    let equations = |noise: f64| NoisyNormalEquations {
        gram: SquareMatrix::diagonal(&[1000.0, 0.1]),
        cross: vec![500.0, 5.0],
        gram_noise: noise,
        cross_noise: noise,
    };
    let clear = equations(0.0).solve_expecting(1.0).coefficients;
    assert_close(&clear, &[0.5, 50.0], 1e-9);
    let noisy = equations(5.0).solve_expecting(1.0).coefficients;
    assert!((noisy[0] - 0.5).abs() < 1e-3, "{noisy:?}");
    assert!(noisy[1].abs() < 0.1, "{noisy:?}");
}
