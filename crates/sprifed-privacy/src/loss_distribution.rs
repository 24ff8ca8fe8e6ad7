//! Privacy loss distributions on a grid, never more optimistic than the mechanism.
//!
//! A selection and a Gaussian have privacy losses whose laws are known exactly. Here they are
//! moved to a grid in the way that changes their hockey-stick curve least without ever lowering
//! it (connect the dots), and composed by Fourier transform in [`composition`].
//!
//! What this module does not do: it trusts no number that a rounding error could have lowered.
//! Truncated mass and the error of the transform are added to δ.

use core::f64::consts::{PI, SQRT_2};

use puruspe::erfc;

use crate::discrete_gaussian::integer_part;
use crate::quantity::{Mu, RangeBound};

mod composition;
mod selections;
#[cfg(test)]
mod tests;

pub use selections::compose_selections;
pub(crate) use selections::{Bounds, compose_selections_by};

/// The law of a privacy loss on the points `width` · (`lowest` + 0, 1, 2, …) and at infinity.
///
/// # Guarantee
/// Its curve δ(ε) = E (1 − e^(ε−L))₊ is at or above that of the mechanism it was made for, alone
/// and in every composition.
#[derive(Clone, Debug)]
pub(crate) struct LossDistribution {
    width: f64,
    lowest: i64,
    masses: Vec<f64>,
    infinite: f64,
}

impl LossDistribution {
    /// The worst selection of this range.
    ///
    /// # Why
    /// Bounded range is dominated by a pair of logistic laws; its loss has the density
    /// e^((l−r)/2) / (2 (1 − e^−r)) on [−r, r], which is δ″ − δ′ of [`RangeBound::delta`]
    /// (docs/proofs/selection.md#4-the-worst-mechanism-of-a-given-range). [DGKKM22, Sec. 3] for the grid.
    pub(crate) fn selection(range: RangeBound, width: f64) -> Self {
        let end = range.get();
        let scale = -2.0 * (-end).exp_m1();
        let density = |loss: f64| ((loss - end) / 2.0).exp() / scale;
        Self::connect_the_dots(width, (-end, end), width, density)
    }

    /// A μ-GDP release, on the part of the line that matters when losses are tilted by `tilt`.
    ///
    /// # Why
    /// The loss is N(μ²/2, μ²) [DRS19, Sec. 2]; tilted by t, it is N(μ² (t + 1/2), μ²). What is
    /// cut off above becomes infinite, what is cut off below moves up.
    pub(crate) fn gaussian(mu: Mu, width: f64, tilt: f64) -> Self {
        let mu = mu.get();
        let mean = mu * mu / 2.0;
        let centre = mean + mu * mu * tilt;
        let window = (centre - TAIL * mu, centre + TAIL * mu);
        let density = |loss: f64| {
            let z = (loss - mean) / mu;
            (-z * z / 2.0).exp() / (mu * (2.0 * PI).sqrt())
        };
        let mut law = Self::connect_the_dots(width, window, mu / 8.0, density);
        let below = erfc((mean - window.0) / (mu * SQRT_2)) / 2.0;
        let above = erfc((window.1 - mean) / (mu * SQRT_2)) / 2.0;
        // Rounded up to a grid point at or above the cut, so that the loss is never lowered.
        if let Some(first) = law.masses.get_mut(1) {
            *first += below;
        }
        law.infinite = above;
        law
    }

    /// Splits the mass of each cell between its ends so that both the mass and the mean of
    /// e^−loss are kept.
    ///
    /// # Why
    /// That interpolates the curve linearly in e^ε between the grid points, above a convex curve
    /// (docs/proofs/composition.md#1-connecting-the-dots, [DGKKM22, Sec. 3]).
    ///
    /// # Caller must
    /// choose `panel` so short that the density is a polynomial of degree 9 on it.
    fn connect_the_dots(
        width: f64,
        (start, end): (f64, f64),
        panel: f64,
        density: impl Fn(f64) -> f64,
    ) -> Self {
        let lowest = integer_part(start / width);
        let cells = integer_part(end / width) - lowest + 1;
        let span = (-width).exp_m1();
        let mut masses = Vec::new();
        let mut carried = 0.0;
        for cell in lowest..lowest + cells {
            let corner = cell as f64 * width;
            let (from, to) = (corner.max(start), (corner + width).min(end));
            let (mut left, mut right) = (0.0, 0.0);
            if to > from {
                let panels = ((to - from) / panel).ceil().max(1.0);
                let half = (to - from) / (2.0 * panels);
                let mut middle = from + half;
                while middle < to {
                    for (node, weight) in NODES {
                        let loss = middle + half * node;
                        let mass = half * weight * density(loss);
                        let upper = ((corner - loss).exp_m1() / span).clamp(0.0, 1.0);
                        right += mass * upper;
                        left += mass * (1.0 - upper);
                    }
                    middle += 2.0 * half;
                }
            }
            masses.push(carried + left);
            carried = right;
        }
        masses.push(carried);
        Self {
            width,
            lowest,
            masses,
            infinite: 0.0,
        }
    }

    /// The points of the grid and their masses.
    pub(crate) fn points(&self) -> impl Iterator<Item = (f64, f64)> {
        let (lowest, width) = (self.lowest, self.width);
        (lowest..)
            .zip(&self.masses)
            .map(move |(index, &mass)| (index as f64 * width, mass))
    }

    /// ln E e^(tilt · L) over the finite losses.
    pub(crate) fn log_moment(&self, tilt: f64) -> f64 {
        let highest = (self.lowest + self.masses.len() as i64 - 1) as f64 * self.width;
        let sum: f64 = self
            .points()
            .map(|(l, mass)| mass * (tilt * (l - highest)).exp())
            .sum();
        tilt * highest + sum.ln()
    }
}

/// How many standard deviations of a tilted Gaussian are kept on each side.
const TAIL: f64 = 11.0;

/// Nodes and weights of the 5-point Gauss-Legendre rule on [−1, 1].
const NODES: [(f64, f64); 5] = [
    (-0.906_179_845_938_664, 0.236_926_885_056_189_1),
    (-0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
    (0.0, 0.568_888_888_888_888_9),
    (0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
    (0.906_179_845_938_664, 0.236_926_885_056_189_1),
];
