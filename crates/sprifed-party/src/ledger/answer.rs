//! What is said of a ledger, for programs.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use sprifed_privacy::{Cost, Epsilon, PrivacyUnit, Relation, SpentDelta, counted};
use sprifed_report::table;
use sprifed_study::Digest;

use super::{AuditLog, DataSet, LedgerView, LifetimeLine, Protection, Standing, totals_of};

/// A ledger.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LedgerAnswer {
    /// Which ledger.
    pub id: Digest,
    /// How many entries it has.
    pub entries: u64,
    /// The digest of the last.
    pub head: Digest,
    /// Whose keys signed them.
    pub signers: Vec<Digest>,
    /// What everything may cost together, if that was set.
    pub limit: Option<Cost>,
    /// Whether it took the place of a lost one.
    pub restarted: bool,
    /// Every study and fit.
    pub lines: Vec<LineAnswer>,
    /// What they cost together.
    pub totals: TotalsAnswer,
}

/// One study or fit.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LineAnswer {
    /// `study` or `fit`.
    pub what: &'static str,
    /// Its digest.
    pub study: String,
    /// What it is called.
    pub title: String,
    /// Over which records.
    pub data: Option<DataSet>,
    /// Whose presence is protected.
    pub unit: PrivacyUnit,
    /// Which data sets are neighbours.
    pub neighbours: Relation,
    /// Whether its noise was secret.
    pub protected: bool,
    /// ε; absent if the noise protects no record.
    pub epsilon: Option<Epsilon>,
    /// δ; absent if the noise protects no record.
    pub delta: Option<SpentDelta>,
    /// Whether the cost is what was spent, and not the most possible.
    pub settled: bool,
    /// Whether the party left the study.
    pub left: bool,
}

/// What everything cost together.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TotalsAnswer {
    /// By what the costs are about; others do not add up.
    pub by_unit_and_neighbours: Vec<TotalAnswer>,
    /// How many studies had simulated noise, which no ε bounds.
    pub unprotected_studies: usize,
}

/// One total.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TotalAnswer {
    /// Whose presence is protected.
    pub unit: PrivacyUnit,
    /// Which data sets are neighbours.
    pub neighbours: Relation,
    /// ε.
    pub epsilon: Epsilon,
    /// δ.
    pub delta: SpentDelta,
    /// How many studies are in it.
    pub studies: usize,
}

/// A ledger that begins in the place of a lost one.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RestartAnswer {
    /// Its folder.
    pub folder: PathBuf,
    /// Which ledger.
    pub id: Digest,
    /// How many entries it has.
    pub entries: u64,
    /// What everything may cost together, if that was set.
    pub limit: Option<Cost>,
    /// How many entries of the lost ledger could not be read.
    pub unread: u64,
    /// Every study and fit.
    pub lines: Vec<LineAnswer>,
    /// What they cost together.
    pub totals: TotalsAnswer,
}

/// An audit log that was found right.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LogAnswer {
    /// Always true.
    pub verified: bool,
    /// Of which ledger.
    pub id: Digest,
    /// The digest of its last entry.
    pub head: Digest,
    /// How many entries.
    pub entries: u64,
    /// When it was written.
    pub time: String,
    /// Whether the ledger took the place of a lost one.
    pub restarted: bool,
    /// Whose keys signed the entries.
    pub signers: Vec<Digest>,
    /// Whether the reader said which keys must have signed.
    pub keys_were_given: bool,
    /// What everything cost together.
    pub totals: TotalsAnswer,
}

impl LineAnswer {
    /// What is said of `line`.
    #[must_use]
    pub fn of(line: &LifetimeLine) -> Self {
        let cost = line.protected_cost();
        Self {
            what: line.work.name(),
            study: line.study.clone(),
            title: line.title.clone(),
            data: line.data.clone(),
            unit: line.kind.unit,
            neighbours: line.kind.neighbours,
            protected: cost.is_some(),
            epsilon: cost.map(|cost| cost.epsilon),
            delta: cost.map(|cost| cost.delta),
            settled: line.is_settled(),
            left: line.standing == Standing::Left,
        }
    }

