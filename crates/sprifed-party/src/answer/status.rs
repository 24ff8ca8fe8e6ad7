//! Where a party stands in its studies.

use schemars::JsonSchema;
use serde::Serialize;
use sprifed_privacy::{Delta, Epsilon, Participation, PrivacyUnit, Relation, SpentDelta, counted};
use sprifed_recovery::CertifiedProcedure;
use sprifed_study::{Agreed, Digest, PartyReceipt, charged_by};

use crate::error::PartyError;
use crate::folder::StudyFolder;
use crate::ledger::{LifetimeLine, Standing, TotalsAnswer};
use crate::private_files::read_file;

/// A party with its studies.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PartyStatusAnswer {
    /// Its name.
    pub party: String,
    /// The studies that were asked for.
    pub studies: Vec<PartAnswer>,
    /// What all its studies and fits cost together.
    pub totals: TotalsAnswer,
}

/// A party's part in one study.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PartAnswer {
    /// The digest of the agreement.
    pub study: String,
    /// What the study is called.
    pub title: String,
    /// Whose presence is protected.
    pub unit: PrivacyUnit,
    /// Which data sets are neighbours.
    pub neighbours: Relation,
    /// Whether the noise is secret.
    pub protected: bool,
    /// What was agreed on; absent if the folder of the study is not here.
    pub agreed: Option<AgreedTerms>,
    /// Where it stands, for people.
    pub state: String,
    /// How many sums the party answered.
    pub sums_answered: usize,
    /// Whether the party left.
    pub left: bool,
    /// ε by the party's own journal; absent if the noise protects no record.
    pub epsilon_spent: Option<f64>,
    /// ε that the ledger counts; absent if the noise protects no record.
    pub epsilon_counted: Option<Epsilon>,
    /// δ that the ledger counts; absent if the noise protects no record.
    pub delta_counted: Option<SpentDelta>,
    /// Whether the cost is what was spent, and not the most possible.
    pub settled: bool,
}

impl PartAnswer {
    /// What the party's ledger says in `line`, and its folder of the study, if it is here.
    ///
    /// # Errors
    /// When invitation, journal or receipt cannot be used.
    pub fn read(line: &LifetimeLine, folder: Option<&StudyFolder>) -> Result<Self, PartyError> {
        let part = match folder {
            Some(folder) => Part::read(folder)?,
            None => Part::default(),
        };
        let left = part.has_left || line.standing == Standing::Left;
        let cost = line.protected_cost();
        Ok(Self {
            study: line.study.clone(),
            title: line.title.clone(),
            unit: line.kind.unit,
            neighbours: line.kind.neighbours,
            protected: cost.is_some(),
            agreed: part.agreed,
            state: part.state(left, line.is_settled()),
            sums_answered: part.answered,
            left,
            epsilon_spent: part.spent.filter(|_| cost.is_some()),
            epsilon_counted: cost.map(|cost| cost.epsilon),
            delta_counted: cost.map(|cost| cost.delta),
            settled: line.is_settled(),
        })
    }
}

/// What the folder of a study says.
#[derive(Default)]
struct Part {
    agreed: Option<AgreedTerms>,
    /// ε by the party's own journal.
    spent: Option<f64>,
    answered: usize,
    ending: Option<String>,
    has_left: bool,
}

impl Part {
    fn read(folder: &StudyFolder) -> Result<Self, PartyError> {
        let mut part = Self::default();
        let mut agreed = None;
        if folder.invitation().exists() {
            agreed = Some(folder.read_invitation()?.1);
        }
        if folder.database().exists() {
            let stored = folder.look_into()?.unwrap_or_default();
            part.has_left = stored.has_left();
            if let Some(agreed) = &agreed {
                let ledger = charged_by(agreed, &stored.lines);
                let ledger = ledger.map_err(|declined| PartyError::Contradiction {
                    path: folder.database(),
                    found: declined.to_string(),
                })?;
                part.answered = ledger.record().entries.len();
                part.spent = Some(ledger.spent().map_or(0.0, |spent| spent.epsilon().get()));
            }
        }
        part.agreed = agreed.as_ref().map(AgreedTerms::from);
        let receipt = folder.receipt();
        if receipt.exists() {
            let document: PartyReceipt =
                serde_json::from_slice(&read_file(&receipt)?).map_err(|error| {
                    PartyError::unusable(receipt.display().to_string(), error, "a receipt")
                })?;
            part.ending = Some(document.study.receipt.ending);
        }
        Ok(part)
    }

    /// Where the study stands.
    fn state(&self, left: bool, is_settled: bool) -> String {
        match (&self.ending, &self.agreed) {
            (Some(ending), _) => format!("over: {ending}"),
            (None, _) if left && !is_settled => {
                "left, but not settled: run `study leave` again".to_owned()
            }
            (None, _) if left => "left: this party answers nothing more".to_owned(),
            (None, Some(agreed)) if self.answered > 0 => {
                format!("{} of {} answered", self.answered, agreed.steps_text())
            }
            (None, Some(_)) => "joined, nothing answered yet".to_owned(),
            (None, None) => "its folder is not here".to_owned(),
        }
    }
}

/// What the parties of a study agreed on.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct AgreedTerms {
    /// The coordinator's key.
    pub coordinator: Digest,
    /// How features are found.
    pub procedure: CertifiedProcedure,
    /// p: how many features.
    pub features: u32,
    /// How many parties.
    pub parties: usize,
    /// How many trustees choose and add up: three, or none for secure sums.
    pub trustees: usize,
    /// A sum of fewer parties is never opened; absent where trustees open sums of any number of parties.
    pub quorum: Option<u32>,
    /// How many sums.
    pub sums: usize,
    /// How many of them may be repeated.
    pub repeats: u32,
    /// ε with all repetitions.
    pub largest_epsilon: Epsilon,
    /// δ.
    pub delta: Delta,
}

impl AgreedTerms {
    /// How many sums, or choices and sums.
    pub(super) fn steps_text(&self) -> String {
        if self.trustees == 0 {
            counted(self.sums, "sum", "sums")
        } else {
            counted(self.sums, "choice or sum", "choices and sums")
        }
    }
}

impl From<&Agreed> for AgreedTerms {
    fn from(agreed: &Agreed) -> Self {
        let agreement = agreed.agreement();
        Self {
            coordinator: agreement.coordinator,
            procedure: agreement.procedure,
            features: agreement.setting.n_features,
            parties: agreement.parties.len(),
            trustees: agreement.trustees.as_ref().map_or(0, |three| three.len()),
            quorum: agreed.participation().map(Participation::quorum),
            sums: agreed.n_steps(),
            repeats: agreement.repeats,
            largest_epsilon: agreed.ceiling().epsilon(),
            delta: agreed.ceiling().delta(),
        }
    }
}
