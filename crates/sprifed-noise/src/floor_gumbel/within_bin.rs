//! Step 3 of the sampler: thresholds within a bin, in machine words.
//!
//! For the outcome `i` places into the bin that starts at `s`, with `E = exp(-rate·s)`:
//!
//! ```text
//! P(K < s + i) = exp(-E·exp(-rate·i)) = P(K < s) · exp(E·t),     t = 1 - exp(-rate·i) < 2⁻⁶.
//! ```
//!
//! `P(K < s)` and `E` are tabulated for each bin, `t` for each place, and `exp(y) - 1` is a series of
//! positive terms. So rounding everything down gives a lower bound, and counting what was rounded
//! away gives [`DOUBT`]:
//!
//! 1. In units of 2⁻⁷⁰, `t` is at most 4.1 too small: each of its two parts by 1.01, their combination
//!    by 2. In units of 2⁻⁵⁸, `E` is at most 1.01 too small.
//! 2. So, in units of 2⁻⁶⁴, `y = E·t` is less than 5 too small: 4.1·32·2⁻⁶ = 2.1 from `t`, 1.01 from
//!    `E`, 1 from the product. It is below 1/2, since `E < 32`.
//! 3. The series, written as `a₁` with `aₙ = (y/n)·(1 + aₙ₊₁)`, rounds down twice in each `aₙ` and is
//!    cut after a term below one unit. With `aₙ < 0.65` that makes `a₂` less than 3.6 units too
//!    small, `a₁` less than 1 + 3.6/2 + 1 = 3.8, and with the 5·exp(1/2) from `y` less than 13.
//! 4. In units of 2⁻⁶³, `P(K < s)` is at most the table's slack too small, hence the product at most
//!    `slack·exp(1/2) + 13/2 + 1` too small, which is below `2·slack + 8`.

use crate::inversion::Settled;
use crate::narrow_enclosure::{NARROW_BITS, NarrowEnclosure};

use super::thresholds::{GumbelThresholds, InnerExponentials};

/// What the thresholds within bins are computed from.
#[derive(Clone, Debug)]
pub(super) struct WithinBins {
    /// The first bin with `E < 32`. The others together have a chance below 2⁻⁴⁶.
    first: i64,
    /// `E` of each bin, at scale 2⁻⁵⁸.
    inner: Vec<u64>,
    /// `t` at scale 2⁻⁷⁰ by the low bits of the place, and by the others.
    low_places: Vec<u64>,
    high_places: Vec<u64>,
    low_bits: u32,
    fine_bits: u32,
    /// Half the rate of a bin, at scale 2⁻³⁶; only a hint is made of it.
    half_rate: i64,
    /// By how much a threshold may exceed its computed lower bound.
    doubt: u64,
}

impl WithinBins {
    /// `bins` belong to the merged law and `outcomes` is the law itself. `None` if a bin is wider
    /// than 2⁻⁶.
    pub(super) fn new(
        bins: &InnerExponentials,
        outcomes: &GumbelThresholds,
        fine_bits: u32,
        slack: u64,
    ) -> Option<Self> {
        let of_a_bin = place(outcomes.decay_over(1 << fine_bits)?)?;
        let low_bits = fine_bits.min(MOST_LOW_BITS);
        let n_skipped = bins
            .values
            .partition_point(|inner| inner.upper >= LARGEST_INNER << NARROW_BITS);
        Some(Self {
            first: bins.first.checked_add_unsigned(n_skipped as u64)?,
            inner: bins.values[n_skipped..].iter().map(scaled_inner).collect(),
            low_places: places(outcomes.decay_over(1)?, low_bits)?,
            high_places: places(outcomes.decay_over(1 << low_bits)?, fine_bits - low_bits)?,
            low_bits,
            fine_bits,
            half_rate: (of_a_bin >> 35).cast_signed(),
            doubt: 2 * slack + DOUBT,
        })
    }

    /// The outcome at which the uniform number that begins with `prefix` inverts, if the 63 bits of
    /// `prefix` settle it; `bin` is where it inverts under the merged law.
    #[inline]
    pub(super) fn settle(&self, prefix: u64, bin: &Settled) -> Option<i64> {
        let inner = *self
            .inner
            .get(usize::try_from(bin.outcome - self.first).ok()?)?;
        let hint = self.hint(prefix, bin, inner);
        let place = search(1 << self.fine_bits, hint, |place| {
            let least = self.least_threshold(bin.floor, inner, place);
            if prefix < least {
                Some(true)
            } else if prefix >= least + self.doubt {
                Some(false)
            } else {
                None
            }
        })?;
        Some((bin.outcome << self.fine_bits) + place)
    }

