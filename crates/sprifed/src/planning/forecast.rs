//! What simulated studies found, and below how many records nothing can be found.

use schemars::JsonSchema;
use serde::Serialize;
use sprifed_query::PlanError;
use sprifed_recovery::{CertifiedProcedure, FLOOR_CORRELATIONS, Floor, Needs, Outcome, Setting};

use super::SchemaFacts;
use crate::procedure_choice::Stated;
use sprifed_simulate::{
    Compared, Correlation, Mean, Unexplained, WorldOutcome, WorldRequest, spread_for,
};

/// What simulated studies found.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ForecastAnswer {
    /// What is assumed of the data.
    pub assumes: String,
    /// Each procedure that the backend can run, and the fit without noise, for each assumed R².
    pub rows: Vec<ForecastRow>,
    /// The records at which 90 % of the features are found on average; absent if more than were tried, or if no R² is
    /// stated.
    pub records_for_90_percent: Option<usize>,
    /// Every number of records that was tried, with the share that was found.
    pub tried: Vec<(usize, f64)>,
    /// Simulated studies behind each row.
    pub trials: u64,
    /// Seconds of one study; absent where there is no clock.
    pub seconds_per_study: Option<f64>,
}

/// What one procedure found under one assumption.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ForecastRow {
    /// The share of the response's variance that the best model explains, as assumed.
    pub population_r2: f64,
    /// The name of a procedure, or of the fit without noise.
    pub procedure: &'static str,
    /// The share of the true features that was kept.
    pub recovered_share: Mean,
    /// The share of the kept features that is not true.
    pub false_share: Mean,
    /// The width of the intervals of kept features, in the units of the simulated data, where true coefficients are about
    /// 2; absent if none was reported.
    pub width: Option<Mean>,
    /// One minus the squared error on new records, relative to predicting the mean.
    pub test_r2: Mean,
}

impl ForecastRow {
    pub(super) fn of(population_r2: f64, compared: Compared) -> Self {
        let Compared {
            method,
            recovered_share,
            false_share,
            width,
            test_r2,
        } = compared;
        Self {
            population_r2,
            procedure: method,
            recovered_share,
            false_share,
            width,
            test_r2,
        }
    }
}

/// The share of ones in a forecast.
const FORECAST_PREVALENCE: f64 = 0.5;

impl SchemaFacts {
    /// The world in which the best linear model explains this share of the variance of the response; none where zeros and
    /// ones cannot be explained so well.
    pub(super) fn explaining(
        &self,
        population_r2: f64,
        world: WorldRequest,
    ) -> Option<WorldRequest> {
        Some(match self.outcome {
            Outcome::Linear => WorldRequest {
                unexplained: Unexplained::PopulationR2(population_r2),
                ..world
            },
            Outcome::Binary => WorldRequest {
                outcome: WorldOutcome::Binary {
                    spread: spread_for(population_r2, FORECAST_PREVALENCE)?,
                    prevalence: FORECAST_PREVALENCE,
                },
                ..world
            },
            // No forecast is built for times; what a forecast assumes says so.
            Outcome::Survival => return None,
        })
    }
}

/// What a forecast assumes, in words.
pub(super) fn assumptions(schema: &SchemaFacts, stated: Stated, support: usize) -> String {
    let Stated {
        population_r2,
        correlation,
    } = stated;
    let explained = population_r2.map_or_else(
        || {
            "the best model explains the share R2 of the variance (not stated, so four are shown)"
                .to_owned()
        },
        |r2| format!("the best model explains the share {r2} of the variance (stated)"),
    );
    let features = match correlation {
        Correlation::None => "normal features without correlation".to_owned(),
        Correlation::Autoregressive(rho) => format!("normal features, neighbours correlated {rho}"),
        Correlation::Equal(rho) => format!("normal features, every two correlated {rho}"),
    };
    let errors = match schema.outcome {
        Outcome::Linear => "normal errors",
        Outcome::Survival => {
            "times to an event, for which no forecast is built: use `simulate --outcome survival`"
        }
        Outcome::Binary => {
            "as many zeros as ones, whose log odds are linear (of their variance a linear model explains at most 0.6)"
        }
    };
    format!(
        "{features}; {support} true ones with coefficients from N(2, 1); {errors}; public scales that fit; {explained}"
    )
}

/// About how many records one feature needs at the budget.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FloorAnswer {
    /// By a private choice; absent if the backend makes none.
    pub choices: Option<Vec<Floor>>,
    /// By noisy sums over all features.
    pub sums: Vec<Floor>,
    /// The fewest records with which the procedure seeks features: those that a feature of correlation 0.7 needs, or more
    /// where the noise hides the scale of the residual.
    pub fewest_records: u64,
    /// Whether the study has fewer. Then no feature is sought and the model is the mean, unless exactly so many features
    /// are asked for.
    pub is_below: bool,
    /// What keeping every 20th feature would change for sums; absent with few features.
    pub thinned: Option<Thinned>,
}

/// What keeping a part of the features by public knowledge, such as their positions, would change for sums.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Thinned {
    /// Every so many features one is kept.
    pub every: u32,
    /// How many features are left.
    pub features: u32,
    /// About how many records one of them needs if its correlation is 0.5.
    pub records: u64,
}

/// Every so many features one is kept, in what a plan says of thinning.
const THINNING: u32 = 20;

/// A plan says nothing of thinning if fewer features than this were left.
const FEWEST_LEFT: u32 = 50;

impl FloorAnswer {
    /// The floor of a study that runs a procedure with these needs.
    pub(super) fn of(
        setting: &Setting,
        procedure: CertifiedProcedure,
        makes_choices: bool,
    ) -> Result<Self, PlanError> {
        let all = |needs| -> Result<Vec<Floor>, PlanError> {
            let each = FLOOR_CORRELATIONS.into_iter();
            each.map(|correlation| Floor::of(setting, needs, correlation))
                .collect()
        };
        let choices = makes_choices.then(|| all(Needs::Choices)).transpose()?;
        let sums = all(Needs::Sums)?;
        let fewest_records = procedure.fewest_records(setting)?;
        let features = setting.n_features / THINNING;
        let thinned = Setting {
            n_features: features,
            ..*setting
        };
        let thinned = (features >= FEWEST_LEFT).then(|| Floor::of(&thinned, Needs::Sums, 0.5));
        Ok(Self {
            is_below: u64::from(setting.n_records) < fewest_records,
            fewest_records,
            thinned: thinned.transpose()?.map(|floor| Thinned {
                every: THINNING,
                features,
                records: floor.records,
            }),
            choices,
            sums,
        })
    }
}
