//! What the tests of several files use: picks of a stated tilt, and draws.

use rand_core::Rng;
use sprifed_noise::NoiseGenerator;

use super::{Estimate, Pick};

/// A pick with this τ_u/β among so many candidates.
pub(super) fn pick_with(tilt: f64, candidates: f64) -> Pick {
    let mut pick = Pick {
        n_records: 600.0,
        residual_scale: 1.0,
        feature_clip: 1.5,
        residual_clip: 2.0,
        feature_variance: 1.0,
        score_steps: 512.0,
        noise_rate: 1.0,
        candidates,
    };
    pick.noise_rate = tilt / (512.0 * pick.score_std_dev());
    pick
}

/// An estimate whose sampling part has this correlation with the score of `pick`, with this share of
/// privacy in its variance, so many standard errors from zero.
pub(super) fn estimate_of(pick: &Pick, correlation: f64, privacy: f64, ratio: f64) -> Estimate {
    let std_dev = correlation * pick.score_std_dev() / pick.score_slope();
    let variance = std_dev * std_dev / (1.0 - privacy);
    Estimate {
        value: ratio * variance.sqrt(),
        sampling_variance: std_dev * std_dev,
        variance,
    }
}

/// Uniform and normal draws of a fixed seed.
pub(super) struct Draws(NoiseGenerator);

impl Draws {
    pub(super) fn of(seed: u64) -> Self {
        Self(NoiseGenerator::simulated(seed))
    }

    /// Uniform on (0, 1).
    pub(super) fn uniform(&mut self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "53 bits")]
        let bits = (self.0.next_u64() >> 11) as f64;
        (bits + 0.5) / 9_007_199_254_740_992.0
    }

    pub(super) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (core::f64::consts::TAU * self.uniform()).cos()
    }

    /// Standard Gumbel.
    pub(super) fn gumbel(&mut self) -> f64 {
        -(-self.uniform().ln()).ln()
    }
}

#[test]
fn an_estimate_that_is_none_is_told_apart() {
    let legal = Estimate {
        value: 1.0,
        sampling_variance: 0.5,
        variance: 1.0,
    };
    assert!(legal.is_legal());
    for illegal in [
        Estimate {
            value: f64::NAN,
            ..legal
        },
        Estimate {
            variance: 0.0,
            ..legal
        },
        Estimate {
            variance: f64::INFINITY,
            ..legal
        },
        Estimate {
            variance: 0.4,
            ..legal
        },
        Estimate {
            sampling_variance: -1.0,
            ..legal
        },
        Estimate {
            sampling_variance: f64::NAN,
            ..legal
        },
    ] {
        assert!(!illegal.is_legal(), "{illegal:?}");
    }
}
