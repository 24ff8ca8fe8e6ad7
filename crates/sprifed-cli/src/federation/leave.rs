//! `study leave`: a party leaves an unfinished study permanently, and has the rest of its budget back.

use std::path::PathBuf;

use clap::Args;
use sprifed_party::{Departure, LeaveAnswer, PartyFolder, StudyFolder, leave};

use super::party_ledger::ledger_place;
use super::party_status::party_of;
use super::trustee_status::trustee_of;
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
        let place = ledger_place(&party, self.ledger.as_deref())?;
        let folder = StudyFolder::new(&self.folder);
        let left = leave(&party, &folder, &place).explained()?;
        say(&left, output);
        Ok(())
    }

    /// The party's folder around that of the study.
    fn party(&self) -> Result<PartyFolder, Failure> {
        if trustee_of(&self.folder).is_some() {
            return Err(Failure::usage(
                "sprifed::study::is-a-trustee",
                format!(
                    "`{}` is of a trustee, which has no records and no ledger; the study of a party is required",
                    self.folder.display()
                ),
                "stop the trustee to end the study without a model; parties leave with their own folders. Nothing was changed",
            ));
        }
        let party = party_of(&self.folder);
        party.ok_or_else(|| {
            Failure::usage(
                "sprifed::study::not-a-study",
                format!(
                    "`{}` is not the study of a party: a folder `study-…` with its state.sqlite, in the folder that \
                     `study identity` made, is required",
                    self.folder.display()
                ),
                "name that folder; a coordinator ends a study with `sprifed study cancel`. Nothing was changed",
            )
        })
    }
}

fn say(left: &Departure, output: &Output) {
    let Departure { line, cost } = left;
    output.answer(&LeaveAnswer::from(left), |answer| {
        let counted = if answer.protected {
            format!(
                "the ledger counts epsilon = {} at delta = {} for this study",
                cost.epsilon.shown(),
                cost.delta.shown()
            )
        } else {
            "the study PROTECTED NO RECORD and is in no total".to_owned()
        };
        format!(
            "left {:?}: this party answers nothing more in it; {counted}. The coordinator is not told and sees a \
             party that does not come back",
            line.title
        )
    });
}
