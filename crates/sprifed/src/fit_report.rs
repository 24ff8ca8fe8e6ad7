//! What a finished fit says of itself, for programs and for a page.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use sprifed_recovery::FitStatus;
use sprifed_schema::{Marker, Transform};

use crate::baseline::CurvePoint;
use crate::guarantee::Guarantee;
use crate::inference::ModelInference;
use crate::model::Model;
use crate::planning::KeptFeatures;
use crate::score::{Score, ScoredTable};

mod page;

/// Why a fit shows no score unless asked.
pub const NO_SCORE: &str =
    "a score computed from the fitted records would be one more release about them, without noise";

/// A finished fit and what is to be said about it.
#[derive(Clone, Debug)]
pub struct FitReport {
    /// The model.
    pub model: Model,
    /// Where it was written.
    pub path: PathBuf,
    /// Where the page about the fit is, if one was asked for.
    pub page: Option<PathBuf>,
    /// Where the table of effects is, if one was asked for.
    pub effects: Option<PathBuf>,
    /// What a person should know about the delta.
    pub delta_note: Option<String>,
    /// The score, if one was asked for. NOT PRIVATE.
    pub evaluation: Option<Evaluation>,
}

/// A score that no noise protects.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// The table.
    pub path: PathBuf,
    /// Whether it is the table that was fitted.
    pub on_training_records: bool,
    /// The score, and what the page draws of it.
    pub scored: ScoredTable,
}

impl Evaluation {
    /// What the score is of, and that no guarantee covers it.
    #[must_use]
    pub fn label(&self) -> String {
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

/// What a finished fit says of itself.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FitAnswer {
    /// How the fit ended, in one word.
    pub status: &'static str,
    /// Whether the coefficients may be read and the predictions used. If not, the command ends with exit code 5.
    pub reliable: bool,
    /// The same with its numbers.
    pub status_detail: FitStatus,
    /// The same in words that say what would help.
    pub status_words: String,
    /// What a person must know before using the model.
    pub warning: Option<String>,
    /// `NOT PRIVATE` if the noise can be repeated.
    pub label: Option<String>,
    /// What it promises.
    pub guarantee: Guarantee,
    /// The name of the response.
    pub response: String,
    /// The change of its scale.
    pub transform: Transform,
    /// The names of the kept features, then of those that are always in the model.
    pub support: Vec<String>,
    /// Where those of them that are genetic markers lie, and which allele is counted, by name.
    pub markers: BTreeMap<String, Marker>,
    /// Their coefficients in predictions, in the units of the table: shrunk where noise outweighs what is known.
    pub coefficients: Vec<f64>,
    /// The response, after its transform, that is predicted where all features are zero.
    pub intercept: f64,
    /// What is reported of the coefficients, or why nothing is.
    pub inference: ModelInference,
    /// Of times: the survival of a record whose features are all at their centres, at the end of each bin.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub survival_curve: Vec<CurvePoint>,
    /// Features that were chosen and not kept, and are used in predictions only.
    pub not_kept: Vec<PredictionTerm>,
    /// How to read the report.
    pub notes: Vec<String>,
    /// A private estimate of the typical residual.
    pub residual_scale: Option<f64>,
    /// Of the evaluation: the error of the null model.
    pub null_mse: Option<f64>,
    /// Of the evaluation: the error of the model.
    pub mse: Option<f64>,
    /// Of the evaluation: the share of the variance that is explained.
    pub r2: Option<f64>,
    /// The evaluation, or why there is none.
    pub evaluation: EvaluationAnswer,
    /// n: the public number of privacy units.
    pub train_size: u64,
    /// s: how many features were sought at most.
    pub sparsity: u32,
    /// Which of them were kept: those that are significant, or exactly as many as were sought.
    pub keep: KeptFeatures,
    /// p: how many features were candidates.
    pub features: usize,
    /// How many clients held the records.
    pub clients: usize,
    /// How features were found.
    pub procedure: String,
    /// Who added up.
    pub backend: String,
    /// What a person should know about the delta.
    pub delta_note: Option<String>,
    /// The file of the model.
    pub model: PathBuf,
    /// The file of the page.
    pub report: Option<PathBuf>,
    /// The file of the table of effects.
    pub effects: Option<PathBuf>,
    /// How many earlier fits wrote to this file.
    pub earlier_receipts: usize,
}

/// A feature that is used in predictions only.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PredictionTerm {
    /// The name of the feature.
    pub name: String,
    /// Its coefficient in predictions.
    pub coefficient: f64,
}

/// A score, or why there is none.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum EvaluationAnswer {
    /// A score. NOT PRIVATE.
    Scored {
        /// What it is of.
        label: String,
        /// The table.
        data: PathBuf,
        /// The score.
        score: Score,
    },
    /// None.
    Absent {
        /// Always absent.
        label: Option<String>,
        /// Why.
        why_absent: &'static str,
    },
}

impl FitReport {
    /// The answer for programs.
    #[must_use]
    pub fn answer(&self) -> FitAnswer {
        let model = &self.model;
        let score = self.evaluation.as_ref();
        let score = score.map(|evaluation| evaluation.scored.score);
        let fitness = score.and_then(|score| score.fitness);
        let support = model.support();
        let coefficient = |name: &String| model.feature(name).map_or(0.0, |term| term.coefficient);
        let not_kept = model
            .features
            .iter()
            .filter(|term| !support.contains(&term.name));
        let not_kept = not_kept.map(|term| PredictionTerm {
            name: term.name.clone(),
            coefficient: term.coefficient,
        });
        FitAnswer {
            status: model.status_name(),
            reliable: model.is_reliable(),
            status_detail: model.status,
            status_words: model.status_words(),
            warning: model.warning(),
            label: model.label.clone(),
            guarantee: model.guarantee.clone(),
            response: model.response.name.clone(),
            transform: model.response.transform,
            markers: support
                .iter()
                .filter_map(|name| Some((name.clone(), model.marker(name)?.clone())))
                .collect(),
            coefficients: support.iter().map(coefficient).collect(),
            intercept: model.intercept,
            inference: model.inference.clone(),
            survival_curve: model.survival_curve(),
            not_kept: not_kept.collect(),
            notes: model.notes(),
            support,
            residual_scale: model.residual_scale,
            null_mse: fitness.map(|fitness| fitness.null_mse),
            mse: fitness.map(|fitness| fitness.mse),
            r2: fitness.and_then(|fitness| fitness.r2),
            evaluation: match &self.evaluation {
                Some(evaluation) => EvaluationAnswer::Scored {
                    label: evaluation.label(),
                    data: evaluation.path.clone(),
                    score: evaluation.scored.score,
                },
                None => EvaluationAnswer::Absent {
                    label: None,
                    why_absent: NO_SCORE,
                },
            },
            train_size: model.train_size,
            sparsity: model.sparsity,
            keep: model.keep.into(),
            features: model.n_candidates,
            clients: model.n_clients,
            procedure: model.procedure.clone(),
            backend: model.guarantee.backend.clone(),
            delta_note: self.delta_note.clone(),
            model: self.path.clone(),
            report: self.page.clone(),
            effects: self.effects.clone(),
            earlier_receipts: model.earlier_receipts.len(),
        }
    }
}
