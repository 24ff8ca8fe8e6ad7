//! A whole private study on generated data, in one process and without services.

mod text;

use std::ops::{ControlFlow, Range};
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use sprifed_privacy::{
    ApproxDp, ClientsRun, Delta, Epsilon, GuaranteeFacts, GuaranteeMoment, GuaranteeTable, Ledger,
    PrivacyUnit, Relation,
};
use sprifed_query::{LinearModel, Records};
use sprifed_recovery::{Fit, FitStatus, Keep, Setting};
use sprifed_report::{Badge, BadgeKind, Bar, FeatureTable, FitPage};
use sprifed_simulate::{
    Absence, Certified, Correlation, Reading, Unexplained, World, WorldRequest, WorldSites,
    setting_of,
};
use sprifed_study::split_evenly;

use crate::backend::{Backend, BackendRequest};
use crate::error::Error;
use crate::guarantee::{Mode, currency_of};
use crate::procedure_choice::{ProcedureRequest, Stated};
use crate::run::{Secret, Undertaking};

/// Clinics, each with its part of the records.
const CLIENTS: u32 = 50;

const EPSILON: f64 = 3.0;
const DELTA: f64 = 1e-6;

const WORLD: WorldRequest = WorldRequest {
    records: 2000,
    test_records: 0,
    features: 3000,
    sparsity: 10,
    support: 5,
    correlation: Correlation::Autoregressive(0.5),
    unexplained: Unexplained::PopulationR2(0.9),
    reading: Reading::Clean,
    outcome: sprifed_simulate::WorldOutcome::Linear,
    sites: WorldSites::NONE,
};

/// What the choice of a procedure may know of that world.
const STATED: Stated = Stated {
    population_r2: Some(0.9),
    correlation: Correlation::Autoregressive(0.5),
};

/// How to read the table of the demonstration.
const READING: &str = "95 % of the intervals of kept features contain the coefficient of the best linear prediction by the \
                       kept features, on average. A p-value bounds the chance that a feature without effect was \
                       selected in this place and came out this strong.";

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
    /// How many true features were kept.
    pub recovered: usize,
    /// How many features were kept, true or not.
    pub kept: usize,
    /// How many features were sought at most.
    pub sparsity: usize,
    /// How many true features there are.
    pub support: usize,
    /// Every feature of the truth and every one that was kept, strongest first.
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
    /// Runs the study with data from `seed` on the backend of `secret`; `watch` hears after every step how many there
    /// are.
    ///
    /// # Errors
    /// Never with these constants; a defect otherwise.
    pub fn run(secret: Secret, seed: u64, mut watch: impl FnMut(usize)) -> Result<Self, Error> {
        let budget = ApproxDp::new(Epsilon::try_from(EPSILON)?, Delta::try_from(DELTA)?);
        let (relation, backend) = (Relation::ZeroOut, secret.backend());
        let request = BackendRequest {
            backend,
            quorum: None,
            colluders: None,
        };
        let origin = request.origin(CLIENTS as usize)?;
        let setting = Setting {
            origin,
            choice: Keep::Significant,
            ..setting_of(&WORLD, budget, relation)?
        };
        let can_run = |needs| backend.answers(needs);
        let choice = ProcedureRequest::Auto.choose(&setting, STATED, can_run)?;
        let planned = Certified::planned(choice.procedure, setting, Absence::NONE)?;
        let world = World::generate(WORLD, seed);
        let n_steps = planned.plan.steps.len();
        let (fit, ledger) = fitted(&planned, &world, secret, || watch(n_steps))?;
        let (plan, spent) = (&planned.plan, ledger.spent());
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
                    trustees: None,
                    clients: ClientsRun::InOneProcess,
                    several_records: None,
                    n_sites: 0,
                    currency: Some(currency_of(ledger.spending())?),
                    verified_from: None,
                }),
            },
            backend,
            clients: CLIENTS,
            records: WORLD.records,
            features: WORLD.features,
            status: fit.status,
            recovered: world.kept(&fit).true_ones(),
            kept: world.kept(&fit).features.len(),
            sparsity: WORLD.sparsity,
            support: WORLD.support,
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
        format!("{} of {}", self.recovered, self.support)
    }

    /// How many features were kept, in words.
    #[must_use]
    pub fn kept_words(&self) -> String {
        format!("{} of at most {}", self.kept, self.sparsity)
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
            notes: vec![READING.to_owned()],
            curve: None,
            facts: vec![
                (
                    "records, spread over clients".to_owned(),
                    format!("{} over {CLIENTS}", WORLD.records),
                ),
                ("features".to_owned(), WORLD.features.to_string()),
                ("features kept".to_owned(), self.kept_words()),
                ("true features found".to_owned(), self.found_words()),
                (
                    "test R2 (predicting zero: 0)".to_owned(),
                    format!("{:.3}", self.test_r2),
                ),
            ],
            curves: None,
            rounds: Vec::new(),
            budget: Vec::new(),
            diagnostics: Vec::new(),
        }
    }
}

