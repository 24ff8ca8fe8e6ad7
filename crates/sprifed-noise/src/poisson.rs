//! The Poisson law with a rational mean, exactly.
//!
//! Means up to 2¹⁸ are drawn by table inversion (`inversion.rs` holds the exactness argument). A
//! larger mean is split into equal pieces below that, whose independent draws add up to the law
//! because Poisson means add. The cost of a draw therefore grows linearly with the mean past 2¹⁸;
//! noise with a standard deviation in the tens of thousands is better drawn from the discrete
//! Gaussian.
//!
//! Counting exponential gaps would need exact real exponentials; this module does not do that.

use num_bigint::BigUint;
use num_integer::Integer;
use num_rational::Ratio;
use num_traits::One;
use rand_core::CryptoRng;

use crate::enclosure::Enclosure;
use crate::inversion::{Cumulative, InversionTable, RefinableLaw};
use crate::parameter::{Fraction, NoiseParameterError};
use crate::random_bits::RandomBits;
use crate::weights::{Weights, geometric_tail};

/// A sampler of the Poisson law with a fixed mean.
#[derive(Clone, Debug)]
pub struct Poisson {
    piece: InversionTable<PoissonPiece>,
    n_pieces: u64,
}

impl Poisson {
    /// The law `P(k) = exp(-mean) · mean^k / k!`.
    ///
    /// # Errors
    /// If the mean is not between 2⁻⁶⁴ and 2⁴⁰.
    pub fn new(mean: Ratio<u128>) -> Result<Self, NoiseParameterError> {
        let accepted = Fraction::accept("the Poisson mean", mean, SMALLEST_MEAN, LARGEST_MEAN)?;
        Ok(Self::of(&accepted))
    }

    /// The law whose mean was already found to be in range.
    pub(crate) fn of(mean: &Fraction) -> Self {
        let n_pieces = mean.numerator.div_ceil(&(&mean.denominator * PIECE_MEAN));
        let piece = PoissonPiece {
            mean: mean.divided_by(&n_pieces),
        };
        Self {
            piece: InversionTable::new(piece),
            n_pieces: u64::try_from(n_pieces).expect("the mean is at most 2^40, so are its pieces"),
        }
    }

    /// One draw.
    ///
    /// # Guarantee
    /// The law of the result is exactly the Poisson law of [`Self::new`].
    ///
    /// # Why
    /// Inversion of each piece is exact, and independent Poisson variables add their means.
    #[inline]
    pub fn sample(&self, rng: &mut impl CryptoRng) -> i64 {
        (0..self.n_pieces)
            .map(|_| {
                let word = rng.next_u64();
                self.piece.invert(word >> 1, rng)
            })
            .sum()
    }

    /// Overwrites every element of `out` with an independent draw.
    pub fn fill(&self, out: &mut [i64], rng: &mut impl CryptoRng) {
        let mut bits = RandomBits::new(rng);
        out.fill_with(|| self.sample(&mut bits));
    }
}

/// The Poisson law with a mean of at most [`PIECE_MEAN`].
#[derive(Clone, Debug)]
struct PoissonPiece {
    mean: Fraction,
}

impl PoissonPiece {
    /// Weights relative to the mode, outward on both sides until they fall below `2^-bits`.
    ///
    /// # Why
    /// `w_{k+1} = w_k · mean/(k+1)` and `w_{k-1} = w_k · k/mean`. Beyond the mode either ratio is
    /// below one and falls further, so a geometric series bounds what is not listed.
    fn weights(&self, bits: u32, work: u32) -> Weights {
        let Fraction {
            numerator,
            denominator,
        } = &self.mean;
        let unit = Enclosure::one(work);
        let negligible = BigUint::one() << (work - bits);
        let mode = u64::try_from(numerator / denominator).expect("a piece has a mean below 2^19");

        let mut descending = Vec::new();
        let mut outcome = mode;
        let mut weight = unit.clone();
        while weight.upper >= negligible && outcome > 0 {
            weight = weight.times_fraction(&(denominator * outcome), numerator);
            outcome -= 1;
            descending.push(weight.clone());
        }
        let below = if outcome == 0 {
            BigUint::ZERO
        } else {
            let ratio = unit.times_fraction(&(denominator * outcome), numerator);
            geometric_tail(&weight.times(&ratio, work), &ratio, work)
        };
        let first = outcome;

        descending.reverse();
        let mut listed = descending;
        weight = unit.clone();
        outcome = mode;
        while weight.upper >= negligible {
            listed.push(weight.clone());
            outcome += 1;
            weight = weight.times_fraction(numerator, &(denominator * outcome));
        }
        let ratio = unit.times_fraction(numerator, &(denominator * (outcome + 1)));
        let above = geometric_tail(&weight, &ratio, work);
        Weights {
            first: first.cast_signed(),
            listed,
            below,
            above,
        }
    }
}

impl RefinableLaw for PoissonPiece {
    fn cumulative(&self, bits: u32) -> Cumulative {
        self.weights(bits, bits + GUARD_BITS).cumulative(bits)
    }
}

/// Covers the units lost in the products and in a first ratio close to one.
const GUARD_BITS: u32 = 64;

/// Large enough that one table serves a variance of 2¹⁹, small enough to stay in a second-level
/// cache.
const PIECE_MEAN: u32 = 1 << 18;

const SMALLEST_MEAN: Ratio<u128> = Ratio::new_raw(1, 1 << 64);

const LARGEST_MEAN: Ratio<u128> = Ratio::new_raw(1 << 40, 1);

#[cfg(test)]
mod tests;
