//! What all studies and fits over the same records cost together.
//!
//! ```text
//! cost of one study ──converted to the kind that is asked for──▶ added ──▶ total of that kind
//!   (ε, δ) of a kind         k changes: group privacy             composition
//! ```
//!
//! A cost is about a [`CostKind`]: one change of one privacy unit under one relation. Costs of the same
//! kind are added. A cost of another kind is converted first, if a number of its changes makes up one
//! change of the kind that is asked for. Every step is rounded up, so that no total is below the exact one.

use core::num::NonZeroU8;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::neighbours::{PrivacyUnit, Relation};
use crate::quantity::{ApproxDp, Delta, Epsilon, quantity};
use crate::rounding::{exp_up, product_up, sum_up};

#[cfg(test)]
mod tests;

quantity!(
    /// δ of what was spent: 0 if nothing was released, 1 if nothing is protected any more.
    SpentDelta,
    "delta",
    "from 0 to 1",
    |x| (0.0..=1.0).contains(&x)
);

/// The change that a cost bounds the effect of: one unit of privacy under one relation of neighbours.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct CostKind {
    /// Whose data change.
    pub unit: PrivacyUnit,
    /// How they change.
    pub neighbours: Relation,
}

/// An upper bound on what some studies and fits cost: ε at δ.
///
/// Unlike [`ApproxDp`], it can be nothing (ε = 0, δ = 0), and it can be no bound at all (δ = 1).
///
/// ```
/// # use sprifed_privacy::{ApproxDp, Delta, Epsilon, Cost};
/// let study = ApproxDp::new(Epsilon::try_from(1.5)?, Delta::try_from(1e-6)?);
/// let total = Cost::from(study).and(study.into());
/// assert_eq!((total.epsilon.get(), total.delta.get()), (3.0, 2e-6));
/// # Ok::<(), sprifed_privacy::IllegalQuantity>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// ε.
    pub epsilon: Epsilon,
    /// δ.
    pub delta: SpentDelta,
}

impl CostKind {
    /// How many changes of this kind make up one change of kind `wanted`; `None` if no number of them is
    /// known.
    ///
    /// # Why
    /// docs/proofs/composition.md#8-costs-of-another-kind.
    ///
    /// | this kind | wanted | changes |
    /// |---|---|---|
    /// | any | the same | 1 |
    /// | replace-one | zero-out of the same unit | 1: zeroing a unit replaces it with data that contribute nothing |
    /// | zero-out | replace-one of the same unit | 2: the old data are zeroed, then the new data appear |
    /// | client, replace-one | record, any | 1: changing a record replaces the data of its client |
    /// | client, zero-out | record, any | 2: the client's old data are zeroed, then the new data appear |
    /// | record | client | unknown: a client may hold any number of records |
    #[must_use]
    pub const fn changes_per(self, wanted: Self) -> Option<NonZeroU8> {
        const TWO: NonZeroU8 = NonZeroU8::MIN.saturating_add(1);
        let covers = match (self.unit, wanted.unit) {
            (PrivacyUnit::Record, PrivacyUnit::Record)
            | (PrivacyUnit::Client, PrivacyUnit::Client) => wanted.neighbours,
            // However the record changes, the data of its client are replaced.
            (PrivacyUnit::Client, PrivacyUnit::Record) => Relation::ReplaceOne,
            (PrivacyUnit::Record, PrivacyUnit::Client) => return None,
        };
        Some(match (self.neighbours, covers) {
            (Relation::ZeroOut, Relation::ReplaceOne) => TWO,
            (Relation::ZeroOut, Relation::ZeroOut) | (Relation::ReplaceOne, _) => NonZeroU8::MIN,
        })
    }

