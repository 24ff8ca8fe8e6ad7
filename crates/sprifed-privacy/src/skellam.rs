//! Skellam noise: the difference of two Poisson variables of mean v/2, with variance v.
//!
//! Variances of independent Skellam variables add exactly, so any set of survivors leaves an
//! exact law; that is why removable noise would use it. The price is a guarantee in Rényi terms
//! only, a little above the Gaussian's.
//!
//! What this module does not do: it claims no μ, because no proof of one is known.

use core::ops::RangeInclusive;

use crate::discrete_gaussian::integer_part;
use crate::quantity::{Epsilon, quantity};

mod renyi_bound;
#[cfg(test)]
mod tests;

pub use renyi_bound::BoxMove;

quantity!(
    /// The Skellam law, named by its variance v.
    Skellam,
    "the variance of Skellam noise"
);

impl Skellam {
    /// P(X = x) = e^−v I_x(v).
    #[must_use]
    pub fn mass(self, x: i64) -> f64 {
        self.log_mass(x).exp()
    }

    /// ln P(X = x).
    #[must_use]
    pub fn log_mass(self, x: i64) -> f64 {
        self.table(x.saturating_abs()).log_mass(x)
    }

    /// ln P(X = x) for every x of `range`, at the price of one.
    #[must_use]
    pub fn log_masses(self, range: RangeInclusive<i64>) -> Vec<f64> {
        let furthest = range
            .start()
            .saturating_abs()
            .max(range.end().saturating_abs());
        let table = self.table(furthest);
        range.map(|x| table.log_mass(x)).collect()
    }

    /// P(X > x).
    #[must_use]
    pub fn tail(self, x: i64) -> f64 {
        if x < 0 {
            return 1.0 - self.tail(-x - 1);
        }
        let table = self.table(x);
        (x + 1..=table.reach())
            .map(|y| table.log_mass(y).exp())
            .sum()
    }

    /// δ(ε) between X and X + `shift`: the hockey-stick divergence, exactly.
    ///
    /// # Guarantee
    /// Adding X to an integer that a neighbour can move by at most `shift` is (ε, δ)-DP, and for
    /// no smaller δ.
    ///
    /// # Why
    /// The law is log-concave, so the likelihood ratio is monotone and the largest shift
    /// dominates [ZDW22, Sec. 3]. Every term of the sum is positive.
    #[must_use]
    pub fn delta_of_shift(self, shift: u32, epsilon: Epsilon) -> f64 {
        let shift = i64::from(shift);
        let table = self.table(shift);
        let terms = (-table.reach()..=table.reach() - shift).rev().map(|x| {
            let loss = table.log_mass(x) - table.log_mass(x + shift);
            table.log_mass(x).exp() * (-(epsilon.get() - loss).exp_m1()).max(0.0)
        });
        terms.sum()
    }

    /// The Rényi divergence of order `order` between X and X + `shift`, exactly.
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
        let shift = i64::from(shift);
        // The terms peak at or before (α−1)Δ, as for a Gaussian: asinh is concave.
        let peak = integer_part(order * shift as f64) + 1;
        let table = self.table(peak + shift);
        let range = || -table.reach()..=table.reach() - shift;
        let loss = |x: i64| table.log_mass(x) - table.log_mass(x + shift);
        let exponent = |x: i64| order * loss(x) + table.log_mass(x + shift);
        let largest = range().map(exponent).fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = range().map(|x| (exponent(x) - largest).exp()).sum();
        let logarithm = largest + sum.ln();
        if logarithm > 0.5 {
            return logarithm / (order - 1.0);
        }
        // Near 0 the logarithm has lost its digits. t^α − 1 − α(t − 1) has the same mean and no
        // negative value.
        let excess: f64 = range()
            .map(|x| {
                let convex = (order * loss(x)).exp_m1() - order * loss(x).exp_m1();
                table.log_mass(x + shift).exp() * convex.max(0.0)
            })
            .sum();
        excess.ln_1p() / (order - 1.0)
    }

    /// ln P(X = x) for x up to `needed` and as far beyond as any sum here looks.
    ///
    /// # Why
    /// The ratios I_{k+1}/I_k run stably downwards from any start, and the masses
    /// add to 1.
    fn table(self, needed: i64) -> LogMasses {
        let variance = self.get();
        let reach = needed
            .max(0)
            .saturating_add(integer_part(40.0 * variance.sqrt()) + 200);
        let top = (reach + 1) as f64;
        let mut ratio = variance / (top + top.hypot(variance));
        let mut logarithms: Vec<f64> = Vec::new();
        for k in (1..=reach + 1).rev() {
            ratio = 1.0 / (2.0 * k as f64 / variance + ratio);
            logarithms.push(ratio.ln());
        }
        let mut at = 0.0;
        let mut relative = vec![0.0];
        for logarithm in logarithms.iter().rev().take(logarithms.len() - 1) {
            at += logarithm;
            relative.push(at);
        }
        let others: f64 = relative.iter().skip(1).rev().map(|log| log.exp()).sum();
        let at_zero = -(2.0 * others).ln_1p();
        LogMasses(relative.into_iter().map(|log| log + at_zero).collect())
    }
}

/// ln P(X = x) at x = 0, 1, 2, ….
struct LogMasses(Vec<f64>);

impl LogMasses {
    fn reach(&self) -> i64 {
        self.0.len() as i64 - 1
    }

    fn log_mass(&self, x: i64) -> f64 {
        let index = usize::try_from(x.unsigned_abs()).unwrap_or(usize::MAX);
        self.0.get(index).copied().unwrap_or(f64::NEG_INFINITY)
    }
}
