//! Plans a study before any record exists: what it asks, what it costs, what it will probably find.
//!
//! `cargo run -p sprifed --example plan_before_data`

use std::io::Write as _;
use std::ops::ControlFlow;

use sprifed::{
    Backend, BackendRequest, ColumnScalesRequest, Correlation, Epsilon, Error, InferenceMethod,
    Keep, PlanAnswer, PlanRequest, ProcedureRequest, Reading, Relation, SchemaFacts, WorldOutcome,
    WorldSites, WorldSize,
};

/// The plan of a study of 500 records in 20 clinics, with a forecast from two simulated studies a point.
pub(crate) fn plan() -> Result<PlanAnswer, Error> {
    let request = PlanRequest {
        procedure: ProcedureRequest::Auto,
        backend: BackendRequest {
            backend: Backend::SecureSum,
            quorum: Some(18),
            colluders: Some(1),
        },
        world: WorldSize {
            records: 500,
            features: 40,
            sparsity: 2,
            support: None,
            clients: Some(20),
            error_std: None,
            population_r2: Some(0.8),
            correlation: Correlation::None,
            reading: Reading::Clean,
            outcome: WorldOutcome::Linear,
            sites: WorldSites::NONE,
        },
        keep: Keep::Significant,
        robust: false,
        inference: InferenceMethod::Selective,
        schema: SchemaFacts::NONE,
        epsilon: Epsilon::try_from(4.0)?,
        delta: None,
        column_scales: ColumnScalesRequest::Never,
        neighbours: Relation::ZeroOut,
    };
    let planned = request.plan()?;
    let forecast = planned.forecast(2, |_| ControlFlow::Continue(()))?;
    planned.answer(forecast)
}

/// Prints what the study costs and finds.
#[expect(clippy::disallowed_methods, reason = "an example prints")]
pub(crate) fn main() -> Result<(), Box<dyn core::error::Error>> {
    let plan = plan()?;
    let mut out = std::io::stdout();
    let epsilon = plan.guarantee.epsilon.map_or(0.0, Epsilon::get);
    writeln!(out, "{} sums cost epsilon = {epsilon}", plan.rounds)?;
    writeln!(
        out,
        "each client sends {} bytes",
        plan.upload_bytes_per_client
    )?;
    if let Some(forecast) = &plan.forecast {
        for row in &forecast.rows {
            let share = 100.0 * row.recovered_share.mean;
            writeln!(
                out,
                "{} may find {share:.0} % of the features",
                row.procedure
            )?;
        }
    }
    Ok(())
}
