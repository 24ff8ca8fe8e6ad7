//! `study status`, `study cancel`, `study export`: a look at one's own folder.

use std::path::PathBuf;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use sprifed::{CancelAnswer, ExportAnswer};
use sprifed_coordinator::{CoordinatorFolder, OVER};
use sprifed_net::StatusView;
use sprifed_privacy::shown_cost;
use sprifed_study::Digest;

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
        if let Some(trustee) = trustee_status::trustee_of(&self.folder) {
            return trustee_status::say(&trustee, &self.folder, output);
        }
        if party_status::is_of_party(&self.folder) {
            return party_status::say(&self.folder, self.ledger.as_deref(), output);
        }
        let folder = CoordinatorFolder::new(&self.folder);
        let (_, agreed) = folder.study()?;
        let status = folder.status(&agreed).explained()?;
        // One that had ended before it was cancelled stays as it ended.
        let cancelled = status.phase != OVER && folder.cancellation().exists();
        let answer = StatusAnswer {
            status,
            study: *agreed.digest(),
            begun: folder.is_begun(),
            cancelled,
        };
        output.answer(&answer, text);
        Ok(())
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
        "{}: {state}\n\n{}\n\n{} {} of {}; epsilon {} of at most {} spent\n",
        status.title,
        status.guarantee,
        if status.trustees.is_empty() {
            "sums"
        } else {
            "choices and sums"
        },
        status.progress.done,
        status.progress.planned,
        shown_cost(status.budget.epsilon_spent),
        shown_cost(status.budget.epsilon_planned),
    );
    for trustee in &status.trustees {
        text += &format!("  trustee {} {}\n", trustee.name, trustee.state.name());
    }
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
