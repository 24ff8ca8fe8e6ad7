//! Gumbel noise on the integer grid: `K = ⌊G/rate⌋`, `P(K ≤ k) = exp(-exp(-rate·(k+1)))`.
//!
//! Adding it to integer utilities and taking the largest is the exponential mechanism up to a
//! factor `exp(±rate)` on each probability (specification, section 7). The index it selects is
//! released by other crates; this module only draws.
//!
//! # Exactness
//!
//! 1. For a rate of at most 2⁻⁷ let `m = 2^j` be such that `2⁻⁷ < m·rate ≤ 2⁻⁶`; else `m = 1`. Then
//!    `⌊K/m⌋ = ⌊G/(m·rate)⌋` is floor-Gumbel with rate `m·rate`, drawn by table inversion of a uniform
//!    `U` (exact by the argument in `inversion.rs`).
//! 2. Within that bin, `K` is the integer `k` with `P(K < k) ≤ U < P(K ≤ k)` for the *same* `U`, found
//!    by search; each comparison draws more bits of `U` until enclosures of the threshold settle
//!    it. So `K` is the inversion of `U` under its own law.
//!
//! The sampler does not run in constant time; draws are made before data is read.

use num_bigint::BigUint;
use num_integer::Integer;
use num_rational::Ratio;
use num_traits::One;
use rand_core::CryptoRng;

use crate::enclosure::Enclosure;
use crate::inversion::{Cumulative, InversionTable, RefinableLaw};
use crate::lazy_uniform::LazyUniform;
use crate::parameter::{Fraction, NoiseParameterError};
use crate::random_bits::RandomBits;

/// A sampler of the floor-Gumbel law with a fixed rate.
#[derive(Clone, Debug)]
pub struct FloorGumbel {
    bins: InversionTable<GumbelThresholds>,
    thresholds: GumbelThresholds,
    /// `j`: each bin holds `2^j` outcomes.
    fine_bits: u32,
    largest: i64,
}

impl FloorGumbel {
    /// The law `P(K ≤ k) = exp(-exp(-rate·(k+1)))`, without a clamp.
    ///
    /// # Errors
    /// If the rate is not between 2⁻³² and 16.
    pub fn new(rate: Ratio<u128>) -> Result<Self, NoiseParameterError> {
        let accepted = Fraction::accept("the Gumbel rate", rate, SMALLEST_RATE, LARGEST_RATE)?;
        // rate ≤ 2^-6 / 2^j holds exactly when ⌊1/rate⌋ ≥ 2^(6 + j).
        let inverse = rate.recip().to_integer();
        let fine_bits = inverse
            .checked_ilog2()
            .unwrap_or(0)
            .saturating_sub(COARSE_LOG);
        let coarse = accepted.times(&(BigUint::one() << fine_bits));
        Ok(Self {
            bins: InversionTable::new(GumbelThresholds { rate: coarse }),
            thresholds: GumbelThresholds { rate: accepted },
            fine_bits,
            largest: i64::MAX,
        })
    }

    /// The same sampler with every outcome above `largest` replaced by `largest`.
    ///
    /// # Guarantee
    /// Over `p` utilities the clamp costs the selection at most `delta_trunc = (1 + exp(ε)) · p ·
    /// exp(-rate·largest)` in δ, since a draw exceeds `largest` with probability below
    /// `exp(-rate·(largest + 1))`.
    ///
    /// # Why
    /// Specification, section 7: the clamp changes nothing unless one of `p` draws exceeds it.
    ///
    /// # Caller must
    /// add `delta_trunc` to the account; `rate · largest ≥ 60 + ln p` makes it negligible.
    #[must_use]
    pub fn clamped_at(self, largest: i64) -> Self {
        Self { largest, ..self }
    }

    /// One draw.
    ///
    /// # Guarantee
    /// The law of the result is exactly the floor-Gumbel law of [`Self::new`], clamped if so asked.
    ///
    /// # Why
    /// The numbered argument in the documentation of this module.
    pub fn sample(&self, rng: &mut impl CryptoRng) -> i64 {
        let prefix = rng.next_u64() >> 1;
        let outcome = if self.fine_bits == 0 {
            self.bins.invert(prefix, rng)
        } else {
            let (bin, uniform) = self.bins.invert_keeping(prefix, rng);
            let hint = self.bins.hint_within(prefix, self.fine_bits);
            self.search_bin(bin, hint, uniform, rng)
        };
        outcome.min(self.largest)
    }

