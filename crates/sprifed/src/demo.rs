//! A whole private study on generated data, in one process and without services.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use sprifed_privacy::{
    ApproxDp, ClientsRun, Currency, Delta, Epsilon, GuaranteeFacts, GuaranteeMoment,
    GuaranteeTable, Participation, PrivacyUnit, Relation,
};
use sprifed_query::{LinearModel, Records};
use sprifed_recovery::{CertifiedProcedure, Fit, FitStatus};
use sprifed_report::{Badge, BadgeKind, Bar, FeatureTable, FitPage};
use sprifed_simulate::{
    Absence, Certified, Correlation, Reading, Unexplained, World, WorldRequest,
};
use sprifed_study::{Agreed, Agreement, Embedded, PartyKey, all_present, split_evenly};

use crate::backend::Backend;
use crate::error::Error;
use crate::guarantee::Mode;

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

/// What the demonstration found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DemoAnswer {
    /// What the study promises.
    pub guarantee: DemoGuarantee,
    /// Who added up.
    pub backend: Backend,
    /// How many clinics.
    pub clients: u32,
    /// How many records they hold.
    pub records: usize,
    /// How many features.
    pub features: usize,
    /// How the fit ended.
    pub status: FitStatus,
    /// How many true features were found.
    pub recovered: usize,
    /// How many there are.
    pub sparsity: usize,
    /// Every feature of the truth and of the fit, strongest first.
    pub coefficients: Vec<Bar>,
    /// Mean squared error on new records.
    pub test_mse: f64,
    /// The same of predicting zero.
    pub null_mse: f64,
    /// One minus their quotient.
    pub test_r2: f64,
    /// The file of the page; absent if none was written.
    pub report: Option<PathBuf>,
}

/// What the demonstration promises.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DemoGuarantee {
    /// Always `certified`.
    pub mode: Mode,
    /// Always `record`.
    pub unit: PrivacyUnit,
    /// Always `zero-out`.
    pub neighbours: Relation,
    /// ε that was spent, at δ.
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
    /// All of it, as a table.
    pub statement: GuaranteeTable,
}

impl DemoAnswer {
    /// Runs the study with data from `seed`; `watch` hears after every sum how many there are.
    ///
    /// # Errors
    /// Never with these constants; a defect otherwise.
    pub fn run(key: &PartyKey, seed: u64, mut watch: impl FnMut(usize)) -> Result<Self, Error> {
        let budget = ApproxDp::new(Epsilon::try_from(EPSILON)?, Delta::try_from(DELTA)?);
        let procedure = CertifiedProcedure::GRAD;
        let participation = Participation::new(CLIENTS, QUORUM, COLLUDERS)?;
        let (relation, absence) = (Relation::ZeroOut, Absence::NONE);
        let Certified { setting, plan, .. } =
            &Certified::federated(procedure, &WORLD, budget, relation, participation, absence)?;
        let world = World::generate(WORLD, seed);
        let records = Records::each_a_unit(world.features(), world.responses(), WORLD.features)
            .map_err(Error::Records)?;
        let units = split_evenly(setting.n_records, CLIENTS);
        let agreement = Agreement::among_parties(key, procedure, *setting, plan.clone(), units);
        let agreed = Agreed::new(agreement).map_err(Error::NoAgreement)?;
        let mut study = Embedded::over(&records, agreed.into(), key, Box::new(all_present))
            .map_err(Error::NoSetup)?;
        let fit = procedure.run_on_sums(setting, &mut study, |_| watch(plan.steps.len()));
        let fit = fit.map_err(|error| Error::Ended {
            why: format!("the study ended without a model: {error}"),
        })?;
        let spent = study.ledger().spent();
        let sums = study.ledger().spending().sums();
        let mu = sums.and_then(|sums| sums.mu().ok());
        let (test_mse, null_mse) = world.errors(&fit.model);
        Ok(Self {
            guarantee: DemoGuarantee {
                mode: Mode::Certified,
                unit: PrivacyUnit::Record,
                neighbours: relation,
                epsilon: spent.map_or(0.0, |spent| spent.epsilon().get()),
                delta: DELTA,
                statement: GuaranteeTable::new(&GuaranteeFacts {
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
                }),
            },
            backend: Backend::SecureSum,
            clients: CLIENTS,
            records: WORLD.records,
            features: WORLD.features,
            status: fit.status,
            recovered: world.recovered(&fit.model),
            sparsity: WORLD.sparsity,
            coefficients: bars(&world, &fit),
            test_mse,
            null_mse,
            test_r2: 1.0 - test_mse / null_mse,
            report: None,
        })
    }

    /// How many of the true features were found, in words.
    #[must_use]
    pub fn found_words(&self) -> String {
        format!("{} of {}", self.recovered, self.sparsity)
    }

    /// The page of the study.
    #[must_use]
    pub fn to_page(&self) -> FitPage {
        FitPage {
            title: "sprifed demo".to_owned(),
            status: vec![Badge::new(
                BadgeKind::Done,
                format!("true features found: {}", self.found_words()),
            )],
            guarantee: self.guarantee.statement.clone(),
            warnings: Vec::new(),
            features: FeatureTable::new(&self.coefficients, None),
            facts: vec![
                (
                    "records, spread over clients".to_owned(),
                    format!("{} over {CLIENTS}", WORLD.records),
                ),
                ("features".to_owned(), WORLD.features.to_string()),
                ("true features found".to_owned(), self.found_words()),
                (
                    "test R2 (predicting zero: 0)".to_owned(),
                    format!("{:.3}", self.test_r2),
                ),
            ],
            rounds: Vec::new(),
            budget: Vec::new(),
            diagnostics: Vec::new(),
        }
    }
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
