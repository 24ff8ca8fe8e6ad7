//! The budget, set once, and the permits it pays for.
//!
//! A release needs a [`Permit`], a permit comes only from [`Ledger::spend`], and `spend` charges
//! first. A permit that is lost has been charged without a release, which is the safe error.
//!
//! ```
//! # use sprifed_privacy::test_support::{small_sum, generous_ledger};
//! # use sprifed_privacy::{Permit, SumPurchase};
//! fn release(_: Permit<SumPurchase>) {}
//! let mut ledger = generous_ledger();
//! let permit = ledger.spend("a first sum", small_sum())?;
//! release(permit);
//! # Ok::<(), sprifed_privacy::LedgerError>(())
//! ```
//!
//! A permit is used once:
//!
//! ```compile_fail,E0382
//! # use sprifed_privacy::test_support::{small_sum, generous_ledger};
//! # use sprifed_privacy::{Permit, SumPurchase};
//! fn release(_: Permit<SumPurchase>) {}
//! let mut ledger = generous_ledger();
//! let permit = ledger.spend("a first sum", small_sum())?;
//! release(permit);
//! release(permit);
//! # Ok::<(), sprifed_privacy::LedgerError>(())
//! ```

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::neighbours::{PrivacyUnit, Relation};
use crate::purchase::{LedgerLine, Purchase};
use crate::quantity::{ApproxDp, Epsilon};
use crate::record_part::RecordPart;
use crate::spending::Spending;
use crate::sum_plan::Uncertifiable;

#[cfg(test)]
mod tests;

/// A charge that was refused; the ledger is as it was.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// The budget does not suffice.
    #[error(
        "{statement:?} would bring the total to epsilon = {needed}, but the budget is {} at delta = {}; {} is already spent",
        budget.epsilon(), budget.delta().shown(), spent.map_or(0.0, Epsilon::get)
    )]
    Overdrawn {
        /// What was to be released.
        statement: String,
        /// ε of everything including this release.
        needed: Epsilon,
        /// ε of everything before it.
        spent: Option<Epsilon>,
        /// The budget.
        budget: ApproxDp,
    },
    /// The release has no certified cost.
    #[error("{statement:?} cannot be certified: {source}")]
    Uncertifiable {
        /// What was to be released.
        statement: String,
        /// Why.
        source: Uncertifiable,
    },
    /// The release protects another unit than the ledger promises.
    #[error(
        "{statement:?} bounds what each {found} contributes, but the ledger promises privacy for each {required}; bound contributions of that unit"
    )]
    OtherUnit {
        /// What was to be released.
        statement: String,
        /// Whose contributions were bounded.
        found: &'static str,
        /// Whose presence the ledger protects.
        required: &'static str,
    },
    /// It was charged before, and so were as many others again as may be.
    #[error(
        "{statement:?} was charged before, and no more than {allowed} repetitions in all were agreed on"
    )]
    Repeated {
        /// What was to be released again.
        statement: String,
        /// How many repetitions are allowed.
        allowed: u32,
    },
    /// A stored ledger claims another total than its own lines add up to.
    #[error(
        "the stored ledger says epsilon = {stated}, but its lines add up to {recomputed}; it was altered or made by another version"
    )]
    Altered {
        /// What was stored.
        stated: String,
        /// What the lines say.
        recomputed: String,
    },
}

/// Proof that the ledger has been charged for one release.
///
/// It can be neither copied nor made elsewhere, and a release consumes it.
#[derive(Debug)]
#[must_use = "the ledger has been charged; drop the permit only if the release is abandoned"]
pub struct Permit<P: Purchase> {
    purchase: P,
}

impl<P: Purchase> Permit<P> {
    /// What the permit pays for.
    pub const fn purchase(&self) -> &P {
        &self.purchase
    }

    /// Uses the permit up, for the release of what it paid for.
    pub fn into_purchase(self) -> P {
        self.purchase
    }
}

/// A privacy budget and everything that was charged to it.
///
/// It cannot be copied: two copies would each grant the whole budget. A stored ledger is read back
/// with [`Ledger::replay`].
#[derive(Debug, PartialEq)]
pub struct Ledger {
    budget: ApproxDp,
    relation: Relation,
    unit: PrivacyUnit,
    entries: Vec<Entry>,
    spending: Spending,
}

/// One charge: what was bought and for which statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The purpose of the release, as text.
    pub statement: String,
    /// What was bought.
    pub line: LedgerLine,
}

/// A ledger as it is stored, and as a receipt shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LedgerRecord {
    /// The budget, set once.
    pub budget: ApproxDp,
    /// The neighbouring relation of every cost.
    pub relation: Relation,
    /// Whose presence is protected.
    pub unit: PrivacyUnit,
    /// Everything that was charged, in order.
    pub entries: Vec<Entry>,
    /// ε of all of it at the budget's δ.
    pub spent: Option<Epsilon>,
}

impl Ledger {
    /// A ledger with nothing spent.
    #[must_use]
    pub fn open(budget: ApproxDp, relation: Relation, unit: PrivacyUnit) -> Self {
        Self {
            budget,
            relation,
            unit,
            entries: Vec::new(),
            spending: Spending::default(),
        }
    }

