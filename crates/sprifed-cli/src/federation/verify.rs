//! `verify`: recomputes the guarantee of a receipt from its own contents.

use std::path::PathBuf;

use clap::Args;
use sprifed::{
    Document, Guarantee, Model, ModelVerification, Proof, StudyVerification, study_words,
};
use sprifed_privacy::Epsilon;
use sprifed_study::{Digest, Verified};

use super::read;
use crate::failure::Failure;
use crate::output::Output;

/// `verify`.
#[derive(Args, Debug)]
pub(crate) struct Verify {
    /// The receipt of a coordinator or of a party; or a model, of which only the guarantee is computed again.
    receipt: PathBuf,
    /// Refuse this model file if it is not the one that the receipt was signed for. Without this option no model file is
    /// checked.
    #[arg(long, value_name = "model.json")]
    model: Option<PathBuf>,
    /// Derive the model again from these released sums, and refuse the receipt if its model is another.
    #[arg(long, value_name = "transcript.json")]
    transcript: Option<PathBuf>,
    /// Refuse the receipt of another coordinator than the one with this key.
    #[arg(long, value_name = "KEY", value_parser = parse_digest)]
    coordinator: Option<Digest>,
    /// Refuse the receipt of another agreement than the one with this digest (`study` in `join --check --json`).
    #[arg(long, value_name = "DIGEST", value_parser = parse_digest)]
    agreement: Option<Digest>,
    /// End well even if fewer parties than the quorum, or fewer than two trustees, have signed: the receipt is the
    /// coordinator's word alone.
    #[arg(long)]
    accept_unsigned: bool,
}

fn parse_digest(text: &str) -> Result<Digest, String> {
    let refused = |_| format!("{text:?} is not what is required, 64 hexadecimal digits");
    Digest::try_from(text.to_ascii_lowercase()).map_err(refused)
}

impl Verify {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        let name = self.receipt.display().to_string();
        let text = String::from_utf8_lossy(&read(&self.receipt)?).into_owned();
        let document = Document::parse(&text, &name)?;
        match document.verify(&name)? {
            Proof::Model(guarantee) => self.say_model(&guarantee, output),
            Proof::Study(verified) => self.say_study(&document, &verified, None, output),
            Proof::Party(verified, party, charged) => {
                self.say_study(&document, &verified, Some((party, charged)), output)
            }
        }
    }

    fn say_model(&self, guarantee: &Guarantee, output: &Output) -> Result<(), Failure> {
        let of_study = [
            self.coordinator.is_some(),
            self.agreement.is_some(),
            self.model.is_some(),
            self.transcript.is_some(),
        ];
        if of_study.contains(&true) {
            return Err(Failure::usage(
                "sprifed::verify::no-study",
                format!(
                    "`{}` is a model, which has no signature; --coordinator, --agreement, --model and --transcript are \
                     for receipts of studies",
                    self.receipt.display()
                ),
                "give the receipt of the study, or leave them out",
            ));
        }
        let answer = ModelVerification::from(guarantee.clone());
        output.answer(&answer, |_| {
            format!(
                "{}\n\nCONSISTENT: the plan and the ledger in the file give this guarantee. The file is not signed, and its \
                 coefficients were NOT CHECKED: a holder of the file can change them. For the model of a study, verify the \
                 receipt with --model; for a fit, compare the file with the copy of the user who made it",
                guarantee.statement
            )
        });
        Ok(())
    }

    fn say_study(
        &self,
        document: &Document,
        verified: &Verified,
        charged: Option<(String, Option<Epsilon>)>,
        output: &Output,
    ) -> Result<(), Failure> {
        self.compare(
            "the coordinator's key",
            verified.coordinator,
            self.coordinator,
        )?;
        self.compare("the agreement's digest", verified.agreement, self.agreement)?;
        self.compare_model(document)?;
        if let Some(path) = &self.transcript {
            let text = String::from_utf8_lossy(&read(path)?).into_owned();
            document.verify_transcript(&text, &path.display().to_string())?;
        }
        let answer = StudyVerification {
            model_checked: self.model.is_some(),
            model_derived_again: self.transcript.is_some(),
            ..StudyVerification::of(verified, charged.clone())
        };
        let is_believed = answer.verified;
        let is_compared = self.coordinator.is_some() && self.agreement.is_some();
        output.answer(&answer, |_| {
            let mut words = study_words(verified, charged.as_ref());
            words += &match &self.model {
                Some(model) => format!("\n`{}` is the model of this receipt", model.display()),
                None => "\nNO MODEL FILE WAS CHECKED: a model file is not signed; compare it with --model".to_owned(),
            };
            if self.transcript.is_some() && !verified.trustees_signed.is_empty() {
                words += "\nall three trustees signed each index and each sum that was opened";
            }
            if self.transcript.is_some() {
                words += "\nthe model was derived again from the released sums and is the same to the last bit";
            }
            if is_compared {
                return words + "\nthe coordinator and the agreement are those that you named";
            }
            format!(
                "{words}\nnames prove nothing, keys do: compare the coordinator's key {} and the agreement {} with \
                 yours, or give them with --coordinator and --agreement",
                verified.coordinator, verified.agreement
            )
        });
        if is_believed || self.accept_unsigned {
            return Ok(());
        }
        let has_trustees =
            !(verified.trustees_signed.is_empty() && verified.trustees_not_signed.is_empty());
        let (found, role) = if has_trustees {
            (verified.trustees_signed.len(), "trustees")
        } else {
            (verified.signed_by.len(), "parties")
        };
        Err(Failure::outcome(
            "sprifed::verify::unconfirmed",
            format!(
                "`{}` is signed by {found} {role}, but {} are required: what it states is the coordinator's word alone",
                self.receipt.display(),
                verified.quorum
            ),
            "ask the parties for their own receipts, or take the coordinator's word with --accept-unsigned",
        ))
    }

    /// A model file is not signed; the receipt that is says what it must hold.
    fn compare_model(&self, document: &Document) -> Result<(), Failure> {
        let Some(path) = &self.model else {
            return Ok(());
        };
        let text = String::from_utf8_lossy(&read(path)?).into_owned();
        let model = Model::parse(&text, &path.display().to_string())?;
        if document.has_model(&model) {
            return Ok(());
        }
        Err(Failure::outcome(
            "sprifed::verify::another-model",
            format!(
                "`{}` is not the model that `{}` was signed for",
                path.display(),
                self.receipt.display()
            ),
            "do not use it; `sprifed study export` writes the model again",
        ))
    }

    /// Right, but perhaps of another study than the one that was meant.
    fn compare(&self, what: &str, found: Digest, meant: Option<Digest>) -> Result<(), Failure> {
        match meant {
            Some(required) if required != found => Err(Failure::outcome(
                "sprifed::verify::another",
                format!(
                    "`{}` is of another study: {what} is {found}, but {required} is required",
                    self.receipt.display()
                ),
                "ask its sender for the receipt of your study",
            )),
            _ => Ok(()),
        }
    }
}
