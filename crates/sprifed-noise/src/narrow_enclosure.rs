//! Enclosures in machine words, for tables of thousands of thresholds.
//!
//! The same idea as [`Enclosure`], rounded outward at each step, at one fixed scale of 2⁻¹²⁰ and for
//! values below 256. It is some fifty times faster than big integers, which matters where a sampler
//! is built for each release. It cannot be refined: where it leaves a doubt, [`Enclosure`] decides.

use crate::enclosure::Enclosure;

/// Two integers with `2^120` times the value between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NarrowEnclosure {
    pub(crate) lower: u128,
    pub(crate) upper: u128,
}

impl NarrowEnclosure {
    /// The number one.
    pub(crate) const ONE: Self = Self {
        lower: UNIT,
        upper: UNIT,
    };

    /// A number that is enclosed at scale [`NARROW_BITS`], if it is below 128.
    pub(crate) fn of(wide: &Enclosure) -> Option<Self> {
        let [lower, upper] = [&wide.lower, &wide.upper].map(|bound| u128::try_from(bound).ok());
        let narrow = Self {
            lower: lower?,
            upper: upper?,
        };
        (narrow.upper < UNIT << 7).then_some(narrow)
    }

    /// The product of two numbers, if it is below 256.
    pub(crate) fn times(self, other: Self) -> Self {
        Self {
            lower: product(self.lower, other.lower),
            upper: product(self.upper, other.upper) + 1,
        }
    }

    /// `exp(-self)`.
    ///
    /// # Why
    /// As for [`Enclosure::exp_negative`]: the lower end is halved until it is below 2⁻⁴, the
    /// series is added there, and the result is squared back, rounding outward. Over the width of
    /// `self` the exponential falls by at most that width, its slope being at most one.
    pub(crate) fn exp_negative(self) -> Self {
        let n_bits = u128::BITS - self.lower.leading_zeros();
        let halvings = n_bits.saturating_sub(NARROW_BITS - ARGUMENT_BITS);
        let mut value = taylor_of_exp_negative(self.lower >> halvings);
        for _ in 0..halvings {
            value = value.times(value);
        }
        let width = self.upper - self.lower;
        Self {
            lower: value.lower.saturating_sub(width),
            upper: value.upper.min(UNIT),
        }
    }

    /// Both neighbours at the coarser scale of `bits`, for a number of at most one.
    pub(crate) fn prefixes(self, bits: u32) -> (u64, u64) {
        let surplus = NARROW_BITS - bits;
        let [floor, ceiling] =
            [self.lower >> surplus, ((self.upper - 1) >> surplus) + 1].map(|bound| {
                u64::try_from(bound).expect("a number of at most one has at most 64 bits")
            });
        (floor, ceiling)
    }
}

/// `exp(-x)` for an `x` in `[argument, argument + 1]` units, `argument` being below 2⁻⁴.
///
/// 1. A computed term is the previous one times a factor below 2⁻⁴, with three roundings down of less
///    than one unit each: two products and the reciprocal, which multiplies a number below one. So
///    it is less than four units too small.
/// 2. The series alternates with falling terms, so what is left out is below the first term left
///    out, which is below four units because its computed value is zero.
/// 3. The argument itself is off by one unit at most. Hence `4 · terms + 1` units on either side, the
///    term left out among them, enclose the value.
fn taylor_of_exp_negative(argument: u128) -> NarrowEnclosure {
    let mut term = UNIT;
    let mut sums = [UNIT, 0];
    let mut n_terms = 0;
    for reciprocal in RECIPROCALS {
        n_terms += 1;
        term = product(product(term, argument), reciprocal);
        if term == 0 {
            break;
        }
        sums[n_terms % 2] += term;
    }
    debug_assert!(term == 0, "below 2^-4 the 24th term is below 2^-120");
    let [even, odd] = sums;
    let doubt = 4 * n_terms as u128 + 1;
    NarrowEnclosure {
        lower: even - odd - doubt,
        upper: even - odd + doubt,
    }
}

/// `left · right / 2^120`, rounded down, if it is below 2¹²⁸.
#[inline]
const fn product(left: u128, right: u128) -> u128 {
    let (left_high, left_low) = (left >> 64, left & LOW_HALF);
    let (right_high, right_low) = (right >> 64, right & LOW_HALF);
    let low = left_low * right_low;
    let (middle, carry) = (left_high * right_low).overflowing_add(left_low * right_high);
    let (low, carry_of_low) = low.overflowing_add(middle << 64);
    let high =
        left_high * right_high + (middle >> 64) + ((carry as u128) << 64) + carry_of_low as u128;
    (high << (128 - NARROW_BITS)) | (low >> NARROW_BITS)
}

/// `⌊2^120 / n⌋` for `n = 1, 2, …`.
const RECIPROCALS: [u128; 24] = {
    let mut reciprocals = [UNIT; 24];
    let mut index = 0;
    while index < reciprocals.len() {
        reciprocals[index] = UNIT / (index as u128 + 1);
        index += 1;
    }
    reciprocals
};

/// The scale: eight bits are left above one.
pub(crate) const NARROW_BITS: u32 = 120;

/// One.
const UNIT: u128 = 1 << NARROW_BITS;

/// The Taylor series is used below `2^-ARGUMENT_BITS`.
const ARGUMENT_BITS: u32 = 4;

const LOW_HALF: u128 = u64::MAX as u128;

#[cfg(test)]
mod tests;
