//! `study leave`: a party goes for good from a study that does not end, and has the rest of its budget back.
//!
//! First the journal says that the party has left, so that it answers nothing more; then the ledger counts what
//! was charged instead of the most possible. Broken off between the two, the same command finishes it.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use sprifed_party::{
    Cost, CountedJournal, Journal, JournalView, LifetimeLine, Protection, SqliteJournal, Standing,
    erase_private, study_homes,
};
use sprifed_study::{Agreed, JournalLine, charged_by};

use super::coordinate::read_study;
use super::join::KEY;
use super::party_ledger::ledger_place;
use super::party_machine::{read_journal, to_bytes};
use super::party_status::is_of_one_study;
use crate::failure::{Explained as _, Failure};
use crate::output::Output;

/// `study leave`.
#[derive(Args, Debug)]
pub(crate) struct Leave {
    /// The study's folder in the party's folder: `study-…`.
    folder: PathBuf,
    /// The folder of the ledger, if `join` was given one [default: SPRIFED_LEDGER, or the party's folder].
    #[arg(long, value_name = "FOLDER")]
    ledger: Option<PathBuf>,
}

impl Leave {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        let party = self.party()?;
        let (_, agreed) = read_study(&self.folder)?;
        let study = agreed.digest().to_string();
        let path = self.folder.join("state.sqlite");
        refuse_emptied(&path)?;
        let place = ledger_place(party, self.ledger.as_deref())?;
        let ledger = place.open_for(&study_homes(party)).explained()?;
        let line = ledger.line(&study).cloned();
        // The journal counts in it.
        drop(ledger);
        let journal = SqliteJournal::open(&path, &study).explained()?;
        let line = &line.ok_or_else(|| not_joined(&self.folder))?;
        let has_left = line.standing == Standing::Left;
        // Of a study that the ledger calls left nothing more is counted; its secrets may still be there.
        let mut journal: Box<dyn Journal> = if has_left {
            Box::new(journal)
        } else {
            Box::new(CountedJournal::of(journal, &path, &place, &study).explained()?)
        };
        let view = JournalView {
            entries: journal.entries().explained()?,
            end: journal.end().explained()?,
        };
        if view.end.is_some() || self.folder.join("receipt.json").exists() {
            return Err(is_over(line));
        }
        let lines = lines_of(&view, &path)?;
        let cost = if has_left {
            line.cost
        } else {
            cost_of(&agreed, &lines, &path)?
        };
        if !lines.contains(&JournalLine::Left) {
            journal.append(&to_bytes(&JournalLine::Left)).explained()?;
        }
        // It answers nothing more: what hid its part is not needed any more.
        for (number, line) in (0..).zip(&lines) {
            if let JournalLine::Uploaded { sum, .. } = line {
                let (sum, message) = (*sum, Vec::new());
                let erased = to_bytes(&JournalLine::Uploaded { sum, message });
                journal.erase(number, &erased).explained()?;
            }
        }
        erase_private(&self.folder.join(KEY)).explained()?;
        let mut ledger = place.open().explained()?;
        ledger.leave(&study, cost).explained()?;
        drop(ledger);
        say(line, cost, output);
        Ok(())
    }

    /// The party's folder around that of the study.
    fn party(&self) -> Result<&Path, Failure> {
        let party = self
            .folder
            .parent()
            .filter(|_| is_of_one_study(&self.folder));
        party.ok_or_else(|| {
            Failure::usage(
                "sprifed::study::not-a-study",
                format!(
                    "`{}` is no study of a party: a folder `study-…` with its state.sqlite, in the folder that \
                     `study identity` made, is required",
                    self.folder.display()
                ),
                "name that folder; a coordinator ends a study with `sprifed study cancel`. Nothing was changed",
            )
        })
    }
}

/// Refuses to go on with the study in `folder` if the party has left it.
pub(super) fn refuse_left(folder: &Path) -> Result<(), Failure> {
    let path = folder.join("state.sqlite");
    if !path.exists() {
        return Ok(());
    }
    let view = SqliteJournal::look_into(&path).explained()?;
    let view = view.unwrap_or_default();
    if !lines_of(&view, &path)?.contains(&JournalLine::Left) {
        return Ok(());
    }
    Err(Failure::outcome(
        "sprifed::study::left",
        format!(
            "this party has left this study, as `{}` says, and answers nothing more in it",
            path.display()
        ),
        "ask the coordinator for another study. If `study leave` was broken off, run it again: `study status` says \
         whether the ledger is settled. What was charged stays charged",
    ))
}

/// An emptied journal says that nothing was charged; to believe it would give back what is spent.
fn refuse_emptied(path: &Path) -> Result<(), Failure> {
    let is_empty = std::fs::metadata(path).is_ok_and(|file| file.len() == 0);
    if !is_empty {
        return Ok(());
    }
    Err(Failure::outcome(
        "sprifed::study::state-lost",
        format!(
            "`{}` is empty, so it can not say what was charged; the journal as it was last is required",
            path.display()
        ),
        "restore it. Without it the ledger keeps the most that the study can cost; nothing was changed",
    ))
}

fn not_joined(folder: &Path) -> Failure {
    Failure::outcome(
        "sprifed::study::not-joined",
        format!(
            "the ledger does not know the study of `{}`: nothing was sent in it and nothing is reserved for it",
            folder.display()
        ),
        "there is nothing to leave; the folder may be deleted",
    )
}

fn is_over(line: &LifetimeLine) -> Failure {
    Failure::outcome(
        "sprifed::study::over",
        format!("{:?} is over for this party and has a receipt", line.title),
        if line.is_settled() {
            "there is nothing to leave: the ledger counts what the receipt says"
        } else {
            "run `join` once more: it counts what the receipt says, without a coordinator"
        },
    )
}

fn lines_of(view: &JournalView, path: &Path) -> Result<Vec<JournalLine>, Failure> {
    read_journal(&view.entries).map_err(|refused| damaged(path, &refused))
}

/// What the journal was charged; a study in which nothing was answered costs nothing.
fn cost_of(agreed: &Agreed, lines: &[JournalLine], path: &Path) -> Result<Cost, Failure> {
    let charged = charged_by(agreed, lines).map_err(|declined| damaged(path, &declined))?;
    let epsilon = charged.spent().map(|spent| spent.epsilon());
    Ok(Cost::charged(epsilon, agreed.ceiling().delta()))
}

fn damaged(path: &Path, found: &dyn core::fmt::Display) -> Failure {
    Failure::environment(
        "sprifed::study::journal",
        format!("`{}` can not be used: {found}", path.display()),
        "restore the folder as it was last; nothing was changed",
    )
}

fn say(line: &LifetimeLine, cost: Cost, output: &Output) {
    let is_protected = line.protection == Protection::Secret;
    let answer = json!({
        "study": line.study, "title": line.title, "left": true, "protected": is_protected,
        "charged_epsilon": is_protected.then_some(cost.epsilon),
        "charged_delta": is_protected.then_some(cost.delta),
    });
    output.answer(&answer, |_| {
        let counted = if is_protected {
            format!(
                "the ledger counts epsilon = {} at delta = {} for this study",
                cost.epsilon.shown(),
                cost.delta.shown()
            )
        } else {
            "the study PROTECTED NOBODY and is in no total".to_owned()
        };
        format!(
            "left {:?}: this party answers nothing more in it; {counted}. The coordinator is not told and sees a \
             party that does not come back",
            line.title
        )
    });
}
