//! A fitted model in the units of the table, with its guarantee and its receipts.

use serde::{Deserialize, Serialize};
use sprifed_noise::Provenance;
use sprifed_party::Cost;
use sprifed_privacy::{LedgerRecord, PrivacyUnit, counted};
use sprifed_query::Plan;
use sprifed_recovery::{Cut, Fit, FitStatus, Keep, Outcome, Role};
use sprifed_schema::{
    EventTime, FeatureReading, Mapping, Marker, MissingPolicy, Transform, UnitModel,
};
use sprifed_study::outcome_of;
use sprifed_tables::Markers;

use crate::baseline::{CurvePoint, ModelBaseline};
use crate::error::{Error, ModelDefect};
use crate::guarantee::Guarantee;
use crate::inference::{InterceptEstimate, ModelInference, TermEstimate};
use crate::site_intercepts::SiteIntercept;

/// What the file says it is.
pub const FORMAT: &str = "sprifed-model";

/// Which version of it.
pub const VERSION: u32 = 2;

/// A fitted model as it is stored.
///
/// Everything in it is public, a function of private answers, or both: no score, count or value
/// that was computed from records without noise.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// What the file says it is: [`FORMAT`].
    pub(crate) format: String,
    /// Which version of it: [`VERSION`].
    pub(crate) version: u32,
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
    /// The response, after its transform, that is predicted where all features are zero.
    pub intercept: f64,
    /// The hazard, where the response is a time: the linear predictor is then the logarithm of what it is multiplied by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<ModelBaseline>,
    /// The intercept of each site, where sites have their own; [`Self::intercept`] is their mean then, each counted by its
    /// records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sites: Vec<SiteIntercept>,
    /// The features that predict: all that were chosen, with coefficients that are shrunk where noise outweighs what is
    /// known. What may be said of them, [`Self::inference`] says.
    pub features: Vec<Term>,
    /// What is reported of the coefficients, or why nothing is.
    pub inference: ModelInference,
    /// What stands in for a missing feature.
    pub missing: MissingPolicy,
    /// A private estimate of the typical residual, on the scale of the transform.
    pub residual_scale: Option<f64>,
    /// n: the public number of privacy units: of records within the cap, with and without a response,
    /// or of clients. How many records a client has is its own affair then.
    pub train_size: u64,
    /// s: how many features were sought at most.
    pub sparsity: u32,
    /// Which of them were kept.
    pub keep: Keep,
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
    /// What it is. Where that has a link, intercepts and coefficients are those of its linear predictor.
    #[serde(default, skip_serializing_if = "Outcome::is_linear")]
    pub outcome: Outcome,
    /// How its two levels are read as zero and one, or, of a time, those of the column that says whether the event
    /// occurred; absent where it is a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<FeatureReading>,
    /// The public time after which nothing counts; absent where it is no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub horizon: Option<f64>,
}

/// One feature of the model, in the units of its column.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Term {
    /// The name of its column.
    pub name: String,
    /// Its coefficient in predictions.
    pub coefficient: f64,
    /// Whether it is always in the model: it was not selected.
    #[serde(default, skip_serializing_if = "is_false")]
    pub always: bool,
    /// The least value that it counts as: its public lower bound, or where its column was cut.
    pub lower: f64,
    /// The largest value that it counts as, after its transform.
    pub upper: f64,
    /// Whether its column was standardised by a private mean and scale, and cut within its public bounds.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_cut: bool,
    /// How it is read, unless it is the number of the column of its name, as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<FeatureReading>,
    /// Where it lies and which allele is counted, if it is a genetic marker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marker: Option<Marker>,
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

/// What a model file says was spent, whatever else is in it.
#[derive(Deserialize)]
struct Spent {
    format: String,
    receipts: Vec<Receipt>,
    #[serde(default)]
    earlier_receipts: Vec<Receipt>,
}

