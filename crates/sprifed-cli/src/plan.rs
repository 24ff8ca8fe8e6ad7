//! `plan`: what a study will ask, cost and probably find, before any record is touched.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use sprifed::{
    ColumnScalesRequest, ForecastAnswer, PlanAnswer, PlanRequest, Planned, ProcedureRequest,
    SchemaFacts, WorldSize, keep,
};
use sprifed_privacy::{Delta, Epsilon, Relation};
use sprifed_recovery::InferenceMethod;
use sprifed_simulate::{Reading, WorldOutcome, WorldSites};
use sprifed_tables::read_schema;

use crate::account::{parse_epsilon, parse_quantity};
use crate::choices::{column_scales, inferences, procedures, relations};
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::Progress;
use crate::study_arguments::{BackendArguments, StatedArguments};

/// `plan`.
#[derive(Args, Debug)]
pub(crate) struct PlanStudy {
    /// How features are found.
    #[arg(long, value_parser = procedures(), default_value = "auto")]
    procedure: ProcedureRequest,
    #[command(flatten)]
    backend: BackendArguments,
    /// n: how many records.
    #[arg(long)]
    records: usize,
    /// p: how many features [default: those that the schema names, if it names them all].
    #[arg(long)]
    features: Option<usize>,
    /// s: how many features are sought at most; those are kept that are significant after the selection.
    #[arg(long)]
    sparsity: usize,
    /// Keep exactly as many features as --sparsity says, significant or not.
    #[arg(long)]
    exactly: bool,
    /// Let intervals and p-values allow for errors of unequal variance. It takes 5 % of the budget.
    #[arg(long)]
    robust: bool,
    /// By which records the coefficients of the selected features are estimated.
    #[arg(long, value_parser = inferences(), default_value = "selective")]
    inference: InferenceMethod,
    /// How many features are true in the forecast [default: as many as --sparsity].
    #[arg(long, value_name = "K")]
    support: Option<usize>,
    /// How many clients hold the records [default: one record each].
    #[arg(long)]
    clients: Option<usize>,
    /// The public schema: whose presence is protected, how many features, whether they have scales. No table is read.
    #[arg(long, value_name = "FILE.toml")]
    schema: Option<PathBuf>,
    #[command(flatten)]
    stated: StatedArguments,
    /// Epsilon of the budget.
    #[arg(long, value_parser = parse_epsilon, allow_negative_numbers = true)]
    epsilon: Epsilon,
    /// Delta of the budget [default: the smaller of 1e-6 and 1/(10 n)].
    #[arg(long, value_parser = parse_quantity::<Delta>, allow_negative_numbers = true)]
    delta: Option<Delta>,
    /// Whether columns are standardised by private means and scales; needs a schema.
    #[arg(long, value_parser = column_scales(), default_value = "never")]
    column_scales: ColumnScalesRequest,
    /// Which data sets count as neighbours.
    #[arg(long, value_parser = relations(), default_value = "zero-out")]
    neighbours: Relation,
    /// Simulated studies behind each number of the forecast; 0 for none.
    #[arg(long, default_value_t = 6)]
    forecast_trials: u64,
}

impl PlanStudy {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        let planned = self.request()?.plan()?;
        let answer = planned.answer(self.forecast(&planned)?)?;
        output.answer(&answer, PlanAnswer::text);
        Ok(())
    }

    /// What is asked, without the command line.
    fn request(&self) -> Result<PlanRequest, Failure> {
        let schema = self.schema.as_deref().map(read_schema).transpose()?;
        let named = schema.as_ref().and_then(SchemaFacts::n_features);
        let features = self.features.or(named).ok_or_else(|| {
            Failure::usage(
                "sprifed::plan::features",
                "the number of features is not known: no schema names them all".to_owned(),
                "give --features; no table is read",
            )
        })?;
        Ok(PlanRequest {
            procedure: self.procedure,
            backend: self.backend.request(),
            world: WorldSize {
                records: self.records,
                features,
                sparsity: self.sparsity,
                support: self.support,
                clients: self.clients,
                error_std: None,
                population_r2: self.stated.r2,
                correlation: self.stated.correlation,
                reading: Reading::Clean,
                outcome: WorldOutcome::Linear,
                sites: WorldSites::NONE,
            },
            keep: keep(self.exactly),
            robust: self.robust,
            inference: self.inference,
            schema: schema.as_ref().map_or(SchemaFacts::NONE, SchemaFacts::of),
            epsilon: self.epsilon,
            delta: self.delta,
            column_scales: self.column_scales,
            neighbours: self.neighbours,
        })
    }

    fn forecast(&self, planned: &Planned) -> Result<Option<ForecastAnswer>, Failure> {
        let progress = Progress::start("forecast", 12 * self.forecast_trials);
        let start = Instant::now();
        let mut trials = 0.0;
        let forecast = planned.forecast(self.forecast_trials, |_| {
            trials += 1.0;
            progress.advance();
            ControlFlow::Continue(())
        })?;
        progress.finish();
        let seconds = start.elapsed().as_secs_f64() / f64::max(trials, 1.0);
        Ok(forecast.map(|forecast| ForecastAnswer {
            seconds_per_study: Some(seconds),
            ..forecast
        }))
    }
}
