//! Sums modulo a number that is certainly large enough.
//!
//! Wrap-around never harms privacy, it only makes a sum wrong; so the modulus is planned such that
//! a wrong sum has a probability below 2⁻⁴⁰ over the whole study.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[cfg(test)]
mod tests;

/// A modulus that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the sum needs {found}, but {required}; use a coarser grid or fewer clients")]
pub struct IllegalModulus {
    /// What the sum needs.
    pub found: String,
    /// What is possible.
    pub required: &'static str,
}

/// The probability with which some coordinate of a whole study may wrap: ln 2⁻⁴⁰.
pub const LOG_WRAP_PROBABILITY: f64 = -40.0 * core::f64::consts::LN_2;

/// What decides how large a modulus must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SumSize {
    /// The largest absolute value of the exact sum: contributions times their bound.
    pub largest_sum: u128,
    /// How many noise shares there can be.
    pub shares: u32,
    /// The variance of each.
    pub share_variance: f64,
    /// How many coordinates the whole study releases.
    pub coordinates: u64,
    /// ln of the probability with which any of them may wrap.
    pub log_wrap_probability: f64,
}

/// A modulus and the noise it leaves room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModulusPlan {
    /// T: no noise beyond this, with the planned probability.
    pub noise_bound: u64,
    /// The least modulus: room for sum and noise on both sides of zero.
    pub least: u64,
    /// Bits of the least modulus.
    pub bits: u32,
}

impl SumSize {
    /// The least modulus for sums of this size.
    ///
    /// # Why
    /// A discrete Gaussian is sub-Gaussian with its own parameter [CKS20, Lemma 31], and
    /// parameters of independent shares add, so each coordinate stays within T except with
    /// probability 2·e^(−T²/(2nσ²)); a union bound over all coordinates gives T.
    ///
    /// # Errors
    /// When the modulus would need more than 62 bits.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "the result is checked against 2^62 before it is cast"
    )]
    pub fn plan(self) -> Result<ModulusPlan, IllegalModulus> {
        let total_variance = f64::from(self.shares) * self.share_variance;
        let union = (2.0 * self.coordinates as f64).ln() - self.log_wrap_probability;
        let noise = (2.0 * total_variance * union).sqrt() * (1.0 + 1e-13);
        let too_large = |found: String| IllegalModulus {
            found,
            required: "at most 62 bits exist",
        };
        if noise.is_nan() || noise >= 2f64.powi(60) {
            return Err(too_large(format!("room for noise of {noise:.1e}")));
        }
        let noise_bound = noise.ceil() as u64;
        let one_side = self.largest_sum.checked_add(u128::from(noise_bound));
        let least = one_side.and_then(|side| side.checked_mul(2)?.checked_add(1));
        let least = least.and_then(|least| u64::try_from(least).ok());
        let least = least
            .filter(|least| *least < 1 << 62)
            .ok_or_else(|| too_large(format!("sums up to {}", self.largest_sum)))?;
        Ok(ModulusPlan {
            noise_bound,
            least,
            bits: u64::BITS - (least - 1).leading_zeros(),
        })
    }
}

/// A modulus of at most 62 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modulus(u64);

impl Modulus {
    /// The modulus `modulus`.
    ///
    /// # Errors
    /// When it is below 2 or above 2⁶².
    pub fn new(modulus: u64) -> Result<Self, IllegalModulus> {
        if (2..=1 << 62).contains(&modulus) {
            return Ok(Self(modulus));
        }
        Err(IllegalModulus {
            found: format!("modulus {modulus}"),
            required: "a modulus lies between 2 and 2^62",
        })
    }

    /// The representative of `value` in [0, modulus).
    #[must_use]
    pub fn encode(self, value: i64) -> u64 {
        value.rem_euclid(self.0.cast_signed()).cast_unsigned()
    }

    /// The sum of two representatives, reduced or not.
    #[must_use]
    pub fn add(self, left: u64, right: u64) -> u64 {
        (left % self.0 + right % self.0) % self.0
    }

    /// The integer nearest to zero that `representative` represents.
    #[must_use]
    pub fn decode(self, representative: u64) -> i64 {
        let reduced = (representative % self.0).cast_signed();
        let modulus = self.0.cast_signed();
        if reduced > (modulus - 1) / 2 {
            reduced - modulus
        } else {
            reduced
        }
    }
}
