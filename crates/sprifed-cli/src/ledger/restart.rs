//! `ledger restart`: a new ledger in the place of a lost one.

use std::path::{Path, PathBuf};

use clap::Args;
use sprifed::begun_study;
use sprifed_party::{
    Cost, CostKind, LineAnswer, PartyFolder, Restart, RestartAnswer, Restarted, StudyFolder,
    TotalsAnswer, begun_studies,
};
use sprifed_privacy::{Epsilon, PrivacyUnit, Relation, SpentDelta, counted};

use super::{named, place_of};
use crate::account::parse_quantity;
use crate::choices::{relations, units};
use crate::failure::{Explained as _, Failure};
use crate::output::Output;

/// `ledger restart`.
#[derive(Args, Debug)]
pub(crate) struct RestartLedger {
    /// The folder of the lost ledger [default: SPRIFED_LEDGER].
    folder: Option<PathBuf>,
    /// What local fits have cost, and studies of which neither folder nor invitation is left: their epsilons, added. Pass
    /// 0 if there were none.
    #[arg(long, value_name = "EPSILON", value_parser = parse_quantity::<Epsilon>, allow_hyphen_values = true)]
    spent_epsilon: Epsilon,
    /// The same for delta.
    #[arg(long, value_name = "DELTA", value_parser = parse_quantity::<SpentDelta>, allow_hyphen_values = true)]
    spent_delta: SpentDelta,
    /// Of which unit those epsilons are; for several, the weaker: a record.
    #[arg(long, value_name = "UNIT", default_value = "record", value_parser = units())]
    spent_unit: PrivacyUnit,
    /// Under which relation those epsilons are; for several, the weaker: zero-out.
    #[arg(long, value_name = "RELATION", default_value = "zero-out", value_parser = relations())]
    spent_neighbours: Relation,
    /// The folder `for-NAME` of a study that was begun and whose study-… folder is lost, too: it counts with the most it
    /// can cost. May be given several times.
    #[arg(long, value_name = "FOLDER")]
    begun: Vec<PathBuf>,
    /// Another folder whose studies counted in this ledger: that of a party that joined with --ledger, or the state folder
    /// of a Flower node. May be given several times.
    #[arg(long, value_name = "FOLDER")]
    party: Vec<PathBuf>,
    /// A table that the lost ledger accounted for, if a command says so of it: the new ledger takes it over. May be given
    /// several times.
    #[arg(long, value_name = "FILE")]
    data: Vec<PathBuf>,
}

impl RestartLedger {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        refuse_absent(&named(self.folder.as_deref())?)?;
        let place = place_of(self.folder.as_deref())?;
        let owners = [place.folder().to_owned()].into_iter();
        let owners = owners.chain(self.party.iter().cloned());
        let homes: Vec<PathBuf> = owners
            .flat_map(|owner| PartyFolder::new(owner).homes())
            .collect();
        let folders = begun_studies(&homes, |_| true).explained()?;
        let named = self.begun.iter().map(StudyFolder::new);
        let studies = folders
            .into_iter()
            .chain(named)
            .map(|folder| begun_study(&folder));
        let known = Restart {
            homes,
            tables: self.data.clone(),
            studies: studies.collect::<Result<_, _>>()?,
            stated: self.stated(),
        };
        let Restarted { view, unread } = place.restart(&known).explained()?;
        let lines = view.lines();
        let answer = RestartAnswer {
            folder: place.folder().to_owned(),
            id: view.id(),
            entries: view.n_entries(),
            limit: view.limit(),
            unread,
            lines: LineAnswer::all(lines),
            totals: TotalsAnswer::of(lines),
        };
        output.answer(&answer, |answer| {
            format!(
                "{}a new ledger begins in {} with what is known of the lost one. This party takes no further part in the \
                 studies that are left; `sprifed study leave` of their folders erases their keys\n{}\n{}{}",
                text_of_unread(unread),
                place.folder().display(),
                LineAnswer::table(&answer.lines),
                answer.totals.text(),
                if view.limit().is_none() {
                    "\nthe new ledger has no limit: set it again with `sprifed ledger limit`, if the lost one had one"
                } else {
                    ""
                }
            )
        });
        Ok(())
    }

    fn stated(&self) -> Option<(CostKind, Cost)> {
        let cost = Cost {
            epsilon: self.spent_epsilon,
            delta: self.spent_delta,
        };
        let kind = CostKind {
            unit: self.spent_unit,
            neighbours: self.spent_neighbours,
        };
        (cost != Cost::NOTHING).then_some((kind, cost))
    }
}

/// A folder that is not there had no ledger: its name is mistyped.
fn refuse_absent(folder: &Path) -> Result<(), Failure> {
    if folder.exists() {
        return Ok(());
    }
    Err(Failure::usage(
        "sprifed::ledger::no-folder",
        format!(
            "there is no folder `{}`; the folder of the lost ledger is required",
            folder.display()
        ),
        "correct its name; if the folder is lost, too, make it again, empty. Nothing was changed",
    ))
}

fn text_of_unread(unread: u64) -> String {
    if unread == 0 {
        return String::new();
    }
    format!(
        "WARNING: {} of the lost ledger could not be read. Its cost is counted only as far as folders of studies, --begun or \
         --spent-epsilon state it\n",
        counted(unread, "entry", "entries")
    )
}
