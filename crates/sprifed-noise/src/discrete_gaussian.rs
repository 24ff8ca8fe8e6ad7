//! The discrete Gaussian law `P(x) ∝ exp(-x²/(2σ²))` on the integers, exactly and fast.
//!
//! This is the noise of every sum that leaves a client. Its privacy proof is about this law and no
//! other (docs/proofs/discrete_noise.md): a rounded float Gaussian, a cut tail or a σ² that is off void it. So σ² is an exact
//! fraction, and each draw has exactly that law, tails included.
//!
//! # Exactness
//!
//! *Small σ² (below 2¹⁴).*
//! 1. The magnitude `|X|` has weights `1, 2w₁, 2w₂, …` with `w_x = exp(-x²/(2σ²))`; given `|X|`, both
//!    signs are equally likely. So a draw from that folded law and a fair bit give the law of `X`
//!    (the sign of zero does not matter).
//! 2. The folded law is drawn by table inversion, exact by the argument in `inversion.rs`; its
//!    enclosures come from `magnitude.rs`.
//!
//! *Large σ².* Let `m = 2^s` be such that `64 ≤ σ/m < 128`.
//! 3. For `k ≥ 0` and `0 ≤ j < m`: `exp(-(mk+j)²/(2σ²)) = exp(-k²/(2(σ/m)²)) · exp(-j(j+2mk)/(2σ²))`.
//! 4. So drawing `k` with weights `exp(-k²/(2(σ/m)²))` by table inversion, `j` as `s` fair bits, and
//!    keeping `x = mk + j` with probability `exp(-a/(2σ²))`, `a = j(j+2mk)`, starting afresh if it is
//!    not kept, gives every `x ≥ 0` a chance proportional to `exp(-x²/(2σ²))`.
//! 5. A fair sign, starting afresh on the negative zero, makes it the law on all integers.
//! 6. The coin of step 4 is the event `V < exp(-a/(2σ²))` for a uniform `V`, decided by the first
//!    bits of `V` whenever `1 - y ≤ exp(-y) ≤ 1 - y + y²/2` settles it, and otherwise by drawing more
//!    bits of `V` against an enclosure of the exponential (`coarse_fine.rs`). Either way it is the
//!    event itself, not an approximation of it.
//!
//! The expected share of candidates kept in step 4 is above 0.99, and the table never has more
//! than about 1,300 thresholds, whatever σ² is.
//!
//! # What this module does not do
//!
//! It does not run in constant time: steps 4 and 5 may repeat, and searches walk. Draws are made
//! before data is read; the release path enforces it (docs/proofs/sampling.md#5-what-is-drawn-when).

use num_rational::Ratio;
use rand_core::CryptoRng;

use crate::inversion::InversionTable;
use crate::parameter::{Fraction, NoiseParameterError};
use crate::random_bits::RandomBits;

mod coarse_fine;
mod magnitude;

use coarse_fine::CoarseFine;
use magnitude::{GaussianMagnitude, ZeroWeight};

/// A sampler of the discrete Gaussian law with a fixed σ².
///
/// Building it computes a table (a few milliseconds at most); share it between draws.
#[derive(Clone, Debug)]
pub struct DiscreteGaussian {
    path: Path,
}

#[derive(Clone, Debug)]
enum Path {
    Table(InversionTable<GaussianMagnitude>),
    CoarseFine(CoarseFine),
}

impl DiscreteGaussian {
    /// The law `P(x) ∝ exp(-x²/(2·variance_parameter))`.
    ///
    /// The parameter is σ²; it equals the variance up to a relative 10⁻⁶ once it is at least one.
    ///
    /// # Errors
    /// If the parameter is zero or not between 2⁻⁶⁴ and 2⁷⁷.
    pub fn new(variance_parameter: Ratio<u128>) -> Result<Self, NoiseParameterError> {
        let accepted = accepted_variance(variance_parameter)?;
        let path = match fine_bits(variance_parameter) {
            0 => Path::Table(InversionTable::new(GaussianMagnitude::new(
                accepted,
                ZeroWeight::Half,
            ))),
            bits => Path::CoarseFine(CoarseFine::new(accepted, bits)),
        };
        Ok(Self { path })
    }

    /// One draw.
    ///
    /// # Guarantee
    /// The law of the result is exactly the discrete Gaussian law of [`Self::new`].
    ///
    /// # Why
    /// The numbered argument in the documentation of this module.
    #[inline]
    pub fn sample(&self, rng: &mut impl CryptoRng) -> i64 {
        match &self.path {
            Path::Table(table) => sample_signed(table, rng),
            Path::CoarseFine(sampler) => sampler.sample(rng),
        }
    }

    /// Overwrites every element of `out` with an independent draw.
    ///
    /// # Guarantee
    /// As for [`Self::sample`], independently for each element.
    pub fn fill(&self, out: &mut [i64], rng: &mut impl CryptoRng) {
        let mut bits = RandomBits::new(rng);
        match &self.path {
            Path::Table(table) => out.fill_with(|| sample_signed(table, &mut bits)),
            Path::CoarseFine(sampler) => out.fill_with(|| sampler.sample(&mut bits)),
        }
    }
}

/// Steps 1 and 2: one word holds the prefix of the uniform number and the sign.
#[inline]
fn sample_signed(table: &InversionTable<GaussianMagnitude>, rng: &mut impl CryptoRng) -> i64 {
    let word = rng.next_u64();
    with_sign(table.invert(word >> 1, rng), word & 1)
}

/// The magnitude, negated if the bit is one, without a branch that the sign would mispredict.
#[inline]
#[expect(clippy::cast_possible_wrap, reason = "the bit is zero or one")]
fn with_sign(magnitude: i64, bit: u64) -> i64 {
    let mask = -(bit as i64);
    (magnitude ^ mask) - mask
}

/// The `s` of step 3: how many low bits to draw uniformly so that the coarse σ is below 128.
fn fine_bits(variance_parameter: Ratio<u128>) -> u32 {
    let whole = variance_parameter.to_integer();
    // σ/2^s < 128 is σ² < 2^(14 + 2s).
    whole
        .checked_ilog2()
        .map_or(0, |log| (log + 1).saturating_sub(14).div_ceil(2))
}

/// σ², if a discrete Gaussian of it can be drawn.
pub(crate) fn accepted_variance(found: Ratio<u128>) -> Result<Fraction, NoiseParameterError> {
    let name = "the variance parameter";
    Fraction::accept(name, found, SMALLEST_VARIANCE, LARGEST_VARIANCE)
}

/// Below this the law is a point mass to within `exp(-2^63)`, which no caller can mean.
const SMALLEST_VARIANCE: Ratio<u128> = Ratio::new_raw(1, 1 << 64);

/// The largest σ² for which the fast coin of step 6 fits its words (32 fine bits).
const LARGEST_VARIANCE: Ratio<u128> = Ratio::new_raw(1 << 77, 1);

#[cfg(test)]
mod tests;
