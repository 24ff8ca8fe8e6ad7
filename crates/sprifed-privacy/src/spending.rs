//! What several releases cost together.

use serde::{Deserialize, Serialize};

use crate::loss_distribution::compose_selections;
use crate::protocol_failure::left_for_noise;
use crate::quantity::{ApproxDp, Delta, Epsilon, RangeBound};
use crate::rounding::upward;
use crate::sum_plan::{SumCost, Uncertifiable};

#[cfg(test)]
mod tests;

/// What one release costs, in its own currency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expense {
    /// A sum: Gaussian, with a slack for its being discrete.
    Sum(SumCost),
    /// A selection: a bound on the range of the privacy loss.
    Selection(RangeBound),
}

/// The cost of some releases, each chosen with knowledge of the answers before it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spending {
    sums: Option<SumCost>,
    selections: Vec<(RangeBound, u32)>,
}

impl Spending {
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
            Expense::Selection(range) => {
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
        Ok(Self { sums, selections })
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

    /// The guarantee of all releases together at `delta`, rounded up; `None` if there were none.
    ///
    /// # Guarantee
    /// The releases are (ε, δ)-DP with the returned pair.
    ///
    /// # Why
    /// Sums alone: [`SumCost`]. With selections, the smaller of the zCDP and the privacy-loss
    /// route, each a bound; the slack of the sums and the failure of their protocol enter as there.
    #[must_use]
    pub fn to_approx_dp(&self, delta: Delta) -> Option<ApproxDp> {
        if self.selections.is_empty() {
            return self.sums.map(|sums| sums.to_approx_dp(delta));
        }
        let slack = self.sums.map_or(0.0, SumCost::slack);
        let gaussian = self.sums.map(|sums| {
            sums.mu()
                .unwrap_or_else(|_| unreachable!("every SumCost has a legal mu"))
        });
        let failure = self.sums.map_or(0.0, SumCost::failure);
        let left = left_for_noise(delta, failure)
            .and_then(|left| Delta::try_from(left.get() * (-slack).exp()).ok());
        let Some(smaller) = left else {
            return Some(ApproxDp::new(Epsilon::LARGEST, delta));
        };
        let composed = compose_selections(&self.selections, gaussian, smaller);
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
}
