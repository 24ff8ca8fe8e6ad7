//! Privacy quantities as types.
//!
//! A number that bounds what a release reveals is never a bare `f64` here. Each quantity is
//! checked once, on the way in, and offers only the arithmetic that a theorem licenses: `Rho`
//! adds, `Mu` composes in quadrature, and `Epsilon` does neither without its `Delta`.
//!
//! What is deliberately absent: `From<f64>`, `Default`, `Deref`, and any way from `Rho` to `Mu`.

use core::ops::Add;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A number that is not a legal value of the quantity it was meant for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{quantity} is {}, but it must be {required}", written(*found))]
pub struct IllegalQuantity {
    /// The name of the quantity.
    pub quantity: &'static str,
    /// The number that was given.
    pub found: f64,
    /// What the quantity allows.
    pub required: &'static str,
}

/// A number as people write it: without a row of zeros.
fn written(number: f64) -> String {
    if number != 0.0 && (number.abs() < 1e-4 || number.abs() >= 1e16) && number.is_finite() {
        format!("{number:e}")
    } else {
        number.to_string()
    }
}

/// A type for numbers that `$allowed` allows; without it, for finite numbers above zero.
macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $words:literal) => {
        $crate::quantity::quantity!(
            $(#[$doc])* $name, $words, "a finite number above zero", |x| x.is_finite() && x > 0.0
        );
    };
    ($(#[$doc:meta])* $name:ident, $words:literal, $required:literal, $allowed:expr) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, PartialEq, PartialOrd, ::serde::Serialize, ::serde::Deserialize, ::schemars::JsonSchema,
        )]
        #[serde(try_from = "f64", into = "f64")]
        pub struct $name(f64);

        impl $name {
            /// The number inside.
            #[must_use]
            pub const fn get(self) -> f64 {
                self.0
            }
        }

        impl TryFrom<f64> for $name {
            type Error = $crate::IllegalQuantity;

            fn try_from(found: f64) -> Result<Self, $crate::IllegalQuantity> {
                let allowed: fn(f64) -> bool = $allowed;
                if allowed(found) {
                    Ok(Self(found))
                } else {
                    Err($crate::IllegalQuantity { quantity: $words, found, required: $required })
                }
            }
        }

        impl From<$name> for f64 {
            fn from(quantity: $name) -> Self {
                quantity.0
            }
        }

        impl ::core::fmt::Display for $name {
            fn fmt(&self, formatter: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Display::fmt(&self.0, formatter)
            }
        }
    };
}

pub(crate) use quantity;

quantity!(
    /// ε of (ε, δ) differential privacy. It has no meaning without its δ, so it has no arithmetic.
    Epsilon,
    "epsilon",
    "a finite number, zero or more",
    |x| x.is_finite() && x >= 0.0
);

quantity!(
    /// δ of (ε, δ) differential privacy: strictly between zero and one.
    Delta,
    "delta",
    "strictly between 0 and 1",
    |x| x > 0.0 && x < 1.0
);

quantity!(
    /// μ of Gaussian differential privacy.
    ///
    /// Mechanisms compose in quadrature, so there is [`Mu::compose`] and no `+`:
    ///
    /// ```
    /// # use sprifed_privacy::Mu;
    /// let (first, second) = (Mu::try_from(3.0)?, Mu::try_from(4.0)?);
    /// assert_eq!(first.compose(second).get(), 5.0);
    /// # Ok::<(), sprifed_privacy::IllegalQuantity>(())
    /// ```
    ///
    /// ```compile_fail,E0369
    /// # use sprifed_privacy::Mu;
    /// let (first, second) = (Mu::try_from(3.0)?, Mu::try_from(4.0)?);
    /// assert_eq!((first + second).get(), 5.0);
    /// # Ok::<(), sprifed_privacy::IllegalQuantity>(())
    /// ```
    Mu,
    "mu"
);

