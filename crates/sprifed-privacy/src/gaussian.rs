//! Gaussian differential privacy: μ, ε and δ, exactly, in log space.
//!
//! δ(ε; μ) = Φ(−a) − e^ε Φ(−b) with a = ε/μ − μ/2 and b = a + μ is a difference of two numbers
//! that agree in all their digits when δ is small. Since e^ε φ(b) = φ(a), it is written with the
//! Mills ratio m(z) = Φ(−z)/φ(z) instead, and the difference of Mills ratios as an integral
//! where they are close. The result is good to a relative 1e-13 in ln δ for δ down to e^(−10⁶).
//!
//! What this module does not do: it never converts a ρ into a μ, which no theorem licenses.

use core::f64::consts::{FRAC_1_SQRT_2, LN_2, PI};

use libm::{erfc, exp, log, log1p};
use puruspe::erfcx as erfcx_above_zero;

use crate::quantity::{ApproxDp, Delta, Epsilon, IllegalQuantity, Mu};
use crate::rounding::{bisect, largest_within, upward};

#[cfg(test)]
mod tests;

impl Mu {
    /// The smallest ε at which every μ-GDP mechanism is (ε, `delta`)-DP, rounded up.
    ///
    /// # Guarantee
    /// A mechanism that is `self`-GDP satisfies the returned pair.
    ///
    /// # Why
    /// [DRS19, Cor. 2.13]: δ(ε) = Φ(−ε/μ + μ/2) − e^ε Φ(−ε/μ − μ/2), decreasing in ε.
    #[must_use]
    pub fn to_approx_dp(self, delta: Delta) -> ApproxDp {
        let exact = epsilon(self.get(), log(delta.get()));
        let epsilon = Epsilon::try_from(upward(exact)).unwrap_or_else(|_| overflowed());
        ApproxDp::new(epsilon, delta)
    }

    /// ln δ at which every μ-GDP mechanism is (`epsilon`, δ)-DP.
    ///
    /// # Why
    /// [DRS19, Cor. 2.13]. In log space because δ underflows where ln δ is still exact.
    #[must_use]
    pub fn log_delta(self, epsilon: Epsilon) -> f64 {
        log_delta(self.get(), epsilon.get())
    }

    /// The largest μ whose every mechanism stays within `target`, rounded down.
    ///
    /// # Guarantee
    /// A mechanism that is GDP with the returned μ satisfies `target`.
    ///
    /// # Why
    /// [DRS19, Cor. 2.13], and δ increases in μ.
    ///
    /// # Errors
    /// When no positive double is small enough, which takes a δ below about 1e-308.
    pub fn largest_within(target: ApproxDp) -> Result<Self, IllegalQuantity> {
        let epsilon = target.epsilon().get();
        let goal = log(target.delta().get());
        let exceeds = |mu: f64| log_delta(mu, epsilon) > goal;
        Self::try_from(largest_within(exceeds))
    }
}

/// ε of an ε that left the range of doubles: the weakest claim that can be written down.
fn overflowed() -> Epsilon {
    match Epsilon::try_from(f64::MAX) {
        Ok(largest) => largest,
        Err(_) => unreachable!("the largest double is finite"),
    }
}

/// The least ε ≥ 0 with ln δ(ε; μ) ≤ `log_delta`, from above, without the safety margin.
///
/// # Notation
/// | code | paper |
/// |---|---|
/// | `mu` | μ |
/// | `log_delta` | ln δ |
pub(crate) fn epsilon(mu: f64, goal: f64) -> f64 {
    let within = |epsilon: f64| log_delta(mu, epsilon) <= goal;
    if within(0.0) {
        return 0.0;
    }
    // Φ(−a) ≤ e^(−a²/2) for a ≥ 0 makes this end hold.
    let bracket = mu * mu / 2.0 + mu * (-2.0 * goal).sqrt();
    bisect((0.0, bracket * (1.0 + 1e-12) + f64::MIN_POSITIVE), within).1
}

