//! The discrete Gaussian sampler of Canonne, Kamath and Steinke, as printed.
//!
//! It is slow (some microseconds a draw) and short. It exists as the oracle that the fast sampler
//! of [`crate::DiscreteGaussian`] is tested against; the two share nothing but the source of bits.

use num_bigint::BigUint;
use num_rational::Ratio;
use rand_core::CryptoRng;

use crate::bernoulli_exp::bernoulli_exp_fraction;
use crate::discrete_gaussian::accepted_variance;
use crate::discrete_laplace::DiscreteLaplace;
use crate::parameter::{Fraction, NoiseParameterError};

/// The reference sampler of `P(x) ∝ exp(-x²/(2·variance_parameter))`.
#[derive(Clone, Debug)]
pub struct ReferenceDiscreteGaussian {
    variance_parameter: Fraction,
    proposal: DiscreteLaplace,
    /// The scale of the proposal, `⌊σ⌋ + 1`.
    proposal_scale: BigUint,
}

impl ReferenceDiscreteGaussian {
    /// The law with the given σ², which is its variance up to a vanishing amount once `σ² ≥ 1`.
    ///
    /// # Errors
    /// If the parameter is not in the range that [`crate::DiscreteGaussian`] serves.
    pub fn new(variance_parameter: Ratio<u128>) -> Result<Self, NoiseParameterError> {
        let accepted = accepted_variance(variance_parameter)?;
        // ⌊√(p/q)⌋ = ⌊√⌊p/q⌋⌋, so integers suffice.
        let scale = variance_parameter.to_integer().isqrt() + 1;
        Ok(Self {
            variance_parameter: accepted,
            proposal: DiscreteLaplace::new(Ratio::from_integer(scale))?,
            proposal_scale: BigUint::from(scale),
        })
    }

    /// One draw.
    ///
    /// # Guarantee
    /// The law of the result is exactly the discrete Gaussian law of [`Self::new`].
    ///
    /// # Why
    /// [CKS20, Section 5, Algorithm 3]. With `σ² = p/q` and proposal scale `t`, the candidate
    /// `y` is kept with probability `exp(-(|y| - σ²/t)²/(2σ²)) = exp(-(|y|tq - p)²/(2pqt²))`.
    pub fn sample(&self, rng: &mut impl CryptoRng) -> i64 {
        let Fraction {
            numerator,
            denominator,
        } = &self.variance_parameter;
        let square = &self.proposal_scale * &self.proposal_scale;
        let cost_denominator = (numerator * denominator * square) << 1;
        loop {
            let candidate = self.proposal.sample(rng);
            let scaled = denominator * &self.proposal_scale * candidate.unsigned_abs();
            let distance = if scaled > *numerator {
                scaled - numerator
            } else {
                numerator - scaled
            };
            if bernoulli_exp_fraction(&(&distance * &distance), &cost_denominator, rng) {
                return candidate;
            }
        }
    }
}
