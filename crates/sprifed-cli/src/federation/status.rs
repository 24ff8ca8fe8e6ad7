//! `study status`, `study cancel`, `study export`: a look at one's own folder.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use sprifed_net::{StatusView, stored_status};

use super::coordinate::{CANCELLED, STATE, open_machine, read_study};
use super::identity::make_folder;
use super::{party_status, read};
use crate::failure::{Explained as _, Failure};
use crate::files::create_private;
use crate::output::Output;

/// `study status`.
#[derive(Args, Debug)]
pub(crate) struct Status {
    /// The folder of the study; a party's own folder, or one of the study folders in it, says where the party stands.
    folder: PathBuf,
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
    /// Where the copies go; the folder must not exist.
    #[arg(long)]
    out: PathBuf,
}

impl Status {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        if party_status::is_of_party(&self.folder) {
            return party_status::say(&self.folder, output);
        }
        let (_, agreed) = read_study(&self.folder)?;
        let machine = open_machine(&self.folder, &agreed)?;
        let state = self.folder.join(STATE);
        let is_begun = state.exists();
        let status = if is_begun {
            stored_status(&state, machine).explained()?
        } else {
            sprifed_net::CoordinatorMachine::status(&machine)
        };
        let cancelled = self.folder.join(CANCELLED).exists();
        let mut answer = serde_json::to_value(&status).unwrap_or_default();
        if let Value::Object(fields) = &mut answer {
            fields.insert("study".to_owned(), json!(agreed.digest()));
            fields.insert("begun".to_owned(), json!(is_begun));
            fields.insert("cancelled".to_owned(), json!(cancelled));
        }
        output.answer(&answer, |_| words(&status, is_begun, cancelled));
        Ok(())
    }
}

fn words(status: &StatusView, is_begun: bool, cancelled: bool) -> String {
    let state = match (cancelled, is_begun) {
        (true, _) => "cancelled",
        (false, true) => status.phase.as_str(),
        (false, false) => "not begun",
    };
    let mut text = format!(
        "{}: {state}\n{}\nsums {} of {}; epsilon {:.4} of at most {:.4} spent\n",
        status.title,
        status.guarantee,
        status.progress.done,
        status.progress.planned,
        status.budget.epsilon_spent,
        status.budget.epsilon_planned,
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
        let (_, agreed) = read_study(&self.folder)?;
        let path = self.folder.join(CANCELLED);
        if !path.exists() {
            create_private(&path, "cancelled by the coordinator\n")?;
        }
        let answer = json!({ "study": agreed.digest(), "cancelled": true });
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
        let (invitation, _) = read_study(&self.folder)?;
        let result = self.folder.join("result");
        let names = ["receipt.json", "model.json"];
        let found: Vec<&str> = names
            .into_iter()
            .filter(|n| result.join(n).exists())
            .collect();
        if found.is_empty() {
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
        make_folder(&self.out)?;
        let agreement = String::from_utf8_lossy(&invitation.agreement.to_document()).into_owned();
        create_private(&self.out.join("agreement.json"), &agreement)?;
        for name in &found {
            copy(&result.join(name), &self.out.join(name))?;
        }
        let answer = json!({ "folder": self.out, "files": found });
        output.answer(&answer, |_| {
            format!(
                "agreement.json, {} in {}",
                found.join(", "),
                self.out.display()
            )
        });
        Ok(())
    }
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    create_private(to, &String::from_utf8_lossy(&read(from)?))
}
