//! A trustee's studies: how far each is by its folder, and what a person is told.

use sprifed_party::{
    PartyError, StoredTrustee, StudyFolder, StudyHeading, TWO_SEE, is_there, key_lines, key_text,
    permission_lines, read_file,
};
use sprifed_privacy::counted;
use sprifed_study::{SignedReceipt, TrusteeLine};
use sprifed_trustees::JournalLine;

use super::trustee_answer::{TrusteeCheckAnswer, TrusteePartAnswer, TrusteeStatusAnswer};
use crate::shown_numbers::{shown_bytes, shown_seconds};

impl TrusteeCheckAnswer {
    /// Status first, then what the study is, its work, and what to compare by telephone.
    #[must_use]
    pub fn text(&self) -> String {
        let mut lines = permission_lines(&self.problems, "the policy allows this study");
        let heading = StudyHeading {
            protected: self.protected,
            title: &self.title,
            purpose: &self.purpose,
            words: &self.words,
            study: self.study,
            coordinator: self.coordinator,
            address: &self.address,
        };
        lines.extend(heading.lines());
        let keys = self.trustees.iter().map(|trustee| {
            let this = trustee.is_this_trustee.then_some("trustee");
            key_text(
                trustee.identity,
                &trustee.name,
                trustee.known_as.as_deref(),
                this,
            )
        });
        lines.extend(key_lines("Trustees", keys));
        lines.push(format!("             {TWO_SEE}"));
        lines.push(format!("Gates        {}", self.gates.text()));
        lines.push(format!(
            "Method       {} over {}, {} of {}",
            self.procedure,
            counted(self.features, "feature", "features"),
            counted(self.steps, "choice or sum", "choices and sums"),
            counted(self.clients, "party", "parties"),
        ));
        lines.push(format!(
            "Work         sends {} in {}, and holds {} at once",
            shown_bytes(self.work.sends_bytes),
            counted(self.work.rounds, "round", "rounds"),
            shown_bytes(self.work.memory_bytes),
        ));
        if let Some(proof) = self.proof {
            lines.push(format!(
                "             and for the proof {} in {}, and {} of computation",
                shown_bytes(proof.sends_bytes),
                counted(proof.rounds, "round", "rounds"),
                shown_seconds(proof.cpu_seconds),
            ));
        }
        lines.push(
            "Telephone    Compare the words, and the key of each trustee, with the coordinator and the trustees"
                .to_owned(),
        );
        lines.join("\n")
    }
}

impl TrusteeStatusAnswer {
    /// The trustee, then each study.
    #[must_use]
    pub fn text(&self) -> String {
        let studies: String = self.studies.iter().map(TrusteePartAnswer::text).collect();
        let none = if studies.is_empty() {
            "\nno study was begun"
        } else {
            ""
        };
        let text = format!(
            "trustee {}  {}\n{studies}{none}",
            self.trustee, self.identity
        );
        text.trim_end().to_owned()
    }
}

impl TrusteePartAnswer {
    /// A trustee's part in the study in `folder`.
    ///
    /// # Errors
    /// When the invitation, the journal or the receipt in it cannot be used.
    pub fn read(folder: &StudyFolder) -> Result<Self, PartyError> {
        let (_, agreed) = folder.read_invitation()?;
        let stored = StoredTrustee::look_into(folder)?.unwrap_or_default();
        let (mut opened, mut attempts) = (0, 0);
        for line in &stored.lines {
            match line {
                TrusteeLine::Begun { .. } => attempts += 1,
                TrusteeLine::Attempt(JournalLine::Opened { .. }) => opened += 1,
                _ => {}
            }
        }
        let agreement = agreed.agreement();
        Ok(Self {
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

    fn text(&self) -> String {
        let secrets = if self.erased {
            "its keys of this study are erased"
        } else {
            "it holds keys of this study: do not copy its folder"
        };
        format!(
            "\n{} ({})\n  {}, {} of {}; {}\n  coordinator {}\n",
            self.title,
            self.state,
            counted(self.attempts, "attempt", "attempts"),
            counted(self.steps, "choice or sum", "choices and sums"),
            counted(self.clients, "party", "parties"),
            secrets,
            self.coordinator,
        )
    }
}

/// How the study ended, if it did.
fn ending(folder: &StudyFolder) -> Result<Option<String>, PartyError> {
    let path = folder.receipt();
    if !is_there(&path) {
        return Ok(None);
    }
    let receipt: SignedReceipt =
        serde_json::from_slice(&read_file(&path)?).map_err(|error| PartyError::Unusable {
            name: path.display().to_string(),
            found: error.to_string(),
            required: "a receipt",
        })?;
    Ok(Some(receipt.receipt.ending))
}
