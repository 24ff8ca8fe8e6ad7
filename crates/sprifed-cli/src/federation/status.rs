//! `study status`, `study cancel`, `study export`: a look at one's own folder.

use std::path::PathBuf;

use clap::Args;
use sprifed::{CancelAnswer, ExportAnswer};
use sprifed_coordinator::{CoordinatorFolder, StatusAnswer};

use super::{party_status, trustee_status};
use crate::failure::{Explained as _, Failure};
use crate::output::Output;

/// `study status`.
#[derive(Args, Debug)]
pub(crate) struct Status {
    /// The folder of the study; for a party or trustee, its own folder or one of the study folders in it.
    folder: PathBuf,
    /// The folder of a party's ledger, if `join` was given one [default: SPRIFED_LEDGER, or the party's folder].
    #[arg(long, value_name = "FOLDER")]
    ledger: Option<PathBuf>,
}

/// `study cancel`.
#[derive(Args, Debug)]
pub(crate) struct Cancel {
    /// The folder of the study.
    folder: PathBuf,
}

/// `study export`.
#[derive(Args, Debug)]
pub(crate) struct Export {
    /// The folder of the study.
    folder: PathBuf,
    /// Where the files go; the folder must not exist.
    #[arg(long)]
    out: PathBuf,
}

impl Status {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        if let Some(trustee) = trustee_status::trustee_of(&self.folder) {
            return trustee_status::say(&trustee, &self.folder, output);
        }
        if party_status::is_of_party(&self.folder) {
            return party_status::say(&self.folder, self.ledger.as_deref(), output);
        }
        let folder = CoordinatorFolder::new(&self.folder);
        let answer = StatusAnswer::of(&folder).explained()?;
        output.answer(&answer, StatusAnswer::text);
        Ok(())
    }
}

impl Cancel {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        let agreed = CoordinatorFolder::new(&self.folder).cancel().explained()?;
        let answer = CancelAnswer {
            study: *agreed.digest(),
            cancelled: true,
        };
        output.answer(&answer, |_| {
            "cancelled: a `coordinate` that runs tells the parties, otherwise start it once more to tell them. \
             Parties' ledgers keep what they were charged"
                .to_owned()
        });
        Ok(())
    }
}

impl Export {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        let files = CoordinatorFolder::new(&self.folder).publish(&self.out);
        let files = files.explained()?;
        let answer = ExportAnswer {
            folder: self.out.clone(),
            files,
        };
        output.answer(&answer, |answer| {
            format!(
                "agreement.json, {} in {}",
                answer.files.join(", "),
                answer.folder.display()
            )
        });
        Ok(())
    }
}
