//! The discrete Laplace law `P(x) ∝ exp(-|x|/scale)` on the integers, for a rational scale.
//!
//! It proposes candidates to the reference discrete Gaussian sampler. As a mechanism of its own it
//! is pure ε-DP at `scale = sensitivity/ε`, which this crate does not account for.

use num_rational::Ratio;
use rand_core::CryptoRng;

use crate::geometric::Geometric;
use crate::parameter::NoiseParameterError;

/// A sampler of the discrete Laplace law with a fixed scale.
#[derive(Clone, Debug)]
pub struct DiscreteLaplace {
    magnitude: Geometric,
}

impl DiscreteLaplace {
    /// The law `P(x) ∝ exp(-|x|/scale)`.
    ///
    /// # Errors
    /// If the scale is not in `(0, 2^40]`.
    pub fn new(scale: Ratio<u128>) -> Result<Self, NoiseParameterError> {
        Ok(Self {
            magnitude: Geometric::new(scale)?,
        })
    }

    /// One draw.
    ///
    /// # Guarantee
    /// The law of the result is exactly the discrete Laplace law of [`Self::new`].
    ///
    /// # Why
    /// [CKS20, Section 5, Algorithm 2]: a geometric magnitude with a fair sign, rejecting the negative zero
    /// that would otherwise count zero twice.
    pub fn sample(&self, rng: &mut impl CryptoRng) -> i64 {
        loop {
            let magnitude = self.magnitude.sample(rng);
            let is_negative = rng.next_u32() & 1 == 1;
            match (magnitude, is_negative) {
                (0, true) => {}
                (_, true) => return -magnitude,
                (_, false) => return magnitude,
            }
        }
    }
}