quantity!(
    /// ρ of zero-concentrated differential privacy. Mechanisms compose by addition.
    ///
    /// ```
    /// # use sprifed_privacy::{Delta, Rho};
    /// let rho = Rho::try_from(0.5)?;
    /// let guarantee = rho.to_approx_dp(Delta::try_from(1e-5)?);
    /// assert!(guarantee.epsilon().get() > rho.get());
    /// # Ok::<(), sprifed_privacy::IllegalQuantity>(())
    /// ```
    ///
    /// A ρ is not an ε:
    ///
    /// ```compile_fail,E0308
    /// # use sprifed_privacy::{ApproxDp, Delta, Rho};
    /// let rho = Rho::try_from(0.5)?;
    /// let guarantee = ApproxDp::new(rho, Delta::try_from(1e-5)?);
    /// # Ok::<(), sprifed_privacy::IllegalQuantity>(())
    /// ```
    ///
    /// ```
    /// # use sprifed_privacy::{ApproxDp, Delta, Epsilon};
    /// let epsilon = Epsilon::try_from(0.5)?;
    /// let guarantee = ApproxDp::new(epsilon, Delta::try_from(1e-5)?);
    /// # Ok::<(), sprifed_privacy::IllegalQuantity>(())
    /// ```
    Rho,
    "rho"
);

quantity!(
    /// The range that bounds the privacy loss of a selection: ε of the exponential mechanism.
    RangeBound,
    "bounded range"
);

/// An (ε, δ) pair. The two never travel alone.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApproxDp {
    epsilon: Epsilon,
    delta: Delta,
}

impl ApproxDp {
    /// The pair of `epsilon` and `delta`.
    #[must_use]
    pub const fn new(epsilon: Epsilon, delta: Delta) -> Self {
        Self { epsilon, delta }
    }

    /// The ε of the pair.
    #[must_use]
    pub const fn epsilon(self) -> Epsilon {
        self.epsilon
    }

    /// The δ of the pair.
    #[must_use]
    pub const fn delta(self) -> Delta {
        self.delta
    }
}

impl Epsilon {
    /// What the release of nothing costs.
    pub(crate) const NOTHING: Self = Self(0.0);

    /// The weakest claim that can be written down.
    pub(crate) const LARGEST: Self = Self(f64::MAX);
}

impl Add for Rho {
    type Output = Self;

    /// # Guarantee
    /// Two mechanisms that are `self`-zCDP and `other`-zCDP, the second chosen with knowledge of
    /// the first's answer, are together (`self + other`)-zCDP.
    ///
    /// # Why
    /// [BS16, Lemma 2.3].
    fn add(self, other: Self) -> Self {
        Self(within_doubles(self.0 + other.0))
    }
}

impl Mu {
    /// Both mechanisms together, the second chosen with knowledge of the first's answer.
    ///
    /// # Guarantee
    /// √(μ₁² + μ₂²)-GDP.
    ///
    /// # Why
    /// [DRS19, Cor. 3.3].
    #[must_use]
    pub fn compose(self, other: Self) -> Self {
        Self(within_doubles(self.0.hypot(other.0)))
    }

    /// `count` mechanisms of this μ, each chosen with knowledge of the answers before it.
    ///
    /// # Guarantee
    /// √count·μ-GDP.
    ///
    /// # Why
    /// [DRS19, Cor. 3.3].
    #[must_use]
    pub fn repeated(self, count: core::num::NonZeroU32) -> Self {
        Self(within_doubles(self.0 * f64::from(count.get()).sqrt()))
    }

    /// The same mechanism seen by a group of `size` privacy units that act as one.
    ///
    /// # Guarantee
    /// `size`·μ-GDP for the group.
    ///
    /// # Why
    /// [DRS19, Thm 2.14]; exact for Gaussian mechanisms.
    #[must_use]
    pub fn for_group(self, size: core::num::NonZeroU32) -> Self {
        Self(within_doubles(self.0 * f64::from(size.get())))
    }

    /// The zCDP guarantee that every μ-GDP mechanism has: ρ = μ²/2.
    ///
    /// # Why
    /// A μ-GDP mechanism is a post-processing of a Gaussian of unit variance shifted by μ
    /// [DRS19, Thm 2.10], and that one is μ²/2-zCDP [BS16, Prop. 1.6].
    #[must_use]
    pub fn to_rho(self) -> Rho {
        Rho(within_doubles(self.0 * self.0 / 2.0))
    }

    /// From a sum of squares that the caller has shown to be finite and positive.
    pub(crate) fn from_square(square: f64) -> Result<Self, IllegalQuantity> {
        Self::try_from(square.sqrt())
    }
}

/// A cost that left the range of positive doubles, as the nearest one that can be written down.
fn within_doubles(cost: f64) -> f64 {
    cost.clamp(f64::MIN_POSITIVE, f64::MAX)
}
