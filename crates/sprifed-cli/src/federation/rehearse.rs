//! `study rehearse`: all parties of a study in one process, with noise that protects no record.

use std::path::PathBuf;

use clap::Args;
use sprifed::{RehearsalAnswer, RehearsalError};
use sprifed_coordinator::CoordinatorFolder;
use sprifed_privacy::counted;
use sprifed_study::all_present;

use crate::failure::Failure;
use crate::output::Output;

/// `study rehearse`.
#[derive(Args, Debug)]
pub(crate) struct Rehearse {
    /// The folder of the study, made with --simulate-noise.
    folder: PathBuf,
    /// The table of each party, in the order of the roster.
    #[arg(long, required = true)]
    data: Vec<PathBuf>,
    /// The seed from which the identities of the parties were made.
    #[arg(long)]
    seed: u64,
}

impl Rehearse {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        let (_, agreed) = CoordinatorFolder::new(&self.folder).study()?;
        let answer = RehearsalAnswer::run(&agreed, &self.data, self.seed, Box::new(all_present))
            .map_err(explained)?;
        output.answer(&answer, |answer| {
            format!(
                "NOT PRIVATE: a rehearsal. {} kept: {}",
                counted(answer.features.len(), "feature was", "features were"),
                answer.features.join(", ")
            )
        });
        Ok(())
    }
}

fn explained(error: RehearsalError) -> Failure {
    let message = error.to_string();
    let help = match error {
        RehearsalError::Party(error) => return error.into(),
        RehearsalError::Ended(_) => {
            let help = "this was a rehearsal";
            return Failure::outcome("sprifed::study::no-model", message, help);
        }
        RehearsalError::Protected => "make a study with `study init --simulate-noise` to rehearse",
        RehearsalError::Trustees => {
            "start coordinate, trustee and join with --simulate-noise, or fit with --backend trustees"
        }
        RehearsalError::Tables { .. } => "give --data once for each party",
        RehearsalError::NotBegun(_) => "use the seed and places of `study identity --simulate`",
    };
    Failure::usage("sprifed::study::rehearsal", message, help)
}
