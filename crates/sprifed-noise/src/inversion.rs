//! Exact sampling of an integer law by inversion against a table.
//!
//! # Exactness
//!
//! 1. Let `U` be uniform on `[0, 1)` and `F` the cumulative probability of the law. The integer
//!    `x` with `F(x-1) ≤ U < F(x)` has exactly the wanted law. This is inversion; it needs no
//!    truncation, and `x` exists and is unique for every `U`.
//! 2. Of `U` only a prefix `v` of 63 bits is drawn at first: `v ≤ 2^63 U < v + 1`. For every listed
//!    `x` the table holds an integer `floor(x) ≤ 2^63 F(x) ≤ floor(x) + slack`, from outward-rounded
//!    integer arithmetic.
//! 3. If `v < floor(x)` then `2^63 U < v + 1 ≤ floor(x) ≤ 2^63 F(x)`, so `U < F(x)`. If
//!    `v ≥ floor(x-1) + slack` then `2^63 U ≥ v ≥ 2^63 F(x-1)`, so `U ≥ F(x-1)`. When both hold, `x`
//!    is the integer of step 1 whatever the undrawn bits are, and the table answers `x`.
//! 4. Otherwise — `v` within `slack` of a threshold, or in an unlisted tail; together a chance of
//!    about the table's length times 2⁻⁶³ — more bits of the same `U` are drawn and the thresholds
//!    are recomputed at that many bits, until both comparisons of step 3 settle. They settle with
//!    probability one since the enclosures shrink to the thresholds. The answer is again the `x`
//!    of step 1.
//!
//! So the answer is the inversion of an infinitely precise `U`, in every case
//! (docs/proofs/sampling.md#1-inversion-against-a-table).
//!
//! # What this module does not do
//!
//! It does not run in constant time: how far the search walks depends on the outcome. Draws are
//! made before data is read, and the release path enforces it
//! (docs/proofs/sampling.md#5-what-is-drawn-when).

use rand_core::CryptoRng;

use crate::enclosure::Enclosure;
use crate::lazy_uniform::LazyUniform;

/// A law on the integers whose cumulative probabilities can be computed to any precision.
pub(crate) trait RefinableLaw {
    /// Thresholds at scale `bits`, listing all outcomes but a mass of a few units of that scale.
    fn cumulative(&self, bits: u32) -> Cumulative;
}

/// Cumulative probabilities of a run of consecutive outcomes.
#[derive(Clone, Debug)]
pub(crate) struct Cumulative {
    /// The outcome between `thresholds[0]` and `thresholds[1]`.
    pub(crate) first: i64,
    /// `thresholds[i]` encloses the probability of an outcome below `first + i`.
    pub(crate) thresholds: Vec<Enclosure>,
}

impl Cumulative {
    /// The outcome at which `uniform` inverts, if these thresholds settle it.
    pub(crate) fn locate(&self, uniform: &LazyUniform) -> Option<i64> {
        // A threshold that `uniform` is not settled above ends the search; the one before must
        // be settled below.
        let above = self
            .thresholds
            .partition_point(|threshold| uniform.is_below(threshold) == Some(false));
        let next = self.thresholds.get(above)?;
        let preceding = above.checked_sub(1)?;
        uniform
            .is_below(next)?
            .then(|| outcome(self.first, preceding))
    }
}

/// [`Cumulative`] at 63 bits, which is all that a table holds of it.
#[derive(Clone, Debug)]
pub(crate) struct PrefixCumulative {
    pub(crate) first: i64,
    pub(crate) floors: Vec<u64>,
    pub(crate) ceilings: Vec<u64>,
}

/// What the table knows when 63 bits settle the outcome.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settled {
    pub(crate) outcome: i64,
    /// The floor of step 2 for the probability of a smaller outcome.
    pub(crate) floor: u64,
    /// The same for the next outcome; above `floor`.
    pub(crate) next_floor: u64,
}

/// The table of a law, with the law itself for the rare draw the table cannot settle.
#[derive(Clone, Debug)]
pub(crate) struct InversionTable<L> {
    law: L,
    /// The outcome of search position 2; position 1 is the unlisted lower tail.
    first: i64,
    /// `0`, then the floors of step 2 in ascending order, then `u64::MAX`.
    floors: Vec<u64>,
    /// `guide[v >> guide_shift]` is a search position at or before that of `v`.
    guide: Vec<u32>,
    guide_shift: u32,
    slack: u64,
}

impl<L: RefinableLaw> InversionTable<L> {
    /// Computes the table at twice the width of its entries, so that `slack` is nearly always one.
    pub(crate) fn new(law: L) -> Self {
        let Cumulative { first, thresholds } = law.cumulative(TABLE_BITS);
        let (floors, ceilings) = thresholds.iter().map(prefixes).unzip();
        let cumulative = PrefixCumulative {
            first,
            floors,
            ceilings,
        };
        Self::from_prefixes(law, &cumulative)
    }

