//! A fitted model in the units of the table, with its guarantee and its receipts.

use serde::{Deserialize, Serialize};
use sprifed_noise::Provenance;
use sprifed_privacy::{LedgerRecord, PrivacyUnit};
use sprifed_query::Plan;
use sprifed_recovery::FitStatus;
use sprifed_schema::{Mapping, MissingPolicy, Transform};

use crate::error::{Error, ModelDefect};
use crate::guarantee::Guarantee;

/// What the file says it is.
pub const FORMAT: &str = "sprifed-model";

/// Which version of it.
pub const VERSION: u32 = 1;

/// A fitted model as it is stored.
///
/// Everything in it is public, a function of private answers, or both: no score, count or value
/// that was computed from records without noise.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    format: String,
    version: u32,
    /// The name and version of the program that made it.
    pub software: String,
    /// `NOT PRIVATE` if the noise can be repeated.
    pub label: Option<String>,
    /// What it promises.
    pub guarantee: Guarantee,
    /// How the fit ended.
    pub status: FitStatus,
    /// The response.
    pub response: Response,
    /// The response, after its transform, where all features are zero.
    pub intercept: f64,
    /// The chosen features.
    pub features: Vec<Term>,
    /// What stands in for a missing feature.
    pub missing: MissingPolicy,
    /// A private estimate of the typical residual, on the scale of the transform.
    pub residual_scale: Option<f64>,
    /// n: the public number of privacy units: of records within the cap, with and without a response,
    /// or of clients. How many records a client has is its own affair then.
    pub train_size: u64,
    /// p: how many features were candidates.
    pub n_candidates: usize,
    /// How many clients held the records.
    pub n_clients: usize,
    /// The most records that one client can hold; absent where clients are the parties of a study.
    pub most_records: Option<u32>,
    /// How features were found.
    pub procedure: String,
    /// What was asked, and with which noise.
    pub plan: Plan,
    /// What was spent.
    pub receipts: Vec<Receipt>,
    /// Receipts of models that this one replaced: spent is spent.
    pub earlier_receipts: Vec<Receipt>,
}

/// What a file says that it is, before the rest of it is read.
#[derive(Deserialize)]
struct ModelKind {
    format: String,
    version: u32,
}

/// The response and its public bounds, on the scale of its transform.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Response {
    /// The name of its column.
    pub name: String,
    /// The change of its scale.
    pub transform: Transform,
    /// Its public lower bound.
    pub lower: f64,
    /// Its public upper bound.
    pub upper: f64,
}

/// One feature of the model, in the units of its column.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Term {
    /// The name of its column.
    pub name: String,
    /// Its coefficient.
    pub coefficient: f64,
    /// The standard deviation that the added noise alone gives the coefficient, if it is known.
    pub noise_std_dev: Option<f64>,
    /// Its public lower bound.
    pub lower: f64,
    /// Its public upper bound.
    pub upper: f64,
}

/// What was bought and with which noise.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// Where the noise came from.
    pub provenance: Provenance,
    /// What was bought.
    pub ledger: LedgerRecord,
}

/// Everything of a [`Model`] but its format.
#[derive(Clone, Debug)]
pub struct Parts {
    /// What it promises.
    pub guarantee: Guarantee,
    /// How the fit ended.
    pub status: FitStatus,
    /// The response.
    pub response: Response,
    /// The response, after its transform, where all features are zero.
    pub intercept: f64,
    /// The chosen features.
    pub features: Vec<Term>,
    /// What stands in for a missing feature.
    pub missing: MissingPolicy,
    /// A private estimate of the typical residual, on the scale of the transform.
    pub residual_scale: Option<f64>,
    /// n: the public number of privacy units: of records within the cap, with and without a response,
    /// or of clients. How many records a client has is its own affair then.
    pub train_size: u64,
    /// p: how many features were candidates.
    pub n_candidates: usize,
    /// How many clients held the records.
    pub n_clients: usize,
    /// The most records that one client can hold; absent where clients are the parties of a study.
    pub most_records: Option<u32>,
    /// How features were found.
    pub procedure: String,
    /// What was asked, and with which noise.
    pub plan: Plan,
    /// What was spent.
    pub receipt: Receipt,
    /// Receipts of models that this one replaced: spent is spent.
    pub earlier_receipts: Vec<Receipt>,
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
            most_records: parts.most_records,
            procedure: parts.procedure,
            plan: parts.plan,
            receipts: vec![parts.receipt],
            earlier_receipts: parts.earlier_receipts,
        }
    }
}

impl Model {
    /// What it was fitted to, in words: how many records clients have is not said where clients are
    /// the units of privacy.
    #[must_use]
    pub fn size_words(&self) -> String {
        let (records, clients) = (self.train_size, self.n_clients);
        match self.plan.unit {
            PrivacyUnit::Record => format!("{records} records of {clients} clients"),
            PrivacyUnit::Client => format!("the records of {clients} clients"),
        }
    }

    /// The model that `text` holds; `place` says where it is from.
    ///
    /// # Errors
    /// When it holds no model of this version, has a key twice, or has a field that a model has not.
    /// Parsers disagree about duplicate keys, and readers would see fields that no program reads.
    pub fn parse(text: &str, place: &str) -> Result<Self, Error> {
        let refuse = |found: ModelDefect| Error::MalformedModel {
            place: place.to_owned(),
            found,
        };
        let kind: ModelKind =
            serde_json::from_str(text).map_err(|error| refuse(ModelDefect::NotJson(error)))?;
        if (kind.format.as_str(), kind.version) != (FORMAT, VERSION) {
            return Err(refuse(ModelDefect::OtherFormat {
                format: kind.format,
                version: kind.version,
            }));
        }
        let model: Self =
            serde_json::from_str(text).map_err(|error| refuse(ModelDefect::Damaged(error)))?;
        if model.features.iter().all(Term::is_usable)
            && model.intercept.is_finite()
            && model.response.is_usable()
        {
            return Ok(model);
        }
        Err(refuse(ModelDefect::NotFinite))
    }

    /// The model as a file holds it.
    ///
    /// # Errors
    /// Never for a model that was fitted.
    pub fn to_text(&self) -> Result<String, Error> {
        serde_json::to_string_pretty(self)
            .map(|text| text + "\n")
            .map_err(Error::Unwritable)
    }

    /// The names of the features, in the order in which [`Self::predict`] wants their values.
    #[must_use]
    pub fn support(&self) -> Vec<String> {
        self.features.iter().map(|term| term.name.clone()).collect()
    }

    /// The prediction in the units of the response's column; `None` if a feature is missing and
    /// nothing stands in for it.
    ///
    /// # Why
    /// The model was fitted to values clipped to their public bounds, so it is applied to such
    /// values; and a response outside its bounds is known not to exist.
    #[must_use]
    pub fn predict(&self, values: &[f64]) -> Option<f64> {
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
#[must_use]
pub fn to_term(
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
    /// Half the width of its public bounds.
    #[must_use]
    pub const fn half_range(&self) -> f64 {
        (self.upper - self.lower) / 2.0
    }

    fn is_usable(&self) -> bool {
        self.coefficient.is_finite() && self.lower <= self.upper
    }
}

impl Response {
    fn is_usable(&self) -> bool {
        self.lower <= self.upper
    }
}

/// The name and version of this program.
#[must_use]
pub fn software() -> String {
    concat!("sprifed ", env!("CARGO_PKG_VERSION")).to_owned()
}
