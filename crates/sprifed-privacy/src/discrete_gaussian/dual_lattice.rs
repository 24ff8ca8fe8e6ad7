//! The sum of m discrete Gaussians, seen from the dual lattice.
//!
//! Poisson summation over the integer vectors of sum w gives
//!
//! ```text
//! P(W = w) ∝ exp(−w²/2mσ²) (1 + e(w)),   e(w) = Σ_g a(g) cos(2π g w/m),
//! ```
//!
//! where a(g) adds exp(−2π² σ² |v|²) over the non-zero vectors v of the glue class g of the dual
//! lattice A*_{m−1}. Each v is the projection of exactly one integer vector of sum g, so a(g) is
//! a coefficient of a power of a theta series, and is built up without any subtraction.

use core::f64::consts::PI;

/// a(g) for the classes of smallest norm. Classes g and −g have the same weight.
#[derive(Clone, Debug)]
pub(crate) struct DualWeights {
    count: u32,
    /// (g, a(g) of g and −g together, mean of the cosine under the plain discrete Gaussian).
    classes: Vec<(u32, f64, f64)>,
}

impl DualWeights {
    /// The weights for `count` shares of parameter `parameter`.
    pub(crate) fn new(parameter: f64, count: u32) -> Self {
        let rate = 2.0 * PI * PI * parameter;
        let series = non_zero_vectors(rate, count);
        let size = f64::from(count);
        let classes = series
            .iter()
            .zip(0_u32..)
            .take_while(|&(_, g)| g <= count / 2)
            .map(|(&coefficient, g)| {
                let class = f64::from(g);
                let norm = class - class * class / size;
                let copies = if g == 0 || 2 * g == count { 1.0 } else { 2.0 };
                let weight = copies * coefficient * (-rate * norm).exp();
                (g, weight, mean_cosine(rate * size, class / size))
            })
            .collect();
        Self { count, classes }
    }

    /// Θ: the sum of all weights, which bounds |e(w)|.
    pub(crate) fn total(&self) -> f64 {
        self.classes.iter().map(|&(_, weight, _)| weight).sum()
    }

    /// P(W = w) over the mass of the plain discrete Gaussian at w, less 1.
    pub(crate) fn excess(&self, w: i64) -> f64 {
        let residue = w.rem_euclid(i64::from(self.count)) as f64 / f64::from(self.count);
        let (mut difference, mut mean) = (0.0, 0.0);
        for &(g, weight, mean_cosine) in &self.classes {
            let cosine = (2.0 * PI * (f64::from(g) * residue).fract()).cos();
            difference += weight * (cosine - mean_cosine);
            mean += weight * mean_cosine;
        }
        difference / (1.0 + mean)
    }
}

/// E cos(2π y N) for N ~ N_Z with dual rate `rate`: a ratio of theta functions.
fn mean_cosine(rate: f64, y: f64) -> f64 {
    let theta = |shift: f64| -> f64 {
        (-8..=8)
            .map(|k: i32| (-rate * (f64::from(k) + shift).powi(2)).exp())
            .sum()
    };
    theta(y) / theta(0.0)
}

/// For g = 0, 1, …: Σ q^(|x|² − g) over the non-zero integer vectors x of length `count` and
/// sum g, where q = e^−rate. The factor q^−g keeps the numbers within the range of doubles.
fn non_zero_vectors(rate: f64, count: u32) -> Vec<f64> {
    let powers: Vec<f64> = (0..=4 * CLASSES)
        .map(|n| (-rate * n as f64).exp())
        .collect();
    let single: Vec<f64> = (0..=CLASSES)
        .map(|g| {
            if g == 0 {
                0.0
            } else {
                (-rate * (g * (g - 1)) as f64).exp()
            }
        })
        .collect();
    let (mut product, mut square, mut left) = (vec![0.0; CLASSES + 1], single, count);
    loop {
        if left % 2 == 1 {
            product = combine(&product, &square, &powers);
        }
        left /= 2;
        if left == 0 {
            return product;
        }
        square = combine(&square, &square, &powers);
    }
}

/// The series of two vectors laid end to end, at least one of them not zero.
fn combine(first: &[f64], second: &[f64], powers: &[f64]) -> Vec<f64> {
    let reach = CLASSES as isize;
    (0..=reach)
        .map(|g| {
            let both: f64 = (g - reach..=reach)
                .map(|a| {
                    let (a, b) = (a.unsigned_abs(), (g - a).unsigned_abs());
                    first[a] * second[b] * powers[a + b - g.unsigned_abs()]
                })
                .sum();
            first[g.unsigned_abs()] + second[g.unsigned_abs()] + both
        })
        .collect()
}

/// Classes kept: where Θ < 1 the next would weigh less than Θ^32/32!.
const CLASSES: usize = 32;
