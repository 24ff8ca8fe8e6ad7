//! What claims a guarantee, read and computed again: a model, the receipt of a study, or that of one of
//! its parties.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use sprifed_privacy::Epsilon;
use sprifed_study::{PartyReceipt, Problem, Released, SignedReceipt, Verified};

use crate::error::{Error, ReceiptDefect, TranscriptDefect};
use crate::federation::study_files;
use crate::guarantee::Guarantee;
use crate::model::{FORMAT, Model};
use crate::verify::verify_model;

mod answer;
mod words;

pub use answer::{ModelVerification, ProofAnswer, ReceiptAnswer, StudyVerification};
pub use words::study_words;

/// A document that claims a guarantee.
#[derive(Clone, Debug)]
pub enum Document {
    /// What `fit` wrote.
    Model(Box<Model>),
    /// What a coordinator wrote.
    Study(Box<SignedReceipt>),
    /// What a party wrote.
    Party(Box<PartyReceipt>),
}

/// The fields that tell one kind of document from another.
#[derive(Deserialize)]
struct DocumentKind {
    format: Option<String>,
    statement: Option<IgnoredAny>,
}

/// What was computed from a document alone.
#[derive(Clone, Debug)]
pub enum Proof {
    /// Of a model: it is not signed.
    Model(Guarantee),
    /// Of a study.
    Study(Verified),
    /// Of a party's receipt: the study, the party's name and what it signs to have been charged.
    Party(Verified, String, Option<Epsilon>),
}

impl Document {
    /// Reads a document, which messages call `name`.
    ///
    /// # Errors
    /// When it is none of the three, has a key twice, or has something in it that none of them has.
    pub fn parse(text: &str, name: &str) -> Result<Self, Error> {
        let refuse = |found: ReceiptDefect| Error::UnreadableReceipt {
            name: name.to_owned(),
            found,
        };
        let damaged = |error: serde_json::Error| {
            refuse(if error.is_data() {
                ReceiptDefect::NoReceipt(error)
            } else {
                ReceiptDefect::NotJson(error)
            })
        };
        let kind: DocumentKind = serde_json::from_str(text).map_err(damaged)?;
        Ok(match kind {
            DocumentKind {
                format: Some(format),
                ..
            } if format == FORMAT => Self::Model(Box::new(Model::parse(text, name)?)),
            DocumentKind {
                statement: Some(_), ..
            } => Self::Party(serde_json::from_str(text).map_err(damaged)?),
            _ => Self::Study(serde_json::from_str(text).map_err(damaged)?),
        })
    }

    /// Computes the guarantee again.
    ///
    /// # Errors
    /// When the document claims another one, or a signature is wrong.
    pub fn verify(&self, name: &str) -> Result<Proof, Error> {
        let refuse = |problem: Problem| Error::WrongReceipt {
            name: name.to_owned(),
            problem: problem.into(),
        };
        match self {
            Self::Model(model) => verify_model(model).map(Proof::Model),
            Self::Study(receipt) => receipt.verify().map(Proof::Study).map_err(refuse),
            Self::Party(receipt) => {
                let verified = receipt.verify().map_err(refuse)?;
                let place = receipt.statement.party as usize;
                let party = receipt.study.receipt.agreement.parties.get(place);
                let party = party.map_or_else(String::new, |party| party.name.clone());
                Ok(Proof::Party(
                    verified,
                    party,
                    receipt.statement.ledger.spent,
                ))
            }
        }
    }

    /// The receipt of the study; a model has none.
    fn study(&self) -> Option<&SignedReceipt> {
        match self {
            Self::Model(_) => None,
            Self::Study(receipt) => Some(receipt),
            Self::Party(receipt) => Some(&receipt.study),
        }
    }

    /// Derives the model again from the released sums of a transcript file, and compares.
    ///
    /// # Errors
    /// When the file is no transcript of this study, or gives another model; only a receipt of a study can tell.
    pub fn verify_transcript(&self, transcript: &str, name: &str) -> Result<(), Error> {
        let refuse = |problem: TranscriptDefect| Error::WrongTranscript {
            name: name.to_owned(),
            problem,
        };
        let Some(receipt) = self.study() else {
            return Err(refuse(TranscriptDefect::OfModel));
        };
        let released: Vec<Released> = serde_json::from_str(transcript)
            .map_err(|error| refuse(TranscriptDefect::Unreadable(error)))?;
        let verified = receipt.verify_transcript(&released);
        verified.map_err(|problem| refuse(TranscriptDefect::Other(problem.into())))
    }

    /// Whether `model` is what the receipt says; only a receipt of a study can tell.
    #[must_use]
    pub fn has_model(&self, model: &Model) -> bool {
        let Some(receipt) = self.study() else {
            return false;
        };
        let files = study_files(receipt);
        let made = files.iter().find(|(name, _)| name == "model.json");
        let made = made.and_then(|(_, bytes)| serde_json::from_slice::<Value>(bytes).ok());
        let found = serde_json::to_value(model).ok();
        made.zip(found)
            .is_some_and(|(made, found)| without_program(made) == without_program(found))
    }
}

/// A model file without the name of the program that wrote it.
fn without_program(mut model: Value) -> Value {
    if let Some(fields) = model.as_object_mut() {
        fields.remove("software");
    }
    model
}

#[cfg(test)]
mod tests;
