//! Cumulative probabilities of the magnitude of a discrete Gaussian, to any precision.

use num_bigint::BigUint;
use num_traits::One;

use crate::enclosure::Enclosure;
use crate::inversion::{Cumulative, RefinableLaw};
use crate::parameter::Fraction;
use crate::weights::{Weights, geometric_tail};

/// The law on `0, 1, 2, …` with weights `exp(-x²/(2σ²))`, and zero weighted as [`ZeroWeight`] says.
#[derive(Clone, Debug)]
pub(super) struct GaussianMagnitude {
    variance_parameter: Fraction,
    zero: ZeroWeight,
}

/// How much zero counts, against the other outcomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ZeroWeight {
    /// Half, as in the law of `|X|`, where every other magnitude represents two integers.
    Half,
    /// Fully, as in the law of `X` given `X ≥ 0`.
    Full,
}

impl GaussianMagnitude {
    pub(super) fn new(variance_parameter: Fraction, zero: ZeroWeight) -> Self {
        Self {
            variance_parameter,
            zero,
        }
    }

    /// The weights `1, w₁, w₂, …` (or `1/2, w₁, w₂, …`) until they fall below `2^-bits`.
    ///
    /// # Why
    /// `w_{x+1} = w_x r_x` with `r_x = exp(-(2x+1)/(2σ²))`, and `r_{x+1} = r_x exp(-1/σ²)`: two
    /// exponentials and then products only. The ratios fall, so the weights after the last one
    /// listed are bounded by a geometric series with the next ratio.
    fn weights(&self, bits: u32, work: u32) -> Weights {
        let Fraction {
            numerator,
            denominator,
        } = &self.variance_parameter;
        let ratio_step = Enclosure::exp_negative(denominator, numerator, work);
        let mut ratio = Enclosure::exp_negative(denominator, &(numerator << 1), work);
        let negligible = BigUint::one() << (work - bits);

        let mut weight = Enclosure::one(work);
        let mut listed = Vec::new();
        while weight.upper >= negligible {
            let next = weight.times(&ratio, work);
            listed.push(weight);
            weight = next;
            ratio = ratio.times(&ratio_step, work);
        }
        if self.zero == ZeroWeight::Half {
            listed[0] = Enclosure::one(work - 1);
        }
        let above = geometric_tail(&weight, &ratio, work);
        Weights {
            first: 0,
            listed,
            below: BigUint::ZERO,
            above,
        }
    }
}

impl RefinableLaw for GaussianMagnitude {
    /// The guard bits cover `σ² < 2^64` in the first ratio's distance from one, and the units lost
    /// in the products: a few times the cube of the number of weights.
    fn cumulative(&self, bits: u32) -> Cumulative {
        self.weights(bits, bits + GUARD_BITS).cumulative(bits)
    }
}

const GUARD_BITS: u32 = 64;

#[cfg(test)]
mod tests;