    /// The table of a law whose thresholds at 63 bits were computed by other means.
    pub(crate) fn from_prefixes(law: L, cumulative: &PrefixCumulative) -> Self {
        let PrefixCumulative {
            first,
            floors,
            ceilings,
        } = cumulative;
        let slack = floors
            .iter()
            .zip(ceilings)
            .map(|(floor, ceiling)| ceiling - floor)
            .max();

        // Equal floors at either end only lengthen the table: their draws are unsettled anyway.
        let start = floors
            .partition_point(|&floor| floor == 0)
            .saturating_sub(1);
        let end = floors
            .partition_point(|&floor| floor < LARGEST_PREFIX)
            .min(floors.len() - 1);
        let mut listed = vec![0];
        listed.extend_from_slice(&floors[start..=end]);
        listed.push(u64::MAX);

        let (guide, guide_shift) = guide_of(&listed);
        Self {
            law,
            first: outcome(*first, start),
            floors: listed,
            guide,
            guide_shift,
            slack: slack.unwrap_or(0).max(1),
        }
    }

    /// The outcome for the uniform number that begins with the 63-bit `prefix`.
    #[inline]
    pub(crate) fn invert(&self, prefix: u64, rng: &mut impl CryptoRng) -> i64 {
        match self.settle(prefix) {
            Some(Settled { outcome, .. }) => outcome,
            None => self.refine(prefix, rng).0,
        }
    }

    /// As [`Self::invert`], also giving the uniform number for further comparisons.
    pub(crate) fn invert_keeping(
        &self,
        prefix: u64,
        rng: &mut impl CryptoRng,
    ) -> (i64, LazyUniform) {
        match self.settle(prefix) {
            Some(Settled { outcome, .. }) => {
                (outcome, LazyUniform::from_prefix(prefix, PREFIX_BITS))
            }
            None => self.refine(prefix, rng),
        }
    }

    /// About how far `prefix` is into the interval of its outcome, in units of `2^-bits` of it.
    ///
    /// A hint for a search within the outcome, never a decision.
    pub(crate) fn hint_within(&self, prefix: u64, bits: u32) -> u64 {
        let position = self.position(prefix);
        let [from, to] = [self.floors[position - 1], self.floors[position]];
        let share = (u128::from(prefix - from) << bits) / u128::from(to - from);
        u64::try_from(share).unwrap_or(0)
    }

    /// Step 3: the outcome, if the first 63 bits settle it.
    #[inline]
    pub(crate) fn settle(&self, prefix: u64) -> Option<Settled> {
        let position = self.position(prefix);
        let [floor, next_floor] = [self.floors[position - 1], self.floors[position]];
        let is_settled =
            prefix - floor >= self.slack && position > 1 && position + 1 < self.floors.len();
        is_settled.then(|| Settled {
            outcome: outcome(self.first, position.wrapping_sub(2)),
            floor,
            next_floor,
        })
    }

    /// At most this much above its floor is each threshold.
    pub(crate) fn slack(&self) -> u64 {
        self.slack
    }

    /// The position of the first floor above `prefix`; at least 1, as floor 0 is zero.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the guide has at most 2^15 buckets"
    )]
    fn position(&self, prefix: u64) -> usize {
        let mut position = self.guide[(prefix >> self.guide_shift) as usize] as usize;
        while prefix >= self.floors[position] {
            position += 1;
        }
        position
    }

    /// Step 4: more bits of the same uniform number, and thresholds to match.
    #[cold]
    fn refine(&self, prefix: u64, rng: &mut impl CryptoRng) -> (i64, LazyUniform) {
        let mut uniform = LazyUniform::from_prefix(prefix, PREFIX_BITS);
        loop {
            uniform.refine(rng);
            if let Some(outcome) = self.law.cumulative(uniform.bits()).locate(&uniform) {
                return (outcome, uniform);
            }
        }
    }
}

/// Both 63-bit neighbours of a threshold at scale [`TABLE_BITS`].
fn prefixes(threshold: &Enclosure) -> (u64, u64) {
    let table = threshold.coarsened(TABLE_BITS, PREFIX_BITS);
    let [floor, ceiling] = [&table.lower, &table.upper]
        .map(|bound| u64::try_from(bound).expect("a probability at 63 bits is at most 2^63"));
    (floor, ceiling)
}

/// For each bucket of prefixes, the first search position that can hold one of them.
fn guide_of(floors: &[u64]) -> (Vec<u32>, u32) {
    let n_buckets = (2 * floors.len())
        .next_power_of_two()
        .clamp(16, MOST_BUCKETS);
    let guide_shift = PREFIX_BITS - n_buckets.ilog2();
    let guide = (0..n_buckets as u64)
        .map(|bucket| {
            let position = floors.partition_point(|&floor| floor <= bucket << guide_shift);
            u32::try_from(position).expect("a table has fewer than 2^32 floors")
        })
        .collect();
    (guide, guide_shift)
}

/// The outcome `offset` places after `first`.
#[inline]
#[expect(
    clippy::cast_possible_wrap,
    reason = "offsets index a vector, so they are below 2^63"
)]
fn outcome(first: i64, offset: usize) -> i64 {
    first + offset as i64
}

/// Bits of a uniform number that are drawn at first; the 64th bit of the word is left for a sign.
pub(crate) const PREFIX_BITS: u32 = 63;

const LARGEST_PREFIX: u64 = (1 << PREFIX_BITS) - 1;

const TABLE_BITS: u32 = 128;

const MOST_BUCKETS: usize = 1 << 15;

#[cfg(test)]
mod tests;
