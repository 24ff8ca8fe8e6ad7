//! `model.json`: a fitted model in the units of the table, with its guarantee and its receipts.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sprifed_data::{Mapping, MissingPolicy, Transform};
use sprifed_noise::Provenance;
use sprifed_privacy::LedgerRecord;
use sprifed_query::Plan;
use sprifed_recovery::FitStatus;

use crate::failure::Failure;
use crate::fit::Guarantee;

/// What the file says it is.
const FORMAT: &str = "sprifed-model";

/// Which version of it.
const VERSION: u32 = 1;

/// A fitted model as it is stored.
///
/// Everything in it is public, a function of private answers, or both: no score, count or value
/// that was computed from records without noise.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Model {
    format: String,
    version: u32,
    pub(crate) software: String,
    /// `NOT PRIVATE` if the noise can be repeated.
    pub(crate) label: Option<String>,
    pub(crate) guarantee: Guarantee,
    pub(crate) status: FitStatus,
    pub(crate) response: Response,
    /// The response, after its transform, where all features are zero.
    pub(crate) intercept: f64,
    pub(crate) features: Vec<Term>,
    /// What stands in for a missing feature.
    pub(crate) missing: MissingPolicy,
    /// A private estimate of the typical residual, on the scale of the transform.
    pub(crate) residual_scale: Option<f64>,
    /// n: the public number of records.
    pub(crate) train_size: u64,
    /// p: how many features were candidates.
    pub(crate) n_candidates: usize,
    pub(crate) n_clients: usize,
    pub(crate) procedure: String,
    pub(crate) plan: Plan,
    pub(crate) receipts: Vec<Receipt>,
    /// Receipts of models that this one replaced: spent is spent.
    pub(crate) earlier_receipts: Vec<Value>,
}

/// The response and its public bounds, on the scale of its transform.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Response {
    pub(crate) name: String,
    pub(crate) transform: Transform,
    pub(crate) lower: f64,
    pub(crate) upper: f64,
}

/// One feature of the model, in the units of its column.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Term {
    pub(crate) name: String,
    pub(crate) coefficient: f64,
    /// The standard deviation that the added noise alone gives the coefficient, if it is known.
    pub(crate) noise_std_dev: Option<f64>,
    pub(crate) lower: f64,
    pub(crate) upper: f64,
}

/// What was bought and with which noise.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Receipt {
    pub(crate) provenance: Provenance,
    pub(crate) ledger: LedgerRecord,
}

/// Everything of a [`Model`] but its format.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    pub(crate) guarantee: Guarantee,
    pub(crate) status: FitStatus,
    pub(crate) response: Response,
    pub(crate) intercept: f64,
    pub(crate) features: Vec<Term>,
    pub(crate) missing: MissingPolicy,
    pub(crate) residual_scale: Option<f64>,
    pub(crate) train_size: u64,
    pub(crate) n_candidates: usize,
    pub(crate) n_clients: usize,
    pub(crate) procedure: String,
    pub(crate) plan: Plan,
    pub(crate) receipt: Receipt,
    pub(crate) earlier_receipts: Vec<Value>,
}

impl From<Parts> for Model {
    fn from(parts: Parts) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            software: software(),
            label: parts.guarantee.label().map(str::to_owned),
            guarantee: parts.guarantee,
            status: parts.status,
            response: parts.response,
            intercept: parts.intercept,
            features: parts.features,
            missing: parts.missing,
            residual_scale: parts.residual_scale,
            train_size: parts.train_size,
            n_candidates: parts.n_candidates,
            n_clients: parts.n_clients,
            procedure: parts.procedure,
            plan: parts.plan,
            receipts: vec![parts.receipt],
            earlier_receipts: parts.earlier_receipts,
        }
    }
}

