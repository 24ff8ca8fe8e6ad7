//! Euler noise in shares: `P(Z ≤ z) = ∏_{k>z} (1 − q^k)` with `q = exp(-rate)`, on `z = 0, 1, 2, …`
//!
//! The law is a lattice Gumbel, and infinitely divisible: `Z = Σ m · Poisson(ν_m)` over jumps
//! `m = 1, 2, …` with `ν_m = q^m / (m (1 − q^m))`. An *r-share* has the means `r ν_m`, so two
//! half shares of two dealers add up to one `Z` (docs/proofs/trustees.md#4-divisibility).
//!
//! # Exactness
//!
//! 1. Jumps up to `m₀` together have an integer law whose weights follow from one recursion
//!    ([`SmallJumps`]). One draw of it by table inversion is exact (`inversion.rs`): its means are
//!    `r ν_m`, neither rounded nor cut.
//! 2. The number of jumps between `m₀` and `M = ⌈75/rate⌉` is one exact Poisson draw. Its mean is
//!    the enclosed total `T` of their means, rounded up to 40 significant bits. The size of each
//!    is drawn exactly with probability `r ν_m / T` ([`LargeJumps`]). So every such jump has a mean
//!    between `r ν_m` and `r ν_m (1 + 2⁻³⁸)`.
//! 3. A larger mean is the exact share and independent further jumps, which no guarantee counts.
//!    Means are never rounded one by one: an absolute rounding would give the largest jumps, whose
//!    means are far below any such step, a mean that decides choices.
//! 4. Jumps above `M` are left out, and a share is clamped below a power of two. Both are events of
//!    probability below `e⁻⁷⁴`, which the account carries (docs/proofs/trustees.md#6-what-is-cut-off).
//!
//! The sampler does not run in constant time; draws are made before data is read.

use num_bigint::BigUint;
use num_integer::Integer;
use num_rational::Ratio;
use num_traits::One;
use rand_core::CryptoRng;

use crate::enclosure::Enclosure;
use crate::inversion::InversionTable;
use crate::parameter::{Fraction, NoiseParameterError};
use crate::poisson::Poisson;
use crate::random_bits::RandomBits;

mod large_jumps;
mod small_jumps;

use large_jumps::LargeJumps;
use small_jumps::SmallJumps;

/// A sampler of one r-share of Euler noise with a fixed rate.
///
/// Building it computes tables (some milliseconds at a rate of 1/128); share it between draws.
#[derive(Clone, Debug)]
pub struct EulerShare {
    small: InversionTable<SmallJumps>,
    n_large: Poisson,
    large: InversionTable<LargeJumps>,
    largest: i64,
}

impl EulerShare {
    /// The law of a `share` of Euler noise of this `rate`, without a clamp.
    ///
    /// # Errors
    /// If the rate is not between 2⁻¹⁴ and 1, or the share not between 1/1024 and 1/2.
    pub fn new(rate: Ratio<u128>, share: Ratio<u128>) -> Result<Self, NoiseParameterError> {
        let (small, large) = laws(rate, share)?;
        let sums = large.sums();
        let n_large = Poisson::of(&large.rounded_mean(&small.share, &sums));
        let prefixes = large.prefix_cumulative(&sums);
        Ok(Self {
            small: InversionTable::new(small),
            n_large,
            large: InversionTable::from_prefixes(large, &prefixes),
            largest: i64::MAX,
        })
    }

    /// The same sampler with every outcome above `largest` replaced by `largest`.
    ///
    /// # Caller must
    /// add what the clamp costs to the account: docs/proofs/trustees.md#6-what-is-cut-off.
    #[must_use]
    pub fn clamped_at(self, largest: i64) -> Self {
        Self { largest, ..self }
    }

    /// One draw.
    ///
    /// # Guarantee
    /// The result is an r-share of [`Self::new`] without its jumps above `75/rate`, plus
    /// independent noise, clamped if [`Self::clamped_at`] was called.
    ///
    /// # Why
    /// The numbered argument in the documentation of this module.
    #[inline]
    pub fn sample(&self, rng: &mut impl CryptoRng) -> i64 {
        let prefix = rng.next_u64() >> 1;
        let mut total = self.small.invert(prefix, rng);
        for _ in 0..self.n_large.sample(rng) {
            let prefix = rng.next_u64() >> 1;
            total += self.large.invert(prefix, rng);
        }
        total.min(self.largest)
    }

    /// Overwrites every element of `out` with an independent draw.
    ///
    /// # Guarantee
    /// As for [`Self::sample`], independently for each element.
    pub fn fill(&self, out: &mut [i64], rng: &mut impl CryptoRng) {
        let mut bits = RandomBits::new(rng);
        out.fill_with(|| self.sample(&mut bits));
    }
}

/// The laws of small and of large jumps, if the parameters are in range.
fn laws(
    rate: Ratio<u128>,
    share: Ratio<u128>,
) -> Result<(SmallJumps, LargeJumps), NoiseParameterError> {
    let accepted = Fraction::accept("the Euler rate", rate, SMALLEST_RATE, LARGEST_RATE)?;
    let share = Fraction::accept("the Euler share", share, SMALLEST_SHARE, LARGEST_SHARE)?;
    let over_rate =
        (&share.numerator * &accepted.denominator) / (&share.denominator * &accepted.numerator);
    let largest_small =
        u64::try_from((over_rate.sqrt() << 1u8).clamp(FEWEST_SMALL.into(), MOST_SMALL.into()))
            .expect("clamped to a small number");
    let largest_jump = (&accepted.denominator * LONGEST_JUMP).div_ceil(&accepted.numerator);
    let largest_jump =
        u64::try_from(largest_jump).expect("the rate is at least 2^-14, so this is below 2^21");
    let small = SmallJumps {
        rate: accepted.clone(),
        share,
        largest: largest_small,
    };
    let large = LargeJumps {
        rate: accepted,
        after: largest_small,
        largest: largest_jump,
    };
    Ok((small, large))
}

/// `q^jump = exp(-rate·jump)` at scale `bits`.
fn decay(rate: &Fraction, jump: u64, bits: u32) -> Enclosure {
    Enclosure::exp_negative(&(&rate.numerator * jump), &rate.denominator, bits)
}

/// `x / (1 − x)` at scale `bits`, for an enclosed `x` that is certainly below one.
fn odds(x: &Enclosure, bits: u32) -> Enclosure {
    let unit = BigUint::one() << bits;
    Enclosure {
        lower: (&x.lower << bits) / (&unit - &x.lower),
        upper: (&x.upper << bits).div_ceil(&(&unit - &x.upper)),
    }
}

/// `rate·M` for the largest jump `M` that is drawn.
const LONGEST_JUMP: u32 = 75;

/// `m₀` is twice `√(r/rate)`, which balances the size of its table against the number of large
/// jumps in a draw, within these limits.
const FEWEST_SMALL: u32 = 24;
const MOST_SMALL: u32 = 64;

const SMALLEST_RATE: Ratio<u128> = Ratio::new_raw(1, 1 << 14);

const LARGEST_RATE: Ratio<u128> = Ratio::new_raw(1, 1);

const SMALLEST_SHARE: Ratio<u128> = Ratio::new_raw(1, 1 << 10);

const LARGEST_SHARE: Ratio<u128> = Ratio::new_raw(1, 2);

#[cfg(test)]
mod tests;
