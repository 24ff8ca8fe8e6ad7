//! A response of zeros and ones.
//!
//! # Notation
//! | symbol | is |
//! |---|---|
//! | m | the private mean: the share of ones, from 0.01 to 0.99 |
//! | σ₀ | √(m(1 − m)): the standard deviation of the response |
//! | b | what one unit of each feature adds to the expected response, in the best linear prediction |
//! | Σ, x̄ | covariance and means of the features |
//!
//! # Why
//! A residual of zeros and ones is far from normal. The histogram that fits a normal to it finds too small a scale where
//! ones are rare; the mean says what the scale is.

use core::f64::consts::PI;

use libm::log;

use crate::opening::Opening;
use crate::outcome::refit::Start;
use crate::portable::{dot, larger, smaller};
use crate::square_matrix::SquareMatrix;

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests decide nothing for a study"
)]
mod tests;

/// m is at least this far from zero and from one.
const LEAST_SHARE: f64 = 0.01;

/// A model is not expected to leave less of the variance of the response than this.
const LEAST_LEFT: f64 = 0.3;

/// The start takes a model to explain at most this share of the variance of the response.
const MOST_EXPLAINED: f64 = 0.6;

/// The opening with m as its mean and σ₀ as its scale.
pub(super) fn opening_of_mean(opening: Opening) -> Opening {
    let mean = larger(smaller(opening.intercept, 1.0 - LEAST_SHARE), LEAST_SHARE);
    Opening {
        intercept: mean,
        scale: (mean * (1.0 - mean)).sqrt(),
        ..opening
    }
}

/// The scale of the residual of a model whose coefficients of features of unit variance have this sum of squares.
pub(super) fn residual_scale(scale: f64, squares: f64) -> f64 {
    let left = 1.0 - squares / (scale * scale);
    scale * larger(left, LEAST_LEFT).sqrt()
}

/// ln(m / (1 − m)).
pub(super) fn log_odds(mean: f64) -> f64 {
    log(mean / (1.0 - mean))
}

/// The model at which the score is asked.
///
/// # Why
/// If features are normal with one covariance among the ones and among the zeros, the best linear prediction has the
/// direction of the log odds, and its length says how long those are
/// (docs/proofs/score_step.md#4-the-start). Where they are not normal this start is biased, and the step repairs that.
pub(crate) fn start(mean: f64, slopes: &[f64], means: &[f64], covariance: &SquareMatrix) -> Start {
    let variance = mean * (1.0 - mean);
    let explained = dot(&covariance.times(slopes), slopes) / variance;
    let limited = larger(smaller(explained, MOST_EXPLAINED), 0.0);
    let coefficients: Vec<f64> = slopes
        .iter()
        .map(|slope| slope / (variance * (1.0 - limited)))
        .collect();
    let spread = larger(dot(&covariance.times(&coefficients), &coefficients), 0.0);
    let intercept = log_odds(mean) * (1.0 + PI * spread / 8.0).sqrt() - dot(means, &coefficients);
    Start {
        intercept,
        coefficients,
        explained,
    }
}
