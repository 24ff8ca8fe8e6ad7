//! A number that something is limited to, divided by or measured in: never zero, negative or
//! unbounded.

use serde::{Deserialize, Serialize};

/// A limit, a scale or a norm of a question: a number from 1e-30 to 1e30.
///
/// # Why
/// Contributions are computed in single precision. Between these ends neither a limit nor its
/// inverse overflows or vanishes there, so a quotient by a limit is always a number.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Limit(f64);

/// A number that is no limit.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("a limit is {found}, but it must be a number from 1e-30 to 1e30")]
pub struct IllegalLimit {
    /// The number.
    pub found: f64,
}

const LEAST: f64 = 1e-30;
const MOST: f64 = 1e30;

impl Limit {
    /// One unit.
    pub const ONE: Self = Self(1.0);

    /// The limit nearest to `wanted`; one if that is not a number.
    ///
    /// For limits that a procedure computes from earlier answers: whatever those were, there is a
    /// question to ask. It changes no limit that is legal.
    #[must_use]
    pub const fn nearest(wanted: f64) -> Self {
        if wanted.is_nan() {
            Self::ONE
        } else {
            Self(wanted.clamp(LEAST, MOST))
        }
    }

    /// The number inside.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Limit {
    type Error = IllegalLimit;

    fn try_from(found: f64) -> Result<Self, IllegalLimit> {
        if (LEAST..=MOST).contains(&found) {
            Ok(Self(found))
        } else {
            Err(IllegalLimit { found })
        }
    }
}

impl From<Limit> for f64 {
    fn from(limit: Limit) -> Self {
        limit.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_between_the_ends_are_limits() {
        for legal in [1e-30, 0.5, 1.0, 1e30] {
            assert_eq!(Limit::try_from(legal).map(Limit::get), Ok(legal));
            assert_eq!(Limit::nearest(legal).get().to_bits(), legal.to_bits());
        }
        for illegal in [
            0.0,
            -0.0,
            -1.0,
            1e-31,
            5e-324,
            1e31,
            f64::MAX,
            f64::INFINITY,
            f64::NEG_INFINITY,
        ] {
            assert!(Limit::try_from(illegal).is_err(), "{illegal}");
            let nearest = Limit::nearest(illegal);
            assert_eq!(Limit::try_from(nearest.get()), Ok(nearest), "{illegal}");
        }
        assert!(Limit::try_from(f64::NAN).is_err());
        assert_eq!(Limit::nearest(f64::NAN), Limit::ONE);
    }
}
