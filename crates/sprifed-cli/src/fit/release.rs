//! The part that spends: from the first answer to the file that says what was spent.
//!
//! Answers stay inside the process until the model is written, and nothing is written before. If
//! the run fails after the ledger was charged, the ledger goes to a file of its own: what was
//! spent is never counted as unspent.

use serde_json::{Value, json};
use sprifed_data::UnitModel;
use sprifed_noise::{NoiseGenerator, Provenance};
use sprifed_privacy::LedgerRecord;
use sprifed_query::{Curator, Part, Records};
use sprifed_recovery::Fit;
use sprifed_study::{Agreed, Agreement, Embedded, PartyKey, everybody};

use super::study::Study;
use crate::failure::Failure;
use crate::files::{Destination, write_beside};
use crate::model::{Model, Parts, Receipt, Response, software, to_term};
use crate::progress::Progress;

#[cfg(test)]
mod tests;

/// What the noise of a study is made from.
#[derive(Debug)]
pub(super) enum Secret {
    /// All of it, by one party.
    Curator(Box<NoiseGenerator>),
    /// A share for each client.
    Parties(PartyKey),
}

impl Secret {
    const fn provenance(&self) -> Provenance {
        match self {
            Self::Curator(generator) => generator.provenance(),
            Self::Parties(key) => key.provenance(),
        }
    }
}

/// How a run ended, and what it spent whatever the end was.
struct Run {
    outcome: Result<Fit, Failure>,
    ledger: LedgerRecord,
}

/// Runs `study` and writes its model.
///
/// # Errors
/// When the run ends without a fit or the model cannot be written. If something was spent, the
/// message says where the ledger is.
pub(super) fn release(
    study: &Study<'_>,
    secret: Secret,
    place: Destination,
    earlier_receipts: Vec<Value>,
) -> Result<Model, Failure> {
    let provenance = secret.provenance();
    let guarantee = study.guarantee(provenance)?;
    let records = study.grouped.records().map_err(|error| bug(&error))?;
    let progress = Progress::start("fit", study.plan.steps.len() as u64);
    let Run { outcome, ledger } = match secret {
        Secret::Curator(generator) => run_curator(study, records, *generator, &progress)?,
        Secret::Parties(key) => run_parties(study, &records, &key, &progress)?,
    };
    progress.finish();
    let receipt = Receipt { provenance, ledger };
    let path = place.path().to_owned();
    let kept = receipt.clone();
    let written = outcome.and_then(|fit| {
        let model = Model::from(to_parts(study, &fit, guarantee, receipt, earlier_receipts));
        place.write(&to_text(&model)?)?;
        Ok(model)
    });
    written.map_err(|failure| keep_ledger(failure, &path, &kept))
}

fn bug(error: &dyn core::fmt::Display) -> Failure {
    Failure::outcome(
        "sprifed::fit::bug",
        error.to_string(),
        "report this; nothing was spent",
    )
}

fn ended(error: &dyn core::fmt::Display) -> Failure {
    let help = "the run ended without a model";
    Failure::outcome("sprifed::fit::ended", error.to_string(), help)
}

fn run_curator(
    study: &Study<'_>,
    records: Records<'_>,
    generator: NoiseGenerator,
    progress: &Progress,
) -> Result<Run, Failure> {
    let mut curator =
        Curator::open(records, study.plan.clone(), generator).map_err(|error| bug(&error))?;
    let procedure = study.procedure;
    let outcome = procedure.run(&study.setting, &mut curator, |_| progress.advance());
    Ok(Run {
        outcome: outcome.map_err(|error| ended(&error)),
        ledger: curator.ledger().record(),
    })
}

