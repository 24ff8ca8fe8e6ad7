//! What several releases cost together.

use serde::{Deserialize, Serialize};

use crate::quantity::{ApproxDp, Delta, RangeBound};
use crate::record_part::RecordPart;
use crate::record_spending::RecordSpending;
use crate::selection_law::SelectionLaw;
use crate::sum_plan::{NoiseOrigin, SumCost, Uncertifiable};

#[cfg(test)]
mod tests;

/// What one release costs, in its own currency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expense {
    /// A sum: Gaussian, with a slack for its being discrete.
    Sum(SumCost),
    /// A selection: a bound on the range of the privacy loss, and what its clamps cost.
    Selection(SelectionCost),
}

/// What one selection costs.
///
/// # Guarantee
/// With probability at least 1 − η the selection is one of this range; see
/// [`SelectionLaw::cut_off`]. What is seen is nothing but its outcome and one trustee's noise, except
/// with the probability φ that the protocol fails.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelectionCost {
    range: RangeBound,
    cut_off: f64,
    failure: f64,
}

impl SelectionCost {
    /// A selection of this range among `candidates` with noise of this law.
    #[must_use]
    pub fn of(range: RangeBound, law: SelectionLaw, candidates: u32) -> Self {
        let failure = match law {
            SelectionLaw::Curator => NoiseOrigin::Curator.protocol_failure(),
            SelectionLaw::FloorGumbel | SelectionLaw::Euler => {
                NoiseOrigin::Trustees.protocol_failure()
            }
        };
        Self {
            range,
            cut_off: law.cut_off(candidates),
            failure,
        }
    }

    /// The range of the privacy loss.
    #[must_use]
    pub const fn range(self) -> RangeBound {
        self.range
    }

    /// η: how likely the noise is not of its law.
    #[must_use]
    pub const fn cut_off(self) -> f64 {
        self.cut_off
    }

    pub(crate) const fn failure(self) -> f64 {
        self.failure
    }
}

/// What the releases of a study cost together, each chosen with knowledge of the answers before it.
///
/// # Why
/// A record of one part is in the releases about its part and in those about all records. It costs nothing in the others:
/// they do not depend on it but for what they are asked, which follows from earlier answers
/// (docs/proofs/composition.md#10-two-parts-of-the-records). So the cost is that of the dearer part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spending {
    /// What a record for the selection is in.
    selection: RecordSpending,
    /// What a record for the estimates is in, if that is not the same.
    estimation: Option<RecordSpending>,
}

impl Spending {
    /// This and one more expense, of a release about all records.
    ///
    /// # Errors
    /// When the slack of all sums is more than is certified.
    pub fn and(&self, expense: Expense) -> Result<Self, Uncertifiable> {
        self.and_about(RecordPart::All, expense)
    }

    /// This and one more expense, of a release about `part`.
    ///
    /// # Errors
    /// When the slack of all sums is more than is certified.
    pub fn and_about(&self, part: RecordPart, expense: Expense) -> Result<Self, Uncertifiable> {
        let estimation = self.estimation.as_ref();
        let and_once_more = |spending: &RecordSpending| spending.and(expense);
        Ok(match part {
            RecordPart::All => Self {
                selection: self.selection.and(expense)?,
                estimation: estimation.map(and_once_more).transpose()?,
            },
            RecordPart::Selection => Self {
                selection: self.selection.and(expense)?,
                estimation: Some(estimation.unwrap_or(&self.selection).clone()),
            },
            RecordPart::Estimation => Self {
                selection: self.selection.clone(),
                estimation: Some(estimation.unwrap_or(&self.selection).and(expense)?),
            },
        })
    }

    /// This and what another study has spent, each with a protocol of its own.
    ///
    /// # Errors
    /// When the slack of all sums is more than is certified, or one of the studies has two parts: a record may be in
    /// another part of each.
    pub fn beside(&self, other: &Self) -> Result<Self, Uncertifiable> {
        if self.has_two_parts() || other.has_two_parts() {
            return Err(Uncertifiable::OnePart {
                found: "two parts of the records",
                required: "within one study",
            });
        }
        Ok(Self {
            selection: self.selection.beside(&other.selection)?,
            estimation: None,
        })
    }

    /// Whether records of different parts are in different releases.
    #[must_use]
    pub const fn has_two_parts(&self) -> bool {
        self.estimation.is_some()
    }

    /// What a record of each part is in: one if all records are in the same releases.
    pub fn parts(&self) -> impl Iterator<Item = &RecordSpending> {
        core::iter::once(&self.selection).chain(&self.estimation)
    }

    /// The most that sums cost a record, if there were any: every number is that of the dearer part.
    #[must_use]
    pub fn sums(&self) -> Option<SumCost> {
        let sums = self.parts().filter_map(RecordSpending::sums);
        sums.reduce(SumCost::or_dearer)
    }

    /// The selections of the part that has most: the range of each and how often it was spent.
    #[must_use]
    pub fn selections(&self) -> &[(RangeBound, u32)] {
        let selections = self.parts().map(RecordSpending::selections);
        selections.max_by_key(|all| all.len()).unwrap_or(&[])
    }

    /// The guarantee of all releases together at `delta`, rounded up; `None` if there were none.
    ///
    /// # Guarantee
    /// The releases are (ε, δ)-DP with the returned pair, for a change of one record of either part.
    #[must_use]
    pub fn to_approx_dp(&self, delta: Delta) -> Option<ApproxDp> {
        let parts = self.parts().filter_map(|part| part.to_approx_dp(delta));
        parts.max_by(|one, other| one.epsilon().get().total_cmp(&other.epsilon().get()))
    }

    /// Whether [`Self::to_approx_dp`] is within this budget.
    pub(crate) fn is_within(&self, budget: ApproxDp) -> bool {
        self.parts().all(|part| part.is_within(budget))
    }
}
