//! `verify`: recomputes the guarantee of a receipt from its own contents.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use sprifed_privacy::Epsilon;
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
            let place = receipt.statement.party as usize;
            let party = receipt.study.receipt.agreement.parties.get(place);
            let name = party.map_or_else(String::new, |party| party.name.clone());
            (
                receipt.verify(),
                Some((name, receipt.statement.ledger.spent)),
            )
        } else {
            let receipt: SignedReceipt = serde_json::from_value(value).map_err(damaged)?;
            (receipt.verify(), None)
        };
        let verified = verified.map_err(|problem| self.refuse(&problem))?;
        let answer = json!({
            "coordinator": verified.coordinator, "agreement": verified.agreement,
            "verified": true, "guarantee": verified.guarantee, "signed_by": verified.signed_by,
            "not_signed_by": verified.not_signed_by, "charged_to_party": charged,
        });
        output.answer(&answer, |_| words(&verified, charged.as_ref()));
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

fn words(verified: &Verified, charged: Option<&(String, Option<Epsilon>)>) -> String {
    let mut text = format!(
        "{}.\nVERIFIED: computed again from the receipt alone; signed by the coordinator",
        verified.guarantee.statement
    );
    if !verified.signed_by.is_empty() {
        text += &format!(" and by {}", verified.signed_by.join(", "));
    }
    if let Some((name, epsilon)) = charged {
        let epsilon = epsilon.map_or(0.0, Epsilon::get);
        text += &format!("; {name} signs that it was charged epsilon = {epsilon:.4}");
    } else if !verified.not_signed_by.is_empty() {
        text += &format!("; NOT signed by {}", verified.not_signed_by.join(", "));
    }
    text + &format!(
        "\nnames prove nothing, keys do: compare the coordinator's key {} and the agreement {} with yours",
        verified.coordinator, verified.agreement
    )
}
