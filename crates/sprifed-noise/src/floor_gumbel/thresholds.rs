//! The thresholds `P(K < k) = exp(-exp(-rate·k))`: to any precision, and quickly to 63 bits.

use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::One;

use crate::enclosure::Enclosure;
use crate::inversion::{Cumulative, PREFIX_BITS, PrefixCumulative, RefinableLaw};
use crate::narrow_enclosure::{NARROW_BITS, NarrowEnclosure};
use crate::parameter::Fraction;

/// The cumulative probabilities of a floor-Gumbel law.
#[derive(Clone, Debug)]
pub(super) struct GumbelThresholds {
    pub(super) rate: Fraction,
}

/// `exp(-rate·k)` for a run of consecutive outcomes; [`GumbelThresholds`] takes `exp(-·)` of them.
#[derive(Clone, Debug)]
pub(super) struct InnerExponentials {
    /// The `k` of the first value.
    pub(super) first: i64,
    /// Falling values.
    pub(super) values: Vec<NarrowEnclosure>,
}

impl GumbelThresholds {
    /// `P(K < outcome) = exp(-exp(-rate·outcome))` at scale `bits`.
    pub(super) fn before(&self, outcome: i64, bits: u32) -> Enclosure {
        let work = bits + GUARD_BITS;
        match self.inner(outcome, work) {
            Some(inner) => Enclosure::exp_negative_of(&inner, work).coarsened(work, bits),
            // exp(rate·|outcome|) exceeds any scale in use; its exp(-·) is below one unit.
            None => Enclosure {
                lower: BigUint::ZERO,
                upper: BigUint::one(),
            },
        }
    }

    /// `exp(-rate·outcome)` at scale `bits`, unless it is so large that its reciprocal vanishes.
    fn inner(&self, outcome: i64, bits: u32) -> Option<Enclosure> {
        let Fraction {
            numerator,
            denominator,
        } = &self.rate;
        let distance = numerator * outcome.unsigned_abs();
        let falling = Enclosure::exp_negative(&distance, denominator, bits);
        if outcome >= 0 {
            return Some(falling);
        }
        if falling.lower == BigUint::ZERO {
            return None;
        }
        let square = BigUint::one() << (2 * bits);
        Some(Enclosure {
            lower: &square / &falling.upper,
            upper: square.div_ceil(&falling.lower),
        })
    }

    /// `exp(-rate·n_outcomes)`.
    pub(super) fn decay_over(&self, n_outcomes: i64) -> Option<NarrowEnclosure> {
        NarrowEnclosure::of(&self.inner(n_outcomes, NARROW_BITS)?)
    }

    /// The inner exponentials of all outcomes with a threshold strictly between 0 and 1 at 63 bits,
    /// and of a few more; `None` for a rate above one half, whose table is short anyway.
    ///
    /// # Why
    /// Each value is the one next to it, nearer to `exp(0) = 1`, times `exp(±rate)`, rounded outward.
    /// Towards larger outcomes the values fall, so the width grows by two units a step at most;
    /// towards smaller ones they grow to 44, and their width in proportion.
    pub(super) fn inner_exponentials(&self) -> Option<InnerExponentials> {
        if &self.rate.numerator << 1u8 > self.rate.denominator {
            return None;
        }
        let growth = NarrowEnclosure::of(&self.inner(-1, NARROW_BITS)?)?;
        let decay = self.decay_over(1)?;
        let run = |factor: NarrowEnclosure, goes_on: fn(&NarrowEnclosure) -> bool| {
            let mut is_last = false;
            std::iter::successors(Some(NarrowEnclosure::ONE), move |value| {
                Some(value.times(factor))
            })
            .take_while(move |value| !std::mem::replace(&mut is_last, !goes_on(value)))
        };
        // exp(-44) < 2^-63 and exp(-2^-63) > 1 - 2^-63.
        let mut values: Vec<_> = run(growth, |value| value.lower < 44 << NARROW_BITS).collect();
        let first = 1 - i64::try_from(values.len()).ok()?;
        values.reverse();
        values.extend(
            run(decay, |value| {
                value.upper > 1 << (NARROW_BITS - PREFIX_BITS)
            })
            .skip(1),
        );
        Some(InnerExponentials { first, values })
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

impl InnerExponentials {
    /// The thresholds at 63 bits.
    pub(super) fn prefix_cumulative(&self) -> PrefixCumulative {
        let enclose = |inner: &NarrowEnclosure| inner.exp_negative().prefixes(PREFIX_BITS);
        let (floors, ceilings) = self.values.iter().map(enclose).unzip();
        PrefixCumulative {
            first: self.first,
            floors,
            ceilings,
        }
    }
}

/// Covers the widening by the reciprocal, which is the square of a number below `bits`.
const GUARD_BITS: u32 = 32;
