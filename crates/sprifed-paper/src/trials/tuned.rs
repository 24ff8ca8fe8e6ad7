//! A baseline whose parameters are looked for in every trial, for free and within the budget.

use schemars::JsonSchema;
use serde::Serialize;
use sprifed::{Error, TrialGuarantee};
use sprifed_privacy::NoiseOrigin;
use sprifed_simulate::{Mean, Summary, TrialOutcome, World};

use super::{TrialsError, TrialsRequest, baseline_of};
use crate::baseline::Tuned;
use crate::method::AnyMethod;
use crate::tuning::{candidates, tune_charged, tune_for_free};

/// What a free search is worth.
const FREE: &str = "NOT PRIVATE at the stated budget: every candidate spent all of it, and the best \
                    was chosen by its test error";

/// Both searches and what they came out to.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TunedAnswer {
    /// The name of the baseline.
    pub procedure: String,
    /// n: how many records.
    pub records: usize,
    /// p: how many features.
    pub features: usize,
    /// s: how many of them are active.
    pub sparsity: usize,
    /// How many trials.
    pub trials: u64,
    /// The seed of the first.
    pub seed: u64,
    /// Among how many parameters was looked.
    pub candidates: u32,
    /// The best by its test error. NOT PRIVATE.
    pub free: TunedSummary,
    /// The best that the budget finds; absent for the paper's noise.
    pub charged: Option<TunedSummary>,
}

/// What trials of one search came out to.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TunedSummary {
    /// True features found.
    pub recovered: Mean,
    /// The same as a share of all true features.
    pub recovered_share: Mean,
    /// Mean squared error on new records.
    pub test_mse: Mean,
    /// One minus that, relative to predicting zero.
    pub test_r2: Mean,
    /// Mean squared error of predicting zero.
    pub null_mse: f64,
    /// What a free search is worth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statement: Option<&'static str>,
    /// What one run promises, search included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guarantee: Option<TrialGuarantee>,
}

impl TunedSummary {
    fn of(outcomes: &[TrialOutcome], sparsity: usize) -> Self {
        let summary = Summary::of(outcomes, sparsity);
        Self {
            recovered: summary.recovered,
            recovered_share: summary.recovered_share,
            test_mse: summary.test_mse,
            test_r2: summary.test_r2,
            null_mse: summary.null_mse,
            statement: None,
            guarantee: None,
        }
    }
}

impl TrialsRequest {
    /// Tunes among `count` candidates in every trial anew; `watch` hears of each trial.
    ///
    /// # Errors
    /// When there is nothing to look for, or a trial failed.
    pub fn run_tuned(
        &self,
        count: u32,
        mut watch: impl FnMut(),
    ) -> Result<TunedAnswer, TrialsError> {
        let method = self.method(true)?;
        let request = self.world.request().map_err(Error::from)?;
        let name = self.contender.name;
        let baseline = baseline_of(&method).ok_or(TrialsError::NothingToTune { name })?;
        let tried = candidates(*baseline, request.sparsity, count);
        let (budget, relation) = (self.budget, self.relation);
        let (per_vector, per_support) = (self.per_vector()?, self.per_support);
        let mut guarantee = None;
        if let AnyMethod::Baseline { setting, .. } = &method {
            let plan = Tuned::plan(setting, &tried).map_err(Error::from)?;
            let spending = plan.spending().map_err(Error::from)?;
            let (origin, delta) = (NoiseOrigin::Curator, budget.delta());
            guarantee = Some(TrialGuarantee::of(&spending, origin, delta, relation));
        }
        let (mut free, mut charged): (Vec<TrialOutcome>, Vec<TrialOutcome>) = Default::default();
        for trial in 0..self.trials {
            let seed = self.seed.wrapping_add(trial);
            let world = World::generate(request, seed);
            let row = if guarantee.is_some() {
                charged.push(tune_charged(&tried, &world, budget, relation, seed)?.outcome);
                let certified =
                    |baseline| AnyMethod::baseline(baseline, &request, budget, relation);
                tune_for_free(&tried, certified, &world, seed)?
            } else {
                let published = |baseline| {
                    AnyMethod::paper_baseline(baseline, &request, per_vector, per_support)
                };
                tune_for_free(&tried, published, &world, seed)?
            };
            free.push(row.outcome);
            watch();
        }
        let charged = guarantee.map(|guarantee| TunedSummary {
            guarantee: Some(guarantee),
            ..TunedSummary::of(&charged, request.support)
        });
        Ok(TunedAnswer {
            procedure: name.to_owned(),
            records: request.records,
            features: request.features,
            sparsity: request.sparsity,
            trials: self.trials,
            seed: self.seed,
            candidates: count,
            free: TunedSummary {
                statement: Some(FREE),
                ..TunedSummary::of(&free, request.support)
            },
            charged,
        })
    }
}
