//! `study rehearse`: all roles of a study in one process, with noise that protects no record.

use std::path::{Path, PathBuf};

use clap::Args;
use sprifed::{RehearsalAnswer, RehearsalError};
use sprifed_coordinator::CoordinatorFolder;
use sprifed_privacy::counted;
use sprifed_study::{Released, all_present};

use super::read;
use crate::failure::Failure;
use crate::output::Output;

const OTHER_TRANSCRIPT: &str = "give the file result/transcript.json of this study";

/// `study rehearse`.
#[derive(Args, Debug)]
pub(crate) struct Rehearse {
    /// The folder of the study, made with --simulate-noise.
    folder: PathBuf,
    /// The table of each party, in the order of the roster.
    #[arg(long, required = true)]
    data: Vec<PathBuf>,
    /// The seed from which the identities of the parties and the trustees were made.
    #[arg(long)]
    seed: u64,
    /// Repeat the attempts and the parties of each step of a study with trustees that has ended.
    #[arg(long, value_name = "transcript.json")]
    transcript: Option<PathBuf>,
}

impl Rehearse {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        let (_, agreed) = CoordinatorFolder::new(&self.folder).study()?;
        let answer = match &self.transcript {
            Some(file) => {
                let released = read_released(file)?;
                RehearsalAnswer::again(&agreed, &self.data, self.seed, &released)
            }
            None => RehearsalAnswer::run(&agreed, &self.data, self.seed, Box::new(all_present)),
        };
        let answer = answer.map_err(explained)?;
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

fn read_released(file: &Path) -> Result<Vec<Released>, Failure> {
    serde_json::from_slice(&read(file)?).map_err(|error| {
        let message = format!("`{}` is no transcript: {error}", file.display());
        Failure::usage("sprifed::study::rehearsal", message, OTHER_TRANSCRIPT)
    })
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
        RehearsalError::NoTrustees => "leave --transcript out",
        RehearsalError::OtherTranscript => OTHER_TRANSCRIPT,
        RehearsalError::Tables { .. } => "give --data once for each party",
        RehearsalError::NotBegun(_) => "use the seed and places of `study identity --simulate`",
        RehearsalError::NotBegunByTrustees(_) => {
            "use the seed and places of `study trustee --simulate`"
        }
    };
    Failure::usage("sprifed::study::rehearsal", message, help)
}
