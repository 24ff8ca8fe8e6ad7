//! The loops compute what a library computes, and end for all entries.

use nalgebra::{DMatrix, DVector};
use proptest::prelude::*;

use super::*;

fn oracle(matrix: &SquareMatrix) -> DMatrix<f64> {
    DMatrix::from_fn(matrix.size(), matrix.size(), |row, column| {
        matrix[(row, column)]
    })
}

fn close(found: &DMatrix<f64>, expected: &DMatrix<f64>, tolerance: f64) -> bool {
    (found - expected).abs().max() <= tolerance
}

fn symmetric(entries: &[f64], size: usize) -> SquareMatrix {
    SquareMatrix::from_fn(size, |row, column| {
        entries[row * size + column] + entries[column * size + row]
    })
}

fn positive(entries: &[f64], size: usize) -> SquareMatrix {
    SquareMatrix::from_fn(size, |row, column| {
        let products = (0..size).map(|k| entries[row * size + k] * entries[column * size + k]);
        let product: f64 = products.sum();
        product + if row == column { 0.1 } else { 0.0 }
    })
}

proptest! {
    #[test]
    fn eigenvalues_are_those_of_the_library(
        size in 1usize..9,
        entries in prop::collection::vec(-1.0f64..1.0, 81),
        exponent in -30i32..30,
    ) {
        let unit = 10f64.powi(exponent);
        let entries: Vec<f64> = entries.iter().map(|entry| entry * unit).collect();
        let matrix = symmetric(&entries, size);
        let eigen = matrix.symmetric_eigen();
        let mut found = eigen.values.clone();
        found.sort_by(f64::total_cmp);
        let mut expected: Vec<f64> =
            oracle(&matrix).symmetric_eigen().eigenvalues.iter().copied().collect();
        expected.sort_by(f64::total_cmp);
        for (found, expected) in found.iter().zip(&expected) {
            prop_assert!((found - expected).abs() < 1e-12 * unit, "{found} for {expected}");
        }
        let back = eigen.recompose(|value| value);
        prop_assert!(close(&oracle(&back), &oracle(&matrix), 1e-12 * unit));
        let vectors = oracle(&eigen.vectors);
        let orthonormal = vectors.transpose() * &vectors;
        prop_assert!(close(&orthonormal, &DMatrix::identity(size, size), 1e-12));
        let (largest, smallest) = eigen.extremes();
        prop_assert_eq!((smallest, largest), (found[0], found[size - 1]));
    }

    #[test]
    fn solutions_are_those_of_the_library(
        size in 1usize..9,
        entries in prop::collection::vec(-1.0f64..1.0, 81),
        right in prop::collection::vec(-1.0f64..1.0, 8),
    ) {
        let matrix = positive(&entries, size);
        let right = &right[..size];
        let found = matrix.cholesky().unwrap().solve(right);
        let vector = DVector::from_column_slice(right);
        let expected = oracle(&matrix).cholesky().unwrap().solve(&vector);
        for (found, expected) in found.iter().zip(&expected) {
            prop_assert!((found - expected).abs() < 1e-9, "{found} for {expected}");
        }
        let forward = matrix.cholesky().unwrap().forward(right);
        let explained = vector.dot(&expected);
        prop_assert!((dot(&forward, &forward) - explained).abs() < 1e-9);
        let product = matrix.times(&found);
        for (found, expected) in product.iter().zip(right) {
            prop_assert!((found - expected).abs() < 1e-9, "{found} for {expected}");
        }
    }

    #[test]
    fn an_inverse_undoes_its_matrix(
        size in 1usize..9,
        entries in prop::collection::vec(-1.0f64..1.0, 81),
    ) {
        let matrix = SquareMatrix::from_fn(size, |row, column| entries[row * size + column]);
        let Some(expected) = oracle(&matrix).try_inverse() else { return Ok(()) };
        prop_assume!(expected.abs().max() < 1e3);
        let found = oracle(&matrix.inverse().unwrap());
        prop_assert!(close(&found, &expected, 1e-8));
    }

    #[test]
    fn no_entries_make_it_panic_or_run_without_end(
        size in 0usize..6,
        bits in prop::collection::vec(any::<u64>(), 36),
    ) {
        let matrix =
            SquareMatrix::from_fn(size, |row, column| f64::from_bits(bits[row * 6 + column]));
        let eigen = matrix.symmetric_eigen();
        let _ = (eigen.extremes(), eigen.recompose(|value| value));
        let _ = matrix.inverse();
        if let Some(factor) = matrix.cholesky() {
            let _ = factor.solve(&vec![1.0; size]);
        }
    }
}

#[test]
fn what_is_not_positive_has_no_factor_and_what_is_singular_no_inverse() {
    let singular = SquareMatrix::from_fn(2, |_, _| 1.0);
    assert!(singular.inverse().is_none());
    assert!(SquareMatrix::diagonal(&[1.0, -1.0]).cholesky().is_none());
    assert!(SquareMatrix::diagonal(&[1.0, 0.0]).cholesky().is_none());
    assert!(
        SquareMatrix::diagonal(&[1.0, f64::NAN])
            .cholesky()
            .is_none()
    );
}

#[test]
fn equal_eigenvalues_and_a_diagonal_matrix_are_left_as_they_are() {
    let eigen = SquareMatrix::diagonal(&[2.0, 2.0, -1.0]).symmetric_eigen();
    assert_eq!(eigen.values, [2.0, 2.0, -1.0]);
    assert_eq!(eigen.vectors, SquareMatrix::diagonal(&[1.0; 3]));
}
