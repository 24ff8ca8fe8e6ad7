//! The geometric law `P(k) ∝ exp(-k/scale)` on `0, 1, 2, …`, for a rational scale.
//!
//! It is the one-sided noise of permute-and-flip selection and one half of the discrete Laplace
//! law. It is exact but not table-driven: a draw costs about a microsecond.

use num_bigint::BigUint;
use num_rational::Ratio;
use rand_core::CryptoRng;

use crate::bernoulli_exp::bernoulli_exp_fraction;
use crate::parameter::{Fraction, NoiseParameterError};
use crate::random_bits::uniform_below;

/// A sampler of the geometric law with a fixed scale.
#[derive(Clone, Debug)]
pub struct Geometric {
    scale: Fraction,
}

impl Geometric {
    /// The law `P(k) = (1 - exp(-1/scale)) · exp(-k/scale)`.
    ///
    /// # Errors
    /// If the scale is not in `(0, 2^40]`: larger outcomes might not fit into 64 bits.
    pub fn new(scale: Ratio<u128>) -> Result<Self, NoiseParameterError> {
        let smallest = Ratio::new_raw(1, u128::MAX);
        let scale = Fraction::accept("the geometric scale", scale, smallest, LARGEST_SCALE)?;
        Ok(Self { scale })
    }

    /// One draw.
    ///
    /// # Guarantee
    /// The law of the result is exactly the geometric law of [`Self::new`].
    ///
    /// # Why
    /// [CKS20, Section 5, Algorithm 2], without its sign. With `scale = t/s`: `U` uniform below `t` and kept
    /// with probability `exp(-U/t)`, `V` geometric of scale 1, and `⌊(U + tV)/s⌋`, since `U + tV`
    /// has weights `exp(-x/t)` and each run of `s` of them adds up to a factor times `exp(-ks/t)`.
    ///
    /// # Panics
    /// Never in practice: only if 2²³ coins of probability `1/e` in a row came up heads.
    pub fn sample(&self, rng: &mut impl CryptoRng) -> i64 {
        let Fraction {
            numerator,
            denominator,
        } = &self.scale;
        let remainder = loop {
            let candidate = uniform_below(numerator, rng);
            if bernoulli_exp_fraction(&candidate, numerator, rng) {
                break candidate;
            }
        };
        let one = BigUint::from(1u8);
        let mut quotient = 0u64;
        while bernoulli_exp_fraction(&one, &one, rng) {
            quotient += 1;
        }
        let outcome = (remainder + numerator * quotient) / denominator;
        i64::try_from(outcome).expect("the scale is at most 2^40 and the quotient below 2^23")
    }
}

/// Leaves room for 2²³ scales below 2⁶³.
const LARGEST_SCALE: Ratio<u128> = Ratio::new_raw(1 << 40, 1);
