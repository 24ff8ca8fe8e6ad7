//! `study status` of a trustee's folder: which studies it serves, and how far they are.

use std::path::Path;

use sprifed::{TrusteePartAnswer, TrusteeStatusAnswer};
use sprifed_party::{StoredTrustee, StudyFolder, TrusteeFolder, is_there, read_file};
use sprifed_privacy::counted;
use sprifed_study::{SignedReceipt, TrusteeLine};
use sprifed_trustees::JournalLine;

use super::unusable;
use crate::failure::{Explained as _, Failure};
use crate::output::Output;

/// The trustee whose folder `folder` is, or in one of whose studies it is.
pub(super) fn trustee_of(folder: &Path) -> Option<TrusteeFolder> {
    let around = folder.ancestors().take(2).map(TrusteeFolder::new);
    around.into_iter().find(TrusteeFolder::is_trustee)
}

/// Says where a trustee stands: in the study of `folder`, or in all its studies.
pub(super) fn say(trustee: &TrusteeFolder, folder: &Path, output: &Output) -> Result<(), Failure> {
    let public = trustee.public()?.trustee;
    let mut studies = Vec::new();
    for study in StudyFolder::all_in(trustee.path()).explained()? {
        // Without an invitation nothing was sent: it is being made, or a kill came first.
        let is_made = is_there(&study.invitation());
        if is_made && (folder == trustee.path() || folder == study.path()) {
            studies.push(part(&study)?);
        }
    }
    let answer = TrusteeStatusAnswer {
        trustee: public.name,
        identity: public.identity,
        studies,
    };
    output.answer(&answer, |answer| {
        let studies: String = answer.studies.iter().map(text_of_part).collect();
        let none = if studies.is_empty() {
            "\nno study was begun"
        } else {
            ""
        };
        let text = format!(
            "trustee {}  {}\n{studies}{none}",
            answer.trustee, answer.identity
        );
        text.trim_end().to_owned()
    });
    Ok(())
}

/// A trustee's part in the study in `folder`.
fn part(folder: &StudyFolder) -> Result<TrusteePartAnswer, Failure> {
    let (_, agreed) = folder.read_invitation()?;
    let stored = StoredTrustee::look_into(folder).explained()?;
    let stored = stored.unwrap_or_default();
    let (mut opened, mut attempts) = (0, 0);
    for line in &stored.lines {
        match line {
            TrusteeLine::Begun { .. } => attempts += 1,
            TrusteeLine::Attempt(JournalLine::Opened { .. }) => opened += 1,
            _ => {}
        }
    }
    let agreement = agreed.agreement();
    Ok(TrusteePartAnswer {
        study: *agreed.digest(),
        title: agreement.title.clone(),
        coordinator: agreement.coordinator,
        clients: agreement.parties.len(),
        steps: agreed.n_steps(),
        opened,
        attempts,
        state: match ending(folder)? {
            Some(ending) => format!("over: {ending}"),
            None => format!("{opened} of {} choices and sums opened", agreed.n_steps()),
        },
        erased: !is_there(&folder.trustee_key()),
    })
}

/// How the study ended, if it did.
fn ending(folder: &StudyFolder) -> Result<Option<String>, Failure> {
    let path = folder.receipt();
    if !is_there(&path) {
        return Ok(None);
    }
    let receipt: SignedReceipt = serde_json::from_slice(&read_file(&path)?)
        .map_err(|error| unusable(&path, &error, "a receipt"))?;
    Ok(Some(receipt.receipt.ending))
}

fn text_of_part(part: &TrusteePartAnswer) -> String {
    let secrets = if part.erased {
        "its keys of this study are erased"
    } else {
        "it holds keys of this study: do not copy its folder"
    };
    format!(
        "\n{} ({})\n  {}, {} of {}; {}\n  coordinator {}\n",
        part.title,
        part.state,
        counted(part.attempts, "attempt", "attempts"),
        counted(part.steps, "choice or sum", "choices and sums"),
        counted(part.clients, "client", "clients"),
        secrets,
        part.coordinator,
    )
}
