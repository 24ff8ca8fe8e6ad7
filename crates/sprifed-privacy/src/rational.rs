//! Exact fractions: what plans are computed in, so that two parties get the same integers.

use core::fmt;
use core::str::FromStr;

use num_bigint::BigInt;
use num_rational::{BigRational, Ratio};
use num_traits::{One, Pow, Signed, ToPrimitive, Zero};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[cfg(test)]
mod tests;

/// A text that is not an exact fraction, or a fraction outside its quantity's range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is not {required}")]
pub struct IllegalFraction {
    /// The text that was given.
    pub found: String,
    /// What is allowed.
    pub required: &'static str,
}

/// Reads `12`, `-0.5`, `1e-6` or `3/4` without rounding.
///
/// # Errors
/// When the text has another form or an exponent beyond ±400.
pub fn parse_exact(text: &str) -> Result<BigRational, IllegalFraction> {
    let illegal = || IllegalFraction {
        found: text.chars().take(60).collect(),
        required: "a decimal number or a fraction such as 3/4",
    };
    if let Some((numerator, denominator)) = text.split_once('/') {
        let denominator = parse_decimal(denominator).ok_or_else(illegal)?;
        if denominator.is_zero() {
            return Err(illegal());
        }
        return Ok(parse_decimal(numerator).ok_or_else(illegal)? / denominator);
    }
    parse_decimal(text).ok_or_else(illegal)
}

fn parse_decimal(text: &str) -> Option<BigRational> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = whole.strip_prefix(['-', '+']).unwrap_or(whole);
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if digits.is_empty() && fraction.is_empty() || !all_digits(digits) || !all_digits(fraction) {
        return None;
    }
    if exponent.unsigned_abs() > 400 || text.len() > 1000 {
        return None;
    }
    let unsigned = BigInt::from_str(&format!("0{digits}{fraction}")).ok()?;
    let signed = if whole.starts_with('-') {
        -unsigned
    } else {
        unsigned
    };
    let shift = exponent - i32::try_from(fraction.len()).ok()?;
    let power = Pow::pow(BigInt::from(10), shift.unsigned_abs());
    Some(if shift < 0 {
        Ratio::new(signed, power)
    } else {
        Ratio::from(signed * power)
    })
}

/// The least whole number B with B² ≥ `square`.
///
/// # Caller must
/// pass a square that is not negative.
pub(crate) fn ceil_sqrt(square: &BigRational) -> BigInt {
    let whole = square.ceil().to_integer();
    let root = whole.sqrt();
    if &root * &root >= whole {
        root
    } else {
        root + BigInt::one()
    }
}

/// The double nearest to `value`; infinite when there is none.
pub(crate) fn nearest_double(value: &BigRational) -> f64 {
    value.to_f64().unwrap_or(f64::INFINITY)
}

/// σ² of the discrete Gaussian N_Z(0, σ²): an exact positive fraction.
///
/// It is the parameter of the law, not its variance, though the two agree to 1e-6 for σ² ≥ 1.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
pub struct NoiseVariance(Ratio<u128>);

impl NoiseVariance {
    /// σ² = 1.
    #[must_use]
    pub fn one() -> Self {
        Self(Ratio::one())
    }

    /// The fraction inside.
    #[must_use]
    pub const fn get(self) -> Ratio<u128> {
        self.0
    }

    /// The double nearest to it.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        nearest_double(&self.to_exact())
    }

    /// The law of noise whose parameter is this many times larger.
    ///
    /// # Errors
    /// When the product does not fit 128-bit fractions.
    pub fn times(self, factor: u32) -> Result<Self, IllegalFraction> {
        Self::try_from(self.to_exact() * BigRational::from(BigInt::from(factor)))
    }

    pub(crate) fn to_exact(self) -> BigRational {
        BigRational::new(BigInt::from(*self.0.numer()), BigInt::from(*self.0.denom()))
    }
}

impl TryFrom<BigRational> for NoiseVariance {
    type Error = IllegalFraction;

    fn try_from(value: BigRational) -> Result<Self, IllegalFraction> {
        let parts = (value.numer().to_u128(), value.denom().to_u128());
        match parts {
            (Some(numerator), Some(denominator)) if value.is_positive() => {
                Ok(Self(Ratio::new(numerator, denominator)))
            }
            _ => Err(IllegalFraction {
                found: value.to_string(),
                required: "a noise variance: above zero, with parts below 2^128",
            }),
        }
    }
}

impl TryFrom<String> for NoiseVariance {
    type Error = IllegalFraction;

    fn try_from(text: String) -> Result<Self, IllegalFraction> {
        Self::try_from(parse_exact(&text)?)
    }
}

impl From<NoiseVariance> for String {
    fn from(variance: NoiseVariance) -> Self {
        variance.to_string()
    }
}

impl fmt::Display for NoiseVariance {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.0)
    }
}