    /// `lines` as a table for people.
    #[must_use]
    pub fn table(lines: &[Self]) -> String {
        let heading = [
            "what",
            "title",
            "data",
            "unit",
            "neighbours",
            "epsilon",
            "delta",
            "state",
        ];
        let heading = std::iter::once(heading.map(str::to_owned).to_vec());
        let rows: Vec<Vec<String>> = heading.chain(lines.iter().map(Self::cells)).collect();
        table(&rows)
    }

    fn cells(&self) -> Vec<String> {
        let data = self.data.as_ref();
        let cost = self.epsilon.zip(self.delta);
        let (epsilon, delta) = cost.map_or_else(
            || ("NOT PROTECTED".to_owned(), String::new()),
            |(epsilon, delta)| (epsilon.shown(), delta.shown()),
        );
        let state = match (self.left, self.settled) {
            (true, _) => "left",
            (false, true) => "settled",
            (false, false) => "reserved",
        };
        vec![
            self.what.to_owned(),
            self.title.clone(),
            data.map_or_else(String::new, |data| data.name.clone()),
            self.unit.text().to_owned(),
            self.neighbours.text().to_owned(),
            epsilon,
            delta,
            state.to_owned(),
        ]
    }

    /// What is said of `lines`.
    #[must_use]
    pub fn all(lines: &[LifetimeLine]) -> Vec<Self> {
        lines.iter().map(Self::of).collect()
    }
}

impl TotalsAnswer {
    /// What `lines` cost together.
    #[must_use]
    pub fn of(lines: &[LifetimeLine]) -> Self {
        let unprotected = |line: &&LifetimeLine| line.protection == Protection::Unprotected;
        Self {
            by_unit_and_neighbours: totals_of(lines)
                .into_iter()
                .map(|total| TotalAnswer {
                    unit: total.kind.unit,
                    neighbours: total.kind.neighbours,
                    epsilon: total.cost.epsilon,
                    delta: total.cost.delta,
                    studies: total.studies,
                })
                .collect(),
            unprotected_studies: lines.iter().filter(unprotected).count(),
        }
    }

    /// The totals, one line each, and what no total holds.
    #[must_use]
    pub fn text(&self) -> String {
        let totals = self.by_unit_and_neighbours.iter();
        let mut lines: Vec<String> = totals.map(TotalAnswer::text).collect();
        if self.unprotected_studies > 0 {
            lines.push(format!(
                "NOT PROTECTED, in no total: {} with simulated noise, which no epsilon bounds",
                counted(self.unprotected_studies, "study", "studies")
            ));
        }
        if lines.is_empty() {
            lines.push("no study has cost anything so far".to_owned());
        }
        lines.join("\n")
    }
}

impl TotalAnswer {
    fn text(&self) -> String {
        format!(
            "in all, for each {} under {}: epsilon = {} at delta = {} in {}",
            self.unit.text(),
            self.neighbours.text(),
            self.epsilon.shown(),
            self.delta.shown(),
            counted(self.studies, "study or fit", "studies and fits")
        )
    }
}

impl From<&LedgerView> for LedgerAnswer {
    fn from(view: &LedgerView) -> Self {
        Self {
            id: view.id(),
            entries: view.n_entries(),
            head: view.head(),
            signers: view.signers().collect(),
            limit: view.limit(),
            restarted: view.is_restarted(),
            lines: LineAnswer::all(view.lines()),
            totals: TotalsAnswer::of(view.lines()),
        }
    }
}

impl LogAnswer {
    /// What is said of `log`; `keys_were_given` if the reader said which keys must have signed.
    #[must_use]
    pub fn of(log: &AuditLog, keys_were_given: bool) -> Self {
        let (id, head) = log.ends();
        Self {
            verified: true,
            id,
            head,
            entries: log.n_entries(),
            time: log.time().to_owned(),
            restarted: log.is_restarted(),
            signers: log.signers().collect(),
            keys_were_given,
            totals: TotalsAnswer::of(log.lines()),
        }
    }
}