/// ln δ(ε; μ) of a μ-GDP mechanism.
pub(crate) fn log_delta(mu: f64, epsilon: f64) -> f64 {
    let lower = epsilon / mu - mu / 2.0;
    let upper = epsilon / mu + mu / 2.0;
    if mu <= 0.5 || (lower > 25.0 && mu <= 2.0) {
        let area = integrate_mills_defect(lower, mu);
        return -lower * lower / 2.0 - log((2.0 * PI).sqrt()) + log(area);
    }
    if lower >= 0.0 {
        let difference = erfcx(lower * FRAC_1_SQRT_2) - erfcx(upper * FRAC_1_SQRT_2);
        return -lower * lower / 2.0 - LN_2 + log(difference);
    }
    // 1 − δ is the small number when μ is large: δ = 1 − (Φ(a) + φ(a) m(b)).
    let density = exp(-lower * lower / 2.0) / 2.0;
    let missing = erfc(-lower * FRAC_1_SQRT_2) / 2.0 + density * erfcx(upper * FRAC_1_SQRT_2);
    log1p(-missing)
}

/// ∫ (1 − z m(z)) dz from `start` over `length`, by 20-point Gauss-Legendre.
///
/// −m′(z) = 1 − z m(z), so this is m(start) − m(start + length) without the cancellation.
fn integrate_mills_defect(start: f64, length: f64) -> f64 {
    let half = length / 2.0;
    let middle = start + half;
    let sum: f64 = NODES
        .iter()
        .map(|&(node, weight)| {
            weight * (mills_defect(middle - half * node) + mills_defect(middle + half * node))
        })
        .sum();
    half * sum
}

/// 1 − z m(z): positive, and near z⁻² for large z.
fn mills_defect(z: f64) -> f64 {
    if z > 25.0 {
        let inverse = 1.0 / (z * z);
        let coefficients = [
            -2_027_025.0,
            135_135.0,
            -10_395.0,
            945.0,
            -105.0,
            15.0,
            -3.0,
            1.0,
        ];
        return inverse * coefficients.iter().fold(0.0, |sum, c| sum * inverse + c);
    }
    1.0 - z * (PI / 2.0).sqrt() * erfcx(z * FRAC_1_SQRT_2)
}

/// e^(x²)·erfc(x), in arithmetic that is the same on every platform.
///
/// # Why
/// Every party derives the schedule of a study from its budget. `puruspe` calls the platform's
/// exponential, but only below zero, where erfcx(x) = 2e^(x²) − erfcx(−x).
fn erfcx(x: f64) -> f64 {
    if x >= 0.0 {
        erfcx_above_zero(x)
    } else {
        2.0 * exp(x * x) - erfcx_above_zero(-x)
    }
}

/// Positive nodes and weights of the 20-point Gauss-Legendre rule on [−1, 1].
#[expect(clippy::excessive_precision, reason = "as tabulated")]
const NODES: [(f64, f64); 10] = [
    (0.076_526_521_133_497_333_75, 0.152_753_387_130_725_850_70),
    (0.227_785_851_141_645_078_08, 0.149_172_986_472_603_746_79),
    (0.373_706_088_715_419_560_67, 0.142_096_109_318_382_051_33),
    (0.510_867_001_950_827_098_00, 0.131_688_638_449_176_626_90),
    (0.636_053_680_726_515_025_45, 0.118_194_531_961_518_417_31),
    (0.746_331_906_460_150_792_61, 0.101_930_119_817_240_435_04),
    (0.839_116_971_822_218_823_39, 0.083_276_741_576_704_748_72),
    (0.912_234_428_251_325_905_87, 0.062_672_048_334_109_063_57),
    (0.963_971_927_277_913_791_27, 0.040_601_429_800_386_941_33),
    (0.993_128_599_185_094_924_79, 0.017_614_007_139_152_118_31),
];
