//! What clipping a normal residual does to its signal and its variance.

use core::f64::consts::{FRAC_1_SQRT_2, PI};

use libm::{erf, exp};

use crate::portable::square;

/// k(q) = E[z·clip(z, q)]: how much of a small shift survives clipping at q standard deviations.
#[must_use]
pub fn kept_signal(clip: f64) -> f64 {
    erf(clip * FRAC_1_SQRT_2)
}

/// E[clip(z/q, 1)²]: the variance of a clipped residual in units of the clip.
#[must_use]
pub fn clipped_variance(clip: f64) -> f64 {
    let inside = kept_signal(clip);
    let density = exp(-clip * clip / 2.0) / (2.0 * PI).sqrt();
    (inside - 2.0 * clip * density) / (clip * clip) + 1.0 - inside
}

/// The clip, in standard deviations of the residual, that gives the most precise gradient when the
/// noise on it has this variance and there are this many records.
#[must_use]
pub fn best_clip(noise_variance: f64, records: f64) -> f64 {
    let variance = |clip: f64| {
        (noise_variance + records * clipped_variance(clip)) * square(clip / kept_signal(clip))
    };
    CLIPS
        .into_iter()
        .min_by(|left, right| variance(*left).total_cmp(&variance(*right)))
        .unwrap_or(1.0)
}

const CLIPS: [f64; 13] = [
    0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0,
];

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests decide nothing for a study"
)]
mod tests;
