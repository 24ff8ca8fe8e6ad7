//! The law of all jumps up to `m₀` together: `Σ_{m≤m₀} m · Poisson(r ν_m)`.
//!
//! Its probability of 0 is `P₀ = exp(-r Σ ν_m)`. The weights `w_x = P(x)/P₀` follow from `w_0 = 1` by
//! `x · w_x = r Σ_{m ≤ min(x, m₀)} g_m w_{x−m}` with `g_m = m ν_m = q^m / (1 − q^m)`, which is the
//! derivative of the generating function `exp(r Σ ν_m s^m)`, coefficient by coefficient.

use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::One;

use crate::enclosure::Enclosure;
use crate::inversion::{Cumulative, RefinableLaw};
use crate::parameter::Fraction;
use crate::weights::Weights;

use super::{decay, odds};

/// The jumps `1..=largest` of a share.
#[derive(Clone, Debug)]
pub(super) struct SmallJumps {
    pub(super) rate: Fraction,
    pub(super) share: Fraction,
    /// `m₀`.
    pub(super) largest: u64,
}

/// A weight at its own scale: the enclosure times `2^exponent`.
#[derive(Clone, Debug)]
struct Scaled {
    value: Enclosure,
    exponent: u32,
}

impl SmallJumps {
    /// Weights from 0 upward until they and all that follow are negligible.
    ///
    /// # Why
    /// 1. Weights first grow beyond every fixed scale, so the scale moves with them: when the newest
    ///    weight has grown by [`RESCALE_BITS`], it and all later ones are kept in units that much
    ///    larger, rounded outward. The largest weight keeps at least `work` bits.
    /// 2. Let `G = r Σ g_m`, the mean of the law, and `b` the largest of the last `m₀` weights before
    ///    `x > G`. By the recursion each weight from `x` on is at most `G/x` times the largest of
    ///    the `m₀` weights before it. So each further block of `m₀` weights is at most `G/x` times the
    ///    block before, and all of them together are at most `m₀ b (G/x)/(1 − G/x)`.
    fn weights(&self, bits: u32, work: u32) -> Weights {
        let reach = usize::try_from(self.largest).expect("at most 64 small jumps");
        let odds_of: Vec<Enclosure> = (1..=self.largest)
            .map(|jump| odds(&decay(&self.rate, jump, work), work))
            .collect();
        let Fraction {
            numerator,
            denominator,
        } = &self.share;
        let mean: BigUint = odds_of.iter().map(|odds| &odds.upper).sum::<BigUint>() * numerator;
        let mean = (mean.div_ceil(denominator) >> work) + 1u8;
        let mean = u64::try_from(mean).expect("at most r/rate · m₀, which is below 2^20");

        let negligible = BigUint::one() << (work - bits);
        let grown = u64::from(work + RESCALE_BITS);
        let mut exponent = 0;
        let mut listed = vec![Scaled {
            value: Enclosure::one(work),
            exponent,
        }];
        // The last m₀ weights in the present units, the newest last.
        let mut recent = std::collections::VecDeque::from([Enclosure::one(work)]);
        let mut outcome = 1u64;
        let largest_recent = loop {
            let largest_recent = recent.iter().map(|weight| &weight.upper).max();
            let largest_recent = largest_recent.expect("the weight of 0 is there").clone();
            if outcome > mean && largest_recent < negligible {
                break largest_recent;
            }
            let mut sum = Enclosure {
                lower: BigUint::ZERO,
                upper: BigUint::ZERO,
            };
            for (odds, weight) in odds_of.iter().zip(recent.iter().rev()) {
                sum.lower += &odds.lower * &weight.lower;
                sum.upper += &odds.upper * &weight.upper;
            }
            let value = Enclosure {
                lower: (sum.lower >> work) * numerator / (denominator * outcome),
                upper: ((sum.upper >> work) + 1u8) * numerator,
            };
            let value = Enclosure {
                upper: value.upper.div_ceil(&(denominator * outcome)),
                ..value
            };
            listed.push(Scaled {
                value: value.clone(),
                exponent,
            });
            recent.push_back(value);
            if recent.len() > reach {
                recent.pop_front();
            }
            if recent
                .back()
                .is_some_and(|newest| newest.lower.bits() > grown)
            {
                exponent += RESCALE_BITS;
                recent
                    .iter_mut()
                    .for_each(|weight| *weight = lowered(weight, RESCALE_BITS));
            }
            outcome += 1;
        };
        let above = largest_recent * self.largest * mean;
        Weights {
            first: 0,
            listed: listed
                .iter()
                .map(|weight| lowered(&weight.value, exponent - weight.exponent))
                .collect(),
            below: BigUint::ZERO,
            above: above.div_ceil(&BigUint::from(outcome - mean)),
        }
    }
}

/// The same weight in units that are `2^bits` times larger.
fn lowered(weight: &Enclosure, bits: u32) -> Enclosure {
    Enclosure {
        lower: &weight.lower >> bits,
        upper: (&weight.upper >> bits) + 1u8,
    }
}

impl RefinableLaw for SmallJumps {
    fn cumulative(&self, bits: u32) -> Cumulative {
        self.weights(bits, bits + GUARD_BITS).cumulative(bits)
    }
}

/// Covers a few units lost in each of at most 2¹⁷ weights, and in each factor `g_m`.
const GUARD_BITS: u32 = 64;

/// How far weights grow before the scale moves.
const RESCALE_BITS: u32 = 64;
