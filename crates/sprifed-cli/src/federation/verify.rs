//! `verify`: recomputes the guarantee of a receipt from its own contents.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use sprifed_privacy::Epsilon;
use sprifed_study::{Digest, PartyReceipt, Problem, SignedReceipt, Verified};

use super::{read, unusable};
use crate::failure::Failure;
use crate::output::Output;

/// `verify`.
#[derive(Args, Debug)]
pub(crate) struct Verify {
    /// The receipt of a coordinator or of a party.
    receipt: PathBuf,
    /// Refuse the receipt of another coordinator than the one with this key.
    #[arg(long, value_name = "KEY", value_parser = parse_digest)]
    coordinator: Option<Digest>,
    /// Refuse the receipt of another agreement than the one with this digest (`study` in `join --check --json`).
    #[arg(long, value_name = "DIGEST", value_parser = parse_digest)]
    agreement: Option<Digest>,
}

fn parse_digest(text: &str) -> Result<Digest, String> {
    let refused = |_| format!("{text:?} is not what is required, 64 hexadecimal digits");
    Digest::try_from(text.to_ascii_lowercase()).map_err(refused)
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
        self.compare(
            "the coordinator's key",
            verified.coordinator,
            self.coordinator,
        )?;
        self.compare("the agreement's digest", verified.agreement, self.agreement)?;
        let answer = json!({
            "coordinator": verified.coordinator, "agreement": verified.agreement,
            "verified": true, "guarantee": verified.guarantee, "signed_by": verified.signed_by,
            "not_signed_by": verified.not_signed_by, "charged_to_party": charged,
        });
        let is_compared = self.coordinator.is_some() && self.agreement.is_some();
        output.answer(&answer, |_| {
            let words = words(&verified, charged.as_ref());
            if is_compared {
                return words + "\nthe coordinator and the agreement are those that you named";
            }
            format!(
                "{words}\nnames prove nothing, keys do: compare the coordinator's key {} and the agreement {} with \
                 yours, or give them with --coordinator and --agreement",
                verified.coordinator, verified.agreement
            )
        });
        Ok(())
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
                "ask whoever gave it to you for the receipt of your study",
            )),
            _ => Ok(()),
        }
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
    text
}
