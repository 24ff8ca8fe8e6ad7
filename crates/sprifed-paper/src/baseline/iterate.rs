//! The coefficients of all features while a baseline descends, and how a step moves them.

use sprifed_query::LinearModel;

use sprifed_recovery::portable::larger;

/// The coefficients of all features, in order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Iterate {
    coefficients: Vec<f64>,
    /// The last gradient: it ranks features whose coefficients are zero.
    gradient: Vec<f64>,
}

impl Iterate {
    /// All zero.
    pub(crate) fn zero(n_features: u32) -> Self {
        Self {
            coefficients: vec![0.0; n_features as usize],
            gradient: vec![0.0; n_features as usize],
        }
    }

    /// α ← soft(α + `step_size`·g, `step_size`·`penalty`).
    pub(crate) fn proximal_step(&mut self, gradient: Vec<f64>, step_size: f64, penalty: f64) {
        for (coefficient, slope) in self.coefficients.iter_mut().zip(&gradient) {
            let moved = *coefficient + step_size * slope;
            *coefficient = moved.signum() * larger(moved.abs() - step_size * penalty, 0.0);
        }
        self.gradient = gradient;
    }

    /// The feature of largest absolute gradient, the first of equals.
    pub(crate) fn steepest(&mut self, gradient: Vec<f64>) -> u32 {
        self.gradient = gradient;
        let mut best = (0, 0.0);
        for (feature, slope) in (0..).zip(&self.gradient) {
            if slope.abs() > best.1 {
                best = (feature, slope.abs());
            }
        }
        best.0
    }

    /// Moves one coefficient.
    pub(crate) fn move_one(&mut self, feature: u32, change: f64) {
        if let Some(coefficient) = self.coefficients.get_mut(feature as usize) {
            *coefficient += change;
        }
    }

    /// The coefficients that are not zero, each divided by `unit`.
    pub(crate) fn model(&self, intercept: f64, unit: f64) -> LinearModel {
        let terms = (0..).zip(&self.coefficients);
        let terms = terms.filter(|(_, value)| **value != 0.0);
        LinearModel {
            intercept,
            terms: terms
                .map(|(feature, value)| (feature, value / unit))
                .collect(),
        }
    }

    /// The `count` features of largest coefficients, then of largest last gradients, with their
    /// coefficients.
    pub(crate) fn strongest(&self, count: usize) -> Vec<(u32, f64)> {
        let mut all: Vec<(u32, f64, f64)> = (0..)
            .zip(self.coefficients.iter().zip(&self.gradient))
            .map(|(feature, (value, slope))| (feature, *value, slope.abs()))
            .collect();
        all.sort_by(|left, right| {
            let by_size = right.1.abs().total_cmp(&left.1.abs());
            by_size.then(right.2.total_cmp(&left.2))
        });
        all.truncate(count);
        all.into_iter()
            .map(|(feature, value, _)| (feature, value))
            .collect()
    }
}
