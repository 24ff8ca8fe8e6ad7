//! The discrete Gaussian N_Z(0, σ²), as a law: masses, tails and what an integer shift reveals.
//!
//! The accountant never needs these numbers, since it charges the sandwich of [`crate::share_sum`].
//! They are what that sandwich is checked against, and what the sampler is tested against. Every
//! sum here is over terms of one sign, so that small numbers keep their digits.
//!
//! What this module does not do: it draws nothing.

use core::f64::consts::PI;

use crate::quantity::Epsilon;
use crate::rational::NoiseVariance;

pub(crate) mod sum_law;

mod dual_lattice;
#[cfg(test)]
mod tests;

use dual_lattice::DualWeights;
use sum_law::SumLaw;

/// The law P(x) ∝ exp(−x²/2σ²) on the integers [CKS20, Def. 1].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiscreteGaussian {
    parameter: f64,
}

impl DiscreteGaussian {
    /// The law whose parameter σ² is `parameter`.
    #[must_use]
    pub fn new(parameter: NoiseVariance) -> Self {
        Self::with_parameter(parameter.to_f64())
    }

    /// # Caller must
    /// pass a finite number above zero.
    pub(crate) const fn with_parameter(parameter: f64) -> Self {
        Self { parameter }
    }

    /// σ², which is not quite the variance.
    #[must_use]
    pub const fn parameter(self) -> f64 {
        self.parameter
    }

    /// Σ exp(−x²/2σ²) over the integers.
    ///
    /// # Why
    /// Poisson summation turns the sum into √(2πσ²) (1 + K(σ²)), which converges at once where
    /// the plain sum does not [CKS20, Sec. 2].
    #[must_use]
    pub fn normaliser(self) -> f64 {
        if self.parameter >= DUAL_FROM {
            return (2.0 * PI * self.parameter).sqrt() * (1.0 + poisson_remainder(self.parameter));
        }
        self.plain_theta(0.0)
    }

    /// The variance: a little below σ².
    #[must_use]
    pub fn variance(self) -> f64 {
        if self.parameter >= DUAL_FROM {
            let weighted: f64 = (1..=DUAL_TERMS)
                .map(|j| f64::from(j * j) * dual_weight(self.parameter, j))
                .sum();
            let defect = 8.0 * PI * PI * self.parameter * weighted;
            return self.parameter * (1.0 - defect / (1.0 + poisson_remainder(self.parameter)));
        }
        let square = |x: i64| (x * x) as f64 * self.relative_mass(x, 0);
        2.0 * (1..=self.reach(0)).map(square).sum::<f64>() / self.normaliser()
    }

    /// P(X = x).
    #[must_use]
    pub fn mass(self, x: i64) -> f64 {
        self.log_mass(x).exp()
    }

    /// ln P(X = x).
    #[must_use]
    pub fn log_mass(self, x: i64) -> f64 {
        let x = x as f64;
        -x * x / (2.0 * self.parameter) - self.normaliser().ln()
    }

    /// P(X > x).
    #[must_use]
    pub fn tail(self, x: i64) -> f64 {
        if x < 0 {
            return 1.0 - self.tail(-x - 1);
        }
        let start = x + 1;
        let sum: f64 = (start..=self.reach(start))
            .map(|y| self.relative_mass(y, start))
            .sum();
        self.mass(start) * sum
    }

    /// δ(ε) between X and X + `shift`: the hockey-stick divergence, exactly.
    ///
    /// # Guarantee
    /// Adding X to an integer that a neighbour can move by at most `shift` is (ε, δ)-DP, and for
    /// no smaller δ.
    ///
    /// # Why
    /// [CKS20, Thm 7]: the likelihood ratio is monotone, so the worst set is a half-line. Its
    /// masses are subtracted pairwise, each difference positive.
    #[must_use]
    pub fn delta_of_shift(self, shift: u32, epsilon: Epsilon) -> f64 {
        self.delta_of_box_shift(1, shift, epsilon)
    }

    /// δ(ε) of `dimension` independent coordinates that all move by `bound`: the worst case of a
    /// neighbour that moves each by at most `bound`.
    ///
    /// # Guarantee
    /// Adding independent copies of X to integers that a neighbour can move by at most `bound`
    /// each is (ε, δ)-DP, and for no smaller δ.
    ///
    /// # Why
    /// The law is log-concave, so in one coordinate the largest shift dominates all others, and
    /// dominating pairs compose [ZDW22, Thm 10]. The loss is then (S B + d B²/2)/σ², a function
    /// of the sum S of the coordinates, whose law is exact too.
    #[must_use]
    pub fn delta_of_box_shift(self, dimension: u32, bound: u32, epsilon: Epsilon) -> f64 {
        if bound == 0 || dimension == 0 {
            return 0.0;
        }
        let (d, b) = (f64::from(dimension), f64::from(bound));
        let threshold = integer_part(epsilon.get() * self.parameter / b - d * b / 2.0) + 1;
        let gain = |s: i64| {
            let loss = (s as f64 * b + d * b * b / 2.0) / self.parameter;
            (-(epsilon.get() - loss).exp_m1()).max(0.0)
        };
        SumLaw::new(self, dimension).upper_sum(threshold, gain)
    }

