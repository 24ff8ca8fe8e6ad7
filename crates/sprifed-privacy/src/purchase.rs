//! What can be bought from a ledger: a sum with its noise, or a selection with its noise.

use num_rational::Ratio;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::neighbours::{PrivacyUnit, Relation};
use crate::quantity::RangeBound;
use crate::record_part::RecordPart;
use crate::selection_law::SelectionLaw;
use crate::spending::{Expense, SelectionCost};
use crate::sum_plan::{NoiseOrigin, SumPlan, Uncertifiable};

mod sealed {
    #[expect(unnameable_types, reason = "sealed: no other type may implement it")]
    pub trait Sealed {}
}

/// Something a ledger can be charged for.
pub trait Purchase: sealed::Sealed + Sized {
    /// What it costs under `relation`.
    ///
    /// # Errors
    /// When it has no certified cost.
    fn expense(&self, relation: Relation) -> Result<Expense, Uncertifiable>;

    /// Whose contributions were bounded one by one, so that the cost holds for each of them.
    fn unit(&self) -> PrivacyUnit;

    /// The records that it is about.
    fn part(&self) -> RecordPart;

    /// The same as a line of the ledger.
    fn to_line(&self) -> LedgerLine;
}

/// One sum and who adds its noise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SumPurchase {
    /// The blocks of the sum.
    pub plan: SumPlan,
    /// Who adds the noise.
    pub origin: NoiseOrigin,
    /// Whose contributions are bounded one by one.
    pub unit: PrivacyUnit,
}

/// The index of the largest noisy score, and nothing else about the scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SelectionPurchase {
    /// How many candidates there are.
    pub candidates: u32,
    /// The largest absolute integer by which one contribution enters a score.
    pub score_bound: u32,
    /// λ, the rate of the noise. Numerator and denominator.
    pub noise_rate: (u32, u32),
    /// The noise and who deals it; a curator's where it is not named.
    #[serde(default, skip_serializing_if = "SelectionLaw::is_curator")]
    pub law: SelectionLaw,
    /// Whose contributions are bounded one by one.
    pub unit: PrivacyUnit,
    /// The records that the scores are about.
    #[serde(default, skip_serializing_if = "RecordPart::is_all")]
    pub part: RecordPart,
}

/// A line of the ledger: what was bought.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LedgerLine {
    /// See [`SumPurchase`].
    Sum(SumPurchase),
    /// See [`SelectionPurchase`].
    Selection(SelectionPurchase),
}

impl LedgerLine {
    /// Whose contributions were bounded one by one.
    #[must_use]
    pub fn unit(&self) -> PrivacyUnit {
        match self {
            Self::Sum(sum) => sum.unit(),
            Self::Selection(selection) => selection.unit(),
        }
    }

    /// The records that it is about.
    #[must_use]
    pub fn part(&self) -> RecordPart {
        match self {
            Self::Sum(sum) => sum.part(),
            Self::Selection(selection) => selection.part(),
        }
    }

    /// What it costs under `relation`.
    ///
    /// # Errors
    /// When it has no certified cost.
    pub fn expense(&self, relation: Relation) -> Result<Expense, Uncertifiable> {
        match self {
            Self::Sum(sum) => sum.expense(relation),
            Self::Selection(selection) => selection.expense(relation),
        }
    }
}

impl sealed::Sealed for SumPurchase {}

impl Purchase for SumPurchase {
    fn expense(&self, relation: Relation) -> Result<Expense, Uncertifiable> {
        check_part(
            self.plan.part,
            self.unit,
            self.origin == NoiseOrigin::Curator,
        )?;
        let cost = self.plan.cost(self.origin, relation)?;
        Ok(Expense::Sum(cost.with_protocol_of(self.origin)))
    }

    fn unit(&self) -> PrivacyUnit {
        self.unit
    }

    fn part(&self) -> RecordPart {
        self.plan.part
    }

    fn to_line(&self) -> LedgerLine {
        LedgerLine::Sum(self.clone())
    }
}

impl SelectionPurchase {
    /// λ as a fraction.
    #[must_use]
    pub fn rate(&self) -> Option<Ratio<u32>> {
        let (numerator, denominator) = self.noise_rate;
        (numerator > 0 && denominator > 0).then(|| Ratio::new(numerator, denominator))
    }
}

impl sealed::Sealed for SelectionPurchase {}

impl Purchase for SelectionPurchase {
    /// # Guarantee
    /// The index of the largest |score| + ⌊G/λ⌋ has a privacy loss of range 2λΔ + 4λ, that of the
    /// largest score with Euler noise one of range 2λ(Δ + 1). Among trustees the pair of the index and
    /// the noise of one of them costs no more than that range, up to the probability of a clamp.
    ///
    /// # Why
    /// With real Gumbel noise of scale 1/λ this is the exponential mechanism, of range 2λΔ
    /// [DDR20, Lemma 4.2] where Δ is how far one score can move. Rounding the noise down changes
    /// each probability by a factor within e^(±λ), hence each loss by at most 2λ, twice
    /// (docs/proofs/selection.md#2-gumbel-noise-on-the-integers). Euler noise and trustees:
    /// docs/proofs/trustees.md#5-three-trustees.
    fn expense(&self, relation: Relation) -> Result<Expense, Uncertifiable> {
        check_part(self.part, self.unit, self.law.is_curator())?;
        let moves = f64::from(relation.sum_moves_by()) * f64::from(self.score_bound);
        let (numerator, denominator) = self.noise_rate;
        let rate = f64::from(numerator) / f64::from(denominator);
        let range = RangeBound::try_from(self.law.range(rate, moves))?;
        if !self.rate().is_some_and(|rate| self.law.serves(rate)) {
            return Err(Uncertifiable::UndealtRate { found: rate });
        }
        Ok(Expense::Selection(SelectionCost::of(
            range,
            self.law,
            self.candidates,
        )))
    }

    fn unit(&self) -> PrivacyUnit {
        self.unit
    }

    fn part(&self) -> RecordPart {
        self.part
    }

    fn to_line(&self) -> LedgerLine {
        LedgerLine::Selection(*self)
    }
}

/// Refuses parts of the records where no rule says that they cost as much as the dearer one.
///
/// # Why
/// The proof needs a record whose place is public and stays as it is, and one party that knows all places. The place of a
/// client follows from labels of records, and a party of several numbers its own records only.
const fn check_part(
    part: RecordPart,
    unit: PrivacyUnit,
    by_curator: bool,
) -> Result<(), Uncertifiable> {
    let required = match unit {
        _ if part.is_all() => return Ok(()),
        PrivacyUnit::Client => "where each record is protected",
        PrivacyUnit::Record if by_curator => return Ok(()),
        PrivacyUnit::Record => "where a curator holds all records",
    };
    Err(Uncertifiable::OnePart {
        found: part.text(),
        required,
    })
}
