//! `demo`: a whole private study on generated data, in one process and without services.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use sprifed_privacy::{
    ApproxDp, ClientsRun, Currency, Delta, Epsilon, GuaranteeFacts, GuaranteeMoment,
    GuaranteeTable, Participation, PrivacyUnit, Relation,
};
use sprifed_query::{LinearModel, Records};
use sprifed_recovery::{CertifiedProcedure, Fit};
use sprifed_report::{Badge, BadgeKind, Bar, FeatureTable, FitPage, table};
use sprifed_simulate::{
    Absence, Certified, Correlation, Reading, Unexplained, World, WorldRequest,
};
use sprifed_study::{Agreed, Agreement, Embedded, everybody, split_evenly};

use crate::entropy::secret_party;
use crate::failure::Failure;
use crate::files::{Destination, Overwrite};
use crate::output::Output;
use crate::progress::Progress;

/// `demo`.
#[derive(Args, Debug)]
pub(crate) struct Demo {
    /// The folder for the report.
    #[arg(long, default_value = "sprifed-demo")]
    out: PathBuf,
    /// The seed of the generated data. The noise is always secret.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Clinics, each with its part of the records.
const CLIENTS: u32 = 50;

/// A sum of fewer clinics is never opened.
const QUORUM: u32 = 45;

/// How many of them may tell others their shares of the noise.
const COLLUDERS: u32 = 2;

const EPSILON: f64 = 3.0;
const DELTA: f64 = 1e-6;

const WORLD: WorldRequest = WorldRequest {
    records: 2000,
    test_records: 0,
    features: 3000,
    sparsity: 5,
    correlation: Correlation::Autoregressive(0.5),
    unexplained: Unexplained::PopulationR2(0.9),
    reading: Reading::Clean,
};

impl Demo {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        let budget = ApproxDp::new(Epsilon::try_from(EPSILON)?, Delta::try_from(DELTA)?);
        let procedure = CertifiedProcedure::GRAD;
        let participation = Participation::new(CLIENTS, QUORUM, COLLUDERS).map_err(bug)?;
        let relation = Relation::ZeroOut;
        let absence = Absence::NONE;
        let Certified { setting, plan, .. } =
            &Certified::federated(procedure, &WORLD, budget, relation, participation, absence)?;
        let world = World::generate(WORLD, self.seed);
        let records = Records::each_a_unit(world.features(), world.responses(), WORLD.features)
            .map_err(bug)?;
        let progress = Progress::start("sums", plan.steps.len() as u64);
        let key = secret_party()?;
        let units = split_evenly(u32::try_from(WORLD.records).map_err(bug)?, CLIENTS);
        let agreement = Agreement::among_members(&key, procedure, *setting, plan.clone(), units);
        let agreed = Agreed::new(agreement).map_err(bug)?;
        let mut study =
            Embedded::over(&records, agreed.into(), &key, Box::new(everybody)).map_err(bug)?;
        let fit = procedure
            .run_on_sums(setting, &mut study, |_| progress.advance())
            .map_err(bug)?;
        progress.finish();
        let spent = study.ledger().spent();
        let epsilon = spent.map_or(0.0, |spent| spent.epsilon().get());
        let mu = study
            .ledger()
            .spending()
            .sums()
            .and_then(|sums| sums.mu().ok());
        let statement = GuaranteeTable::new(&GuaranteeFacts {
            cost: spent,
            moment: GuaranteeMoment::Final,
            is_secret: true,
            unit: PrivacyUnit::Record,
            relation,
            origin: plan.origin,
            clients: ClientsRun::InOneProcess,
            several_records: None,
            currency: mu.map(Currency::Gaussian),
            verified_from: None,
        });
        let report = self.write_report(&world, &fit, &statement)?;
        let answer = to_json(&world, &fit, &statement, epsilon, &report);
        output.answer(&answer, |answer| to_text(&world, &fit, answer));
        Ok(())
    }