    /// A lower bound of a threshold at scale 2⁻⁶³, less than `doubt` below it.
    #[inline]
    fn least_threshold(&self, floor: u64, inner: u64, place: i64) -> u64 {
        let place = place.cast_unsigned();
        let low = self.low_places[index(place & ((1 << self.low_bits) - 1))];
        let high = self.high_places[index(place >> self.low_bits)];
        // 1 - (1 - high)(1 - low)
        let both = (high - high_part(high, low, 70))
            .saturating_add(low)
            .saturating_sub(1);
        let exponent = high_part(inner, both, 64);
        let gain = if exponent >> 59 == 0 {
            series::<9>(exponent)
        } else {
            series::<16>(exponent)
        };
        floor + high_part(floor, gain, 64)
    }

    /// About the place of `prefix` in its bin.
    ///
    /// A share `x` of the bin holds a share `y` of its probability, and a parabola through both ends
    /// with the curvature of the law, which is `(E - 1)·rate`, gives `x ≈ y + (E - 1)·rate/2·y(1 - y)`.
    #[inline]
    fn hint(&self, prefix: u64, bin: &Settled, inner: u64) -> i64 {
        let width = bin.next_floor - bin.floor;
        let surplus = 32u32.saturating_sub(width.leading_zeros());
        let share = (((prefix - bin.floor) >> surplus) << 32) / (width >> surplus);
        let share = share.cast_signed();
        let bend = (((inner.cast_signed() - (1 << INNER_BITS)) >> 30) * self.half_rate) >> 32;
        let curve = (share * ((1 << 32) - share)) >> 32;
        ((share + ((bend * curve) >> 32)) << self.fine_bits) >> 32
    }
}

/// The last of `0..count` whose threshold is not above the uniform number, given that the threshold
/// of 0 is not and that of `count` is; `None` if a comparison is.
///
/// Any order of comparisons finds the same place. The search starts at the hint and walks away from
/// it in growing steps, halving at worst.
#[inline]
pub(super) fn search(
    count: i64,
    hint: i64,
    mut is_below: impl FnMut(i64) -> Option<bool>,
) -> Option<i64> {
    let [mut known_above, mut known_below] = [0, count];
    let mut probe = hint.clamp(1, count - 1);
    let mut step = 1i64;
    while known_below - known_above > 1 {
        if is_below(probe)? {
            known_below = probe;
            probe = probe
                .saturating_sub(step)
                .max(i64::midpoint(known_above, known_below));
        } else {
            known_above = probe;
            probe = probe
                .saturating_add(step)
                .min(i64::midpoint(known_above, known_below));
        }
        step = step.saturating_mul(4);
    }
    Some(known_above)
}

/// `exp(y) - 1` from `TERMS` terms of its series, at scale 2⁻⁶⁴ and rounded down (step 3).
#[inline]
fn series<const TERMS: u64>(exponent: u64) -> u64 {
    (1..=TERMS).rev().fold(0, |tail, n| {
        let share = exponent / n;
        share + high_part(share, tail, 64)
    })
}

/// `left · right / 2^bits`, rounded down, which fits into a word for factors below `2^bits`.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "as said in the first line")]
fn high_part(left: u64, right: u64, bits: u32) -> u64 {
    ((u128::from(left) * u128::from(right)) >> bits) as u64
}

#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "a table has at most 2^13 places"
)]
fn index(place: u64) -> usize {
    place as usize
}

/// `t` for `2^log_count` multiples of a step.
fn places(step: NarrowEnclosure, log_count: u32) -> Option<Vec<u64>> {
    let next = |decay: &NarrowEnclosure| Some(decay.times(step));
    let decays = std::iter::successors(Some(NarrowEnclosure::ONE), next);
    decays.take(1 << log_count).map(place).collect()
}

/// `1 - decay`, rounded down, at scale 2⁻⁷⁰.
fn place(decay: NarrowEnclosure) -> Option<u64> {
    let complement = NarrowEnclosure::ONE.lower.saturating_sub(decay.upper);
    u64::try_from(complement >> (NARROW_BITS - 70)).ok()
}

/// `E`, rounded down, at scale 2⁻⁵⁸.
fn scaled_inner(inner: &NarrowEnclosure) -> u64 {
    u64::try_from(inner.lower >> (NARROW_BITS - INNER_BITS)).expect("it is below 32")
}

/// What step 4 adds to twice the slack.
const DOUBT: u64 = 8;

const LARGEST_INNER: u128 = 32;

const INNER_BITS: u32 = 58;

/// Bounds both tables of places by 2¹³ entries, as there are at most 26 fine bits.
const MOST_LOW_BITS: u32 = 13;

#[cfg(test)]
mod tests;
