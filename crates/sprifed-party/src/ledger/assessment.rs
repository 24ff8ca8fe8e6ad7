//! What a party's ledger and policy say of a study before a record is touched.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use sprifed_study::{Agreed, Applicant, Day, Digest, Policy, Violation};

use super::{
    Cost, CostKind, DataSet, LedgerView, LifetimeLine, LifetimeTotal, Protection, Standing, Work,
    total, totals_of,
};
use crate::database::StoreError;

impl LifetimeLine {
    /// The line of a study that may still cost all that was agreed on.
    #[must_use]
    pub fn of(agreed: &Agreed) -> Self {
        let (agreement, ceiling) = (agreed.agreement(), agreed.ceiling());
        Self {
            study: agreed.digest().to_string(),
            work: Work::Study,
            title: agreement.title.clone(),
            kind: agreed.cost_kind(),
            protection: agreement.noise.into(),
            cost: ceiling.into(),
            data: None,
            standing: Standing::Reserved,
        }
    }

    /// The same line, over these records.
    #[must_use]
    pub fn over(self, data: DataSet) -> Self {
        Self {
            data: Some(data),
            ..self
        }
    }
}

/// What a party that may take part has spent, and whether it has begun.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Assessment {
    /// The cost of its other studies of the same kind.
    pub spent_elsewhere: Cost,
    /// Whether this study is in its ledger.
    pub is_known: bool,
}

/// Why a limit of the ledger forbids something.
#[derive(Debug, Clone, PartialEq)]
pub struct OverLimit {
    /// The total that would be passed, with what was asked for in it.
    pub total: LifetimeTotal,
    /// What no total may pass.
    pub limit: Cost,
}

impl core::fmt::Display for OverLimit {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { total, limit } = self;
        write!(
            formatter,
            "with this, everything in the ledger would cost epsilon = {} at delta = {} for each {} under {}, but its limit is \
             epsilon = {} at delta = {}",
            total.cost.epsilon.shown(),
            total.cost.delta.shown(),
            total.kind.unit.text(),
            total.kind.neighbours.text(),
            limit.epsilon.shown(),
            limit.delta.shown()
        )
    }
}

/// Refuses a study that the party has left, as the ledger at `path` says: by leaving it, or because an earlier ledger was
/// lost.
pub(crate) fn has_left(path: &Path) -> StoreError {
    StoreError::Ledger {
        path: path.to_owned(),
        problem: "says that this party has left this study: it answers nothing more in it"
            .to_owned(),
        help: "ask the coordinator for another study; what was charged stays charged",
    }
}

impl LedgerView {
    /// Whether the party has left `study`: it answers nothing more in it, whatever is found of its state.
    #[must_use]
    pub fn has_left(&self, study: &str) -> bool {
        let line = self.line(study);
        line.is_some_and(|line| line.standing == Standing::Left)
    }

    /// What all studies and fits of this kind but `study` have cost.
    #[must_use]
    pub fn spent_elsewhere(&self, study: &str, kind: CostKind) -> Cost {
        let others = self.lines().iter().filter(|line| line.study != study);
        total(others, kind).cost
    }

    /// Whether `line` stays within the limit of this ledger, beside everything else that is in it.
    ///
    /// # Errors
    /// With the first total that would pass the limit.
    pub fn within_limit(&self, line: &LifetimeLine) -> Result<(), OverLimit> {
        let Some(limit) = self.limit() else {
            return Ok(());
        };
        if line.protection == Protection::Unprotected {
            return Ok(());
        }
        let others = self.lines().iter();
        let others = others.filter(|known| known.study != line.study);
        let all: Vec<LifetimeLine> = others.chain([line]).cloned().collect();
        let passes = |total: &LifetimeTotal| !total.cost.is_within(limit);
        match totals_of(&all).into_iter().find(passes) {
            Some(total) => Err(OverLimit { total, limit }),
            None => Ok(()),
        }
    }

    /// What the party with the key `own` has spent, and everything that its `policy` does not allow; `columns` are all
    /// that the study reads, the response included.
    ///
    /// While a ledger is open to be added to, no other process can enter anything.
    #[must_use]
    pub fn assess(
        &self,
        policy: &Policy,
        agreed: &Agreed,
        own: Digest,
        columns: &[String],
    ) -> (Assessment, Vec<Violation>) {
        let study = agreed.digest().to_string();
        let spent_elsewhere = self.spent_elsewhere(&study, agreed.cost_kind());
        let assessment = Assessment {
            spent_elsewhere,
            is_known: self.line(&study).is_some(),
        };
        let applicant = Applicant {
            own,
            columns,
            today: today(),
        };
        (
            assessment,
            policy.violations(agreed, &applicant, spent_elsewhere),
        )
    }
}

/// The date in UTC by this machine's clock; a clock before 1970 counts as 1970.
#[must_use]
pub fn today() -> Day {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    Day::of_unix_time(since.map_or(0, |since| since.as_secs()))
}
