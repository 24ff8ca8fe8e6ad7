//! A study between clients in one process: each masks its vector and adds its own share of the noise. Then its receipt
//! is verified by a reader who has the file alone.
//!
//! `cargo run -p sprifed --example embedded_study`

use std::io::Write as _;
use std::ops::ControlFlow;

use sprifed::{
    Backend, BackendRequest, CertifiedProcedure, ColumnScalesRequest, Document, Epsilon, Error,
    InferenceMethod, Keep, PartyKey, Proof, Relation, Request, Run, Schema, Secret, Stated, Study,
    read_csv, rows_of,
};

/// Bounds that all clients know.
const SCHEMA: &str = "
[response]
name = \"y\"
lower = -1
upper = 1

[features]
lower = -1
upper = 1
";

/// The records of all clients: `y` follows `a`.
fn table() -> String {
    let mut text = "a,b,c,y\n".to_owned();
    for record in 0..1200_u32 {
        let wave = |period: u32| f64::from(record % period) / f64::from(period) * 2.0 - 1.0;
        let (a, b, c) = (wave(7), wave(11), wave(13));
        text += &format!("{a},{b},{c},{}\n", 0.9 * a);
    }
    text
}

/// Runs the study among 12 clients and returns the file of its model, with the receipt in it.
pub(crate) fn run() -> Result<String, Error> {
    let schema = Schema::parse(SCHEMA).map_err(sprifed::DataError::from)?;
    let table = read_csv(table().as_bytes(), &schema)?;
    let request = Request {
        sparsity: 1,
        keep: Keep::Exactly,
        robust: false,
        inference: InferenceMethod::Selective,
        epsilon: Epsilon::try_from(8.0)?,
        delta: None,
        procedure: CertifiedProcedure::SIEVE.into(),
        stated: Stated::NOTHING,
        column_scales: ColumnScalesRequest::Never,
        neighbours: Relation::ZeroOut,
        backend: BackendRequest {
            backend: Backend::SecureSum,
            quorum: Some(11),
            colluders: Some(1),
        },
        clients: Some(12),
    };
    let study = Study::prepare(&request, &schema, table.outline())?;
    let secret = Secret::Parties(PartyKey::simulated(1, 0));
    let guarantee = study.guarantee(secret.provenance())?;
    let mut watch = |_| ControlFlow::Continue(());
    let Run { outcome, receipt } = study.run(&rows_of(&table), secret, &mut watch)?;
    let model = study.to_model(&outcome?, guarantee, receipt, Vec::new());
    model.to_text()
}

/// Computes the guarantee of the file again, from its plan and its ledger.
pub(crate) fn verify(file: &str) -> Result<Proof, Error> {
    Document::parse(file, "model.json")?.verify("model.json")
}

/// Runs the study, verifies its receipt, and shows that a changed one is refused.
#[expect(clippy::disallowed_methods, reason = "an example prints")]
pub(crate) fn main() -> Result<(), Box<dyn core::error::Error>> {
    let file = run()?;
    let mut out = std::io::stdout();
    if let Proof::Model(guarantee) = verify(&file)? {
        writeln!(out, "verified:\n{}", guarantee.statement)?;
    }
    let forged = file.replacen("\"mu\":", "\"mu\": 0.001, \"was\":", 1);
    if let Err(error) = verify(&forged) {
        writeln!(out, "a changed file is refused: {error}")?;
    }
    Ok(())
}
