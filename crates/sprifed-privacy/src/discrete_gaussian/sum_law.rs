//! The exact law of a sum of independent copies of a discrete Gaussian.
//!
//! It is not a discrete Gaussian, although the difference is negligible for σ² above 1. Two
//! descriptions are used: a discrete Gaussian of the summed parameter times a periodic factor,
//! where that factor is near 1; and a table made by repeated convolution, where σ² is so small that
//! the factor is not. Both keep relative accuracy far into the tails, which a Fourier transform
//! would not.

use super::dual_lattice::DualWeights;
use super::{DiscreteGaussian, integer_part};

/// The law of the sum of `count` copies of `share`.
#[derive(Clone, Debug)]
pub(crate) struct SumLaw {
    merged: DiscreteGaussian,
    shape: Shape,
}

#[derive(Clone, Debug)]
enum Shape {
    /// The discrete Gaussian of the summed parameter, to double precision.
    Merged,
    /// That law times 1 + `DualWeights::excess`.
    Periodic(DualWeights),
    /// P(W = 0), P(W = 1), P(W = 2), …, up to where doubles end.
    Table(Vec<f64>),
}

impl SumLaw {
    pub(crate) fn new(share: DiscreteGaussian, count: u32) -> Self {
        let parameter = share.parameter();
        let merged = DiscreteGaussian::with_parameter(parameter * f64::from(count));
        let shape = if count == 1 {
            Shape::Merged
        } else {
            let weights = DualWeights::new(parameter, count);
            match weights.total() {
                total if total < 1e-19 => Shape::Merged,
                total if total < 0.5 => Shape::Periodic(weights),
                _ => Shape::Table(convolve_copies(share, count)),
            }
        };
        Self { merged, shape }
    }

    /// ln of the mass at `w` over that of the discrete Gaussian of the same summed parameter.
    pub(crate) fn log_ratio(&self, w: i64) -> f64 {
        match &self.shape {
            Shape::Merged => 0.0,
            Shape::Periodic(weights) => weights.excess(w).ln_1p(),
            Shape::Table(_) => self.mass(w).ln() - self.merged.log_mass(w),
        }
    }

    /// P(W = w).
    pub(crate) fn mass(&self, w: i64) -> f64 {
        match &self.shape {
            Shape::Merged => self.merged.mass(w),
            Shape::Periodic(weights) => self.merged.mass(w) * (1.0 + weights.excess(w)),
            Shape::Table(masses) => usize::try_from(w.unsigned_abs())
                .ok()
                .and_then(|index| masses.get(index).copied())
                .unwrap_or(0.0),
        }
    }

    /// Σ P(W = w) · weight(w) over w ≥ `start`, for a bounded weight that is not negative.
    pub(crate) fn upper_sum(&self, start: i64, weight: impl Fn(i64) -> f64) -> f64 {
        let start = start.max(-self.merged.reach(0));
        let origin = start.max(0);
        if let Shape::Table(_) = self.shape {
            return (start..=self.merged.reach(origin))
                .map(|w| self.mass(w) * weight(w))
                .sum();
        }
        let factor = |w| match &self.shape {
            Shape::Periodic(weights) => 1.0 + weights.excess(w),
            Shape::Merged | Shape::Table(_) => 1.0,
        };
        let sum: f64 = (start..=self.merged.reach(origin))
            .map(|w| self.merged.relative_mass(w, origin) * factor(w) * weight(w))
            .sum();
        self.merged.mass(origin) * sum
    }

    /// δ(ε) between W and W + `shift`, exactly.
    pub(crate) fn delta_of_shift(&self, shift: u32, epsilon: f64) -> f64 {
        if shift == 0 {
            return 0.0;
        }
        let step = f64::from(shift);
        let variance = self.merged.parameter();
        let spread = match &self.shape {
            Shape::Merged => 0.0,
            Shape::Periodic(weights) => 2.0 * weights.total() / (1.0 - weights.total()),
            Shape::Table(_) => f64::INFINITY,
        };
        // Below this the loss cannot exceed ε, whatever the periodic factor.
        let start = integer_part((epsilon - 2.0 * spread) * variance / step - step / 2.0);
        self.upper_sum(start, |w| {
            let moved = w + i64::from(shift);
            let loss = match &self.shape {
                Shape::Table(_) => self.mass(w).ln() - self.mass(moved).ln(),
                Shape::Merged | Shape::Periodic(_) => {
                    let gaussian = (w as f64 * step + step * step / 2.0) / variance;
                    gaussian + self.log_ratio(w) - self.log_ratio(moved)
                }
            };
            let gain = -(epsilon - loss).exp_m1();
            if gain > 0.0 { gain } else { 0.0 }
        })
    }
}

/// max |ln P(W = w)/P(N = w)| over w, for the sum W of `count` copies of `share` and the discrete
/// Gaussian N of the summed parameter.
///
/// # Why
/// The ratio depends only on w modulo `count`.
pub(crate) fn largest_log_ratio(share: DiscreteGaussian, count: u32) -> f64 {
    let weights = DualWeights::new(share.parameter(), count);
    let residues = 0..=i64::from(count / 2);
    let largest =
        |log_ratio: &dyn Fn(i64) -> f64| residues.map(|w| log_ratio(w).abs()).fold(0.0, f64::max);
    if weights.total() < 0.5 {
        return largest(&|w| weights.excess(w).ln_1p());
    }
    let law = SumLaw::new(share, count);
    largest(&|w| law.log_ratio(w))
}

/// The masses of the sum at 0, 1, 2, …, by squaring and multiplying.
fn convolve_copies(share: DiscreteGaussian, count: u32) -> Vec<f64> {
    let single = |copies: u32| {
        let parameter = share.parameter() * f64::from(copies);
        usize::try_from(integer_part(36.0 * parameter.sqrt())).unwrap_or(usize::MAX) + 8
    };
    let mut square: Vec<f64> = (0..).map(|x| share.mass(x)).take(single(1)).collect();
    let (mut product, mut copies): (Option<Vec<f64>>, u32) = (None, 0);
    for bit in 0..u32::BITS {
        let power = 1_u32 << bit;
        if count & power != 0 {
            copies += power;
            product = Some(match product {
                None => square.clone(),
                Some(product) => convolve(&product, &square, single(copies)),
            });
        }
        if power > count / 2 {
            break;
        }
        square = convolve(&square, &square, single(2 * power));
    }
    product.unwrap_or_default()
}

/// The convolution of two symmetric laws, each given on 0, 1, 2, …, up to `length` entries.
fn convolve(first: &[f64], second: &[f64], length: usize) -> Vec<f64> {
    let (reach, other) = (first.len() as isize - 1, second.len() as isize - 1);
    (0..length.min(first.len() + second.len() - 1) as isize)
        .map(|w| {
            (-reach.min(other - w)..=reach.min(other + w))
                .map(|x| first[x.unsigned_abs()] * second[(w - x).unsigned_abs()])
                .sum()
        })
        .collect()
}
