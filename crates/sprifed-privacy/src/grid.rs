//! From a wanted noise to integers: the grid, the bounds on it, and the noise shares.
//!
//! All of it in exact fractions, so that every party computes the same plan. A grid is fine enough
//! when rounding adds at most 1 % to the variance: κ = 5 grid units of noise per share. With fewer
//! than seven certain shares the discreteness then costs more than 1 % of μ, which the cost shows.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{FromPrimitive, One, Signed, ToPrimitive, Zero};
use serde::{Deserialize, Serialize};

use crate::block::{Block, IntegerBounds};
use crate::neighbours::Relation;
use crate::quantity::Mu;
use crate::rational::{IllegalFraction, NoiseVariance, ceil_sqrt};
use crate::sum_plan::{NoiseOrigin, SMOOTHING_VARIANCE};

#[cfg(test)]
mod tests;

/// Noise shares are multiples of this fraction of a grid unit's square.
const SHARE_STEPS: u32 = 1024;

/// κ²: the least variance of a share, in grid units.
const LEAST_SHARE: u32 = 25;

/// What a block with bounds per coordinate wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoxRequest {
    /// The question of the block, as the plan words it.
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
        self.plan_with(origin, &BigRational::zero())
    }

    /// As [`Self::plan`], with as much more noise as discreteness costs, so that the wanted cost
    /// is kept exactly.
    ///
    /// # Errors
    /// When a number of the plan is not positive or does not fit.
    pub fn plan_within(self, origin: NoiseOrigin) -> Result<Block, IllegalFraction> {
        self.plan_with(origin, &whole(SMOOTHING_VARIANCE))
    }

    fn plan_with(self, origin: NoiseOrigin, extra: &BigRational) -> Result<Block, IllegalFraction> {
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
        let share_variance = share_of(&(self.relative_variance * square + extra), origin)?;
        let bound = bound.to_u64().ok_or_else(|| IllegalFraction {
            found: bound.to_string(),
            required: "an integer bound below 2^64; ask for more noise",
        })?;
        let bounds = IntegerBounds::Box {
            bound,
            squares: self.squares,
        };
        Ok(Block {
            name: self.name,
            coordinates: self.coordinates,
            bounds,
            share_variance,
        })
    }
}

/// How real values become integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rounding {
    /// Up or down at random, without bias; the norm may grow a little.
    Dithered,
    /// Towards zero; the norm never grows. For contributions that are whole steps already.
    Truncated,
}

/// What a block with a bound on its norm wants.
#[derive(Clone, Debug, PartialEq)]
pub struct BallRequest {
    /// The question of the block, as the plan words it.
    pub name: String,
    /// How many coordinates.
    pub coordinates: u32,
    /// The largest cost that the block may have.
    pub cost: Mu,
    /// How its values become integers.
    pub rounding: Rounding,
}

/// ln of the probability that a rounding has to be repeated: 1e-6.
const LOG_REPEAT_PROBABILITY: f64 = -13.815_510_557_964_274;

/// How much rounding may add to the squared norm.
const LARGEST_INFLATION: f64 = 1.01;

impl BallRequest {
    /// The block, and how many grid steps the norm bound is.
    ///
    /// The grid is fine enough for κ = 5 grid units of noise in every share and for rounding to
    /// add at most 1 % to the squared norm; the noise keeps the wanted cost exactly.
    ///
    /// # Errors
    /// When a number of the plan does not fit.
    pub fn plan(
        self,
        origin: NoiseOrigin,
        relation: Relation,
    ) -> Result<(Block, f64), IllegalFraction> {
        let moves = f64::from(relation.sum_moves_by());
        let least_noise = (f64::from(LEAST_SHARE) * f64::from(origin.certain_shares())).sqrt();
        let mut steps = (least_noise * self.cost.get() / moves).ceil().max(1.0);
        if self.rounding == Rounding::Dithered {
            while inflation(steps, self.coordinates) > LARGEST_INFLATION {
                steps = (steps * 1.02).ceil();
            }
        }
        let squared_norm = match self.rounding {
            Rounding::Dithered => {
                accepted_squared_norm(steps, self.coordinates, LOG_REPEAT_PROBABILITY)
            }
            Rounding::Truncated => whole_square(steps)?,
        };
        let illegal = || IllegalFraction {
            found: self.cost.to_string(),
            required: "a cost that is an exact fraction",
        };
        let cost = BigRational::from_f64(self.cost.get()).ok_or_else(illegal)?;
        let doubled = BigInt::from(relation.sum_moves_by().pow(2));
        let moved = BigRational::from(BigInt::from(squared_norm) * doubled);
        let total = moved / (&cost * &cost) + whole(SMOOTHING_VARIANCE);
        let share_variance = share_of(&total, origin)?;
        let bound = ceil_sqrt(&BigRational::from(BigInt::from(squared_norm))).to_u64();
        let bounds = IntegerBounds::Ball {
            bound: bound.unwrap_or(u64::MAX),
            squared_norm,
        };
        let (name, coordinates) = (self.name, self.coordinates);
        Ok((
            Block {
                name,
                coordinates,
                bounds,
                share_variance,
            },
            steps,
        ))
    }
}

fn inflation(steps: f64, coordinates: u32) -> f64 {
    conditional_rounding_bound(steps, coordinates, LOG_REPEAT_PROBABILITY) / (steps * steps)
}

fn whole_square(steps: f64) -> Result<u64, IllegalFraction> {
    BigInt::from_f64(steps * steps)
        .and_then(|square| square.to_u64())
        .ok_or_else(|| IllegalFraction {
            found: steps.to_string(),
            required: "a grid of at most 2^32 steps",
        })
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

/// A value on the grid of a box: ⌊v·B/M + u⌋ clamped to [−B, B]. What is not a finite number
/// counts as zero.
///
/// # Guarantee
/// The result lies in [−`bound`, `bound`] for every input, NaN and infinities included.
///
/// # Why
/// Only the final clamp matters for privacy; a rounding error before it is harmless. With `dither`
/// uniform on [0, 1) the result is unbiased inside the box (docs/proofs/sensitivity.md#2-boxes).
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    reason = "float to integer casts saturate"
)]
pub fn round_to_box(value: f64, limit: f64, bound: u64, dither: f64) -> i64 {
    let most = i64::try_from(bound).unwrap_or(i64::MAX);
    // Not `clamp`, which panics on a limit that is negative or NaN.
    let clipped = if value.is_finite() {
        value.max(-limit).min(limit)
    } else {
        0.0
    };
    #[expect(clippy::cast_precision_loss, reason = "the clamp below repairs it")]
    let scaled = (clipped * most as f64 / limit + dither).floor();
    (scaled as i64).clamp(-most, most)
}

/// The largest squared integer norm accepted after stochastic rounding of a vector of scaled norm
/// `scaled_clip`.
///
/// # Why
/// docs/proofs/sensitivity.md#3-balls-and-conditional-rounding, [KLS21, Prop. 22]: rounding at random
/// stays below it with probability 1 − β. What is above is never contributed, so the integer bound holds
/// always; β only governs how often a value is lost.
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
    let always = (scaled_clip + root) * (scaled_clip + root);
    let deviation = (-2.0 * log_repeat_probability).sqrt();
    let usually = scaled_clip * scaled_clip
        + f64::from(coordinates) / 4.0
        + deviation * (scaled_clip + root / 2.0);
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
