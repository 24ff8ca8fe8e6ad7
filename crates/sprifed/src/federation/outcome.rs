//! What a finished study leaves behind: the receipt, and the model in the units of the tables.

use serde::Serialize;
use sprifed_party::{Artefacts, MODEL, RECEIPT, TRANSCRIPT, terms_of};
use sprifed_recovery::Fit;
use sprifed_study::{PartyReceipt, Receipt, SignedReceipt, Transcript};
use sprifed_tables::Markers;

use crate::baseline::ModelBaseline;
use crate::error::Error;
use crate::guarantee::{Guarantee, Terms};
use crate::inference::ModelInference;
use crate::model::{FORMAT, Model, Response, VERSION, software, to_terms};
use crate::site_intercepts::site_intercepts;

/// The files of a study that is over for one party: its own receipt, the model of the study in the units of its table,
/// and the released sums.
#[must_use]
pub fn party_files(receipt: &PartyReceipt, transcript: &Transcript) -> Artefacts {
    let mut files = vec![(RECEIPT.to_owned(), receipt.to_json())];
    let others = study_files(&receipt.study).into_iter();
    files.extend(others.filter(|(name, _)| name != RECEIPT));
    files.push((TRANSCRIPT.to_owned(), transcript.to_json()));
    files
}

/// The files of a study that is over for one trustee: the receipt, the model, and what was opened.
#[must_use]
pub fn trustee_files(receipt: &SignedReceipt, transcript: &Transcript) -> Artefacts {
    let mut files = study_files(receipt);
    files.push((TRANSCRIPT.to_owned(), transcript.to_json()));
    files
}

/// The file `model-failed.json`: why a receipt with a fit has no model in the units of the tables.
#[derive(Clone, Debug, Serialize)]
struct ModelFailed {
    /// A stable name for scripts.
    code: &'static str,
    /// What was found and what is required.
    why: String,
}

/// The files of a study that is over.
#[must_use]
pub fn study_files(receipt: &SignedReceipt) -> Artefacts {
    let mut files = vec![(RECEIPT.to_owned(), receipt.to_json())];
    match study_model(&receipt.receipt) {
        Ok(Some(model)) => {
            let text = serde_json::to_vec_pretty(&model).unwrap_or_default();
            files.push((MODEL.to_owned(), text));
        }
        Ok(None) => {}
        // The receipt has the model in bounded units; why it has no other form is worth a file.
        Err(error) => {
            let text = ModelFailed {
                code: error.code(),
                why: error.to_string(),
            };
            files.push((
                "model-failed.json".to_owned(),
                serde_json::to_vec_pretty(&text).unwrap_or_default(),
            ));
        }
    }
    files
}

/// The model of a study in the units of the tables; none if the study has none.
///
/// # Errors
/// When the receipt does not say how tables are read, or contradicts itself.
pub fn study_model(receipt: &Receipt) -> Result<Option<Model>, Error> {
    let Some(fit) = &receipt.fit else {
        return Ok(None);
    };
    let agreement = &receipt.agreement;
    let terms = terms_of(agreement)?;
    let (schema, mapping) = (terms.schema(), terms.mapping());
    refuse_other_features(fit, terms.features().len())?;
    let names = terms.features().iter().enumerate();
    let markers =
        Markers::of(names.filter_map(|(at, name)| Some((at, terms.marker(name)?.clone()))));
    let (features, intercept) = to_terms(fit, mapping, terms.features(), &markers);
    let units = mapping.response();
    let ledger = sprifed_privacy::Ledger::replay(&receipt.ledger).map_err(Error::StudyLedger)?;
    let guarantee = Guarantee::of(
        ledger.spending(),
        Terms {
            delta: receipt.guarantee.delta,
            relation: agreement.plan.relation,
            unit: agreement.plan.unit,
            most_records: None,
            origin: agreement.plan.origin,
        },
        agreement.noise,
    )?;
    Ok(Some(Model {
        format: FORMAT.to_owned(),
        version: VERSION,
        software: software(),
        label: guarantee.label().map(str::to_owned),
        guarantee,
        response: Response::of(schema.response()),
        status: fit.status,
        baseline: ModelBaseline::of(fit),
        intercept,
        sites: site_intercepts(
            fit,
            agreement.parties.iter().map(|party| &party.name),
            intercept,
            units,
        ),
        features,
        inference: ModelInference::of(&fit.inference, mapping, terms.features()),
        missing: schema.missing(),
        residual_scale: fit.residual_scale.map(|scale| scale * units.scale()),
        train_size: u64::from(agreement.setting.n_records),
        sparsity: agreement.setting.sparsity,
        keep: agreement.setting.choice,
        n_candidates: terms.features().len() - mapping.covariates().n_features(),
        n_clients: agreement.parties.len(),
        most_records: None,
        procedure: agreement.procedure.to_string(),
        plan: agreement.plan.clone(),
        receipts: vec![crate::model::Receipt {
            provenance: agreement.noise,
            ledger: receipt.ledger.clone(),
        }],
        earlier_receipts: Vec::new(),
    }))
}

/// The names of the features that `fit` reports: the kept ones and those that are always in the model, or all of its model.
#[must_use]
pub fn reported_names(fit: &Fit, names: &[String]) -> Vec<String> {
    let features: Vec<u32> = match fit.inference.available() {
        Some(inference) => inference.terms.iter().map(|term| term.feature).collect(),
        None => fit.model.support(),
    };
    let name = |feature: &u32| names.get(*feature as usize).cloned();
    features.iter().filter_map(name).collect()
}

/// Refuses a fit with features that the study does not have: receipts are shown before they are believed.
fn refuse_other_features(fit: &Fit, n_features: usize) -> Result<(), Error> {
    let reported = fit.inference.available().map(|inference| &inference.terms);
    let reported = reported.into_iter().flatten().map(|term| term.feature);
    let predicting = fit.model.terms.iter().map(|(feature, _)| *feature);
    let mut features = predicting.chain(reported);
    match features.find(|feature| *feature as usize >= n_features) {
        None => Ok(()),
        Some(feature) => Err(Error::Contradiction {
            what: "the model",
            found: format!("feature {feature}"),
            required: format!("one of the {n_features} features of the study"),
        }),
    }
}
