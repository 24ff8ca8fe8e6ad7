//! The Rényi bound for Skellam noise in many dimensions, and what it says in (ε, δ).

use super::Skellam;
use crate::quantity::{ApproxDp, Delta, Epsilon, IllegalQuantity};
use crate::rounding::{bisect, upward};

/// How far a neighbour can move an integer vector: each of `dimension` coordinates by `bound`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoxMove {
    /// The number of coordinates.
    pub dimension: u32,
    /// The most that one coordinate can move.
    pub bound: u32,
}

impl BoxMove {
    /// The largest L1 norm of the move.
    #[must_use]
    pub fn l1_norm(self) -> f64 {
        f64::from(self.dimension) * f64::from(self.bound)
    }

    /// The square of its largest L2 norm.
    #[must_use]
    pub fn squared_l2_norm(self) -> f64 {
        self.l1_norm() * f64::from(self.bound)
    }
}

impl Skellam {
    /// A bound on the Rényi divergence of order `order` when a vector with this noise on each
    /// coordinate moves by `moved`.
    ///
    /// # Guarantee
    /// The mechanism is (`order`, returned value)-RDP.
    ///
    /// # Why
    /// [AKL21, Sec. 3].
    ///
    /// # Notation
    /// | code | paper |
    /// |---|---|
    /// | `order`, `self` | α, μ |
    /// | `moved` | Δ₁, Δ₂ |
    ///
    /// # Caller must
    /// pass a whole `order` of at least 2.
    #[must_use]
    pub fn renyi_bound(self, moved: BoxMove, order: u32) -> f64 {
        self.renyi_bound_at(moved, f64::from(order))
    }

    /// The least ε that the Rényi bound gives at `delta`, rounded up.
    ///
    /// # Guarantee
    /// A vector with this noise on each coordinate, which a neighbour can move by `moved`,
    /// satisfies the returned pair.
    ///
    /// # Why
    /// [AKL21, Sec. 3], converted by [CKS20, Prop. 12] at a whole order. Every order is sound;
    /// the search looks for the best.
    #[must_use]
    pub fn to_approx_dp(self, moved: BoxMove, delta: Delta) -> ApproxDp {
        let claimed = upward(self.epsilon(moved, delta)).min(f64::MAX);
        let epsilon = Epsilon::try_from(claimed).unwrap_or_else(|_| unreachable!("ε ≥ 0"));
        ApproxDp::new(epsilon, delta)
    }

    /// The least variance at which a vector that a neighbour can move by `moved` stays within
    /// `target`.
    ///
    /// # Guarantee
    /// Skellam noise of the returned variance satisfies `target`.
    ///
    /// # Why
    /// As [`Skellam::to_approx_dp`], whose ε falls as the variance grows.
    ///
    /// # Errors
    /// When ε is 0 or so small that no double is enough.
    pub fn least_within(moved: BoxMove, target: ApproxDp) -> Result<Self, IllegalQuantity> {
        let goal = target.epsilon().get();
        let holds = |variance: f64| upward(Self(variance).epsilon(moved, target.delta())) <= goal;
        let (mut low, mut high) = (1.0, 1.0);
        while !holds(high) && high < 1e300 {
            high *= 2.0;
        }
        while holds(low) && low > 1e-300 {
            low /= 2.0;
        }
        if !holds(high) {
            return Self::try_from(f64::INFINITY);
        }
        Self::try_from(bisect((low, high), holds).1)
    }

    fn renyi_bound_at(self, moved: BoxMove, order: f64) -> f64 {
        let (variance, square, length) = (self.get(), moved.squared_l2_norm(), moved.l1_norm());
        let fine = ((2.0 * order - 1.0) * square + 6.0 * length) / (4.0 * variance * variance);
        let coarse = 3.0 * length / (2.0 * variance);
        order * square / (2.0 * variance) + fine.min(coarse)
    }

    fn epsilon(self, moved: BoxMove, delta: Delta) -> f64 {
        let goal = delta.get().ln();
        let at = |order: f64| {
            let excess = order - 1.0;
            let cost = (-1.0 / order).ln_1p() - (goal + order.ln()) / excess;
            self.renyi_bound_at(moved, order) + cost
        };
        // Doubling finds the octave of the best order, thirds find it there.
        let mut middle = 2.0;
        while at(2.0 * middle) < at(middle) && middle < 1e15 {
            middle *= 2.0;
        }
        let (mut low, mut high) = ((middle / 2.0).max(2.0), 2.0 * middle);
        while high - low > 2.0 {
            let third = ((high - low) / 3.0).floor().max(1.0);
            let (left, right) = (low + third, high - third);
            if at(left) <= at(right) {
                high = right;
            } else {
                low = left;
            }
        }
        [low, low + 1.0, high]
            .into_iter()
            .map(at)
            .fold(f64::INFINITY, f64::min)
            .max(0.0)
    }
}
