//! Composition of privacy loss distributions by Fourier transform, with a bound on its error.
//!
//! The losses of composed mechanisms add, so their laws convolve. A transform of the plain laws
//! would drown a small δ in rounding errors of 1e-16, so the laws are tilted first: masses are
//! multiplied by e^(t l), which commutes with convolution and moves the bulk of the composed law
//! to the losses that decide ε. There the error is relative.
//!
//! Safety of the guarantee: four things are added to δ.
//! - Mass at infinity, count by count.
//! - Mass above the window of the transform. It is bounded by Chernoff at a second tilt.
//! - The error of the transform. Each output of a transform of length N is a sum of inputs whose
//!   factors carry a relative error of at most 8 u log₂ N, u = 2⁻⁵³. The spectra are at most 1 in
//!   modulus, so a product of k of them is off by at most 8 u k (1 + log₂ N), and the inverse
//!   transform adds 8 u log₂ N.
//! - A relative 1e-9 for the evaluation of the formulas.
//!
//! Mass below the window reappears at its upper end, which can only raise δ.
//!
//! docs/proofs/composition.md derives each of these.

use rustfft::FftPlanner;
use rustfft::num_complex::Complex;

use super::LossDistribution;
use crate::discrete_gaussian::integer_part;

/// ε at ln δ = `goal` for mechanisms whose losses have these laws, each so many times; infinite
/// when the error would exceed δ.
///
/// # Guarantee
/// The composition, adaptive or not, is (ε, e^`goal`)-DP.
///
/// # Why
/// [ZDW22, Thm 10] for adaptive composition of dominating pairs.
///
/// # Caller must
/// give all laws the same grid, and the same tilt to all that depend on one.
pub(crate) fn epsilon(parts: &[(LossDistribution, u32)], tilt: f64, goal: f64) -> f64 {
    let Some(width) = parts.first().map(|(law, _)| law.width) else {
        return 0.0;
    };
    let total = TiltedTotal::new(parts, tilt);
    let reach = SPREAD * total.std_dev;
    let length = usize_from(2.0 * reach / width + 64.0)
        .next_power_of_two()
        .min(LONGEST);
    let lowest = (total.mean / width).round() - (length / 2) as f64;
    let highest = (lowest + length as f64) * width;
    let beyond = total.log_tail(parts, tilt, highest).exp() + total.infinite;
    let budget = 1.0 - beyond * (1.0 + 1e-9) * (-goal).exp();
    if budget.is_nan() || budget <= 0.0 {
        return f64::INFINITY;
    }
    let composed = convolve(parts, tilt, length);
    let depth = (length as f64).log2();
    let rounding = 8.0 * f64::EPSILON / 2.0 * (total.count + 1.0) * (1.0 + depth);
    let decay = (-tilt * width).exp();
    let noise = rounding * (1.0 / (1.0 - decay) + 1.0).min(length as f64);
    let search = Search {
        tilt,
        width,
        noise,
        log_scale: total.log_moment - goal,
        budget,
    };
    search.epsilon(&composed, lowest)
}

/// What is known of the composed law before it is computed.
struct TiltedTotal {
    log_moment: f64,
    mean: f64,
    std_dev: f64,
    count: f64,
    infinite: f64,
}

impl TiltedTotal {
    fn new(parts: &[(LossDistribution, u32)], tilt: f64) -> Self {
        let mut total = Self {
            log_moment: 0.0,
            mean: 0.0,
            std_dev: 0.0,
            count: 0.0,
            infinite: 0.0,
        };
        let mut variance = 0.0;
        for (law, count) in parts {
            let count = f64::from(*count);
            let log_moment = law.log_moment(tilt);
            let tilted = || {
                law.points()
                    .map(|(l, mass)| (l, mass * (tilt * l - log_moment).exp()))
            };
            let mean: f64 = tilted().map(|(l, mass)| l * mass).sum();
            variance += count
                * tilted()
                    .map(|(l, mass)| (l - mean).powi(2) * mass)
                    .sum::<f64>();
            total.mean += count * mean;
            total.log_moment += count * log_moment;
            total.count += count;
            total.infinite += count * law.infinite;
        }
        total.std_dev = variance.sqrt();
        total
    }

