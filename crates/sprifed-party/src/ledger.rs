//! What was spent on a data set: the ledger that outlives studies and fits.
//!
//! ```text
//! study or fit ──reserved──▶ entry ◀─previous── entry ◀─previous── entry   each signed; only ever appended
//!                  counted, settled, left, withdrawn                  └──▶ ledger.head: how long it was last
//! lost ledger ──restart──▶ new chain: restarted, carried-over …
//! ```
//!
//! A study is entered with the most it can cost before a record is touched, and settled with what it
//! did cost when its receipt is there. A study that never ends stays at its most. What a ledger says is computed
//! from its entries and stored nowhere else.
//!
//! Costs are added up for each kind: a unit of privacy under a relation of neighbours. A study of another
//! kind counts in a total as far as it says something of that kind (see `steps`). A study without secret noise
//! protects no record, so it is kept in the list and in no total.

use serde::{Deserialize, Serialize};
use sprifed_privacy::{PrivacyUnit, Relation};
use sprifed_study::Digest;

mod assessment;
mod audit_log;
mod chain;
mod data_set;
mod local_fit;
mod place;
mod restart;
mod stored;
mod witness;

pub(crate) use assessment::has_left;
pub use assessment::{Assessment, OverLimit, today};
pub use audit_log::{AuditLog, LogProblem};
pub use chain::{ChainProblem, Event, Reservation};
pub use data_set::{Bound, ledger_beside};
pub use local_fit::LocalFit;
pub use place::{LEDGER, LedgerPlace, begun_studies, look_for_ledger};
pub use restart::{Restart, Restarted};
pub use stored::{LedgerView, LifetimeLedger};

/// What a cost is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CostKind {
    /// Whose presence is protected.
    pub unit: String,
    /// Which data sets are neighbours.
    pub neighbours: String,
}

/// Whether the noise of a study is secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protection {
    /// It is: ε and δ bound what the study tells.
    Secret,
    /// It can be repeated by anybody: nothing bounds what the study tells.
    Unprotected,
}

/// What was asked of a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// A study with others.
    Study,
    /// A fit by its holder alone.
    Fit,
}

/// How far a study or fit in the ledger is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It may still cost all that is counted.
    Reserved,
    /// It is over and has cost what is counted.
    Settled,
    /// The party has left it and answers nothing more in it, whatever is found of its state.
    Left,
}

/// Which records something was asked of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataSet {
    /// What their holder calls them: the name of the file.
    pub name: String,
    /// A digest of their bytes under a key that stays in the ledger, so that no reader of a log can test a guess.
    pub fingerprint: Digest,
}

/// An ε at a δ.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// ε.
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
}

/// One study or fit in the ledger.
#[derive(Debug, Clone, PartialEq)]
pub struct LifetimeLine {
    /// Which study: its digest.
    pub study: String,
    /// A study with others or a fit of one's own.
    pub work: Work,
    /// What it is called.
    pub title: String,
    /// What its cost is about.
    pub kind: CostKind,
    /// Whether the cost means anything.
    pub protection: Protection,
    /// What is counted: the most possible, or what the receipt says.
    pub cost: Cost,
    /// Over which records.
    pub data: Option<DataSet>,
    /// How far it is.
    pub standing: Standing,
}

impl LifetimeLine {
    /// Whether it costs what is counted, and not the most possible.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.standing != Standing::Reserved
    }

    /// Whether it is neither a study nor a fit, but a table that a restarted ledger took over: it cost nothing.
    fn is_table(&self) -> bool {
        self.work == Work::Fit && self.cost == Cost::default() && self.data.is_some()
    }
}

/// All studies of one kind together: epsilons are added, and so are deltas.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LifetimeTotal {
    /// What the cost is about.
    pub kind: CostKind,
    /// The sums.
    pub cost: Cost,
    /// How many studies are in them.
    pub studies: usize,
}

/// The total of each kind that `lines` name.
#[must_use]
pub fn totals_of(lines: &[LifetimeLine]) -> Vec<LifetimeTotal> {
    let protected = lines
        .iter()
        .filter(|line| line.protection == Protection::Secret && !line.is_table());
    let kinds: std::collections::BTreeSet<&CostKind> = protected.map(|line| &line.kind).collect();
    kinds.into_iter().map(|kind| total(lines, kind)).collect()
}

fn total<'a>(lines: impl IntoIterator<Item = &'a LifetimeLine>, kind: &CostKind) -> LifetimeTotal {
    let mut total = LifetimeTotal {
        kind: kind.clone(),
        cost: Cost::default(),
        studies: 0,
    };
    for line in lines {
        if let (Some(steps), Protection::Secret) = (steps(&line.kind, kind), line.protection) {
            let cost = line.cost.over(steps);
            total.cost.epsilon += cost.epsilon;
            total.cost.delta += cost.delta;
            total.studies += usize::from(!line.is_table());
        }
    }
    total
}

/// How many changes that a study of kind `found` protects make up one change of kind `wanted`; none if no
/// number of them is known.
///
/// A record is zeroed out by replacing it with what answers like nothing, so one replacement is enough
/// (sensitivities under replace-one are never smaller); a replacement is a zeroing and its
/// opposite. A change of one record is a change of its client: one replacement, or two zeroings. What a
/// study of records says of a whole client depends on how many it has, which is not known here.
fn steps(found: &CostKind, wanted: &CostKind) -> Option<u32> {
    let is_zeroing = |kind: &CostKind| kind.neighbours == Relation::ZeroOut.words();
    if found.unit == wanted.unit {
        let two = is_zeroing(found) && !is_zeroing(wanted);
        return Some(if two { 2 } else { 1 });
    }
    let covers = found.unit == PrivacyUnit::Client.words();
    covers.then_some(if is_zeroing(found) { 2 } else { 1 })
}

impl Cost {
    /// What it is over k changes, one after the other: k ε at δ (1 + e^ε + … + e^((k-1) ε)).
    fn over(self, steps: u32) -> Self {
        let each = (0..steps).map(|step| (f64::from(step) * self.epsilon).exp());
        Self {
            epsilon: f64::from(steps) * self.epsilon,
            delta: (each.sum::<f64>() * self.delta).min(1.0),
        }
    }
}

#[cfg(test)]
mod tests;
