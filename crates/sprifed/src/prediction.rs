//! Predictions of a model for the records of a table, and their score if one is asked for.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use sprifed_tables::TableFile;

use crate::error::Error;
use crate::model::Model;
use crate::score::{Score, read_for};

/// What was predicted for each record, in file order.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// The predictions; none for a record that lacks a feature which nothing stands in for.
    pub values: Vec<Option<f64>>,
    /// Their score, if a column was named. NOT PRIVATE.
    pub score: Option<Score>,
}

impl Prediction {
    /// Predicts for the records of `table`, and scores against the column `response`.
    ///
    /// # Errors
    /// When the table cannot be read, lacks a column, or no record can be scored.
    pub fn of_table<'a>(
        model: &Model,
        table: impl Into<TableFile<'a>>,
        response: Option<&str>,
    ) -> Result<Self, Error> {
        let raw = read_for(model, table.into(), response)?;
        let rows = (0..raw.n_records()).map(|record| match response {
            Some(_) => model.response.split(raw.row(record)),
            None => (raw.row(record), f64::NAN),
        });
        let pairs: Vec<(Option<f64>, f64)> = rows
            .map(|(values, actual)| (model.predict(values), actual))
            .collect();
        let score = response.map(|_| Score::of_pairs(&pairs, &model.response));
        Ok(Self {
            values: pairs.iter().map(|(prediction, _)| *prediction).collect(),
            score: score.transpose()?,
        })
    }

    /// How many records have no prediction.
    #[must_use]
    pub fn missing(&self) -> usize {
        self.values.iter().filter(|value| value.is_none()).count()
    }

    /// The predictions as a CSV file of one column.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let mut text = String::from("prediction\n");
        for prediction in &self.values {
            // An empty field is a missing value; it is quoted so that a line of one column is not blank.
            text += &prediction.map_or_else(|| "\"\"".to_owned(), |value| value.to_string());
            text.push('\n');
        }
        text
    }
}

/// What is said of predictions.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PredictionAnswer {
    /// The file of the model.
    pub model: PathBuf,
    /// The table.
    pub data: PathBuf,
    /// The name of the response.
    pub response: String,
    /// How many records there are.
    pub records: usize,
    /// How many of them have no prediction.
    pub without_prediction: usize,
    /// `NOT PRIVATE` if the model comes from a simulation.
    pub label: Option<String>,
    /// The file with the predictions, if they went to one.
    pub out: Option<PathBuf>,
    /// The predictions, unless they went to a file.
    pub predictions: Option<Vec<Option<f64>>>,
    /// Their score. NOT PRIVATE.
    pub score: Option<Score>,
}
