//! `predict`: predictions of a fitted model, in the units of the table.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use sprifed::{Prediction, PredictionAnswer, SCORE_LABEL};
use sprifed_party::Destination;
use sprifed_privacy::counted;

use crate::choices::table_help;
use crate::failure::Failure;
use crate::ledger::refuse_accounted;
use crate::model::read_model;
use crate::output::Output;
use crate::table_arguments::TableArguments;

/// `predict`.
#[derive(Args, Debug)]
pub(crate) struct Predict {
    /// The model, as `fit` wrote it.
    model: PathBuf,
    #[arg(help = format!("{}, with the model's features by name", table_help()))]
    data: PathBuf,
    #[command(flatten)]
    reading: TableArguments,
    /// Write the predictions to this CSV file.
    #[arg(long, value_name = "FILE.csv")]
    out: Option<PathBuf>,
    /// The site that all records of DATA are of, for a model with site effects [default: the mean of the intercepts of all
    /// sites, each counted by its records, which suits a new site].
    #[arg(long, value_name = "NAME")]
    site: Option<String>,
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
        let model = match &self.site {
            Some(site) => model.at_site(site)?,
            None => model,
        };
        if self.score.is_some() && !self.not_private {
            let help = "score other records, or add --not-private and keep the score to yourself";
            for path in self.reading.table(&self.data).paths() {
                refuse_accounted(path, "--score", help)?;
            }
        }
        let inputs = [self.model.as_path(), &self.data];
        let taken: Vec<&Path> = inputs
            .into_iter()
            .chain(self.reading.phenotypes())
            .collect();
        let place = self
            .out
            .as_deref()
            .map(|path| Destination::reserve(path, self.force.into(), &taken))
            .transpose()?;
        let prediction = Prediction::of_table(
            &model,
            self.reading.table(&self.data),
            self.score.as_deref(),
        )?;
        let missing = prediction.missing();
        if missing > 0 {
            output.note(&format!(
                "note: no prediction for {} without a value of some feature of the model",
                counted(missing, "record", "records")
            ));
        }
        if let Some(place) = place {
            place.write(&prediction.to_csv())?;
        }
        let answer = PredictionAnswer {
            model: self.model.clone(),
            data: self.data.clone(),
            response: model.response.name.clone(),
            records: prediction.values.len(),
            without_prediction: missing,
            label: model.label.clone(),
            out: self.out.clone(),
            predictions: self.out.is_none().then(|| prediction.values.clone()),
            score: prediction.score,
        };
        output.answer(&answer, |answer| to_text(answer, &prediction));
        Ok(())
    }
}

/// The predictions, unless they went to a file or a score was asked for; then that.
fn to_text(answer: &PredictionAnswer, prediction: &Prediction) -> String {
    if answer.out.is_none() && answer.score.is_none() {
        return prediction.to_csv();
    }
    let mut text = String::new();
    if answer.score.is_some() {
        let _ = writeln!(text, "NOT PRIVATE: {SCORE_LABEL}");
    }
    if let Some(label) = &answer.label {
        let _ = writeln!(text, "{label}: the model comes from a simulation");
    }
    if let Some(path) = &answer.out {
        let _ = writeln!(
            text,
            "{} predictions written to {}",
            answer.records,
            path.display()
        );
    }
    if let Some(score) = &answer.score {
        let _ = writeln!(text, "{}", score.text());
    }
    text
}