    fn write_report(
        &self,
        world: &World,
        fit: &Fit,
        statement: &GuaranteeTable,
    ) -> Result<String, Failure> {
        std::fs::create_dir_all(&self.out).map_err(|error| {
            Failure::environment(
                "sprifed::file::unwritable",
                format!("{} can not be made: {error}", self.out.display()),
                "choose another folder with --out",
            )
        })?;
        let (mse, baseline) = world.errors(&fit.model);
        let page = FitPage {
            title: "sprifed demo".to_owned(),
            status: vec![Badge::new(
                BadgeKind::Done,
                format!("true features found: {}", found_words(world, &fit.model)),
            )],
            guarantee: statement.clone(),
            warnings: Vec::new(),
            features: FeatureTable::new(&bars(world, fit), None),
            facts: vec![
                (
                    "records, spread over clients".to_owned(),
                    format!("{} over {CLIENTS}", WORLD.records),
                ),
                ("features".to_owned(), WORLD.features.to_string()),
                (
                    "true features found".to_owned(),
                    found_words(world, &fit.model),
                ),
                (
                    "test R2 (predicting zero: 0)".to_owned(),
                    format!("{:.3}", 1.0 - mse / baseline),
                ),
            ],
            rounds: Vec::new(),
            budget: Vec::new(),
            diagnostics: Vec::new(),
        };
        let path = self.out.join("report.html");
        Destination::reserve(&path, Overwrite::Forced)?.write(&page.to_html())?;
        Ok(path.display().to_string())
    }
}

/// What can not go wrong with constants.
fn bug(error: impl core::fmt::Display) -> Failure {
    Failure::outcome(
        "sprifed::demo::ended",
        format!("the study ended without a model: {error}"),
        "report this",
    )
}

fn found_words(world: &World, model: &LinearModel) -> String {
    format!("{} of {}", world.recovered(model), WORLD.sparsity)
}

fn coefficient(model: &LinearModel, feature: u32) -> Option<f64> {
    model
        .terms
        .iter()
        .find(|(known, _)| *known == feature)
        .map(|(_, value)| *value)
}

/// Every feature of the truth and of the fit, strongest first.
fn bars(world: &World, fit: &Fit) -> Vec<Bar> {
    let mut features = world.truth().support();
    features.extend(
        fit.model
            .support()
            .iter()
            .filter(|f| !world.truth().support().contains(f)),
    );
    let noise = |feature: u32| {
        let place = fit
            .model
            .terms
            .iter()
            .position(|(known, _)| *known == feature)?;
        fit.noise_std_devs.get(place).copied()
    };
    let mut bars: Vec<Bar> = features
        .into_iter()
        .map(|feature| Bar {
            name: format!("x_{feature}"),
            truth: coefficient(world.truth(), feature),
            found: coefficient(&fit.model, feature),
            noise_std_dev: noise(feature),
        })
        .collect();
    bars.sort_by(|left, right| size(right).total_cmp(&size(left)));
    bars
}

fn size(bar: &Bar) -> f64 {
    bar.truth.or(bar.found).unwrap_or(0.0).abs()
}

fn to_json(
    world: &World,
    fit: &Fit,
    statement: &GuaranteeTable,
    epsilon: f64,
    report: &str,
) -> Value {
    let (mse, baseline) = world.errors(&fit.model);
    json!({
        "guarantee": {
            "mode": "certified", "unit": "record", "neighbours": "zero-out",
            "epsilon": epsilon, "delta": DELTA, "statement": statement,
        },
        "backend": "secure-sum", "clients": CLIENTS, "records": WORLD.records,
        "features": WORLD.features,
        "status": fit.status, "recovered": world.recovered(&fit.model),
        "sparsity": WORLD.sparsity, "coefficients": bars(world, fit),
        "test_mse": mse, "null_mse": baseline, "test_r2": 1.0 - mse / baseline, "report": report,
    })
}

fn to_text(world: &World, fit: &Fit, answer: &Value) -> String {
    let mut rows = vec![
        [
            "feature",
            "true coefficient",
            "found",
            "noise alone (2 std devs, about 95 %)",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.3}"));
    for bar in bars(world, fit) {
        let noise = bar
            .noise_std_dev
            .map_or("-".to_owned(), |noise| format!("± {:.3}", 2.0 * noise));
        rows.push(vec![
            bar.name.clone(),
            number(bar.truth),
            number(bar.found),
            noise,
        ]);
    }
    format!(
        "{}\n\n{CLIENTS} clients with {} records of {} features; {} matter.\n\
         found {}; their coefficients beside the true ones:\n\n{}\n\
         test R2 {:.3} (predicting zero: 0); test MSE {:.3}, null model {:.3}\n\
         the report is in {}",
        answer["guarantee"]["statement"]
            .as_str()
            .unwrap_or_default(),
        WORLD.records,
        WORLD.features,
        WORLD.sparsity,
        found_words(world, &fit.model),
        table(&rows),
        answer["test_r2"].as_f64().unwrap_or(f64::NAN),
        answer["test_mse"].as_f64().unwrap_or(f64::NAN),
        answer["null_mse"].as_f64().unwrap_or(f64::NAN),
        answer["report"].as_str().unwrap_or_default(),
    )
}
