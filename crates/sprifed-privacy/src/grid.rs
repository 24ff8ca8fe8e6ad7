//! From a wanted noise to integers: the grid, the bounds on it, and the noise shares.
//!
//! All of it in exact fractions, so that every party computes the same plan. A grid is fine enough
//! when rounding adds at most 1 % to the variance: κ = 5 grid units of noise per share. With fewer
//! than seven certain shares the discreteness then costs more than 1 % of μ, which the cost shows.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive};

use crate::block::{Block, IntegerBounds};
use crate::rational::{IllegalFraction, NoiseVariance, ceil_sqrt};
use crate::sum_plan::NoiseOrigin;

#[cfg(test)]
mod tests;

/// Noise shares are multiples of this fraction of a grid unit's square.
const SHARE_STEPS: u32 = 1024;

/// κ²: the least variance of a share, in grid units.
const LEAST_SHARE: u32 = 25;

/// What a block with bounds per coordinate wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoxRequest {
    /// What the block asks, in the words of the plan.
    pub name: String,
    /// How many coordinates.
    pub coordinates: u32,
    /// How many of them are squares.
    pub squares: u32,
    /// τ = (noise standard deviation / bound of a coordinate)².
    pub relative_variance: BigRational,
}

impl BoxRequest {
    /// The grid and noise shares that give at least the wanted noise.
    ///
    /// # Errors
    /// When a number of the plan is not positive or does not fit.
    pub fn plan(self, origin: NoiseOrigin) -> Result<Block, IllegalFraction> {
        if !self.relative_variance.is_positive() {
            return Err(IllegalFraction {
                found: self.relative_variance.to_string(),
                required: "a relative noise variance above zero",
            });
        }
        let shares = whole(origin.certain_shares());
        let least_total = whole(LEAST_SHARE) * shares;
        let bound = ceil_sqrt(&(least_total / &self.relative_variance)).max(BigInt::one());
        let square = BigRational::from(&bound * &bound);
        let share_variance = share_of(&(self.relative_variance * square), origin)?;
        let bound = bound.to_u64().ok_or_else(|| IllegalFraction {
            found: bound.to_string(),
            required: "an integer bound below 2^64; ask for more noise",
        })?;
        let bounds = IntegerBounds::Box { bound, squares: self.squares };
        Ok(Block { name: self.name, coordinates: self.coordinates, bounds, share_variance })
    }
}

/// The variance of each share when the certain ones must reach `total`, rounded up to the grid of
/// shares.
pub(crate) fn share_of(
    total: &BigRational,
    origin: NoiseOrigin,
) -> Result<NoiseVariance, IllegalFraction> {
    let steps = whole(SHARE_STEPS);
    let share = (total * &steps / whole(origin.certain_shares())).ceil() / steps;
    NoiseVariance::try_from(share)
}

fn whole(number: u32) -> BigRational {
    BigRational::from(BigInt::from(number))
}

/// A value on the grid of a box: ⌊v·B/M + u⌋ clamped to [−B, B].
///
/// # Guarantee
/// The result lies in [−`bound`, `bound`] for every input, NaN and infinities included.
///
/// # Why
/// Only the final clamp matters for privacy; a rounding error before it is harmless. With `dither`
/// uniform on [0, 1) the result is unbiased inside the box.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "float to integer casts saturate")]
pub fn round_to_box(value: f64, limit: f64, bound: u64, dither: f64) -> i64 {
    let most = i64::try_from(bound).unwrap_or(i64::MAX);
    let clipped = if value.is_nan() { 0.0 } else { value.clamp(-limit, limit) };
    #[expect(clippy::cast_precision_loss, reason = "the clamp below repairs it")]
    let scaled = (clipped * most as f64 / limit + dither).floor();
    (scaled as i64).clamp(-most, most)
}

/// The largest squared integer norm accepted after stochastic rounding of a vector of scaled norm
/// `scaled_clip`.
///
/// # Why
/// [KLS21, Prop. 22]: rounding at random stays below it with probability 1 − β. Rounding is
/// repeated until it does, so the integer bound holds always; β only governs how often.
///
/// # Notation
/// | code | paper |
/// |---|---|
/// | `scaled_clip` | c/γ |
/// | `log_repeat_probability` | ln β |
#[must_use]
pub fn conditional_rounding_bound(
    scaled_clip: f64,
    coordinates: u32,
    log_repeat_probability: f64,
) -> f64 {
    let root = f64::from(coordinates).sqrt();
    let always = (scaled_clip + root).powi(2);
    let deviation = (-2.0 * log_repeat_probability).sqrt();
    let usually =
        scaled_clip.powi(2) + f64::from(coordinates) / 4.0 + deviation * (scaled_clip + root / 2.0);
    always.min(usually)
}

/// The integer form of [`conditional_rounding_bound`], which rounding is repeated to stay within.
///
/// A bound that is off by one in either direction would still be enforced, so the floor of a
/// double is enough.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the bound is positive, and float to integer casts saturate"
)]
pub fn accepted_squared_norm(
    scaled_clip: f64,
    coordinates: u32,
    log_repeat_probability: f64,
) -> u64 {
    let bound = conditional_rounding_bound(scaled_clip, coordinates, log_repeat_probability);
    (bound * (1.0 + 1e-14)).floor() as u64
}