    /// Charges `purchase`, or refuses and leaves the ledger unchanged.
    ///
    /// # Guarantee
    /// All releases that consumed a permit of this ledger are together within its budget.
    ///
    /// # Why
    /// [`Spending::to_approx_dp`] bounds any adaptive sequence of the releases charged so far,
    /// and a charge that would exceed the budget yields no permit.
    ///
    /// # Caller must
    /// take what is bought from a public plan that was fixed before the first answer. Answers may
    /// decide the question, not how much it costs.
    ///
    /// # Errors
    /// When the budget does not suffice or the purchase has no certified cost.
    pub fn spend<P: Purchase>(
        &mut self,
        statement: &str,
        purchase: P,
    ) -> Result<Permit<P>, LedgerError> {
        let expense = purchase.expense(self.relation);
        let whose = (purchase.unit(), purchase.part());
        let spending = self.afford(statement, whose, expense)?;
        self.spending = spending;
        self.entries.push(Entry {
            statement: statement.to_owned(),
            line: purchase.to_line(),
        });
        Ok(Permit { purchase })
    }

    /// Whether `statement` may be charged, if `allowed` charges in all may be for statements charged before.
    ///
    /// # Errors
    /// When it is one more.
    pub fn check_repeats(&self, statement: &str, allowed: u32) -> Result<(), LedgerError> {
        let mut known = BTreeSet::new();
        let entries = self.entries.iter();
        let repeated = entries
            .filter(|entry| !known.insert(entry.statement.as_str()))
            .count();
        if known.contains(statement) && repeated >= allowed as usize {
            let statement = statement.to_owned();
            return Err(LedgerError::Repeated { statement, allowed });
        }
        Ok(())
    }

    /// The budget.
    #[must_use]
    pub const fn budget(&self) -> ApproxDp {
        self.budget
    }

    /// The neighbouring relation of every cost.
    #[must_use]
    pub const fn relation(&self) -> Relation {
        self.relation
    }

    /// Whose presence is protected.
    #[must_use]
    pub const fn unit(&self) -> PrivacyUnit {
        self.unit
    }

    /// What was spent, in its own currencies.
    #[must_use]
    pub const fn spending(&self) -> &Spending {
        &self.spending
    }

    /// What was spent at the budget's δ; `None` if nothing was.
    #[must_use]
    pub fn spent(&self) -> Option<ApproxDp> {
        self.spending.to_approx_dp(self.budget.delta())
    }

    /// The ledger as it is stored.
    #[must_use]
    pub fn record(&self) -> LedgerRecord {
        LedgerRecord {
            budget: self.budget,
            relation: self.relation,
            unit: self.unit,
            entries: self.entries.clone(),
            spent: self.spent().map(ApproxDp::epsilon),
        }
    }

    /// The ledger that `record` describes, every charge computed again.
    ///
    /// # Errors
    /// When a line has no certified cost, the lines exceed the budget, or they do not add up to
    /// the stated total.
    pub fn replay(record: &LedgerRecord) -> Result<Self, LedgerError> {
        let mut ledger = Self::open(record.budget, record.relation, record.unit);
        for entry in &record.entries {
            let expense = entry.line.expense(ledger.relation);
            let whose = (entry.line.unit(), entry.line.part());
            ledger.spending = ledger.afford(&entry.statement, whose, expense)?;
            ledger.entries.push(entry.clone());
        }
        let recomputed = ledger.spent().map(ApproxDp::epsilon);
        if recomputed == record.spent {
            return Ok(ledger);
        }
        let text = |epsilon: Option<Epsilon>| epsilon.map_or("none".into(), |e| e.to_string());
        Err(LedgerError::Altered {
            stated: text(record.spent),
            recomputed: text(recomputed),
        })
    }

    fn afford(
        &self,
        statement: &str,
        (unit, part): (PrivacyUnit, RecordPart),
        expense: Result<crate::spending::Expense, Uncertifiable>,
    ) -> Result<Spending, LedgerError> {
        if unit != self.unit {
            return Err(LedgerError::OtherUnit {
                statement: statement.to_owned(),
                found: unit.text(),
                required: self.unit.text(),
            });
        }
        let refuse = |source| LedgerError::Uncertifiable {
            statement: statement.to_owned(),
            source,
        };
        let total = expense
            .and_then(|expense| self.spending.and_about(part, expense))
            .map_err(refuse)?;
        if let Some(sums) = total.sums() {
            let delta = self.budget.delta();
            sums.check_delta(delta)
                .map_err(|error| refuse(error.into()))?;
        }
        if total.is_within(self.budget) {
            return Ok(total);
        }
        let needed = total.to_approx_dp(self.budget.delta());
        Err(LedgerError::Overdrawn {
            statement: statement.to_owned(),
            needed: needed.map_or(Epsilon::LARGEST, ApproxDp::epsilon),
            spent: self.spent().map(ApproxDp::epsilon),
            budget: self.budget,
        })
    }
}
