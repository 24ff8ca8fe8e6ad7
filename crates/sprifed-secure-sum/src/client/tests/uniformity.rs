//! Whether numbers are uniform and independent.

#![expect(clippy::cast_precision_loss, reason = "small numbers")]

use super::statistics::{chi_square, limit};

/// Whether residues below `cells` are uniform, by χ².
pub(super) fn is_uniform(residues: impl Iterator<Item = usize>, cells: usize) -> bool {
    let mut counts = vec![0.0; cells];
    let mut n_residues = 0.0;
    for residue in residues {
        *counts.get_mut(residue).expect("a cell") += 1.0;
        n_residues += 1.0;
    }
    let expected = vec![n_residues / cells as f64; cells];
    assert!(n_residues >= 20.0 * cells as f64, "too few residues");
    chi_square(&counts, &expected) < limit(cells)
}

/// The correlation of a sequence with itself `lag` places on, in standard deviations of what
/// independent entries give.
pub(super) fn serial_correlation(values: &[f64], lag: usize) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let centred: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let variance: f64 = centred.iter().map(|value| value * value).sum();
    let products = centred.iter().zip(centred.iter().skip(lag));
    let covariance: f64 = products.map(|(one, other)| one * other).sum();
    covariance / variance * (values.len() as f64).sqrt()
}
