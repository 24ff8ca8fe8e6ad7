//! Bounded range: what a selection by the exponential mechanism costs.
//!
//! The privacy losses of all outcomes lie in one interval of length ε. That is more than ε-DP,
//! and the worst such mechanism is known exactly: it tells Logistic(0, 1) from Logistic(ε, 1).
//!
//! What this module does not do: it never turns a selection into ε/2-GDP, which is false.

use core::f64::consts::{PI, SQRT_2};

use puruspe::inverfc;

use crate::quantity::{Delta, Epsilon, IllegalQuantity, Mu, RangeBound, Rho};

#[cfg(test)]
mod tests;

impl RangeBound {
    /// ρ = ε²/8.
    ///
    /// # Guarantee
    /// A selection of this range is zCDP with the returned ρ.
    ///
    /// # Why
    /// docs/proofs/selection.md#5-concentrated-privacy-of-a-range, [CR21, Sec. 3].
    ///
    /// # Errors
    /// When ε² is beyond the range of doubles.
    pub fn to_rho(self) -> Result<Rho, IllegalQuantity> {
        Rho::try_from(self.get() * self.get() / 8.0)
    }

    /// The divergence that no ρ for this range can be below: ln((e^ε − 1)/ε) − 1 + ε/(e^ε − 1).
    ///
    /// # Why
    /// The largest Kullback-Leibler divergence of bounded range, the limit of order 1. It equals
    /// ln(sinh z / z) + z coth z − 1 with z = ε/2, which has a series of positive terms.
    #[must_use]
    pub fn tight_rho(self) -> f64 {
        let z = self.get() / 2.0;
        if z > 1.0 {
            let log_sinh_ratio = z + (-(-2.0 * z).exp()).ln_1p() - (2.0 * z).ln();
            return log_sinh_ratio + z / z.tanh() - 1.0;
        }
        let (mut term, mut sinh_excess, mut cosh_excess) = (1.0, 0.0, 0.0);
        for n in 1..=12 {
            let even = f64::from(2 * n);
            term *= z * z / (even * (even + 1.0));
            sinh_excess += term;
            cosh_excess += even * term;
        }
        sinh_excess.ln_1p() + cosh_excess / (1.0 + sinh_excess)
    }

    /// ρ = ε²/2, which every ε-DP mechanism has.
    ///
    /// # Guarantee
    /// A mechanism that is ε-DP with ε = `self`, of bounded range or not, is zCDP with this ρ.
    ///
    /// # Why
    /// [BS16, Prop. 1.4].
    ///
    /// # Errors
    /// When ε² is beyond the range of doubles.
    pub fn to_pure_rho(self) -> Result<Rho, IllegalQuantity> {
        Rho::try_from(self.get() * self.get() / 2.0)
    }

    /// μ = 2 Φ⁻¹(e^ε/(1 + e^ε)), which every ε-DP mechanism has.
    ///
    /// # Guarantee
    /// A mechanism that is ε-DP with ε = `self` is GDP with this μ.
    ///
    /// # Why
    /// The trade-off curve of randomised response touches that of this μ in one point and lies
    /// above it elsewhere [DRS19, Prop. 2.5].
    ///
    /// # Errors
    /// When ε is above about 700, where the μ is no longer known.
    pub fn to_pure_mu(self) -> Result<Mu, IllegalQuantity> {
        let half = self.get() / 2.0;
        let probability = half.tanh();
        let root = if probability < 1e-3 {
            // erf⁻¹, whose inversion through erfc would lose the digits of a small argument.
            let square = PI * probability * probability;
            let series = 1.0 + square * (1.0 / 12.0 + square * (7.0 / 480.0));
            PI.sqrt() / 2.0 * probability * series
        } else {
            let outside = 2.0 / (1.0 + self.get().exp());
            if outside > 0.0 {
                inverfc(outside)
            } else {
                f64::INFINITY
            }
        };
        Mu::try_from(2.0 * SQRT_2 * root)
    }

    /// δ at which every mechanism of this range is (`epsilon`, δ)-DP, exactly.
    ///
    /// # Guarantee
    /// A selection of this range is (`epsilon`, δ)-DP with the returned δ.
    ///
    /// # Why
    /// docs/proofs/selection.md#4-the-worst-mechanism-of-a-given-range, [DDR20, Sec. 3] maximised over the
    /// place of the interval: δ = (e^(r/2) − e^(ε/2))²/(e^r − 1) for ε ≤ r.
    #[must_use]
    pub fn delta(self, epsilon: Epsilon) -> f64 {
        let left = self.get() - epsilon.get();
        if left <= 0.0 {
            return 0.0;
        }
        (-left / 2.0).exp_m1().powi(2) / -(-self.get()).exp_m1()
    }

    /// δ at which every mechanism that is only ε-DP, with ε = `self`, is (`epsilon`, δ)-DP.
    ///
    /// # Guarantee
    /// Such a mechanism is (`epsilon`, δ)-DP with the returned δ.
    ///
    /// # Why
    /// Randomised response dominates it: δ = (e^r − e^ε)/(1 + e^r) for ε ≤ r [DRS19, Prop. 2.5].
    #[must_use]
    pub fn pure_delta(self, epsilon: Epsilon) -> f64 {
        let left = self.get() - epsilon.get();
        if left <= 0.0 {
            return 0.0;
        }
        -(-left).exp_m1() / (1.0 + (-self.get()).exp())
    }

    /// The ε of one selection at `delta`: the inverse of [`RangeBound::delta`], before rounding.
    pub(crate) fn single_epsilon(self, delta: Delta) -> f64 {
        // (1 − e^−(r−ε)/2)² = δ (1 − e^−r).
        let root = (delta.get() * -(-self.get()).exp_m1()).sqrt();
        (self.get() + 2.0 * (-root).ln_1p()).max(0.0)
    }
}
