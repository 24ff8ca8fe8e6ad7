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
//! kind counts in a total as far as it says something of that kind ([`CostKind::total`]). A study without secret noise
//! protects no record, so it is kept in the list and in no total.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sprifed_noise::Provenance;
pub use sprifed_privacy::{Cost, CostKind};
use sprifed_study::Digest;

mod answer;
mod assessment;
mod audit_log;
mod chain;
mod data_set;
mod local_fit;
mod place;
mod restart;
mod stored;
mod witness;

pub use answer::{LedgerAnswer, LineAnswer, LogAnswer, RestartAnswer, TotalAnswer, TotalsAnswer};
pub(crate) use assessment::has_left;
pub use assessment::{Assessment, OverLimit, today};
pub use audit_log::{AuditLog, LogProblem};
pub use chain::{ChainProblem, Event, Reservation};
pub use data_set::{Bound, ledger_beside};
pub use local_fit::LocalFit;
pub use place::{LEDGER, LedgerPlace, begun_studies, look_for_ledger};
pub use restart::{Restart, Restarted};
pub use stored::{LedgerView, LifetimeLedger};

/// Whether the noise of a study is secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protection {
    /// It is: ε and δ bound what the study tells.
    Secret,
    /// It can be repeated: nothing bounds what the study tells.
    Unprotected,
}

impl From<Provenance> for Protection {
    fn from(noise: Provenance) -> Self {
        match noise {
            Provenance::Cryptographic => Self::Secret,
            Provenance::Simulated => Self::Unprotected,
        }
    }
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

impl Work {
    /// The name in answers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Study => "study",
            Self::Fit => "fit",
        }
    }
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DataSet {
    /// What their holder calls them: the name of the file.
    pub name: String,
    /// A digest of their bytes under a key that stays in the ledger, so that no reader of a log can test a guess.
    pub fingerprint: Digest,
    /// The second table, whose rows are joined to them, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joined: Option<JoinedTable>,
}

/// The second table of a join.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JoinedTable {
    /// What its holder calls it: the name of the file.
    pub name: String,
    /// A digest of its bytes, under the same key.
    pub fingerprint: Digest,
}

impl DataSet {
    /// Name and fingerprint of each table that it consists of.
    fn tables(&self) -> impl Iterator<Item = (&str, Digest)> {
        let joined = self.joined.iter();
        let joined = joined.map(|table| (table.name.as_str(), table.fingerprint));
        core::iter::once((self.name.as_str(), self.fingerprint)).chain(joined)
    }
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

    /// What is counted; none if the noise protects no record.
    #[must_use]
    pub fn protected_cost(&self) -> Option<Cost> {
        (self.protection == Protection::Secret).then_some(self.cost)
    }

    /// Whether it is neither a study nor a fit, but a table that a restarted ledger took over: it cost nothing.
    fn is_table(&self) -> bool {
        self.work == Work::Fit && self.cost == Cost::NOTHING && self.data.is_some()
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
    let kinds: std::collections::BTreeSet<CostKind> = protected.map(|line| line.kind).collect();
    kinds.into_iter().map(|kind| total(lines, kind)).collect()
}

/// What `lines` cost together for one change of this kind.
fn total<'a>(lines: impl IntoIterator<Item = &'a LifetimeLine>, kind: CostKind) -> LifetimeTotal {
    let counts = |line: &&LifetimeLine| {
        line.protection == Protection::Secret && line.kind.changes_per(kind).is_some()
    };
    let counted: Vec<&LifetimeLine> = lines.into_iter().filter(counts).collect();
    LifetimeTotal {
        kind,
        cost: kind.total(counted.iter().map(|line| (line.kind, line.cost))),
        studies: counted.iter().filter(|line| !line.is_table()).count(),
    }
}

#[cfg(test)]
mod tests;
