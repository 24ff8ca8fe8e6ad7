//! Fits a private sparse model to a table: public bounds first, then the fit, then predictions.
//!
//! `cargo run -p sprifed --example fit_a_table`

use std::io::Write as _;
use std::ops::ControlFlow;

use sprifed::{
    Backend, BackendRequest, CertifiedProcedure, ColumnScalesRequest, Epsilon, Error,
    InferenceMethod, Keep, Model, NoiseGenerator, Relation, Request, Run, Schema, Secret, Stated,
    Study, read_csv, rows_of,
};

/// Bounds that are known without looking at the records.
const SCHEMA: &str = "
[response]
name = \"risk\"
lower = -2
upper = 2

[features]
lower = -1
upper = 1
";

/// A table of 2,000 records in which the risk follows the age.
fn table() -> String {
    let mut text = "age,dose,visits,risk\n".to_owned();
    for record in 0..2000_u32 {
        let wave = |period: u32| f64::from(record % period) / f64::from(period) * 2.0 - 1.0;
        let (age, dose, visits) = (wave(7), wave(11), wave(13));
        text += &format!("{age},{dose},{visits},{}\n", 1.5 * age);
    }
    text
}

/// Fits the table. The seed makes the noise repeatable, so the model is stamped NOT PRIVATE: a program
/// with real records uses `NoiseGenerator::assume_fresh_entropy` with 32 bytes of the operating system.
pub(crate) fn fit() -> Result<Model, Error> {
    let schema = Schema::parse(SCHEMA).map_err(sprifed::DataError::from)?;
    let table = read_csv(table().as_bytes(), &schema)?;
    let request = Request {
        sparsity: 1,
        keep: Keep::Exactly,
        robust: false,
        inference: InferenceMethod::Selective,
        epsilon: Epsilon::try_from(3.0)?,
        delta: None,
        procedure: CertifiedProcedure::GRAD.into(),
        stated: Stated::NOTHING,
        column_scales: ColumnScalesRequest::Never,
        neighbours: Relation::ZeroOut,
        backend: BackendRequest {
            backend: Backend::Curator,
            quorum: None,
            colluders: None,
        },
        clients: None,
    };
    let study = Study::prepare(&request, &schema, table.outline())?;
    let secret = Secret::Curator(NoiseGenerator::simulated(1).into());
    let guarantee = study.guarantee(secret.provenance())?;
    let mut watch = |_| ControlFlow::Continue(());
    let Run { outcome, receipt } = study.run(&rows_of(&table), secret, &mut watch)?;
    Ok(study.to_model(&outcome?, guarantee, receipt, Vec::new()))
}

/// Prints the guarantee and the model.
#[expect(clippy::disallowed_methods, reason = "an example prints")]
pub(crate) fn main() -> Result<(), Box<dyn core::error::Error>> {
    let model = fit()?;
    let mut out = std::io::stdout();
    writeln!(out, "{}", model.guarantee.statement)?;
    for term in &model.features {
        writeln!(out, "{} {:+.2}", term.name, term.coefficient)?;
    }
    writeln!(out, "risk at age 0.5: {:?}", model.predict(&[0.5]))?;
    Ok(())
}
