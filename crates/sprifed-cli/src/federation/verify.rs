//! `verify`: recomputes the guarantee of a receipt from its own contents.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use sprifed_study::{PartyReceipt, Problem, SignedReceipt, Verified};

use super::{read, unusable};
use crate::failure::Failure;
use crate::output::Output;

/// `verify`.
#[derive(Args, Debug)]
pub(crate) struct Verify {
    /// The receipt of a coordinator or of a party.
    receipt: PathBuf,
}

impl Verify {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        let value: Value = serde_json::from_slice(&read(&self.receipt)?)
            .map_err(|error| unusable(&self.receipt, &error, "a receipt"))?;
        let damaged = |error: serde_json::Error| unusable(&self.receipt, &error, "a receipt");
        let (verified, charged) = if value.get("statement").is_some() {
            let receipt: PartyReceipt = serde_json::from_value(value).map_err(damaged)?;
            let spent = receipt.statement.ledger.spent;
            (receipt.verify(), spent)
        } else {
            let receipt: SignedReceipt = serde_json::from_value(value).map_err(damaged)?;
            (receipt.verify(), None)
        };
        let verified = verified.map_err(|problem| self.refuse(&problem))?;
        let answer = json!({
            "verified": true, "guarantee": verified.guarantee, "signed_by": verified.signed_by,
            "not_signed_by": verified.not_signed_by, "charged_to_party": charged,
        });
        output.answer(&answer, |_| words(&verified));
        Ok(())
    }

    fn refuse(&self, problem: &Problem) -> Failure {
        Failure::outcome(
            "sprifed::verify::refused",
            format!(
                "`{}` is not to be believed: {problem}",
                self.receipt.display()
            ),
            "ask whoever gave it to you for the original",
        )
    }
}

fn words(verified: &Verified) -> String {
    let list = |names: &[String]| {
        if names.is_empty() {
            "nobody".to_owned()
        } else {
            names.join(", ")
        }
    };
    format!(
        "{}.\nVERIFIED: computed again from the receipt alone, signed by the coordinator and by {}; not by {}",
        verified.guarantee.statement,
        list(&verified.signed_by),
        list(&verified.not_signed_by),
    )
}
