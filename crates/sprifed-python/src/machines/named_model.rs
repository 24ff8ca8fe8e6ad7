//! A receipt's model with the names and units of the tables.

use pyo3::prelude::*;
use serde_json::json;
use sprifed_data::UnitModel;
use sprifed_study::SignedReceipt;

use super::failure::Failure;
use super::records::DataTerms;

/// The model of a receipt as JSON: intercept and coefficients in the units of the tables, by column.
///
/// `null` if the study ended without a model.
#[pyfunction]
pub(super) fn named_model(receipt: &[u8]) -> PyResult<String> {
    Ok(of(receipt)?.to_string())
}

fn of(receipt: &[u8]) -> Result<serde_json::Value, Failure> {
    let receipt: SignedReceipt = serde_json::from_slice(receipt)
        .map_err(|error| Failure::unusable("the receipt", error, "the receipt of a study"))?;
    let receipt = receipt.receipt;
    let Some(fit) = receipt.fit else {
        return Ok(serde_json::Value::Null);
    };
    let data = DataTerms::of(&receipt.agreement.data)?;
    let mapping = data.mapping(&data.schema()?)?;
    let terms = &fit.model.terms;
    if let Some((feature, _)) = terms
        .iter()
        .find(|(feature, _)| *feature as usize >= data.features.len())
    {
        let found = format!("a coefficient of feature {feature}");
        return Err(Failure::unusable(
            "the receipt",
            found,
            "a feature of the study",
        ));
    }
    let model = mapping.to_original(&UnitModel {
        support: terms.iter().map(|(feature, _)| *feature as usize).collect(),
        coefficients: terms.iter().map(|(_, coefficient)| *coefficient).collect(),
        intercept: fit.model.intercept,
    });
    let named: Vec<_> = model
        .support
        .iter()
        .zip(&model.coefficients)
        .map(|(feature, coefficient)| {
            json!({ "feature": data.features[*feature], "coefficient": coefficient })
        })
        .collect();
    Ok(json!({
        "intercept": model.intercept,
        "transform": format!("{:?}", model.transform),
        "terms": named,
        "guarantee": receipt.guarantee.statement,
    }))
}
