//! Scores beside those of the null model, from records that have a response.
//!
//! No noise is added: a score is a statistic of the records it is computed from, and is labelled so
//! wherever it is printed.

use schemars::JsonSchema;
use serde::Serialize;
use sprifed_privacy::counted;
use sprifed_query::FollowUp;
use sprifed_recovery::Outcome;
use sprifed_schema::{FeatureReading, Transform};
use sprifed_tables::{RawColumns, ResponseReading, TableFile, read_columns, read_features};

use crate::error::Error;
use crate::model::{Model, Response, Term};

pub use self::binary::BinaryFitness;
pub use self::curves::BinaryCurves;
pub use self::survival::SurvivalFitness;

mod binary;
mod curves;
mod survival;

/// What every score is labelled with.
pub const SCORE_LABEL: &str =
    "a score of real records without noise, which no guarantee covers; do not publish it";

/// How well predictions fit, beside the best constant of the same records.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Fitness {
    /// The mean squared error.
    pub mse: f64,
    /// The error of the null model: the mean response of the scored records for every record.
    pub null_mse: f64,
    /// `None` if the response does not vary.
    pub r2: Option<f64>,
}

/// Scores in the units of the column, and on the scale of the transform where there is one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Score {
    /// Never true: no noise is added.
    private: bool,
    label: &'static str,
    /// How many records were scored.
    pub records: usize,
    /// Records without a response or a prediction.
    pub left_out: usize,
    /// In the units of the column; absent of times, some of which are only known to be longer than they were followed.
    #[serde(flatten)]
    pub fitness: Option<Fitness>,
    /// On the scale the model was fitted on, if that is another one.
    pub on_fitted_scale: Option<Fitness>,
    /// Of predicted probabilities, beside their squared error, which is the Brier score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binary: Option<BinaryFitness>,
    /// Of predicted risks of an event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub survival: Option<SurvivalFitness>,
}

/// The score of a table, and what a page draws of it. NOT PRIVATE.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredTable {
    /// The score.
    pub score: Score,
    /// Of predicted probabilities.
    pub curves: Option<BinaryCurves>,
}

impl ScoredTable {
    /// What the predictions of `model` on the records of `table` come to beside `response`.
    ///
    /// # Errors
    /// When the table cannot be read or lacks a column, or no record has both.
    pub fn of<'a>(
        model: &Model,
        table: impl Into<TableFile<'a>>,
        response: &str,
    ) -> Result<Self, Error> {
        let raw = read_for(model, table.into(), Some(response))?;
        let pairs: Vec<(Option<f64>, f64)> = (0..raw.n_records())
            .map(|record| {
                let (values, actual) = model.response.split(raw.row(record));
                (model.predict(values), actual)
            })
            .collect();
        let curves = match model.response.outcome {
            Outcome::Linear | Outcome::Survival => None,
            Outcome::Binary => Some(BinaryCurves::of(&complete(&pairs))),
        };
        Ok(Self {
            score: Score::of_pairs(&pairs, &model.response)?,
            curves,
        })
    }
}

/// The pairs of which neither number is missing.
fn complete(pairs: &[(Option<f64>, f64)]) -> Vec<(f64, f64)> {
    let complete = pairs.iter().filter_map(|(prediction, actual)| {
        let prediction = prediction.filter(|_| actual.is_finite())?;
        Some((prediction, *actual))
    });
    complete.collect()
}

impl Score {
    /// The score of predictions beside actual responses; either may be missing.
    ///
    /// # Errors
    /// When no pair is complete.
    pub fn of_pairs(pairs: &[(Option<f64>, f64)], response: &Response) -> Result<Self, Error> {
        let transform = response.transform;
        let complete = complete(pairs);
        let left_out = pairs.len() - complete.len();
        if complete.is_empty() {
            return Err(Error::NothingToScore);
        }
        let on_fitted_scale = (transform != Transform::Identity).then(|| {
            let pairs = complete
                .iter()
                .map(|(left, right)| (transform.apply(*left), transform.apply(*right)));
            Fitness::of(
                &pairs
                    .filter(|(_, actual)| actual.is_finite())
                    .collect::<Vec<_>>(),
            )
        });
        Ok(Self {
            private: false,
            label: SCORE_LABEL,
            records: complete.len(),
            left_out,
            fitness: match response.outcome {
                Outcome::Linear | Outcome::Binary => Some(Fitness::of(&complete)),
                Outcome::Survival => None,
            },
            on_fitted_scale,
            binary: match response.outcome {
                Outcome::Binary => Some(BinaryFitness::of(&complete)),
                Outcome::Linear | Outcome::Survival => None,
            },
            survival: match response.outcome {
                Outcome::Survival => Some(SurvivalFitness::of(&complete)),
                Outcome::Linear | Outcome::Binary => None,
            },
        })
    }

