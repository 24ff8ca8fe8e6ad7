//! Gumbel noise on the integer grid: `K = ⌊G/rate⌋`, `P(K ≤ k) = exp(-exp(-rate·(k+1)))`.
//!
//! Adding it to integer utilities and taking the largest is the exponential mechanism up to a
//! factor `exp(±rate)` on each probability (docs/proofs/selection.md#2-gumbel-noise-on-the-integers). The
//! index it selects is released by other crates; this module only draws.
//!
//! # Exactness
//!
//! 1. For a rate of at most 2⁻⁷ let `m = 2^j` be such that `2⁻⁷ < m·rate ≤ 2⁻⁶`; else `m = 1`. Then
//!    `⌊K/m⌋ = ⌊G/(m·rate)⌋` is floor-Gumbel with rate `m·rate`, drawn by table inversion of a uniform
//!    `U` (exact by the argument in `inversion.rs`).
//! 2. Within that bin, `K` is the integer `k` with `P(K < k) ≤ U < P(K ≤ k)` for the *same* `U`, found
//!    by search. So `K` is the inversion of `U` under its own law.
//! 3. Each comparison of the search is first tried in machine words: the 63 bits of `U` that are
//!    drawn against a lower bound of the threshold and that bound plus a proven doubt
//!    (`within_bin.rs`). What this decides, it decides as infinitely many bits would.
//! 4. If one comparison stays undecided, the search starts afresh with the same bits, and each
//!    comparison draws more of them until enclosures of the threshold settle it. What step 3 would
//!    have answered and what step 4 answers is the same `k`, the only one there is for this `U`.
//!
//! Step 4 is needed for a `U` within some ten units of 2⁻⁶³ of one of its thresholds, or in the far
//! tails: with a chance below 2⁻⁴⁰ at a rate of 10⁻⁴, which has 2¹⁹ thresholds.
//!
//! The sampler does not run in constant time; draws are made before data is read.

use num_bigint::BigUint;
use num_rational::Ratio;
use num_traits::One;
use rand_core::CryptoRng;
use sprifed_privacy::LARGEST_CURATOR_RATE;

use crate::inversion::InversionTable;
use crate::lazy_uniform::LazyUniform;
use crate::parameter::{Fraction, NoiseParameterError};
use crate::random_bits::RandomBits;

mod thresholds;
mod within_bin;

use thresholds::GumbelThresholds;
use within_bin::{WithinBins, search};

/// A sampler of the floor-Gumbel law with a fixed rate.
///
/// Building it computes a table (a few milliseconds at most); share it between draws.
#[derive(Clone, Debug)]
pub struct FloorGumbel {
    bins: InversionTable<GumbelThresholds>,
    thresholds: GumbelThresholds,
    /// Step 3, where bins hold more than one outcome.
    within: Option<WithinBins>,
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
        let merged = GumbelThresholds {
            rate: accepted.times(&(BigUint::one() << fine_bits)),
        };
        let thresholds = GumbelThresholds { rate: accepted };
        let inner = merged.inner_exponentials();
        let bins = match &inner {
            Some(inner) => InversionTable::from_prefixes(merged, &inner.prefix_cumulative()),
            None => InversionTable::new(merged),
        };
        let within = inner
            .filter(|_| fine_bits > 0)
            .and_then(|inner| WithinBins::new(&inner, &thresholds, fine_bits, bins.slack()));
        Ok(Self {
            bins,
            thresholds,
            within,
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
    /// docs/proofs/selection.md#3-a-clamp-on-the-noise: it changes nothing unless one of `p` draws exceeds it.
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
    /// The law of the result is exactly the floor-Gumbel law of [`Self::new`], clamped if
    /// [`Self::clamped_at`] was called.
    ///
    /// # Why
    /// The numbered argument in the documentation of this module.
    pub fn sample(&self, rng: &mut impl CryptoRng) -> i64 {
        let prefix = rng.next_u64() >> 1;
        let outcome = if self.fine_bits == 0 {
            self.bins.invert(prefix, rng)
        } else {
            self.settle(prefix)
                .unwrap_or_else(|| self.invert_by_enclosures(prefix, rng))
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

    /// Step 3: the outcome, if machine words settle it.
    #[inline]
    fn settle(&self, prefix: u64) -> Option<i64> {
        self.within
            .as_ref()?
            .settle(prefix, &self.bins.settle(prefix)?)
    }

    /// Step 4: the outcome, by as many bits as it takes.
    #[cold]
    fn invert_by_enclosures(&self, prefix: u64, rng: &mut impl CryptoRng) -> i64 {
        let (bin, uniform) = self.bins.invert_keeping(prefix, rng);
        let hint = self.bins.hint_within(prefix, self.fine_bits);
        self.search_bin(bin, hint, uniform, rng)
    }

    fn search_bin(
        &self,
        bin: i64,
        hint: u64,
        mut uniform: LazyUniform,
        rng: &mut impl CryptoRng,
    ) -> i64 {
        let first = bin << self.fine_bits;
        let place = search(
            1 << self.fine_bits,
            i64::try_from(hint).unwrap_or(0),
            |place| {
                Some(uniform.settle_below(|bits| self.thresholds.before(first + place, bits), rng))
            },
        );
        first + place.expect("every comparison was settled")
    }
}

/// Bins are merged until their rate exceeds 2⁻⁷.
const COARSE_LOG: u32 = 6;

const SMALLEST_RATE: Ratio<u128> = Ratio::new_raw(1, 1 << 32);

const LARGEST_RATE: Ratio<u128> = Ratio::new_raw(LARGEST_CURATOR_RATE as u128, 1);

#[cfg(test)]
mod tests;
