//! A bound on the law of the score with which a feature was picked, as masses on a grid.

use super::normal::{cumulative, upper_quantile};
use libm::{erfc, expm1, log1p};

use core::f64::consts::FRAC_1_SQRT_2;

use crate::portable::{larger, smaller};

/// Points of the grid.
const POINTS: u32 = 1201;

/// The grid ends where the largest of all candidates lies with this probability, times two.
const BEYOND: f64 = 5e-13;

/// Cells with less mass are not looked at.
const NEGLIGIBLE: f64 = 1e-17;

/// Masses of |U|/τ_u: what a survival function loses on each cell of a grid.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ScoreLaw {
    /// The middle of a cell, in units of τ_u, and its mass.
    cells: Vec<(f64, f64)>,
    /// The mass beyond the grid, and of cells that have hardly any.
    beyond: f64,
}

impl ScoreLaw {
    /// The law with survival function min(S_tilt, S_max).
    ///
    /// S_tilt(u) = Φ(τ_u/β − u)/Φ(τ_u/β) needs no logarithm: up to the end of the grid its argument is
    /// at least −9, and the denominator is at least a half.
    ///
    /// # Notation
    /// | code | paper |
    /// |---|---|
    /// | `tilt` | τ_u/β |
    /// | `candidates` | P |
    pub(super) fn of_pick(tilt: f64, candidates: f64) -> Self {
        let end = smaller(tilt + 9.0, upper_quantile(BEYOND / larger(candidates, 1.0)));
        let whole = cumulative(tilt);
        let survival = |u: f64| {
            let tilted = cumulative(tilt - u) / whole;
            smaller(
                tilted,
                largest_survival(erfc(u * FRAC_1_SQRT_2), candidates),
            )
        };
        Self::of_survival(end, survival)
    }

    /// The law with this survival function, which is 1 at zero and falls, up to `end`.
    pub(super) fn of_survival(end: f64, survival: impl Fn(f64) -> f64) -> Self {
        let cells_in_all = POINTS - 1;
        let width = end / f64::from(cells_in_all);
        let mut cells = Vec::with_capacity(cells_in_all as usize);
        let (mut left, mut beyond) = (1.0, 0.0);
        for cell in 0..cells_in_all {
            let right = smaller(survival(f64::from(cell + 1) * width), left);
            if left - right > NEGLIGIBLE {
                cells.push(((f64::from(cell) + 0.5) * width, left - right));
            } else {
                beyond += left - right;
            }
            left = right;
        }
        beyond += left;
        Self { cells, beyond }
    }

    /// ∫ `of`(u) d(−S(u)), u in units of τ_u. `of` counts as 1, its largest value, beyond the grid.
    pub(super) fn mean_of(&self, of: impl Fn(f64) -> f64) -> f64 {
        let mut sum = self.beyond;
        for (middle, mass) in &self.cells {
            sum += mass * of(*middle);
        }
        sum
    }
}

/// 1 − (1 − `tail`)^P: the probability that the largest of P exceeds what one exceeds with
/// probability `tail`.
pub(super) fn largest_survival(tail: f64, candidates: f64) -> f64 {
    -expm1(candidates * log1p(-tail))
}
