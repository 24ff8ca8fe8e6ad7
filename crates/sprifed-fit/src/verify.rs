//! A model's receipt, computed again by whoever was given it.

use sprifed_noise::Provenance;
use sprifed_privacy::{Epsilon, Ledger};

use crate::failure::Failure;
use crate::guarantee::Guarantee;
use crate::model::Model;

/// What `model` promises, computed again from its plan and its ledgers.
///
/// # Errors
/// When a ledger does not add up, more was charged than the plan says, or the guarantee is another
/// one than the plan and the ledgers give.
pub(crate) fn verify_model(model: &Model) -> Result<Guarantee, Failure> {
    let refuse = |what: &str, found: String, required: String| {
        Failure::outcome(
            "sprifed::receipt::wrong",
            format!("{what}: found {found}, but {required} is required"),
            "do not believe this receipt; ask for the file that the fit wrote",
        )
    };
    let spending = model.plan.spending()?;
    let mut provenance = Provenance::Cryptographic;
    for receipt in &model.receipts {
        let ledger = Ledger::replay(&receipt.ledger)
            .map_err(|error| refuse("the ledger", error.to_string(), "lines that add up".into()))?;
        let (charged, planned) = (ledger.record().entries.len(), model.plan.steps.len());
        if charged != planned {
            let required = format!("{planned}, one for each step of the plan");
            return Err(refuse("the ledger", format!("{charged} lines"), required));
        }
        let delta = receipt.ledger.budget.delta();
        let planned = spending.to_approx_dp(delta).map(|cost| cost.epsilon());
        if receipt.ledger.spent > planned {
            let words = |epsilon: Option<Epsilon>| epsilon.map_or(0.0, Epsilon::get).to_string();
            let required = format!("at most {}", words(planned));
            return Err(refuse(
                "the epsilon spent",
                words(receipt.ledger.spent),
                required,
            ));
        }
        if receipt.provenance != Provenance::Cryptographic {
            provenance = receipt.provenance;
        }
    }
    let terms = model.guarantee.terms(model.plan.origin)?;
    let guarantee = Guarantee::of(&spending, terms, provenance)?;
    if guarantee == model.guarantee {
        return Ok(guarantee);
    }
    Err(refuse(
        "the guarantee",
        model.guarantee.statement.clone(),
        guarantee.statement,
    ))
}
