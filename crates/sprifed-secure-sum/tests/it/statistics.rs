//! Tests of goodness of fit, each with a rate of false alarms of 1e-7.
//!
//! Inputs are seeded, so a test that passes always passes; the rate says how far its limit is from
//! being fitted to them.

/// The standard normal deviate that is exceeded with probability 1e-7.
pub(crate) const DEVIATE: f64 = 5.1993;

/// Σ (found − expected)² / expected.
pub(crate) fn chi_square(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let cells = found.iter().zip(expected);
    cells
        .map(|(found, expected)| (found - expected).powi(2) / expected)
        .sum()
}

/// What χ² with `cells` − 1 degrees of freedom exceeds with probability 1e-7, by the
/// approximation of Wilson and Hilferty.
pub(crate) fn limit(cells: usize) -> f64 {
    let freedom = cells as f64 - 1.0;
    let spread = 2.0 / (9.0 * freedom);
    freedom * (1.0 - spread + DEVIATE * spread.sqrt()).powi(3)
}