/// The fit of the generated records, and the ledger; `watch` hears after every step.
fn fitted(
    planned: &Certified,
    world: &World,
    secret: Secret,
    mut watch: impl FnMut(),
) -> Result<(Fit, Ledger), Error> {
    let setting = &planned.setting;
    let records = Records::each_a_unit(world.features(), world.responses(), WORLD.features);
    let records = records.map_err(Error::Records)?;
    let most_units = split_evenly(setting.n_records, CLIENTS);
    let mut start = 0;
    let of_client = |units: &u32| {
        let units = start..start + *units as usize;
        start = units.end;
        units
    };
    let clients: Vec<Range<usize>> = most_units.iter().map(of_client).collect();
    let undertaking = Undertaking {
        procedure: planned.procedure,
        setting,
        plan: &planned.plan,
        most_units,
        clients: &clients,
    };
    let run = undertaking.run(&records, secret, &mut |done| {
        if done > 0 {
            watch();
        }
        ControlFlow::Continue(())
    })?;
    watch();
    let ledger = Ledger::replay(&run.receipt.ledger).map_err(Error::StudyLedger)?;
    Ok((run.outcome?, ledger))
}

fn coefficient(model: &LinearModel, feature: u32) -> Option<f64> {
    model
        .terms
        .iter()
        .find(|(known, _)| *known == feature)
        .map(|(_, value)| *value)
}

/// Every feature of the truth and every one that was kept, strongest first.
fn bars(world: &World, fit: &Fit) -> Vec<Bar> {
    let true_ones = world.truth().support();
    let kept = world.kept(fit).features;
    let false_ones = kept.iter().filter(|feature| !true_ones.contains(feature));
    let features = true_ones.iter().chain(false_ones);
    let mut bars: Vec<Bar> = features
        .map(|feature| Bar {
            name: format!("x_{feature}"),
            truth: coefficient(world.truth(), *feature),
            ..found(fit, *feature, kept.contains(feature))
        })
        .collect();
    bars.sort_by(|left, right| size(right).total_cmp(&size(left)));
    bars
}

/// What the fit says of a feature; nothing if it was not kept.
fn found(fit: &Fit, feature: u32, is_kept: bool) -> Bar {
    let inference = fit.inference.available();
    let mut terms = inference.iter().flat_map(|inference| &inference.terms);
    let term = terms.find(|term| term.feature == feature);
    let predicting = coefficient(&fit.model, feature).filter(|_| is_kept);
    let interval = term.and_then(|term| term.interval);
    Bar {
        name: String::new(),
        truth: None,
        found: term.map(|term| term.estimate).or(predicting),
        interval: interval.map(|interval| (interval.low, interval.high)),
        p_value: term.and_then(|term| term.p_value),
        privacy_share: term.and_then(|term| term.privacy_share),
        is_always: false,
    }
}

fn size(bar: &Bar) -> f64 {
    bar.truth.or(bar.found).unwrap_or(0.0).abs()
}
