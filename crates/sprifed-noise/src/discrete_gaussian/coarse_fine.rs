//! Steps 3 to 6: a coarse draw from a small table, fine bits drawn uniformly, and an exact coin.

use num_bigint::BigUint;
use num_traits::One;
use rand_core::CryptoRng;

use crate::enclosure::Enclosure;
use crate::inversion::InversionTable;
use crate::lazy_uniform::LazyUniform;
use crate::parameter::Fraction;

use super::magnitude::{GaussianMagnitude, ZeroWeight};
use super::with_sign;

/// The discrete Gaussian law for a σ² of at least 2¹⁴.
#[derive(Clone, Debug)]
pub(super) struct CoarseFine {
    coarse: InversionTable<GaussianMagnitude>,
    variance_parameter: Fraction,
    /// `s`: the number of fine bits, from 1 to 32.
    fine_bits: u32,
    /// `⌊2^(64 + 2s) / (2σ²)⌋`, below 2⁵².
    reciprocal: u64,
}

impl CoarseFine {
    pub(super) fn new(variance_parameter: Fraction, fine_bits: u32) -> Self {
        let square = BigUint::one() << (2 * fine_bits);
        let coarse = variance_parameter.divided_by(&square);
        let reciprocal = (&variance_parameter.denominator << (64 + 2 * fine_bits))
            / (&variance_parameter.numerator << 1);
        Self {
            coarse: InversionTable::new(GaussianMagnitude::new(coarse, ZeroWeight::Full)),
            reciprocal: u64::try_from(reciprocal).expect("the coarse variance is at least 2^12"),
            variance_parameter,
            fine_bits,
        }
    }

    /// Draws until a candidate is kept.
    #[inline]
    pub(super) fn sample(&self, rng: &mut impl CryptoRng) -> i64 {
        loop {
            let word = rng.next_u64();
            let coarse = self.coarse.invert(word >> 1, rng).unsigned_abs();
            let coin = rng.next_u64();
            let fine = coin & ((1 << self.fine_bits) - 1);
            if self.keeps(coarse, fine, coin, rng) {
                let magnitude = (coarse << self.fine_bits) + fine;
                // Step 5. The chance is below 2^-7, so the branch predicts well.
                if magnitude != 0 || word & 1 == 0 {
                    return with_sign(magnitude.cast_signed(), word & 1);
                }
            }
        }
    }

    /// The coin of step 6, with the bits of `coin` above the fine ones as the first bits of `V`.
    #[inline]
    fn keeps(&self, coarse: u64, fine: u64, coin: u64, rng: &mut impl CryptoRng) -> bool {
        // 2^64 V lies in [bottom, bottom + 2^s), and 2^64 y in [least, most], y = a/(2σ²).
        let bottom = u128::from(coin - fine);
        let top = bottom + (1 << self.fine_bits);
        let cost =
            u128::from(fine) * (u128::from(fine) + (u128::from(coarse) << (self.fine_bits + 1)));
        if coarse < FAST_COARSE {
            let most = ((cost * u128::from(self.reciprocal + 1)) >> (2 * self.fine_bits)) + 1;
            if top + most <= ONE {
                return true; // V < 1 - y ≤ exp(-y)
            }
            let least = (cost * u128::from(self.reciprocal)) >> (2 * self.fine_bits);
            if most < ONE && bottom > ONE - least + ((most * most) >> 65) {
                return false; // V ≥ 1 - y + y²/2 ≥ exp(-y)
            }
        }
        self.keeps_exactly(cost, coin, rng)
    }

    /// The same coin when the bounds do not settle it: more bits, and the exponential itself.
    #[cold]
    fn keeps_exactly(&self, cost: u128, coin: u64, rng: &mut impl CryptoRng) -> bool {
        if cost == 0 {
            return true; // exp(0) = 1 exceeds every V, which no enclosure from below can show
        }
        let Fraction {
            numerator,
            denominator,
        } = &self.variance_parameter;
        let numerator_of_cost = denominator * cost;
        let denominator_of_cost = numerator << 1;
        let mut uniform = LazyUniform::from_prefix(coin >> self.fine_bits, 64 - self.fine_bits);
        uniform.settle_below(
            |bits| Enclosure::exp_negative(&numerator_of_cost, &denominator_of_cost, bits),
            rng,
        )
    }
}

/// One, at the scale of the fast coin.
const ONE: u128 = 1 << 64;

/// Below this the products of the fast coin stay under 2¹²⁸: the cost is under `2^(2s + 11)`.
const FAST_COARSE: u64 = 1 << 9;

#[cfg(test)]
mod tests;
