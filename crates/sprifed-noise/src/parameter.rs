//! Which parameters a sampler can serve, and the error that says why not.
//!
//! A sampler is built once from exact rationals and then never fails, so every refusal is made
//! here, before any noise is drawn.

use num_bigint::BigUint;
use num_rational::Ratio;
use num_traits::Zero;

/// A noise parameter that no sampler of this crate can serve.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoiseParameterError {
    /// The parameter is zero, or is a fraction with denominator zero.
    #[error("{name} is {found}, but must be a fraction greater than 0")]
    NotPositive {
        /// What the parameter is called in the law.
        name: &'static str,
        /// The refused value.
        found: Ratio<u128>,
    },
    /// The parameter lies outside the range in which outcomes fit into 64 bits.
    #[error("{name} is {found}, but must be between {smallest} and {largest}")]
    OutOfRange {
        /// What the parameter is called in the law.
        name: &'static str,
        /// The refused value.
        found: Ratio<u128>,
        /// The smallest value that is served.
        smallest: Box<Ratio<u128>>,
        /// The largest value that is served.
        largest: Box<Ratio<u128>>,
    },
    /// The permit pays for noise that another role draws.
    #[error("the permit pays for {found}, but {required} is drawn here")]
    OtherDealer {
        /// What was paid for.
        found: &'static str,
        /// What can be drawn here.
        required: &'static str,
    },
}

/// A positive fraction of arbitrary precision, the form in which the exact paths compute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fraction {
    pub(crate) numerator: BigUint,
    pub(crate) denominator: BigUint,
}

impl Fraction {
    /// Accepts a parameter that is greater than zero and, if a range is given, lies in it.
    pub(crate) fn accept(
        name: &'static str,
        found: Ratio<u128>,
        smallest: Ratio<u128>,
        largest: Ratio<u128>,
    ) -> Result<Self, NoiseParameterError> {
        // `Ratio::new_raw` lets a zero denominator through, and comparing it would panic.
        if found.denom().is_zero() || found.numer().is_zero() {
            return Err(NoiseParameterError::NotPositive { name, found });
        }
        if found < smallest || found > largest {
            return Err(NoiseParameterError::OutOfRange {
                name,
                found,
                smallest: Box::new(smallest),
                largest: Box::new(largest),
            });
        }
        Ok(Self {
            numerator: BigUint::from(*found.numer()),
            denominator: BigUint::from(*found.denom()),
        })
    }

    /// The same fraction divided by a positive integer.
    pub(crate) fn divided_by(&self, divisor: &BigUint) -> Self {
        Self {
            numerator: self.numerator.clone(),
            denominator: &self.denominator * divisor,
        }
    }

    /// The same fraction multiplied by a positive integer.
    pub(crate) fn times(&self, factor: &BigUint) -> Self {
        Self {
            numerator: &self.numerator * factor,
            denominator: self.denominator.clone(),
        }
    }
}
