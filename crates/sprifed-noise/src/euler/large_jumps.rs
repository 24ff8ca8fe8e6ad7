//! The size of one jump above `m₀`: probability proportional to `ν_m = q^m / (m (1 − q^m))`.

use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::One;

use crate::enclosure::Enclosure;
use crate::inversion::{Cumulative, PREFIX_BITS, PrefixCumulative, RefinableLaw};
use crate::narrow_enclosure::{NARROW_BITS, NarrowEnclosure};
use crate::parameter::Fraction;
use crate::weights::Weights;

use super::decay;

/// The jumps `after + 1..=largest`.
#[derive(Clone, Debug)]
pub(super) struct LargeJumps {
    pub(super) rate: Fraction,
    /// `m₀`.
    pub(super) after: u64,
    /// `M`.
    pub(super) largest: u64,
}

impl LargeJumps {
    /// `ν_m / q^(m₀+1)` for each jump, at scale `bits`.
    ///
    /// # Why
    /// `q^m` is the one before it times `q`, rounded outward, so it is off by at most two units
    /// more for each of at most 2²¹ steps.
    pub(super) fn weights(&self, bits: u32) -> Vec<Enclosure> {
        let unit = BigUint::one() << bits;
        let step = decay(&self.rate, 1, bits);
        let first = decay(&self.rate, self.after + 1, bits);
        let mut relative = Enclosure::one(bits);
        (self.after + 1..=self.largest)
            .map(|jump| {
                let whole = relative.times(&first, bits);
                let [above, below] = [&unit - &whole.lower, &unit - &whole.upper];
                let weight = Enclosure {
                    lower: (&relative.lower << bits) / (above * jump),
                    upper: (&relative.upper << bits).div_ceil(&(below * jump)),
                };
                relative = relative.times(&step, bits);
                weight
            })
            .collect()
    }

    /// The sums of the first 0, 1, 2, … weights, at scale [`SUM_BITS`], in machine words.
    ///
    /// # Why
    /// Powers of `q` are enclosed at 2⁻¹²⁰. A weight is a quotient of one at 2⁻¹²⁷ and of
    /// `m (1 − q^m)` at 2⁻⁶⁰, the one rounded against the other, so it is enclosed at 2⁻⁶⁷. Sums are
    /// exact. At a rate of 2⁻¹⁴ the total is known up to a factor 1 + 2⁻⁵⁰.
    pub(super) fn sums(&self) -> Vec<NarrowEnclosure> {
        let narrow = |jump| {
            NarrowEnclosure::of(&decay(&self.rate, jump, NARROW_BITS))
                .expect("a power of q is at most one")
        };
        let (step, first) = (narrow(1), narrow(self.after + 1));
        let mut relative = NarrowEnclosure::ONE;
        let mut sum = NarrowEnclosure { lower: 0, upper: 0 };
        let mut sums = vec![sum];
        for jump in self.after + 1..=self.largest {
            let whole = relative.times(first);
            let complement = |power: u128| ((1u128 << NARROW_BITS) - power) >> COMPLEMENT_SHIFT;
            let divisor = (complement(whole.lower) + 1) * u128::from(jump);
            sum.lower += (relative.lower << POWER_SHIFT) / divisor;
            let divisor = complement(whole.upper) * u128::from(jump);
            sum.upper += (relative.upper << POWER_SHIFT) / divisor + 1;
            sums.push(sum);
            relative = relative.times(step);
        }
        sums
    }

    /// The mean number of these jumps in a `share`, rounded up to 40 significant bits.
    pub(super) fn rounded_mean(&self, share: &Fraction, sums: &[NarrowEnclosure]) -> Fraction {
        let first = decay(&self.rate, self.after + 1, NARROW_BITS);
        let total = sums.last().map_or(0, |sum| sum.upper);
        let mean = (first.upper * total * &share.numerator).div_ceil(&share.denominator);
        let surplus = mean.bits().saturating_sub(SIGNIFICANT_BITS);
        let kept = mean.div_ceil(&(BigUint::one() << surplus));
        Fraction {
            numerator: kept << surplus,
            denominator: BigUint::one() << (NARROW_BITS + SUM_BITS),
        }
    }

    /// The thresholds at 63 bits.
    ///
    /// # Why
    /// A threshold is a sum over the total, both cut to 64 bits and rounded outward. The doubt is
    /// some 2¹³ units at a rate of 2⁻¹⁴; draws within it are settled by [`Self::cumulative`].
    pub(super) fn prefix_cumulative(&self, sums: &[NarrowEnclosure]) -> PrefixCumulative {
        let total = sums.last().copied().unwrap_or(NarrowEnclosure::ONE);
        let surplus = (u128::BITS - total.upper.leading_zeros()).saturating_sub(64);
        let (least_total, most_total) = (total.lower >> surplus, (total.upper >> surplus) + 1);
        let threshold = |sum: &NarrowEnclosure| {
            let floor = ((sum.lower >> surplus) << PREFIX_BITS) / most_total;
            let ceiling = (((sum.upper >> surplus) + 1) << PREFIX_BITS) / least_total + 1;
            let narrowed = |bound| u64::try_from(bound).expect("a probability at 63 bits");
            (narrowed(floor), narrowed(ceiling.min(1 << PREFIX_BITS)))
        };
        let (floors, ceilings) = sums.iter().map(threshold).unzip();
        PrefixCumulative {
            first: self.first(),
            floors,
            ceilings,
        }
    }

    fn first(&self) -> i64 {
        i64::try_from(self.after + 1).expect("at most 64 small jumps")
    }
}

impl RefinableLaw for LargeJumps {
    fn cumulative(&self, bits: u32) -> Cumulative {
        Weights {
            first: self.first(),
            listed: self.weights(bits + GUARD_BITS),
            below: BigUint::ZERO,
            above: BigUint::ZERO,
        }
        .cumulative(bits)
    }
}

/// Covers two units for each of at most 2²¹ steps, and a first `1 − q^m` of 2⁻¹⁰.
const GUARD_BITS: u32 = 64;

/// The scale of [`LargeJumps::sums`].
const SUM_BITS: u32 = 67;

/// What is kept of the mean.
const SIGNIFICANT_BITS: u64 = 40;

/// From 2⁻¹²⁰ to 2⁻⁶⁰.
const COMPLEMENT_SHIFT: u32 = NARROW_BITS - 60;

/// From 2⁻¹²⁰ to 2⁻¹²⁷.
const POWER_SHIFT: u32 = SUM_BITS + 60 - NARROW_BITS;