impl Model {
    /// Reads the model at `path`.
    ///
    /// # Errors
    /// When the file cannot be read, or holds no model of this version.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let text = fs::read_to_string(path).map_err(|error| {
            let message = format!(
                "`{}` cannot be read: {error}; required: a model file",
                path.display()
            );
            Failure::environment(
                "sprifed::model::unreadable",
                message,
                "check the path and its permissions",
            )
        })?;
        let refuse = |found: String| {
            let message = format!(
                "`{}` {found}; required: a {FORMAT} of version {VERSION}",
                path.display()
            );
            Failure::usage(
                "sprifed::model::malformed",
                message,
                "give a file that `sprifed fit` wrote",
            )
        };
        let value: Value = serde_json::from_str(&text)
            .map_err(|error| refuse(format!("is not JSON ({error})")))?;
        if value["format"] != FORMAT || value["version"] != VERSION {
            return Err(refuse(format!(
                "is of format {} and version {}",
                value["format"], value["version"]
            )));
        }
        let model: Self = serde_json::from_value(value)
            .map_err(|error| refuse(format!("is damaged ({error})")))?;
        if model.features.iter().all(Term::is_usable)
            && model.intercept.is_finite()
            && model.response.is_usable()
        {
            return Ok(model);
        }
        Err(refuse(
            "has numbers that are not finite, or bounds that are no interval".to_owned(),
        ))
    }

    /// The names of the features, in the order in which [`Self::predict`] wants their values.
    pub(crate) fn support(&self) -> Vec<String> {
        self.features.iter().map(|term| term.name.clone()).collect()
    }

    /// The prediction in the units of the response's column; `None` if a feature is missing and
    /// nothing stands in for it.
    ///
    /// # Why
    /// The model was fitted to values clipped to their public bounds, so it is applied to such
    /// values; and a response outside its bounds is known not to exist.
    pub(crate) fn predict(&self, values: &[f64]) -> Option<f64> {
        let mut total = self.intercept;
        for (term, value) in self.features.iter().zip(values) {
            let value = match self.missing {
                _ if value.is_finite() => value.clamp(term.lower, term.upper),
                MissingPolicy::Midpoint => term.lower / 2.0 + term.upper / 2.0,
                _ => return None,
            };
            total += term.coefficient * value;
        }
        let Response {
            transform,
            lower,
            upper,
            ..
        } = self.response;
        Some(transform.invert(total.clamp(lower, upper)))
    }
}

/// One feature of a model in the units of its column; `noise` is in bounded units.
pub(crate) fn to_term(
    mapping: &Mapping,
    names: &[String],
    feature: usize,
    coefficient: f64,
    noise: Option<f64>,
) -> Term {
    let units = &mapping.features()[feature];
    let noise = noise.map(|noise| noise * mapping.response().scale() / units.scale());
    Term {
        name: names[feature].clone(),
        coefficient,
        noise_std_dev: noise.filter(|noise| noise.is_finite()),
        lower: units.lower(),
        upper: units.upper(),
    }
}

impl Term {
    fn is_usable(&self) -> bool {
        self.coefficient.is_finite() && self.lower <= self.upper
    }
}

impl Response {
    fn is_usable(&self) -> bool {
        self.lower <= self.upper
    }
}

/// The receipts of the model at `path`, if there is one: they outlive the model they came with.
///
/// # Errors
/// When there is a file that is not a model: replacing it would lose what it says was spent.
pub(crate) fn receipts_at(path: &Path) -> Result<Vec<Value>, Failure> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(path).unwrap_or_default();
    let old = serde_json::from_str::<Value>(&text).unwrap_or_default();
    if old["format"] != FORMAT || !old["receipts"].is_array() {
        let message = format!(
            "{} is there, but its receipts can not be read: it is not a model, or it is damaged",
            path.display()
        );
        let help = "keep it as a record of what was spent and name another file; nothing was spent";
        return Err(Failure::usage("sprifed::file::not-a-model", message, help));
    }
    let list = |key: &str| old[key].as_array().cloned().unwrap_or_default();
    Ok([list("earlier_receipts"), list("receipts")].concat())
}

/// The name and version of this program.
pub(crate) fn software() -> String {
    concat!("sprifed ", env!("CARGO_PKG_VERSION")).to_owned()
}
