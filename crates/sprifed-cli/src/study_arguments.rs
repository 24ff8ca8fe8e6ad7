//! Arguments that several commands share: the world of a simulation, who adds up, and what a fit may cost.

use clap::Args;
use sprifed::{
    Backend, BackendRequest, ColumnScalesRequest, IllegalWorld, Stated, WorldSize,
    parse_correlation,
};
use sprifed_privacy::{Delta, Epsilon};
use sprifed_recovery::Outcome;
use sprifed_simulate::{Correlation, Reading, WorldOutcome, WorldSites};

use crate::account::{parse_epsilon, parse_quantity};
use crate::choices::{backends, column_scales, outcomes, readings};
use crate::failure::Failure;
use crate::table_arguments::parse_sparsity;

/// Who answers, and on whom the noise depends.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct BackendArguments {
    /// Who adds up the records and adds the noise.
    #[arg(long, value_parser = backends(), default_value = "curator")]
    pub(crate) backend: Backend,
    /// Of secure sums: a sum of fewer clients is never opened [default: nine tenths of them].
    #[arg(long)]
    quorum: Option<u32>,
    /// Of secure sums: how many clients may tell others their shares of the noise [default: a
    /// twentieth of them, at least one].
    #[arg(long)]
    colluders: Option<u32>,
}

impl BackendArguments {
    /// The same without the command line.
    pub(crate) const fn request(&self) -> BackendRequest {
        BackendRequest {
            backend: self.backend,
            quorum: self.quorum,
            colluders: self.colluders,
        }
    }
}

/// What is asked of a fit, and what it may cost.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct WantedArguments {
    /// How many features are sought at most, those that are always in the model not counted. Those are kept that are
    /// significant after the selection; give at most twice as many as you believe in.
    #[arg(long, value_parser = parse_sparsity, allow_hyphen_values = true)]
    pub(crate) sparsity: u32,
    /// Keep exactly as many features as --sparsity says, significant or not.
    #[arg(long)]
    pub(crate) exactly: bool,
    /// Let intervals and p-values allow for errors of unequal variance. It takes 5 % of the budget.
    #[arg(long)]
    pub(crate) robust: bool,
    /// The privacy budget.
    #[arg(long, value_parser = parse_epsilon, allow_hyphen_values = true)]
    pub(crate) epsilon: Epsilon,
    /// The delta of the budget [default: the smaller of 1e-6 and 1/(10 n)].
    #[arg(long, value_parser = parse_quantity::<Delta>, allow_hyphen_values = true)]
    pub(crate) delta: Option<Delta>,
    /// Whether columns are standardised by private means and scales.
    #[arg(long, value_parser = column_scales(), default_value = "never")]
    pub(crate) column_scales: ColumnScalesRequest,
}

/// What the user states about the data without looking at a record.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct StatedArguments {
    /// Share of the outcome's variance that the best model of so many features explains, as known from elsewhere
    /// [default: 0.1, 0.25, 0.5 and 0.8 are considered].
    #[arg(long, value_name = "SHARE", value_parser = parse_r2)]
    pub(crate) r2: Option<f64>,
    /// How features depend on each other, as known from elsewhere: none, ar:0.9 or equi:0.3.
    #[arg(long, default_value = "none", value_parser = parse_correlation)]
    pub(crate) correlation: Correlation,
}

impl StatedArguments {
    /// The same without the command line.
    pub(crate) const fn stated(&self) -> Stated {
        Stated {
            population_r2: self.r2,
            correlation: self.correlation,
        }
    }
}

/// A share of explained variance.
fn parse_r2(text: &str) -> Result<f64, String> {
    let share: f64 = text
        .parse()
        .map_err(|_| format!("{text:?} is not a number"))?;
    if share > 0.0 && share < 1.0 {
        return Ok(share);
    }
    Err(IllegalWorld::PopulationR2(share).to_string())
}

