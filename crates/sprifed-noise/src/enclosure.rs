//! Real numbers in `[0, 1]` caught between two integers.
//!
//! Every decision of a sampler is a comparison of random bits with an irrational threshold. Here a
//! threshold is a pair of integers around it, rounded outward at each step, so a comparison either
//! gives the true answer or admits that it needs more bits. Nothing in this module is a float.
//!
//! The scale is not stored: an enclosure "at `bits`" holds `lower ≤ value · 2^bits ≤ upper`, and
//! each function says at which scale it works.

use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::One;

/// Two integers with the scaled value between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Enclosure {
    pub(crate) lower: BigUint,
    pub(crate) upper: BigUint,
}

impl Enclosure {
    /// The number one at scale `bits`.
    pub(crate) fn one(bits: u32) -> Self {
        let unit = BigUint::one() << bits;
        Self {
            lower: unit.clone(),
            upper: unit,
        }
    }

    /// The product of two numbers, all three at scale `bits`.
    pub(crate) fn times(&self, other: &Self, bits: u32) -> Self {
        Self {
            lower: (&self.lower * &other.lower) >> bits,
            upper: ((&self.upper * &other.upper) >> bits) + 1u8,
        }
    }

    /// The product with a positive fraction, which keeps the scale.
    pub(crate) fn times_fraction(&self, numerator: &BigUint, denominator: &BigUint) -> Self {
        Self {
            lower: &self.lower * numerator / denominator,
            upper: (&self.upper * numerator).div_ceil(denominator),
        }
    }

    /// The same number at the coarser scale `bits`, cut at one.
    pub(crate) fn coarsened(&self, from_bits: u32, bits: u32) -> Self {
        let surplus = from_bits - bits;
        let unit = BigUint::one() << bits;
        Self {
            lower: &self.lower >> surplus,
            upper: ((&self.upper >> surplus) + 1u8).min(unit),
        }
    }

    /// `exp(-numerator/denominator)` at scale `bits`, at most three units wide.
    ///
    /// # Why
    /// 1. Halve the argument `h` times until it is below 2⁻⁸, and add the Taylor series there. The
    ///    series alternates with falling terms, so what is left out is below the first term left
    ///    out, which is below two units because its computed value is zero.
    /// 2. Each computed term is the floor of the previous one times a factor below 2⁻⁸, so it is
    ///    less than two units off; the argument itself is rounded by at most one unit. Hence
    ///    `2 · terms + 4` units on either side enclose the value.
    /// 3. Squaring `h` times, rounding outward, keeps enclosing; it widens by 2^h at most, and the
    ///    working scale carries `h + 16` bits more than were asked for.
    pub(crate) fn exp_negative(numerator: &BigUint, denominator: &BigUint, bits: u32) -> Self {
        // exp(-x) < 2^-x: an argument this large is below one unit, and squaring it up would cost
        // as many bits as the argument has.
        if *numerator >= denominator * bits {
            return Self {
                lower: BigUint::ZERO,
                upper: BigUint::one(),
            };
        }
        let halvings = (numerator.bits() + 1 + ARGUMENT_BITS).saturating_sub(denominator.bits());
        let halvings = u32::try_from(halvings).expect("the argument is below 2^32, checked above");
        let work = bits + halvings + 16;
        let argument = (numerator << work) / (denominator << halvings);
        let mut value = taylor_of_exp_negative(&argument, work);
        for _ in 0..halvings {
            value = value.times(&value, work);
        }
        value.coarsened(work, bits)
    }

    /// `exp(-argument)` at scale `bits`, for a non-negative argument known at the same scale.
    ///
    /// The exponential is evaluated once, at the lower end; over a width `w` of the argument it
    /// falls by at most `w`, its slope being at most one.
    pub(crate) fn exp_negative_of(argument: &Self, bits: u32) -> Self {
        let at_lower = Self::exp_negative(&argument.lower, &(BigUint::one() << bits), bits);
        let width = &argument.upper - &argument.lower;
        let lower = if at_lower.lower > width {
            &at_lower.lower - &width
        } else {
            BigUint::ZERO
        };
        Self {
            lower,
            upper: at_lower.upper,
        }
    }
}

/// Steps 1 and 2 of [`Enclosure::exp_negative`]: the series at an argument below 2⁻⁸.
fn taylor_of_exp_negative(argument: &BigUint, work: u32) -> Enclosure {
    let unit = BigUint::one() << work;
    let mut term = unit.clone();
    let mut sums = [unit.clone(), BigUint::ZERO];
    let mut n_terms = 0usize;
    loop {
        n_terms += 1;
        term = ((&term * argument) >> work) / n_terms;
        if term == BigUint::ZERO {
            break;
        }
        sums[n_terms % 2] += &term;
    }
    let [even, odd] = sums;
    let sum = even - odd;
    let doubt = BigUint::from(2 * n_terms + 4);
    Enclosure {
        lower: &sum - &doubt,
        upper: (sum + doubt).min(unit),
    }
}

/// The Taylor series is used below `2^-ARGUMENT_BITS`.
const ARGUMENT_BITS: u64 = 8;

#[cfg(test)]
mod tests;