    /// The score in words, without a full stop.
    #[must_use]
    pub fn text(&self) -> String {
        let records = counted(self.records, "record", "records");
        let fitness = match (&self.fitness, &self.survival) {
            (Some(fitness), _) => fitness.text(),
            (None, Some(survival)) => survival.text(),
            (None, None) => String::new(),
        };
        let mut text = format!("{fitness} on {records}");
        if self.left_out > 0 {
            text += &format!(
                " ({} without response or prediction left out)",
                self.left_out
            );
        }
        if let Some(binary) = &self.binary {
            text += &format!("; {}", binary.text());
        }
        if let Some(fitted) = &self.on_fitted_scale {
            text += &format!("; on the scale of the transform: {}", fitted.text());
        }
        text
    }
}

impl Fitness {
    #[expect(
        clippy::cast_precision_loss,
        reason = "counts of records are far below 2^53"
    )]
    fn of(pairs: &[(f64, f64)]) -> Self {
        let count = pairs.len() as f64;
        let mean = pairs.iter().map(|(_, actual)| actual).sum::<f64>() / count;
        let error = |of: fn(f64, (f64, f64)) -> f64| {
            pairs
                .iter()
                .map(|pair| of(mean, *pair).powi(2))
                .sum::<f64>()
                / count
        };
        let mse = error(|_, (prediction, actual)| actual - prediction);
        let null_mse = error(|mean, (_, actual)| actual - mean);
        Self {
            mse,
            null_mse,
            r2: (null_mse > 0.0).then(|| 1.0 - mse / null_mse),
        }
    }

    fn text(&self) -> String {
        let r2 = self
            .r2
            .map_or("undefined".to_owned(), |r2| format!("{r2:.4}"));
        format!(
            "MSE {:.6} beside {:.6} of the null model, R2 {r2}",
            self.mse, self.null_mse
        )
    }
}

/// The columns that predictions need, then `response` if one is asked for.
///
/// # Errors
/// When the table cannot be read or lacks columns, all of which are named.
pub(crate) fn read_for(
    model: &Model,
    table: TableFile<'_>,
    response: Option<&str>,
) -> Result<RawColumns, Error> {
    let readings: Vec<FeatureReading> = model.features.iter().map(Term::reading).collect();
    let event = model.response.event.as_ref();
    let event = event.filter(|_| response.is_some() && model.response.outcome == Outcome::Survival);
    let names = readings.iter().chain(event).map(FeatureReading::column);
    let names = names.chain(response);
    let names: Vec<String> = names.map(str::to_owned).collect();
    require_columns(table, &names)?;
    let response = response.map(|name| response_reading(&model.response, name));
    Ok(read_features(table, readings, response)?)
}

/// How the column `name` is read as the response of a model.
fn response_reading(response: &Response, name: &str) -> ResponseReading {
    match response.event.clone() {
        Some(event) if response.outcome == Outcome::Survival => ResponseReading::Time {
            event,
            time: name.to_owned(),
        },
        Some(FeatureReading::Level { level, levels, .. }) => {
            let column = name.to_owned();
            ResponseReading::Level(FeatureReading::Level {
                column,
                level,
                levels,
            })
        }
        _ => ResponseReading::Number(name.to_owned()),
    }
}

/// Refuses a table that lacks some of `names`, and names them.
///
/// # Errors
/// When a column is absent or the table cannot be read.
pub fn require_columns<'a>(table: impl Into<TableFile<'a>>, names: &[String]) -> Result<(), Error> {
    let table = table.into();
    let columns = read_columns(table)?;
    let found: std::collections::BTreeSet<&str> =
        columns.iter().map(|column| column.name.as_str()).collect();
    let mut absent: Vec<String> = names
        .iter()
        .filter(|name| !found.contains(name.as_str()))
        .cloned()
        .collect();
    // Several features may be levels of one column.
    absent.dedup();
    if absent.is_empty() {
        return Ok(());
    }
    Err(Error::AbsentColumns {
        path: table.path.to_owned(),
        absent,
    })
}

impl Response {
    /// The features of a record and its response, which comes last; a time comes after the event, and both are one number
    /// as a [`FollowUp`] reads it.
    pub(crate) fn split<'a>(&self, row: &'a [f64]) -> (&'a [f64], f64) {
        let Some((last, values)) = row.split_last() else {
            return (row, f64::NAN);
        };
        match (self.horizon, values.split_last()) {
            (Some(horizon), Some((event, values))) => (values, follow_up(*last / horizon, *event)),
            _ => (values, *last),
        }
    }
}

/// A time in units of the horizon and an event as one number; not a number if one is missing.
fn follow_up(time: f64, event: f64) -> f64 {
    if time >= 0.0 && !event.is_nan() {
        f64::from(FollowUp::new(time, event > 0.0).response())
    } else {
        f64::NAN
    }
}
