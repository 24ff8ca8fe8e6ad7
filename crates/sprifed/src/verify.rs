//! A model's receipt, computed again by its reader.
//!
//! Plan, ledger and guarantee say the same thing three times. Here the three are held against each
//! other. A file that is not signed can be made up as a whole; what is refused is one in which
//! a part was changed.

use sprifed_privacy::{Ledger, NoiseOrigin, PrivacyUnit};
use sprifed_query::PlannedStep;
use sprifed_recovery::{EVENTS_BLOCK, FitStatus, Outcome, SCORE_BLOCK};

use crate::backend::Backend;
use crate::error::Error;
use crate::guarantee::{Guarantee, Terms};
use crate::model::{Model, Receipt};

#[cfg(test)]
pub(crate) mod tests;

/// What `model` promises, computed again from its plan and its ledger.
///
/// # Errors
/// When there is not exactly one receipt, its ledger does not add up or is not that of the plan, or
/// the guarantee is another one than the two give.
pub(crate) fn verify_model(model: &Model) -> Result<Guarantee, Error> {
    let [receipt] = model.receipts.as_slice() else {
        return Err(refuse(
            "the receipts",
            &model.receipts.len().to_string(),
            "exactly one",
        ));
    };
    let ledger = Ledger::replay(&receipt.ledger)
        .map_err(|error| refuse("the ledger", &error.to_string(), "lines that add up"))?;
    compare_terms(model, &ledger)?;
    compare_lines(model, receipt)?;
    compare_clients(model)?;
    compare_outcome(model)?;
    let terms = Terms {
        delta: ledger.budget().delta(),
        relation: ledger.relation(),
        unit: ledger.unit(),
        most_records: model.most_records,
        origin: model.plan.origin,
    };
    // A study repeats sums that too few clients answered, so what was promised is what was charged.
    let mut guarantee = Guarantee::of(ledger.spending(), terms, receipt.provenance)?;
    if let Some(backend) = Backend::named(&model.guarantee.backend, terms.origin) {
        guarantee = guarantee.answered_by(backend);
    }
    let differing = guarantee.differences(&model.guarantee);
    if !differing.is_empty() {
        // The names only: what the file would have to say is nothing that its forger is told.
        let found = format!("another {}", differing.join(", "));
        return Err(refuse(
            "the guarantee",
            &found,
            "what the plan and the ledger give",
        ));
    }
    if model.label.as_deref() != guarantee.label() {
        let found = model.label.as_deref().unwrap_or("none");
        return Err(refuse("the label", found, "that of the guarantee"));
    }
    Ok(guarantee)
}

fn refuse(what: &'static str, found: &str, required: &str) -> Error {
    Error::Contradiction {
        what,
        found: found.to_owned(),
        required: required.to_owned(),
    }
}

/// Relation, unit and δ of the plan, the ledger and the guarantee.
fn compare_terms(model: &Model, ledger: &Ledger) -> Result<(), Error> {
    let plan = &model.plan;
    if ledger.relation() != plan.relation {
        let found = ledger.relation().text();
        return Err(refuse("the ledger", found, "the relation of the plan"));
    }
    if ledger.unit() != plan.unit {
        let found = ledger.unit().text();
        return Err(refuse("the ledger", found, "the unit of the plan"));
    }
    let (charged, planned) = (ledger.budget(), plan.budget);
    let may_repeat = matches!(plan.origin, NoiseOrigin::Shares(_));
    // A study may set aside more than its plan costs, for sums that it has to repeat.
    if charged.delta() != planned.delta() || (!may_repeat && charged != planned) {
        let found = format!("a budget of {} at {}", charged.epsilon(), charged.delta());
        return Err(refuse("the ledger", &found, "the budget of the plan"));
    }
    Ok(())
}

/// Every charge is for a step of the plan, in its order; only secure sums are asked for again.
fn compare_lines(model: &Model, receipt: &Receipt) -> Result<(), Error> {
    let plan = &model.plan;
    let line = |step: &PlannedStep| (purpose(step).to_owned(), plan.line(step));
    let steps: Vec<_> = plan.steps.iter().map(line).collect();
    let may_repeat = matches!(plan.origin, NoiseOrigin::Shares(_)) && model.most_records.is_none();
    let mut done = 0;
    for (place, entry) in receipt.ledger.entries.iter().enumerate() {
        let charges = |step: &(String, _)| (&step.0, &step.1) == (&entry.statement, &entry.line);
        if steps.get(done).is_some_and(charges) {
            done += 1;
        } else if !(may_repeat && done > 0 && charges(&steps[done - 1])) {
            let found = format!("in line {} something else than was planned", place + 1);
            return Err(refuse(
                "the ledger",
                &found,
                "the steps of the plan in order",
            ));
        }
    }
    if done == steps.len() {
        return Ok(());
    }
    let found = format!("lines for {done} steps");
    let required = format!("lines for all {} steps of the plan", steps.len());
    Err(refuse("the ledger", &found, &required))
}

fn purpose(step: &PlannedStep) -> &str {
    match step {
        PlannedStep::Sum(sum) => &sum.purpose,
        PlannedStep::Choice(choice) => &choice.purpose,
    }
}

/// Times are asked exactly of a response that is one, and a score of a response that is no number, unless so few records were there that only their mean was.
fn compare_outcome(model: &Model) -> Result<(), Error> {
    let blocks = model.plan.steps.iter().flat_map(|step| match step {
        PlannedStep::Sum(sum) => sum.blocks.as_slice(),
        PlannedStep::Choice(_) => &[],
    });
    let names: Vec<&str> = blocks.map(|one| one.block.name.as_str()).collect();
    let has_score = names.contains(&SCORE_BLOCK);
    let has_times = names.contains(&EVENTS_BLOCK);
    let is_linear = model.response.outcome.is_linear();
    let is_mean_only = matches!(model.status, FitStatus::TooFewRecords { .. });
    let is_time = model.response.outcome == Outcome::Survival;
    if has_times != is_time || (has_score == is_linear && !(is_mean_only && !is_linear)) {
        let found = model.response.outcome.name();
        return Err(refuse(
            "the outcome",
            found,
            "the one that the plan asks about",
        ));
    }
    Ok(())
}

/// The clients of the file, of its plan and of what is promised to those with several records.
fn compare_clients(model: &Model) -> Result<(), Error> {
    let clients = model.n_clients as u64;
    if let NoiseOrigin::Shares(participation) = model.plan.origin
        && u64::from(participation.clients()) != clients
    {
        let required = "as many as the plan has";
        return Err(refuse("the clients", &clients.to_string(), required));
    }
    let Some(most) = model.most_records else {
        if !matches!(model.plan.origin, NoiseOrigin::Shares(_)) {
            return Err(refuse(
                "`most_records`",
                "nothing",
                "the most records that one client can hold",
            ));
        }
        return Ok(());
    };
    // Records belong to clients: with fewer for each client there would be records left over.
    let least = model.train_size.div_ceil(clients.max(1));
    if model.plan.unit == PrivacyUnit::Record && u64::from(most) < least {
        let required = format!("at least {least}, for there are {clients} clients");
        return Err(refuse("`most_records`", &most.to_string(), &required));
    }
    Ok(())
}
