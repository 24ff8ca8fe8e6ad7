//! What a finished study leaves behind: the receipt, and the model in the units of the tables.

use serde::Serialize;
use sprifed_party::{Artefacts, MODEL, RECEIPT, TRANSCRIPT, terms_of};
use sprifed_schema::UnitModel;
use sprifed_study::{PartyReceipt, Receipt, SignedReceipt, Transcript};

use crate::error::Error;
use crate::guarantee::{Guarantee, Terms};
use crate::model::{Model, Parts, Response, Term, to_term};

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
    match model(receipt) {
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

/// The features of the model by name, in the units of the tables.
///
/// # Errors
/// When the receipt does not say how tables are read.
pub fn named_terms(receipt: &Receipt) -> Result<Vec<Term>, Error> {
    Ok(named_model(receipt)?.map_or_else(Vec::new, |(terms, _)| terms))
}

/// The features of the model by name and its intercept, in the units of the tables; none if the study
/// has no model.
///
/// # Errors
/// When the receipt does not say how tables are read.
pub fn named_model(receipt: &Receipt) -> Result<Option<(Vec<Term>, f64)>, Error> {
    let Some(fit) = &receipt.fit else {
        return Ok(None);
    };
    let terms = terms_of(&receipt.agreement)?;
    let mapping = terms.mapping();
    let original = mapping.to_original(&UnitModel::from_terms(
        &fit.model.terms,
        fit.model.intercept,
    ));
    let pairs = original.support.iter().zip(&original.coefficients);
    let named = pairs
        .enumerate()
        .map(|(index, (feature, coefficient))| {
            let noise = fit.noise_std_devs.get(index).copied();
            to_term(mapping, terms.features(), *feature, *coefficient, noise)
        })
        .collect();
    Ok(Some((named, original.intercept)))
}

fn model(signed: &SignedReceipt) -> Result<Option<Model>, Error> {
    let receipt = &signed.receipt;
    let Some(fit) = &receipt.fit else {
        return Ok(None);
    };
    let agreement = &receipt.agreement;
    let terms = terms_of(agreement)?;
    let (schema, mapping) = (terms.schema(), terms.mapping());
    let units = mapping.response();
    let unit_model = UnitModel::from_terms(&fit.model.terms, fit.model.intercept);
    let original = mapping.to_original(&unit_model);
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
    Ok(Some(Model::from(Parts {
        guarantee,
        status: fit.status,
        response: Response {
            name: schema.response().name().to_owned(),
            transform: original.transform,
            lower: units.lower(),
            upper: units.upper(),
        },
        intercept: original.intercept,
        features: named_terms(receipt)?,
        missing: schema.missing(),
        residual_scale: fit.residual_scale.map(|scale| scale * units.scale()),
        train_size: u64::from(agreement.setting.n_records),
        n_candidates: terms.features().len(),
        n_clients: agreement.parties.len(),
        most_records: None,
        procedure: agreement.procedure.to_string(),
        plan: agreement.plan.clone(),
        receipt: crate::model::Receipt {
            provenance: agreement.noise,
            ledger: receipt.ledger.clone(),
        },
        earlier_receipts: Vec::new(),
    })))
}
