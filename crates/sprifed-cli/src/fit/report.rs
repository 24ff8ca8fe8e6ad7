//! What a fit says of itself: the guarantee first, then how it ended, then the model.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sprifed_report::table;
use sprifed_schema::Transform;

use crate::model::Model;
use crate::score::Score;

/// Why a fit shows no score unless asked.
const NO_SCORE: &str = "a score computed from the fitted records would be one more release about them, without \
                        noise; pass --evaluate FILE with other records";

/// A finished fit and what is to be said about it.
#[derive(Debug)]
pub(super) struct Report<'a> {
    pub(super) model: Model,
    pub(super) path: &'a Path,
    /// Where the page about the fit is, if one was asked for.
    pub(super) page: Option<&'a Path>,
    pub(super) delta_note: Option<String>,
    pub(super) evaluation: Option<Evaluation>,
}

/// A score that no noise protects.
#[derive(Debug)]
pub(super) struct Evaluation {
    pub(super) path: PathBuf,
    pub(super) on_training_records: bool,
    pub(super) score: Score,
}

impl Evaluation {
    pub(super) fn label(&self) -> String {
        let place = self.path.display();
        if self.on_training_records {
            format!(
                "score on the fitted records of {place}: NOT PRIVATE, a statistic of them without noise"
            )
        } else {
            format!("evaluation on {place}, not covered by the guarantee")
        }
    }
}

impl Report<'_> {
    pub(super) fn to_json(&self) -> Value {
        let model = &self.model;
        let score = self.evaluation.as_ref().map(|evaluation| evaluation.score);
        let evaluation = match &self.evaluation {
            Some(evaluation) => {
                json!({ "label": evaluation.label(), "data": evaluation.path, "score": evaluation.score })
            }
            None => json!({ "label": Value::Null, "why_absent": NO_SCORE }),
        };
        let of_terms = |of: fn(&crate::model::Term) -> Value| -> Vec<Value> {
            model.features.iter().map(of).collect()
        };
        json!({
            "label": model.label,
            "guarantee": model.guarantee,
            "status": model.status_name(),
            "status_detail": model.status,
            "status_words": model.status_words(),
            "warning": model.warning(),
            "response": model.response.name,
            "transform": model.response.transform,
            "support": model.support(),
            "coefficients": of_terms(|term| json!(term.coefficient)),
            "noise_std_devs": of_terms(|term| json!(term.noise_std_dev)),
            "intercept": model.intercept,
            "residual_scale": model.residual_scale,
            "null_mse": score.map(|score| score.fitness.null_mse),
            "mse": score.map(|score| score.fitness.mse),
            "r2": score.and_then(|score| score.fitness.r2),
            "evaluation": evaluation,
            "train_size": model.train_size,
            "features": model.n_candidates,
            "clients": model.n_clients,
            "procedure": model.procedure,
            "backend": model.guarantee.backend,
            "delta_note": self.delta_note,
            "model": self.path,
            "report": self.page,
            "earlier_receipts": model.earlier_receipts.len(),
        })
    }

    pub(super) fn words(&self) -> String {
        let model = &self.model;
        let mut text = format!("{}\n\n", model.guarantee.statement);
        if let Some(note) = &self.delta_note {
            let _ = writeln!(text, "Note: {note}.");
        }
        if !model.earlier_receipts.is_empty() {
            let _ = writeln!(
                text,
                "Note: {} earlier fits wrote to this file; if they used the same records, their cost adds to this one.",
                model.earlier_receipts.len()
            );
        }
        let _ = writeln!(
            text,
            "\n{} features out of {} for `{}`, from {}, by {}.\n{}\n",
            model.features.len(),
            model.n_candidates,
            model.response.name,
            model.size_words(),
            model.plan.procedure,
            model.status_words()
        );
        if let Some(warning) = model.warning() {
            let _ = writeln!(text, "WARNING: {warning}.\n");
        }
        text += &coefficients(model);
        if model.response.transform != Transform::Identity {
            let _ = writeln!(
                text,
                "The model is linear for ln(1 + {}).",
                model.response.name
            );
        }
        text.push('\n');
        let _ = match &self.evaluation {
            Some(evaluation) => writeln!(
                text,
                "{}:\n{}.",
                evaluation.label(),
                evaluation.score.words()
            ),
            None => writeln!(text, "No score: {NO_SCORE}."),
        };
        let _ = writeln!(text, "Model and receipt: {}", self.path.display());
        if let Some(page) = self.page {
            let _ = writeln!(text, "Page: {}", page.display());
        }
        text
    }
}

fn coefficients(model: &Model) -> String {
    let mut rows = vec![
        [
            "feature",
            "coefficient",
            "noise alone (2 std devs, about 95 %)",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    for term in &model.features {
        let noise = term.noise_std_dev.map_or("unknown".to_owned(), |noise| {
            format!("\u{b1} {:.3e}", 2.0 * noise)
        });
        rows.push(vec![
            term.name.clone(),
            format!("{:.6}", term.coefficient),
            noise,
        ]);
    }
    rows.push(vec![
        "(intercept)".to_owned(),
        format!("{:.6}", model.intercept),
        String::new(),
    ]);
    table(&rows)
}