    /// What `costs`, each with its kind, cost together for one change of this kind. Costs that say nothing
    /// about such a change are left out.
    ///
    /// # Guarantee
    /// The mechanisms that say something about it are, together, (ε, δ)-DP for one change of this kind,
    /// even if each was chosen with knowledge of the answers before it. No rounding lowers ε or δ.
    ///
    /// # Why
    /// [`Cost::over_changes`] and [`Cost::and`].
    pub fn total(self, costs: impl IntoIterator<Item = (Self, Cost)>) -> Cost {
        let converted = costs
            .into_iter()
            .filter_map(|(kind, cost)| Some(cost.over_changes(kind.changes_per(self)?)));
        converted.fold(Cost::NOTHING, Cost::and)
    }
}

impl Cost {
    /// The cost of releasing nothing.
    pub const NOTHING: Self = Self {
        epsilon: Epsilon::NOTHING,
        delta: SpentDelta(0.0),
    };

    /// The statement that holds for every mechanism: nothing is protected.
    const NO_BOUND: Self = Self {
        epsilon: Epsilon::LARGEST,
        delta: SpentDelta(1.0),
    };

    /// What was charged at `delta`; what charged nothing costs nothing at any δ.
    #[must_use]
    pub fn charged(epsilon: Option<Epsilon>, delta: Delta) -> Self {
        epsilon.map_or(Self::NOTHING, |epsilon| {
            ApproxDp::new(epsilon, delta).into()
        })
    }

    /// Whether neither ε nor δ is above that of `limit`.
    #[must_use]
    pub fn is_within(self, limit: Self) -> bool {
        self.epsilon <= limit.epsilon && self.delta <= limit.delta
    }

    /// This and another cost of the same kind.
    ///
    /// # Guarantee
    /// Both together are (ε₁ + ε₂, δ₁ + δ₂)-DP, even if the second was chosen with knowledge of the first's
    /// answer. Both sums are rounded up.
    ///
    /// # Why
    /// With P and Q the laws of the answers before and after the change, (ε, δ)-DP says P = P′ + R with
    /// P′ ≤ e^ε·Q and a mass of R of at most δ. Of two answers, P₁′·P₂′ ≤ e^(ε₁ + ε₂)·Q₁·Q₂, and
    /// what is left has a mass of at most δ₁ + δ₂: docs/proofs/composition.md#6-adding-costs.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let epsilon = sum_up(self.epsilon.get(), other.epsilon.get());
        let delta = sum_up(self.delta.get(), other.delta.get());
        Self::rounded(epsilon, delta)
    }

    /// What this costs for `changes` changes of its kind, one after the other.
    ///
    /// # Guarantee
    /// (kε, δ·(1 + e^ε + … + e^((k−1)ε)))-DP for k changes. Both numbers are rounded up.
    ///
    /// # Why
    /// With P₀, …, P_k the laws of the answer along the changes,
    /// P₀(S) ≤ e^ε·P₁(S) + δ ≤ e^(2ε)·P₂(S) + e^ε·δ + δ ≤ … for every event S:
    /// docs/proofs/composition.md#7-several-changes.
    #[must_use]
    pub fn over_changes(self, changes: NonZeroU8) -> Self {
        let (epsilon, delta) = (self.epsilon.get(), self.delta.get());
        let mut total = delta;
        for step in 1..changes.get() {
            // Nothing is added to a zero, and more than one is no bound.
            if total <= 0.0 || total >= 1.0 {
                break;
            }
            let factor = exp_up(product_up(f64::from(step), epsilon).min(f64::MAX));
            total = sum_up(total, product_up(factor, delta));
        }
        Self::rounded(product_up(f64::from(changes.get()), epsilon), total)
    }

    /// The cost with these numbers, which may be too large for their types.
    fn rounded(epsilon: f64, delta: f64) -> Self {
        let delta = SpentDelta(delta.min(1.0));
        Epsilon::try_from(epsilon).map_or(Self::NO_BOUND, |epsilon| Self { epsilon, delta })
    }
}

impl From<ApproxDp> for Cost {
    fn from(pair: ApproxDp) -> Self {
        Self {
            epsilon: pair.epsilon(),
            delta: SpentDelta(pair.delta().get()),
        }
    }
}