    /// Overwrites every element of `out` with an independent draw.
    ///
    /// # Guarantee
    /// As for [`Self::sample`], independently for each element.
    pub fn fill(&self, out: &mut [i64], rng: &mut impl CryptoRng) {
        let mut bits = RandomBits::new(rng);
        out.fill_with(|| self.sample(&mut bits));
    }

    /// Step 2: the outcome within a bin.
    ///
    /// Any order of comparisons finds the same outcome. The law is nearly straight within a bin, so
    /// the search starts at the hint and walks away from it in growing steps, halving at worst.
    fn search_bin(
        &self,
        bin: i64,
        hint: u64,
        mut uniform: LazyUniform,
        rng: &mut impl CryptoRng,
    ) -> i64 {
        let mut known_above = bin << self.fine_bits;
        let mut known_below = (bin + 1) << self.fine_bits;
        let mut probe = known_above
            .saturating_add_unsigned(hint)
            .clamp(known_above + 1, known_below - 1);
        let mut step = 1;
        while known_below - known_above > 1 {
            if uniform.settle_below(|bits| self.thresholds.before(probe, bits), rng) {
                known_below = probe;
                probe = (probe - step).max(i64::midpoint(known_above, known_below));
            } else {
                known_above = probe;
                probe = (probe + step).min(i64::midpoint(known_above, known_below));
            }
            step *= 4;
        }
        known_above
    }
}

/// The cumulative probabilities of a floor-Gumbel law.
#[derive(Clone, Debug)]
struct GumbelThresholds {
    rate: Fraction,
}

impl GumbelThresholds {
    /// `P(K < outcome) = exp(-exp(-rate·outcome))` at scale `bits`.
    fn before(&self, outcome: i64, bits: u32) -> Enclosure {
        let Fraction {
            numerator,
            denominator,
        } = &self.rate;
        let work = bits + GUARD_BITS;
        let distance = numerator * outcome.unsigned_abs();
        let mut inner = Enclosure::exp_negative(&distance, denominator, work);
        if outcome < 0 {
            if inner.lower == BigUint::ZERO {
                // exp(rate·|outcome|) exceeds any scale in use; its exp(-·) is below one unit.
                return Enclosure {
                    lower: BigUint::ZERO,
                    upper: BigUint::one(),
                };
            }
            let square = BigUint::one() << (2 * work);
            inner = Enclosure {
                lower: &square / &inner.upper,
                upper: square.div_ceil(&inner.lower),
            };
        }
        Enclosure::exp_negative_of(&inner, work).coarsened(work, bits)
    }
}

impl RefinableLaw for GumbelThresholds {
    /// Lists outcomes from zero downward and upward until a threshold is within a few units of
    /// zero or one; both tails fall at least exponentially, so both loops end.
    fn cumulative(&self, bits: u32) -> Cumulative {
        let nearly_one = (BigUint::one() << bits) - 4u8;
        let nearly_zero = BigUint::from(4u8);
        let mut first = 0;
        let mut thresholds = vec![self.before(first, bits)];
        while thresholds
            .last()
            .is_some_and(|threshold| threshold.upper > nearly_zero)
        {
            first -= 1;
            thresholds.push(self.before(first, bits));
        }
        thresholds.reverse();
        let mut outcome = 0;
        while thresholds
            .last()
            .is_some_and(|threshold| threshold.lower < nearly_one)
        {
            outcome += 1;
            thresholds.push(self.before(outcome, bits));
        }
        Cumulative { first, thresholds }
    }
}

/// Covers the widening by the reciprocal, which is the square of a number below `bits`.
const GUARD_BITS: u32 = 32;

/// Bins are merged until their rate exceeds 2⁻⁷.
const COARSE_LOG: u32 = 6;

const SMALLEST_RATE: Ratio<u128> = Ratio::new_raw(1, 1 << 32);

const LARGEST_RATE: Ratio<u128> = Ratio::new_raw(16, 1);

#[cfg(test)]
mod tests;
