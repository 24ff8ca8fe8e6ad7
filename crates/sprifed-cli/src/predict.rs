//! `predict`: predictions of a fitted model, in the units of the table.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use crate::failure::Failure;
use crate::files::Destination;
use crate::model::{Model, read_model};
use crate::output::Output;
use crate::score::{NOT_PRIVATE, Score, read_for, refuse_accounted, split_last};

/// `predict`.
#[derive(Args, Debug)]
pub(crate) struct Predict {
    /// The model, as `fit` wrote it.
    model: PathBuf,
    /// The table: CSV, gzipped CSV, Parquet or .npy, with the model's features by name.
    data: PathBuf,
    /// Write the predictions to this CSV file.
    #[arg(long, value_name = "FILE.csv")]
    out: Option<PathBuf>,
    /// Replace the file of --out if it exists.
    #[arg(long, requires = "out")]
    force: bool,
    /// Score the predictions against this column. NOT PRIVATE: the score is a statistic of DATA without noise. A table
    /// with a ledger is scored only with --not-private.
    #[arg(long, value_name = "COLUMN")]
    score: Option<String>,
    /// Score a table that a ledger accounts for. The ledger does not count the score; do not publish it.
    #[arg(long, requires = "score")]
    not_private: bool,
}

impl Predict {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        let model = read_model(&self.model)?;
        if self.score.is_some() && !self.not_private {
            let help = "score other records, or add --not-private and keep the score to yourself";
            refuse_accounted(&self.data, "--score", help)?;
        }
        let place = self
            .out
            .as_deref()
            .map(|path| Destination::reserve(path, self.force.into()))
            .transpose()?;
        let raw = read_for(&model, &self.data, self.score.as_deref())?;
        let rows = (0..raw.n_records()).map(|record| match self.score {
            Some(_) => split_last(raw.row(record)),
            None => (raw.row(record), f64::NAN),
        });
        let pairs: Vec<(Option<f64>, f64)> = rows
            .map(|(values, actual)| (model.predict(values), actual))
            .collect();
        let score = match self.score {
            Some(_) => Some(Score::of_pairs(
                pairs.iter().copied(),
                model.response.transform,
            )?),
            None => None,
        };
        let predictions: Vec<Option<f64>> =
            pairs.iter().map(|(prediction, _)| *prediction).collect();
        let missing = predictions
            .iter()
            .filter(|prediction| prediction.is_none())
            .count();
        if missing > 0 {
            output.note(&format!(
                "note: {missing} records lack a feature of the model and have no prediction"
            ));
        }
        if let Some(place) = place {
            place.write(&to_csv(&predictions))?;
        }
        let shown = self.out.is_none().then_some(&predictions);
        let answer = json!({
            "model": self.model, "data": self.data, "response": model.response.name,
            "records": predictions.len(), "without_prediction": missing, "label": model.label,
            "out": self.out, "predictions": shown, "score": score,
        });
        output.answer(&answer, |_| {
            self.words(&model, &predictions, score.as_ref())
        });
        Ok(())
    }

    /// The predictions, unless they went to a file or a score was asked for; then that.
    fn words(&self, model: &Model, predictions: &[Option<f64>], score: Option<&Score>) -> String {
        if self.out.is_none() && score.is_none() {
            return to_csv(predictions);
        }
        let mut text = String::new();
        if score.is_some() {
            let _ = writeln!(text, "NOT PRIVATE: {NOT_PRIVATE}");
        }
        if let Some(label) = model.label.as_deref() {
            let _ = writeln!(text, "{label}: the model comes from a simulation");
        }
        if let Some(path) = &self.out {
            let _ = writeln!(
                text,
                "{} predictions written to {}",
                predictions.len(),
                path.display()
            );
        }
        if let Some(score) = score {
            let _ = writeln!(text, "{}", score.words());
        }
        text
    }
}

fn to_csv(predictions: &[Option<f64>]) -> String {
    let mut text = String::from("prediction\n");
    for prediction in predictions {
        // An empty field is a missing value; it is quoted so that a line of one column is not blank.
        let _ = match prediction {
            Some(value) => writeln!(text, "{value}"),
            None => writeln!(text, "\"\""),
        };
    }
    text
}
