//! `study status`, `study cancel`, `study export`: a look at one's own folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use sprifed::{CancelAnswer, Document, ExportAnswer, study_files};
use sprifed_net::{StatusView, stored_status};
use sprifed_party::TRANSCRIPT;
use sprifed_privacy::shown_cost;
use sprifed_study::{Agreed, Digest};

use super::coordinate::{CANCELLED, STATE, open_machine, read_study, refuse_lost_state};
use super::coordinator_machine::OVER;
use super::identity::make_folder;
use super::{party_status, read, unusable};
use crate::failure::{Explained as _, Failure};
use crate::files::create_private;
use crate::output::Output;

/// `study status`.
#[derive(Args, Debug)]
pub(crate) struct Status {
    /// The folder of the study; a party's own folder, or one of the study folders in it, says where the party stands.
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

/// How far a study is.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StatusAnswer {
    /// What its page shows.
    #[serde(flatten)]
    status: StatusView,
    /// The digest of the agreement.
    study: Digest,
    /// Whether it was ever served.
    begun: bool,
    /// Whether the coordinator cancelled it.
    cancelled: bool,
}

impl Status {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        if party_status::is_of_party(&self.folder) {
            return party_status::say(&self.folder, self.ledger.as_deref(), output);
        }
        let (_, agreed) = read_study(&self.folder)?;
        let status = status_of(&self.folder, &agreed)?;
        let is_begun = self.folder.join(STATE).exists();
        // One that had ended before it was cancelled stays as it ended.
        let cancelled = status.phase != OVER && self.folder.join(CANCELLED).exists();
        let answer = StatusAnswer {
            status,
            study: *agreed.digest(),
            begun: is_begun,
            cancelled,
        };
        output.answer(&answer, text);
        Ok(())
    }
}

/// How far the study of a coordinator's folder is.
fn status_of(folder: &Path, agreed: &Arc<Agreed>) -> Result<StatusView, Failure> {
    refuse_lost_state(folder)?;
    let machine = open_machine(folder, agreed)?;
    let state = folder.join(STATE);
    if state.exists() {
        stored_status(&state, machine).explained()
    } else {
        Ok(sprifed_net::CoordinatorMachine::status(&machine))
    }
}

fn text(answer: &StatusAnswer) -> String {
    let status = &answer.status;
    let state = match (answer.cancelled, answer.begun) {
        (true, _) => "cancelled",
        (false, true) => status.phase.as_str(),
        (false, false) => "not begun",
    };
    let mut text = format!(
        "{}: {state}\n\n{}\n\nsums {} of {}; epsilon {} of at most {} spent\n",
        status.title,
        status.guarantee,
        status.progress.done,
        status.progress.planned,
        shown_cost(status.budget.epsilon_spent),
        shown_cost(status.budget.epsilon_planned),
    );
    for party in &status.parties {
        text += &format!("  {} {}\n", party.name, party.state.name());
    }
    for line in &status.report {
        text += &format!("{line}\n");
    }
    text.trim_end().to_owned()
}

impl Cancel {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        if !self.folder.join("coordinator.key").exists() {
            return Err(Failure::usage(
                "sprifed::study::not-the-coordinator",
                format!(
                    "`{}` has no coordinator.key, and only the coordinator can cancel a study",
                    self.folder.display()
                ),
                "to leave a study, stop `join`; what was charged stays charged",
            ));
        }
        let (_, agreed) = read_study(&self.folder)?;
        if status_of(&self.folder, &agreed)?.phase == OVER {
            return Err(Failure::outcome(
                "sprifed::study::over",
                format!(
                    "the study of `{}` is over, and so cannot be cancelled",
                    self.folder.display()
                ),
                "`sprifed study status` says how it ended",
            ));
        }
        let path = self.folder.join(CANCELLED);
        if !path.exists() {
            create_private(&path, "cancelled by the coordinator\n")?;
        }
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
        let (invitation, agreed) = read_study(&self.folder)?;
        let path = self.folder.join("result/receipt.json");
        if !path.exists() {
            return Err(Failure::outcome(
                "sprifed::study::not-over",
                format!("`{}` has no result yet", self.folder.display()),
                "wait until the study is over",
            ));
        }
        if self.out.exists() {
            return Err(Failure::usage(
                "sprifed::file::exists",
                format!("`{}` is there already", self.out.display()),
                "choose another folder",
            ));
        }
        let files = published(&path, &agreed)?;
        make_folder(&self.out)?;
        let agreement = String::from_utf8_lossy(&invitation.agreement.to_document()).into_owned();
        create_private(&self.out.join("agreement.json"), &agreement)?;
        for (name, bytes) in &files {
            create_private(&self.out.join(name), &String::from_utf8_lossy(bytes))?;
        }
        let answer = ExportAnswer {
            folder: self.out.clone(),
            files: files.into_iter().map(|(name, _)| name).collect(),
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

/// What the receipt at `path` stands for: the files beside it are not signed, so they are made again.
fn published(path: &Path, agreed: &Agreed) -> Result<Vec<(String, Vec<u8>)>, Failure> {
    let name = path.display().to_string();
    let document = Document::parse(&String::from_utf8_lossy(&read(path)?), &name)?;
    document.verify(&name)?;
    match document {
        Document::Study(receipt) if receipt.receipt.agreement_digest == *agreed.digest() => {
            let mut files = study_files(&receipt);
            let transcript = path.with_file_name(TRANSCRIPT);
            if transcript.exists() {
                let bytes = read(&transcript)?;
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let document = Document::Study(receipt);
                document.verify_transcript(&text, &transcript.display().to_string())?;
                files.push((TRANSCRIPT.to_owned(), bytes));
            }
            Ok(files)
        }
        _ => Err(unusable(
            path,
            &"it is of something else",
            "the receipt of the study of this folder",
        )),
    }
}
