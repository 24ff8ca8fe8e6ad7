//! Zero-concentrated differential privacy: ρ to (ε, δ) and back.
//!
//! Used where noise has no Gaussian trade-off curve (selections, Skellam) and as a cross-check
//! everywhere else. For a pure Gaussian run it costs 5 to 11 % more ε than [`crate::Mu`].
//!
//! The conversion is an infimum over Rényi orders. Any order gives a sound bound, so an error in
//! the search for the best one can only weaken the claim.

use libm::{log, log1p};

use crate::quantity::{ApproxDp, Delta, Epsilon, IllegalQuantity, Rho};
use crate::rounding::{bisect, largest_within, upward};

#[cfg(test)]
mod tests;

impl Rho {
    /// The smallest ε known for ρ-zCDP at `delta`, rounded up.
    ///
    /// # Guarantee
    /// A mechanism that is `self`-zCDP satisfies the returned pair.
    ///
    /// # Why
    /// [CKS20, Prop. 12], minimised over the order.
    #[must_use]
    pub fn to_approx_dp(self, delta: Delta) -> ApproxDp {
        let claimed = upward(epsilon(self.get(), log(delta.get()))).min(f64::MAX);
        let epsilon = Epsilon::try_from(claimed).unwrap_or_else(|_| unreachable!("ε ≥ 0"));
        ApproxDp::new(epsilon, delta)
    }

    /// ln δ at which every ρ-zCDP mechanism is (`epsilon`, δ)-DP.
    ///
    /// # Why
    /// [CKS20, Prop. 12], minimised over the order.
    #[must_use]
    pub fn log_delta(self, epsilon: Epsilon) -> f64 {
        log_delta(self.get(), epsilon.get())
    }

    /// The largest ρ that this conversion keeps within `target`, rounded down.
    ///
    /// # Guarantee
    /// A mechanism that is zCDP with the returned ρ satisfies `target`.
    ///
    /// # Why
    /// [CKS20, Prop. 12]; the bound increases in ρ.
    ///
    /// # Errors
    /// When no positive double is small enough.
    pub fn largest_within(target: ApproxDp) -> Result<Self, IllegalQuantity> {
        let goal = log(target.delta().get());
        let exceeds = |rho: f64| epsilon(rho, goal) > target.epsilon().get();
        Self::try_from(largest_within(exceeds))
    }
}

/// An ε ≥ 0 at which ρ-zCDP gives ln δ = `goal`, without the safety margin.
///
/// # Notation
/// | code | paper |
/// |---|---|
/// | `excess` | α − 1 |
/// | `rho`, `goal` | ρ, ln δ |
pub(crate) fn epsilon(rho: f64, goal: f64) -> f64 {
    // At the best order, (α−1)² ρ + ln α = ln(1/δ): the left side increases in α.
    let enough = |excess: f64| excess * excess * rho + log1p(excess) >= -goal;
    let mut high = 1.0;
    while !enough(high) && high < 1e300 {
        high *= 2.0;
    }
    let excess = bisect((0.0, high), enough).1;
    let order = 1.0 + excess;
    let bound = order * rho - (goal + log1p(excess)) / excess - log1p(1.0 / excess);
    bound.max(0.0)
}

/// ln δ at which ρ-zCDP gives ε.
pub(crate) fn log_delta(rho: f64, epsilon: f64) -> f64 {
    // At the best order, (2α−1) ρ + ln(1 − 1/α) = ε: the left side increases in α.
    let enough = |excess: f64| (2.0 * excess + 1.0) * rho - log1p(1.0 / excess) >= epsilon;
    let mut high = 1.0;
    while !enough(high) && high < 1e300 {
        high *= 2.0;
    }
    let excess = bisect((f64::MIN_POSITIVE, high), enough).1;
    let exponent = excess * ((1.0 + excess) * rho - epsilon);
    let bound = exponent - log1p(excess) - excess * log1p(1.0 / excess);
    bound.min(0.0)
}