    /// The Rényi divergence of order `order` between X and X + `shift`, exactly.
    ///
    /// # Why
    /// Completing the square leaves α Δ²/2σ² plus the logarithm of a ratio of theta functions,
    /// which is at most 0 [CKS20, Thm 4] and vanishes when (α−1)Δ is an integer.
    ///
    /// # Notation
    /// | code | paper |
    /// |---|---|
    /// | `order`, `shift` | α, Δ |
    ///
    /// # Caller must
    /// pass an `order` above 1.
    #[must_use]
    pub fn renyi_of_shift(self, shift: u32, order: f64) -> f64 {
        let shift = f64::from(shift);
        let offset = (order - 1.0) * shift;
        let gaussian = order * shift * shift / (2.0 * self.parameter);
        gaussian + self.log_theta_ratio(offset - offset.round()) / (order - 1.0)
    }

    /// ln of Σ exp(−(x−y)²/2σ²) over Σ exp(−x²/2σ²), for |y| ≤ 1/2.
    fn log_theta_ratio(self, y: f64) -> f64 {
        if self.parameter < DUAL_FROM {
            return (self.plain_theta(y) / self.plain_theta(0.0)).ln();
        }
        let difference: f64 = (1..=DUAL_TERMS)
            .map(|j| dual_weight(self.parameter, j) * (PI * f64::from(j) * y).sin().powi(2))
            .sum();
        (-4.0 * difference / (1.0 + poisson_remainder(self.parameter))).ln_1p()
    }

    fn plain_theta(self, y: f64) -> f64 {
        let reach = self.reach(1);
        (-reach..=reach)
            .map(|x| (-(x as f64 - y).powi(2) / (2.0 * self.parameter)).exp())
            .sum()
    }

    /// P(x)/P(origin), from a difference of squares that is exact.
    fn relative_mass(self, x: i64, origin: i64) -> f64 {
        let gap = (x - origin) as f64 * (x + origin) as f64;
        (-gap / (2.0 * self.parameter)).exp()
    }

    /// Beyond this integer the masses are below e⁻⁷⁰ of the one at `start`.
    fn reach(self, start: i64) -> i64 {
        let start = start.max(0) as f64;
        integer_part((start * start + 140.0 * self.parameter).sqrt()) + 2
    }
}

/// K(q²) = 2 Σ exp(−2π² q² j²) over j ≥ 1: how far a sum of a Gaussian over the integers can be
/// from its integral, relatively.
///
/// # Why
/// Poisson summation [KLS21, Sec. 3]; the bound holds for every real shift of the integers.
#[must_use]
pub fn poisson_remainder(parameter: f64) -> f64 {
    // The terms of a small parameter decrease slowly; e⁻⁷⁰ ends them at j² = 70/(2π² q²).
    let terms = integer_part((3.6 / parameter).sqrt()).clamp(3, 1_000_000);
    let rate = 2.0 * PI * PI * parameter;
    2.0 * (1..=terms)
        .map(|j| (-rate * (j * j) as f64).exp())
        .sum::<f64>()
}

/// ln((1 + Θ)/(1 − Θ)) for the sum of `count` copies of `share`; infinite where Θ ≥ 1.
pub(crate) fn sum_log_ratio_bound(share: DiscreteGaussian, count: u32) -> f64 {
    let total = DualWeights::new(share.parameter, count).total();
    if total < 1.0 {
        2.0 * total.atanh()
    } else {
        f64::INFINITY
    }
}

/// exp(−2π² σ² j²).
fn dual_weight(parameter: f64, j: u32) -> f64 {
    (-2.0 * PI * PI * parameter * f64::from(j * j)).exp()
}

/// The whole number at or below `x`, kept within ±2⁶².
#[expect(
    clippy::cast_possible_truncation,
    reason = "clamped to the range of i64 before"
)]
pub(crate) fn integer_part(x: f64) -> i64 {
    const LARGEST: f64 = 4_611_686_018_427_387_904.0;
    x.floor().clamp(-LARGEST, LARGEST) as i64
}

/// From this σ² on, sums over the dual lattice converge faster than plain ones.
const DUAL_FROM: f64 = 0.25;

/// Enough dual terms for any σ² ≥ [`DUAL_FROM`]: the last is e⁻⁷⁹ there.
const DUAL_TERMS: u32 = 4;