impl Receipt {
    /// The receipts in the text of a model, of any version, the earlier ones first; `None` if it is not a model.
    #[must_use]
    pub fn all_in(text: &str) -> Option<Vec<Self>> {
        let spent = serde_json::from_str::<Spent>(text).ok()?;
        (spent.format == FORMAT).then(|| [spent.earlier_receipts, spent.receipts].concat())
    }

    /// What it says was charged; none if nothing was.
    #[must_use]
    pub fn cost(&self) -> Option<Cost> {
        let ledger = &self.ledger;
        let is_charged = !ledger.entries.is_empty();
        is_charged.then(|| Cost::charged(ledger.spent, ledger.budget.delta()))
    }
}

impl Model {
    /// What it was fitted to, in words: how many records clients have is not said where clients are
    /// the units of privacy.
    #[must_use]
    pub fn size_words(&self) -> String {
        let clients = counted(self.n_clients, "client", "clients");
        match self.plan.unit {
            PrivacyUnit::Record => {
                let records = counted(self.train_size, "record", "records");
                format!("{records} of {clients}")
            }
            PrivacyUnit::Client => format!("the records of {clients}"),
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
            && model.sites.iter().all(|site| site.intercept.is_finite())
            && model.response.is_usable()
            && model.has_usable_baseline()
        {
            return Ok(model);
        }
        Err(refuse(ModelDefect::NotFinite))
    }

    /// A baseline belongs to a time, and to nothing else.
    fn has_usable_baseline(&self) -> bool {
        match &self.baseline {
            None => self.response.outcome != Outcome::Survival,
            Some(baseline) => self.response.outcome == Outcome::Survival && baseline.is_usable(),
        }
    }

    /// Of times: the survival of a record whose features are all at their centres; empty of other responses.
    #[must_use]
    pub fn survival_curve(&self) -> Vec<CurvePoint> {
        let baseline = self.baseline.as_ref();
        baseline.map_or_else(Vec::new, |baseline| baseline.curve(&self.response))
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

    /// What is said of its features: the kept ones, then those that are always in the model. Where there is no inference,
    /// all features with their coefficients.
    #[must_use]
    pub fn reported(&self) -> Vec<TermEstimate> {
        match &self.inference {
            ModelInference::Available(report) => report.terms.clone(),
            ModelInference::NotAvailable { .. } => {
                let mut terms: Vec<_> = self.features.iter().map(Term::without_inference).collect();
                terms.sort_by_key(|term| term.role == Role::Always);
                terms
            }
        }
    }

    /// The names of the features that are reported.
    #[must_use]
    pub fn support(&self) -> Vec<String> {
        self.reported().into_iter().map(|term| term.name).collect()
    }

    /// How many features predict without being reported: they were chosen and not kept.
    #[must_use]
    pub fn n_not_kept(&self) -> usize {
        self.features.len().saturating_sub(self.support().len())
    }

    /// How to read its coefficients, intervals and p-values.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let mut notes = self.inference.notes();
        notes.extend(self.outcome_note());
        notes.extend(self.site_note());
        notes.extend(self.cut_note());
        let not_kept = self.n_not_kept();
        if not_kept > 0 {
            notes.push(format!(
                "Predictions also use {} that {} chosen and not kept, with coefficients shrunk towards zero. Do not \
                 interpret them.",
                counted(not_kept, "feature", "features"),
                if not_kept == 1 { "was" } else { "were" },
            ));
        }
        notes
    }

    /// What the coefficients mean, where they are not added to the response itself.
    fn outcome_note(&self) -> Option<String> {
        let event = self.response.event_name()?;
        if let Some(baseline) = &self.baseline {
            return Some(survival_note(&self.response, event, baseline));
        }
        Some(format!(
            "Coefficients are added to the logarithm of the odds of `{event}`. Predictions are its probability. Features \
             were selected by the linear procedure on zeros and ones: where features are about normal it finds those that \
             matter for the odds; elsewhere the last step corrects the sizes of coefficients, not the selection."
        ))
    }

    /// What is said of columns that were cut, if there are any.
    fn cut_note(&self) -> Option<String> {
        let cut = self.features.iter().filter(|term| term.is_cut);
        let range =
            |term: &Term| format!("{} from {:.4} to {:.4}", term.name, term.lower, term.upper);
        let list: Vec<String> = cut.map(range).collect();
        (!list.is_empty()).then(|| {
            format!(
                "Columns were standardised by private means and scales and cut at five of these scales. Coefficients hold, \
                 and predictions change, within these ranges only (after transforms): {}.",
                list.join(", ")
            )
        })
    }

    /// What is publicly known of the feature of this name, if it is a genetic marker.
    #[must_use]
    pub fn marker(&self, name: &str) -> Option<&Marker> {
        self.feature(name)?.marker.as_ref()
    }

    /// The feature of this name, among those that predict.
    #[must_use]
    pub fn feature(&self, name: &str) -> Option<&Term> {
        self.features.iter().find(|term| term.name == name)
    }

    /// The intercept that is reported, and its interval.
    #[must_use]
    pub fn reported_intercept(&self) -> (f64, Option<(f64, f64)>) {
        let report = self.inference.available();
        // Without a feature and an interval, what predicts is all that can be said.
        let intercept = report.and_then(|report| {
            let is_said =
                |one: &&InterceptEstimate| one.interval.is_some() || !report.terms.is_empty();
            report.intercept.as_ref().filter(is_said)
        });
        intercept.map_or((self.intercept, None), |intercept| {
            let interval = intercept.interval;
            (intercept.estimate, interval.map(|one| (one.low, one.high)))
        })
    }

    /// The prediction in the units of the response's column, or the probability of its event (of times, before the
    /// horizon), from numbers as the table has them and zeros and ones for
    /// levels; `None` if a feature is missing and
    /// nothing stands in for it.
    ///
    /// # Why
    /// The model was fitted to values clipped to their public bounds, so it is applied to such
    /// values; and a response outside its bounds is known not to exist.
    #[must_use]
    pub fn predict(&self, values: &[f64]) -> Option<f64> {
        let mut total = self.intercept;
        for (term, value) in self.features.iter().zip(values) {
            let value = match &term.reading {
                Some(reading) => reading.of_number(*value)?.clamp(term.lower, term.upper),
                None if value.is_finite() => value.clamp(term.lower, term.upper),
                None if self.missing == MissingPolicy::Midpoint => {
                    term.lower / 2.0 + term.upper / 2.0
                }
                None => return None,
            };
            total += term.coefficient * value;
        }
        let Response {
            transform,
            lower,
            upper,
            outcome,
            ..
        } = self.response;
        Some(match (outcome.link(), &self.baseline) {
            (_, Some(baseline)) => baseline.event_probability(total),
            (None, None) => transform.invert(total.clamp(lower, upper)),
            (Some(link), None) => link.expected(total),
        })
    }
}

/// What the coefficients of a model of times mean.
fn survival_note(response: &Response, event: &str, baseline: &ModelBaseline) -> String {
    let column = response.event.as_ref().map_or("", FeatureReading::column);
    format!(
        "Coefficients are added to the logarithm of the hazard of the event (`{column}` is `{event}`). Predictions are its \
         probability before the horizon of {}. Features were selected by the linear procedure on martingale residuals: \
         where features are about normal it finds those that matter for the hazard; elsewhere the last steps correct the \
         sizes of coefficients, not the selection. By a private count {:.0} % of the records had the event. Right \
         censoring only: late entry, competing events and features that change with time are not modelled.",
        response.horizon.unwrap_or_default(),
        100.0 * baseline.event_share
    )
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde asks for it")]
const fn is_false(value: &bool) -> bool {
    !*value
}

/// The features of `fit` in the units of their columns.
pub(crate) fn to_terms(
    fit: &Fit,
    mapping: &Mapping,
    names: &[String],
    markers: &Markers,
) -> (Vec<Term>, f64) {
    let unit_model = UnitModel::from_terms(&fit.model.terms, fit.model.intercept);
    let original = mapping.to_original(&unit_model);
    let always = mapping.covariates();
    let pairs = original.support.iter().zip(&original.coefficients);
    let terms = pairs.map(|(feature, coefficient)| {
        let is_always = always.features().any(|known| known == *feature);
        let term = Term {
            marker: markers.get(*feature).cloned(),
            ..to_term(mapping, names, *feature, *coefficient, is_always)
        };
        let cut = fit.cuts.iter().find(|cut| cut.feature as usize == *feature);
        cut.map_or(term.clone(), |cut| term.within(cut, mapping, *feature))
    });
    (terms.collect(), original.intercept)
}

/// One feature of a model in the units of its column.
fn to_term(
    mapping: &Mapping,
    names: &[String],
    feature: usize,
    coefficient: f64,
    always: bool,
) -> Term {
    let units = &mapping.features()[feature];
    Term {
        name: names[feature].clone(),
        coefficient,
        always,
        lower: units.lower(),
        upper: units.upper(),
        is_cut: false,
        reading: mapping.special_reading(feature),
        marker: None,
    }
}

impl Term {
    /// What can be said of it where there is no inference.
    fn without_inference(&self) -> TermEstimate {
        TermEstimate {
            name: self.name.clone(),
            role: match self.always {
                true => Role::Always,
                false => Role::Selected,
            },
            category: None,
            estimate: self.coefficient,
            odds_ratio: None,
            hazard_ratio: None,
            std_error: None,
            interval: None,
            level: crate::inference::LEVEL,
            p_value: None,
            privacy_share: None,
        }
    }

    /// The same where its column was cut: what stands in for a gap stays that of the public bounds.
    fn within(self, cut: &Cut, mapping: &Mapping, feature: usize) -> Self {
        let units = &mapping.features()[feature];
        let end = |unit: f64| units.from_unit(unit).clamp(self.lower, self.upper);
        let (lower, upper) = (end(cut.low), end(cut.high));
        if lower <= self.lower && upper >= self.upper {
            return self;
        }
        Self {
            lower,
            upper,
            is_cut: true,
            reading: Some(mapping.reading(feature)),
            ..self
        }
    }

    /// How it is read from a table.
    #[must_use]
    pub fn reading(&self) -> FeatureReading {
        let plain = || FeatureReading::Number {
            column: self.name.clone(),
            transform: Transform::Identity,
            missing: None,
        };
        self.reading.clone().unwrap_or_else(plain)
    }

    /// Half the width of the values that it counts as.
    #[must_use]
    pub const fn half_range(&self) -> f64 {
        (self.upper - self.lower) / 2.0
    }

    fn is_usable(&self) -> bool {
        let reading = self.reading.as_ref();
        self.coefficient.is_finite()
            && self.lower <= self.upper
            && reading.is_none_or(FeatureReading::is_usable)
    }
}

impl Response {
    /// The response of a schema.
    pub(crate) fn of(response: &sprifed_schema::Response) -> Self {
        Self {
            name: response.name().to_owned(),
            transform: response.transform(),
            lower: response.units().lower(),
            upper: response.units().upper(),
            outcome: outcome_of(response),
            event: response.reading(),
            horizon: response.event_time().map(EventTime::horizon),
        }
    }

    fn is_usable(&self) -> bool {
        let has_event = self.event.as_ref().is_some_and(|event| {
            matches!(event, FeatureReading::Level { .. }) && event.is_usable()
        });
        let has_horizon = self
            .horizon
            .is_some_and(|horizon| horizon.is_finite() && horizon > 0.0);
        self.lower <= self.upper
            && has_event != self.outcome.is_linear()
            && has_horizon == (self.outcome == Outcome::Survival)
            && has_horizon == self.horizon.is_some()
    }

    /// The level that a model predicts the probability of.
    #[must_use]
    pub fn event_name(&self) -> Option<&str> {
        match &self.event {
            Some(FeatureReading::Level { level, .. }) => level.as_deref(),
            _ => None,
        }
    }
}

/// The name and version of this program.
#[must_use]
pub fn software() -> String {
    concat!("sprifed ", env!("CARGO_PKG_VERSION")).to_owned()
}