fn run_parties(
    study: &Study<'_>,
    records: &Records<'_>,
    key: &PartyKey,
    progress: &Progress,
) -> Result<Run, Failure> {
    let Study {
        procedure,
        setting,
        plan,
        holdings,
        ..
    } = study;
    let units = vec![holdings.most_units(); holdings.n_clients];
    let agreement = Agreement::among_members(key, *procedure, *setting, plan.clone(), units);
    let refuse = |error: &dyn core::fmt::Display| {
        Failure::usage(
            "sprifed::fit::no-agreement",
            error.to_string(),
            "correct --clients, --quorum or --colluders; nothing was spent",
        )
    };
    let agreed = Agreed::new(agreement).map_err(|error| refuse(&error))?;
    let parties = study.grouped.parties().iter();
    let parts = parties
        .map(|units| Part::of(records, units.clone()))
        .collect();
    let mut parties = Embedded::open(agreed.into(), key, parts, Box::new(everybody))
        .map_err(|error| refuse(&error))?;
    let outcome = procedure.run_on_sums(setting, &mut parties, |_| progress.advance());
    Ok(Run {
        outcome: outcome.map_err(|error| ended(&error)),
        ledger: parties.ledger().record(),
    })
}

/// Writes what was spent beside the model that is not there, and says so.
fn keep_ledger(failure: Failure, path: &std::path::Path, receipt: &Receipt) -> Failure {
    let Receipt { provenance, ledger } = receipt;
    if ledger.entries.is_empty() {
        return failure.with_help("correct this and run again; nothing was spent");
    }
    let document = json!({
        "format": "sprifed-spent", "version": 1, "software": software(),
        "label": (*provenance == Provenance::Simulated).then_some("NOT PRIVATE"),
        "why": failure.message, "provenance": provenance, "ledger": ledger,
    });
    let text = format!("{document:#}\n");
    let spent = words(ledger);
    match write_beside(path, "spent", &text) {
        Ok(beside) => failure.with_help(&format!(
            "{spent}; the ledger was written to {}, keep it",
            beside.display()
        )),
        Err(second) => failure.with_help(&format!(
            "{spent}, and the ledger could not be stored ({}); keep this record: {document}",
            second.message
        )),
    }
}

fn words(ledger: &LedgerRecord) -> String {
    let epsilon = ledger.spent.map_or(0.0, sprifed_privacy::Epsilon::get);
    let (steps, delta) = (ledger.entries.len(), ledger.budget.delta());
    format!("epsilon = {epsilon} at delta = {delta} was spent in {steps} steps")
}

fn to_text(model: &Model) -> Result<String, Failure> {
    serde_json::to_string_pretty(model)
        .map(|text| text + "\n")
        .map_err(|error| Failure::outcome("sprifed::fit::bug", error.to_string(), "report this"))
}

/// The fit in the units of the table, by name.
fn to_parts(
    study: &Study<'_>,
    fit: &Fit,
    guarantee: super::Guarantee,
    receipt: Receipt,
    earlier_receipts: Vec<Value>,
) -> Parts {
    let mapping = study.table.mapping();
    let units = mapping.response();
    let unit_model = UnitModel::from_terms(&fit.model.terms, fit.model.intercept);
    let original = mapping.to_original(&unit_model);
    let names = study.table.design().names();
    let term = |(index, (feature, coefficient)): (usize, (&usize, &f64))| {
        let noise = fit.noise_std_devs.get(index).copied();
        to_term(mapping, names, *feature, *coefficient, noise)
    };
    let terms = original.support.iter().zip(&original.coefficients);
    Parts {
        guarantee,
        status: fit.status,
        response: Response {
            name: study.response.clone(),
            transform: original.transform,
            lower: units.lower(),
            upper: units.upper(),
        },
        intercept: original.intercept,
        features: terms.enumerate().map(term).collect(),
        missing: study.missing,
        residual_scale: fit.residual_scale.map(|scale| scale * units.scale()),
        train_size: study.table.public_size(),
        n_candidates: names.len(),
        n_clients: study.holdings.n_clients,
        procedure: study.procedure.to_string(),
        plan: study.plan.clone(),
        receipt,
        earlier_receipts,
    }
}