/// The generated data.
#[derive(Args, Clone, Debug)]
pub(crate) struct WorldArguments {
    /// n: how many records.
    #[arg(long)]
    pub(crate) records: usize,
    /// p: how many features.
    #[arg(long)]
    pub(crate) features: usize,
    /// s: how many of them are sought at most.
    #[arg(long)]
    pub(crate) sparsity: usize,
    /// How many of them are true [default: as many as --sparsity]. With 0 the errors are as large as if --sparsity features
    /// were true.
    #[arg(long, value_name = "K")]
    support: Option<usize>,
    /// Keep exactly as many features as --sparsity says, significant or not.
    #[arg(long)]
    pub(crate) exactly: bool,
    /// Let intervals and p-values allow for errors of unequal variance. It takes 5 % of the budget.
    #[arg(long)]
    pub(crate) robust: bool,
    /// How many clients hold the records [default: one record each].
    #[arg(long)]
    clients: Option<usize>,
    /// Standard deviation of the error [default: 0.1; 0.001 in the paper's reading].
    #[arg(long, conflicts_with = "population_r2")]
    error_std: Option<f64>,
    /// Share of the response's variance that the true model explains.
    #[arg(long, alias = "r2")]
    population_r2: Option<f64>,
    /// How features depend on each other: none, ar:0.9 or equi:0.3.
    #[arg(long, default_value = "none", value_parser = parse_correlation)]
    correlation: Correlation,
    /// How the generated numbers are read.
    #[arg(long, value_parser = readings(), default_value = "clean")]
    reading: Reading,
    /// What the response is.
    #[arg(long, value_parser = outcomes(), default_value = "linear")]
    outcome: Outcome,
    /// Of a binary outcome: the share of records with the event [default: 0.5].
    #[arg(long, value_name = "SHARE")]
    prevalence: Option<f64>,
    /// Of a binary outcome: the standard deviation of its log odds [default: 2; 1.5 where the event is rarer than one in
    /// five].
    #[arg(long, value_name = "SD")]
    log_odds_std: Option<f64>,
    /// Of times: the share of records with an event before they are censored [default: 0.6].
    #[arg(long, value_name = "SHARE")]
    event_share: Option<f64>,
    /// Of times: the standard deviation of the logarithm of the hazard [default: 1].
    #[arg(long, value_name = "SD")]
    log_hazard_std: Option<f64>,
    /// How many sites of unequal sizes the records are of; each has an intercept of its own. R2 on new records is then that
    /// for records of a new site.
    #[arg(long, value_name = "K")]
    sites: Option<usize>,
    /// Share of the response's variance that lies between sites [default: 0.3].
    #[arg(long, value_name = "SHARE", requires = "sites")]
    site_r2: Option<f64>,
    /// Generate sites, and fit without intercepts of their own.
    #[arg(long, requires = "sites")]
    without_site_effects: bool,
}

impl WorldArguments {
    /// Refuses odds of a response that has none.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let has_odds = self.prevalence.is_some() || self.log_odds_std.is_some();
        let has_hazards = self.event_share.is_some() || self.log_hazard_std.is_some();
        let refuse = |options: &str, required: &str| {
            Err(Failure::usage(
                "sprifed::simulate::odds",
                format!(
                    "{options} is given, but the outcome is {}",
                    self.outcome.name()
                ),
                required,
            ))
        };
        if has_odds && self.outcome != Outcome::Binary {
            return refuse(
                "--prevalence or --log-odds-std",
                "give --outcome binary, or leave them out",
            );
        }
        if has_hazards && self.outcome != Outcome::Survival {
            return refuse(
                "--event-share or --log-hazard-std",
                "give --outcome survival, or leave them out",
            );
        }
        Ok(())
    }

    /// The same without the command line.
    pub(crate) const fn size(&self) -> WorldSize {
        WorldSize {
            records: self.records,
            features: self.features,
            sparsity: self.sparsity,
            support: self.support,
            clients: self.clients,
            error_std: self.error_std,
            population_r2: self.population_r2,
            correlation: self.correlation,
            reading: self.reading,
            outcome: match self.outcome {
                Outcome::Linear => WorldOutcome::Linear,
                Outcome::Survival => WorldOutcome::Survival {
                    spread: match self.log_hazard_std {
                        Some(spread) => spread,
                        None => 1.0,
                    },
                    events: match self.event_share {
                        Some(share) => share,
                        None => 0.6,
                    },
                },
                Outcome::Binary => {
                    let prevalence = match self.prevalence {
                        Some(share) => share,
                        None => 0.5,
                    };
                    let usual = if prevalence < 0.2 { 1.5 } else { 2.0 };
                    WorldOutcome::Binary {
                        spread: match self.log_odds_std {
                            Some(spread) => spread,
                            None => usual,
                        },
                        prevalence,
                    }
                }
            },
            sites: match self.sites {
                None => WorldSites::NONE,
                Some(count) => WorldSites {
                    count,
                    r2: match self.site_r2 {
                        Some(share) => share,
                        None => 0.3,
                    },
                    are_fitted: !self.without_site_effects,
                },
            },
        }
    }
}
