//! Skellam noise: the difference of two Poisson variables with equal means.
//!
//! Its variances add exactly, so the sum over any set of surviving clients has a known law
//! (docs/proofs/sampling.md#4-skellam-noise). The default noise is the discrete Gaussian, whose accounting is
//! tighter; this module does not account for anything.

use num_bigint::BigUint;
use num_rational::Ratio;
use rand_core::CryptoRng;

use crate::parameter::{Fraction, NoiseParameterError};
use crate::poisson::Poisson;
use crate::random_bits::RandomBits;

/// A sampler of the symmetric Skellam law with a fixed variance.
#[derive(Clone, Debug)]
pub struct Skellam {
    half: Poisson,
}

impl Skellam {
    /// The law of `A - B` for independent Poisson variables of mean `variance / 2` each.
    ///
    /// # Errors
    /// If the variance is not between 2⁻⁶³ and 2⁴¹.
    pub fn new(variance: Ratio<u128>) -> Result<Self, NoiseParameterError> {
        let accepted = Fraction::accept(
            "the Skellam variance",
            variance,
            SMALLEST_VARIANCE,
            LARGEST_VARIANCE,
        )?;
        Ok(Self {
            half: Poisson::of(&accepted.divided_by(&BigUint::from(2u8))),
        })
    }

    /// One draw.
    ///
    /// # Guarantee
    /// The law of the result is exactly the Skellam law of [`Self::new`].
    ///
    /// # Why
    /// It is computed as its definition says, from two exact Poisson draws.
    #[inline]
    pub fn sample(&self, rng: &mut impl CryptoRng) -> i64 {
        self.half.sample(rng) - self.half.sample(rng)
    }

    /// Overwrites every element of `out` with an independent draw.
    ///
    /// # Guarantee
    /// As for [`Self::sample`], independently for each element.
    pub fn fill(&self, out: &mut [i64], rng: &mut impl CryptoRng) {
        let mut bits = RandomBits::new(rng);
        out.fill_with(|| self.sample(&mut bits));
    }
}

const SMALLEST_VARIANCE: Ratio<u128> = Ratio::new_raw(1, 1 << 63);

const LARGEST_VARIANCE: Ratio<u128> = Ratio::new_raw(1 << 41, 1);
