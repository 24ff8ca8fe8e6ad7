//! The normal distribution, accurate in both tails and with the same bits on every platform.

use core::f64::consts::{FRAC_1_SQRT_2, LN_2, PI};

use libm::{erfc, exp, log, log1p};

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests decide nothing for a study"
)]
mod tests;

/// φ(x).
#[must_use]
pub fn density(x: f64) -> f64 {
    exp(-x * x / 2.0) / (2.0 * PI).sqrt()
}

/// Φ(x), with a small relative error in the lower tail.
#[must_use]
pub fn cumulative(x: f64) -> f64 {
    erfc(-x * FRAC_1_SQRT_2) / 2.0
}

/// ln Φ(x), with a small relative error in both tails.
///
/// # Why
/// Above zero ln(1 − Φ(−x)) keeps the digits that Φ(x) near 1 loses. Below −37 Φ leaves the range of
/// doubles, and the asymptotic series of the Mills ratio has a relative error below 1e-15.
#[must_use]
pub fn log_cumulative(x: f64) -> f64 {
    if x >= 0.0 {
        log1p(-erfc(x * FRAC_1_SQRT_2) / 2.0)
    } else if x > -35.0 {
        log(erfc(-x * FRAC_1_SQRT_2)) - LN_2
    } else {
        let inverse = 1.0 / (x * x);
        let series = inverse * (-1.0 + inverse * (3.0 + inverse * (-15.0 + inverse * 105.0)));
        -x * x / 2.0 - log(-x * (2.0 * PI).sqrt()) + log1p(series)
    }
}

/// The x with Φ(−x) = `tail`: Φ⁻¹(1 − tail) without the rounding of 1 − tail.
///
/// `tail` is cut to (1e-300, 1 − 1e-16).
///
/// # Why
/// Newton's steps for ln Φ(−x) = ln tail. ln Φ(−x) is concave, so from the left of the root the first
/// step lands on the right of it or at it, and all later steps come down to it from there.
#[must_use]
pub fn upper_quantile(tail: f64) -> f64 {
    let tail = tail.clamp(1e-300, 1.0 - 1e-16);
    if tail > 0.5 {
        return -upper_quantile(1.0 - tail);
    }
    let goal = log(tail);
    let mut x = if tail < 0.1 {
        (-2.0 * goal).sqrt()
    } else {
        0.0
    };
    for _ in 0..STEPS {
        let found = log_cumulative(-x);
        let slope = exp(log_density(x) - found);
        let step = (found - goal) / slope;
        x += step;
        if step.abs() <= 1e-15 * x.abs() {
            break;
        }
    }
    x
}

/// Φ⁻¹(`probability`), with `probability` cut to (1e-16, 1 − 1e-16).
#[must_use]
pub fn quantile(probability: f64) -> f64 {
    if probability < 0.5 {
        -upper_quantile(probability)
    } else {
        upper_quantile(1.0 - probability)
    }
}

fn log_density(x: f64) -> f64 {
    -x * x / 2.0 - log((2.0 * PI).sqrt())
}

/// Newton's method needs at most seven from these starts.
const STEPS: u32 = 20;
