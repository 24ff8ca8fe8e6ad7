//! What the releases that one record is in cost together.

use crate::concentrated;
use crate::loss_distribution::{Bounds, compose_selections_by};
use crate::protocol_failure::left_for_noise;
use crate::quantity::{ApproxDp, Delta, Epsilon, RangeBound};
use crate::rounding::{exp_up, product_up, sum_up, upward};
use crate::spending::Expense;
use crate::sum_plan::{SumCost, Uncertifiable};

/// The cost of some releases about the same records, each chosen with knowledge of the answers before it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordSpending {
    sums: Option<SumCost>,
    selections: Vec<(RangeBound, u32)>,
    /// η of all selections together.
    cut_off: f64,
    /// φ of the protocol that made the selections.
    failure_of_selections: f64,
}

impl RecordSpending {
    /// This and one more expense.
    ///
    /// # Errors
    /// When the slack of all sums is more than is certified.
    pub fn and(&self, expense: Expense) -> Result<Self, Uncertifiable> {
        let mut total = self.clone();
        match expense {
            Expense::Sum(cost) => {
                total.sums = Some(match total.sums {
                    Some(before) => before.compose(cost)?,
                    None => cost,
                });
            }
            Expense::Selection(selection) => {
                let (range, cut_off) = (selection.range(), selection.cut_off());
                let failure = selection.failure();
                total.cut_off = sum_up(total.cut_off, cut_off);
                total.failure_of_selections = total.failure_of_selections.max(failure);
                match total
                    .selections
                    .iter_mut()
                    .find(|(known, _)| *known == range)
                {
                    Some((_, count)) => *count += 1,
                    None => total.selections.push((range, 1)),
                }
            }
        }
        Ok(total)
    }

    /// This and what another study has spent, each with a protocol of its own.
    ///
    /// # Errors
    /// When the slack of all sums is more than is certified.
    pub fn beside(&self, other: &Self) -> Result<Self, Uncertifiable> {
        let sums = match (self.sums, other.sums) {
            (Some(one), Some(other)) => Some(one.beside(other)?),
            (one, other) => one.or(other),
        };
        let mut selections = self.selections.clone();
        for (range, count) in &other.selections {
            match selections.iter_mut().find(|(known, _)| known == range) {
                Some((_, total)) => *total = total.saturating_add(*count),
                None => selections.push((*range, *count)),
            }
        }
        let failures = [self, other].map(Self::failure);
        Ok(Self {
            sums,
            selections,
            cut_off: sum_up(self.cut_off, other.cut_off),
            // Not only of the selections: the protocol of either study may fail.
            failure_of_selections: sum_up(failures[0], failures[1]),
        })
    }

    /// The cost of all sums, if there were any.
    #[must_use]
    pub const fn sums(&self) -> Option<SumCost> {
        self.sums
    }

    /// The selections: the range of each and how often it was spent.
    #[must_use]
    pub fn selections(&self) -> &[(RangeBound, u32)] {
        &self.selections
    }

    /// φ: how likely the protocol fails that shows nothing but sums and choices.
    #[must_use]
    pub fn failure(&self) -> f64 {
        let of_sums = self.sums.map_or(0.0, SumCost::failure);
        of_sums.max(self.failure_of_selections)
    }

    /// η of all selections together: how likely the noise of one of them was clamped.
    #[must_use]
    pub const fn cut_off(&self) -> f64 {
        self.cut_off
    }

    /// The guarantee of all releases together at `delta`, rounded up; `None` if there were none.
    ///
    /// # Guarantee
    /// The releases are (ε, δ)-DP with the returned pair.
    ///
    /// # Why
    /// Sums alone: [`SumCost`]. With selections, the smaller of the zCDP and the privacy-loss
    /// route, each a bound; the slack of the sums and the failure of their protocol enter as there.
    /// Clamps add (1 + e^ε) η to δ (docs/proofs/trustees.md#6-what-is-cut-off), for an ε that is at
    /// least the one returned; that much is taken off `delta` first.
    #[must_use]
    pub fn to_approx_dp(&self, delta: Delta) -> Option<ApproxDp> {
        self.claim(Bounds::All, delta)
    }

    /// Whether the guarantee of all releases together at the budget's δ is within its ε, as [`Self::to_approx_dp`] states it.
    ///
    /// # Why
    /// The stated ε grows with the least of several bounds. So where those of a closed form are within the budget the least
    /// is too, and only elsewhere is the expensive one computed.
    pub(crate) fn is_within(&self, budget: ApproxDp) -> bool {
        let is_within = |bounds| {
            let claim = self.claim(bounds, budget.delta());
            claim.is_none_or(|claim| claim.epsilon() <= budget.epsilon())
        };
        is_within(Bounds::ClosedForm) || is_within(Bounds::All)
    }

    fn claim(&self, bounds: Bounds, delta: Delta) -> Option<ApproxDp> {
        if self.selections.is_empty() {
            return self.sums.map(|sums| sums.to_approx_dp(delta));
        }
        let slack = self.sums.map_or(0.0, SumCost::slack);
        let gaussian = self.sums.map(|sums| {
            sums.mu()
                .unwrap_or_else(|_| unreachable!("every SumCost has a legal mu"))
        });
        let left = left_for_noise(delta, self.failure())
            .and_then(|left| self.without_cut_off(left))
            .and_then(|left| Delta::try_from(left.get() * (-slack).exp()).ok());
        let Some(smaller) = left else {
            return Some(ApproxDp::new(Epsilon::LARGEST, delta));
        };
        let composed = compose_selections_by(bounds, &self.selections, gaussian, smaller);
        let claimed = if slack > 0.0 {
            upward(composed.epsilon().get() + 2.0 * slack)
        } else {
            composed.epsilon().get()
        };
        let epsilon = Epsilon::try_from(claimed.min(f64::MAX));
        Some(ApproxDp::new(
            epsilon.unwrap_or_else(|_| unreachable!("ε ≥ 0")),
            delta,
        ))
    }

    /// `delta` less what the clamps may add to it, rounded down; `None` if more than half were gone.
    ///
    /// # Why
    /// Let E be the ε of the zCDP route at `delta`/2. The result is at least `delta`/2, and
    /// [`Self::to_approx_dp`] takes the least of several routes, so its ε is at most E. So
    /// (1 + e^E) η is enough.
    fn without_cut_off(&self, delta: Delta) -> Option<Delta> {
        if self.cut_off <= 0.0 {
            return Some(delta);
        }
        let slack = self.sums.map_or(0.0, SumCost::slack);
        let goal = (delta.get() / 2.0).ln() - slack;
        let epsilon = upward(concentrated::epsilon(self.rho(), goal) + 2.0 * slack);
        let added = product_up(sum_up(1.0, exp_up(epsilon)), self.cut_off);
        let left = (delta.get() - added).next_down();
        (left >= delta.get() / 2.0)
            .then(|| Delta::try_from(left).ok())
            .flatten()
    }

    /// ρ of all releases without their slack.
    fn rho(&self) -> f64 {
        let squares = |&(range, count): &(RangeBound, u32)| f64::from(count) * range.get().powi(2);
        let selections: f64 = self.selections.iter().map(squares).sum();
        let sums = self.sums.map_or(0.0, SumCost::squared_mu);
        upward(selections / 8.0 + sums / 2.0)
    }
}
