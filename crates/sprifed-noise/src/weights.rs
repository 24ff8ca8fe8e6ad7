//! From weights known up to a common factor to cumulative probabilities.
//!
//! The discrete Gaussian and the Poisson law both have weights with a simple ratio and an awkward
//! total. Listing the weights until the rest is negligible, and carrying a proved bound on the
//! rest, avoids the total's closed form and every special function with it.

use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::One;

use crate::enclosure::Enclosure;
use crate::inversion::Cumulative;

/// Weights of consecutive outcomes at one scale, with bounds on the weight not listed.
#[derive(Debug)]
pub(crate) struct Weights {
    /// The outcome of the first listed weight.
    pub(crate) first: i64,
    pub(crate) listed: Vec<Enclosure>,
    /// An upper bound on the total weight of outcomes before `first`.
    pub(crate) below: BigUint,
    /// An upper bound on the total weight of outcomes after the last listed one.
    pub(crate) above: BigUint,
}

impl Weights {
    /// Normalises: the thresholds, at scale `bits`, of the law proportional to these weights.
    ///
    /// # Why
    /// The mass up to an outcome is at least the listed lower weights over the largest possible
    /// total, and at most the listed upper weights plus `below` over the smallest possible total.
    pub(crate) fn cumulative(&self, bits: u32) -> Cumulative {
        let smallest_total: BigUint = self.listed.iter().map(|weight| &weight.lower).sum();
        let largest_total: BigUint = self.listed.iter().map(|weight| &weight.upper).sum();
        let largest_total = largest_total + &self.below + &self.above;
        let unit = BigUint::one() << bits;

        let mut mass = Enclosure {
            lower: BigUint::ZERO,
            upper: self.below.clone(),
        };
        let mut thresholds = Vec::with_capacity(self.listed.len() + 1);
        let probability_of = |mass: &Enclosure| Enclosure {
            lower: (&mass.lower << bits) / &largest_total,
            upper: (&mass.upper << bits)
                .div_ceil(&smallest_total)
                .min(unit.clone()),
        };
        thresholds.push(probability_of(&mass));
        for weight in &self.listed {
            mass.lower += &weight.lower;
            mass.upper += &weight.upper;
            thresholds.push(probability_of(&mass));
        }
        Cumulative {
            first: self.first,
            thresholds,
        }
    }
}

/// An upper bound on `weight + weight·ratio + weight·ratio² + …`, all at scale `bits`.
///
/// The ratio must be known to be below one, that is `ratio.upper < 2^bits`.
pub(crate) fn geometric_tail(weight: &Enclosure, ratio: &Enclosure, bits: u32) -> BigUint {
    let unit = BigUint::one() << bits;
    let complement = &unit - &ratio.upper;
    (&weight.upper << bits).div_ceil(&complement)
}