    /// A bound on ln P(finite loss ≥ `highest`).
    fn log_tail(&self, parts: &[(LossDistribution, u32)], tilt: f64, highest: f64) -> f64 {
        let steeper = tilt + SPREAD / self.std_dev;
        let moment: f64 = parts
            .iter()
            .map(|(law, count)| f64::from(*count) * law.log_moment(steeper))
            .sum();
        moment - steeper * highest
    }
}

/// The composed, tilted law, of total mass 1, at residues modulo `length`.
fn convolve(parts: &[(LossDistribution, u32)], tilt: f64, length: usize) -> Vec<f64> {
    let mut planner = FftPlanner::new();
    let forward = planner.plan_fft_forward(length);
    let mut product = vec![Complex::new(1.0, 0.0); length];
    for (law, count) in parts {
        let log_moment = law.log_moment(tilt);
        let mut spectrum = vec![Complex::new(0.0, 0.0); length];
        for ((l, mass), index) in law.points().zip(law.lowest..) {
            spectrum[residue(index, length)].re += mass * (tilt * l - log_moment).exp();
        }
        forward.process(&mut spectrum);
        for (factor, value) in product.iter_mut().zip(&spectrum) {
            *factor *= value.powu(*count);
        }
    }
    planner.plan_fft_inverse(length).process(&mut product);
    product
        .iter()
        .map(|value| (value.re / length as f64).max(0.0))
        .collect()
}

/// The search for ε along the composed law.
struct Search {
    tilt: f64,
    width: f64,
    /// The error of the transform, summed over all points above one and untilted there.
    noise: f64,
    /// ln of the factor that unties the tilt, over δ.
    log_scale: f64,
    /// The share of δ that is not spent on cut-off mass.
    budget: f64,
}

impl Search {
    /// Walks down from the highest loss, keeping for the current point l the sums over the points
    /// m above it: Σ z(m) e^−(t+1)(m−l) and Σ z(m) e^−t(m−l) (1 − e^−(m−l)).
    fn epsilon(&self, composed: &[f64], lowest: f64) -> f64 {
        let decay = (-self.tilt * self.width).exp();
        let step = -(-self.width).exp_m1();
        let (mut steep, mut excess) = (0.0, 0.0);
        let mut best = f64::INFINITY;
        for offset in (0..composed.len()).rev() {
            let index = lowest + offset as f64;
            let loss = index * self.width;
            let allowed = self.budget * (self.tilt * loss - self.log_scale).exp();
            let spent = (excess + self.noise) * (1.0 + 1e-9);
            if spent > allowed {
                return best;
            }
            steep += composed[residue(integer_part(index), composed.len())];
            // Below this point δ grows linearly in e^ε until the next one.
            let spare = allowed / (1.0 + 1e-9) - self.noise / decay - excess;
            let gain = if spare < steep * step {
                -(-spare / steep).ln_1p()
            } else {
                self.width
            };
            best = loss - gain.max(0.0);
            if best <= 0.0 {
                return 0.0;
            }
            excess = decay * (excess + step * steep);
            steep *= decay * (1.0 - step);
        }
        best
    }
}

fn residue(index: i64, length: usize) -> usize {
    let length = length as i64;
    usize::try_from(index.rem_euclid(length)).unwrap_or(0)
}

fn usize_from(x: f64) -> usize {
    usize::try_from(integer_part(x)).unwrap_or(usize::MAX / 4)
}

/// How many standard deviations of the composed, tilted law the window holds on each side.
pub(super) const SPREAD: f64 = 9.0;

/// The longest transform.
pub(super) const LONGEST: usize = 1 << 16;
