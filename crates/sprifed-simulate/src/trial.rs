//! One trial: a world, a procedure, a backend, a score.

use std::sync::Arc;

use sprifed_noise::NoiseGenerator;
use sprifed_privacy::{ApproxDp, NoiseOrigin, Participation, PrivacyUnit, Relation};
use sprifed_query::{
    Curator, CuratorError, IllegalRecords, LARGEST_HAZARD, Plan, PlanError, RecordSource, Records,
};
use sprifed_recovery::{
    CertifiedProcedure, ColumnScales, Fit, Groups, InferenceMethod, Intercept, Keep, Outcome,
    RunError, Setting, Sites, non_private_lasso, non_private_omp,
};
use sprifed_study::{
    Agreed, Agreement, Embedded, EmbeddedError, EmbeddedTrustees, IllegalAgreement, PartyKey,
    TrusteesError, split_evenly,
};

use crate::absence::Absence;
use crate::kept::Kept;
use crate::odds::OddsScores;
use crate::odds::reference::most_likely_odds;
use crate::times::TimeScores;
use crate::times::reference::{martingale_residuals, most_likely_hazards};
use crate::world::{Reading, Rows, World, WorldOutcome, WorldRequest};

#[cfg(test)]
pub(crate) mod tests;

/// Why a trial has no outcome.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TrialError {
    /// No plan exists.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The curator refused.
    #[error(transparent)]
    Curator(#[from] CuratorError),
    /// The procedure did not end with a fit.
    #[error(transparent)]
    Run(#[from] RunError<CuratorError>),
    /// The parties cannot agree on the study.
    #[error(transparent)]
    Agreement(#[from] IllegalAgreement),
    /// The secure sums ended without a result.
    #[error(transparent)]
    Embedded(#[from] EmbeddedError),
    /// The procedure did not end with a fit over secure sums.
    #[error(transparent)]
    Federated(#[from] RunError<EmbeddedError>),
    /// The trustees opened nothing.
    #[error(transparent)]
    Trustees(#[from] TrusteesError),
    /// The procedure did not end with a fit by trustees.
    #[error(transparent)]
    ByTrustees(#[from] RunError<TrusteesError>),
    /// The records are not usable.
    #[error(transparent)]
    Records(#[from] IllegalRecords),
    /// The caller stopped the trials.
    #[error("the trials were interrupted")]
    Interrupted,
}

/// How a model is looked for in records.
pub trait Method {
    /// Why there is no fit.
    type Error: From<TrialError>;

    /// Fits records of any origin, with noise of this seed; `sparsity` is that of the plan.
    ///
    /// # Errors
    /// When the backend refuses.
    fn fit(&self, records: Records<'_>, sparsity: usize, seed: u64) -> Result<Fit, Self::Error>;

    /// Runs the trial of this seed.
    ///
    /// # Errors
    /// When the backend refuses.
    fn run(&self, request: WorldRequest, seed: u64) -> Result<TrialOutcome, Self::Error> {
        self.run_on(&World::generate(request, seed), seed)
    }

    /// Runs the trial on a world that is there already, with noise of this seed.
    ///
    /// # Errors
    /// When the backend refuses.
    fn run_on(&self, world: &World, seed: u64) -> Result<TrialOutcome, Self::Error> {
        let request = world.request();
        let records = Records::each_a_unit(world.features(), world.responses(), request.columns())
            .map_err(TrialError::from)?;
        let fit = self.fit(records, request.sparsity, noise_seed(seed))?;
        Ok(TrialOutcome::of(world, fit))
    }
}

/// With certified noise, by a curator, by parties whose noise adds up or by three trustees, as the plan says.
#[derive(Clone, Debug, PartialEq)]
pub struct Certified {
    /// The procedure.
    pub procedure: CertifiedProcedure,
    /// What it is planned for.
    pub setting: Setting,
    /// Its public plan.
    pub plan: Plan,
    /// Which parties miss sums; a curator misses none.
    pub absence: Absence,
    /// Over how many clients of trustees the records are spread; each record is a client's own by default.
    pub clients: Option<u32>,
}

/// Without noise: NOT PRIVATE, to be compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// Orthogonal matching pursuit on the records themselves.
    Omp,
    /// The Lasso with as many features, refitted.
    Lasso,
}

impl Reference {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Omp, Self::Lasso];

    /// Its name, in commands and messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Omp => "non-private-omp",
            Self::Lasso => "non-private-lasso",
        }
    }

    /// What it is, in one line.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::Omp => "Orthogonal matching pursuit without privacy",
            Self::Lasso => "The Lasso without privacy",
        }
    }

    /// The one of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }
}

impl Method for Reference {
    type Error = TrialError;

    fn fit(&self, records: Records<'_>, sparsity: usize, _seed: u64) -> Result<Fit, TrialError> {
        Ok(match self {
            Self::Omp => non_private_omp(&records, sparsity),
            Self::Lasso => non_private_lasso(&records, sparsity),
        })
    }

    fn run_on(&self, world: &World, seed: u64) -> Result<TrialOutcome, TrialError> {
        let request = world.request();
        let (features, width) = (world.features(), request.columns());
        let records = Records::each_a_unit(features, world.responses(), width)?;
        // Selected by the linear procedure, as the certified ones do, and then refitted.
        let selected = match request.outcome {
            WorldOutcome::Linear => world.responses().to_vec(),
            WorldOutcome::Binary { .. } => around_mean(world.responses()),
            WorldOutcome::Survival { .. } => martingale_residuals(world.responses()),
        };
        let selected = Records::each_a_unit(features, &selected, width)?;
        let fit = self.fit(selected, request.sparsity, noise_seed(seed))?;
        let support = fit.model.support();
        let model = match request.outcome {
            WorldOutcome::Linear => fit.model,
            WorldOutcome::Binary { .. } => most_likely_odds(&records, &support),
            WorldOutcome::Survival { .. } => most_likely_hazards(&records, &support),
        };
        Ok(TrialOutcome::of(world, Fit { model, ..fit }))
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "records are stored in f32, and there are far fewer than 2^53"
)]
fn around_mean(responses: &[f32]) -> Vec<f32> {
    let sum: f64 = responses.iter().map(|response| f64::from(*response)).sum();
    let mean = (sum / responses.len().max(1) as f64) as f32;
    responses.iter().map(|response| response - mean).collect()
}

/// How one trial came out.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialOutcome {
    /// The fit.
    pub fit: Fit,
    /// What it kept.
    pub kept: Kept,
    /// How many true features were kept.
    pub recovered: usize,
    /// Mean squared error on new records.
    pub test_mse: f64,
    /// Mean squared error of predicting zero, or the share of ones.
    pub null_mse: f64,
    /// Of zeros and ones, how well their probability is predicted.
    pub odds: Option<OddsScores>,
    /// Of times, how well a model tells whose event comes first.
    pub times: Option<TimeScores>,
}

impl TrialOutcome {
    /// The score of `fit` in `world`.
    #[must_use]
    pub fn of(world: &World, fit: Fit) -> Self {
        Self {
            odds: world.odds_scores(&fit.model),
            times: world.time_scores(&fit.model),
            ..Self::with_errors(world.kept(&fit), world.errors(&fit.model), fit)
        }
    }

    fn with_errors(kept: Kept, (test_mse, null_mse): (f64, f64), fit: Fit) -> Self {
        Self {
            odds: None,
            times: None,
            fit,
            recovered: kept.true_ones(),
            kept,
            test_mse,
            null_mse,
        }
    }
}

/// A public bound on the response of a generated world: eight standard deviations of a model with
/// coefficients near two, rounded up to a power of two.
#[must_use]
pub fn default_response_bound(sparsity: usize) -> f64 {
    (8.0 * typical_response(sparsity.max(1)))
        .log2()
        .ceil()
        .exp2()
}

/// The standard deviation of the response when coefficients are drawn from N(2, 1).
#[must_use]
pub fn typical_response(sparsity: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a sparsity is small")]
    let active = sparsity as f64;
    (5.0 * active).sqrt()
}

impl Certified {
    /// A procedure for worlds of this kind, on a curator.
    ///
    /// # Errors
    /// When no plan exists.
    pub fn on_curator(
        procedure: CertifiedProcedure,
        world: &WorldRequest,
        budget: ApproxDp,
        relation: Relation,
    ) -> Result<Self, PlanError> {
        let setting = setting_of(world, budget, relation)?;
        Self::planned(procedure, setting, Absence::NONE)
    }

    /// The same over secure sums: every party, mask and share of noise for real.
    ///
    /// # Errors
    /// When no plan exists.
    pub fn federated(
        procedure: CertifiedProcedure,
        world: &WorldRequest,
        budget: ApproxDp,
        relation: Relation,
        participation: Participation,
        absence: Absence,
    ) -> Result<Self, PlanError> {
        let setting = Setting {
            origin: NoiseOrigin::Shares(participation),
            ..setting_of(world, budget, relation)?
        };
        Self::planned(procedure, setting, absence)
    }

    /// A procedure for a setting of the caller's.
    ///
    /// # Errors
    /// When no plan exists.
    pub fn planned(
        procedure: CertifiedProcedure,
        setting: Setting,
        absence: Absence,
    ) -> Result<Self, PlanError> {
        let plan = procedure.plan(&setting)?;
        Ok(Self {
            procedure,
            setting,
            plan,
            absence,
            clients: None,
        })
    }

    /// The same with records that are spread over so many clients of trustees.
    #[must_use]
    pub fn with_clients(self, clients: u32) -> Self {
        Self {
            clients: Some(clients),
            ..self
        }
    }

    fn fit_by_trustees<S: RecordSource>(&self, source: &S, seed: u64) -> Result<Fit, TrialError> {
        let key = PartyKey::simulated(seed, 0);
        let n_units = small(source.n_units())?;
        let units = split_evenly(n_units, self.clients.unwrap_or(n_units));
        let (plan, attendance) = (self.plan.clone(), self.absence.attendance(seed));
        let mut study = EmbeddedTrustees::over(source, plan, units, &key, attendance)?;
        Ok(self.procedure.run(&self.setting, &mut study, |_| ())?)
    }

    fn fit_federated<S: RecordSource>(
        &self,
        participation: Participation,
        source: &S,
        seed: u64,
    ) -> Result<Fit, TrialError> {
        let key = PartyKey::simulated(seed, 0);
        let units = split_evenly(small(source.n_units())?, participation.clients());
        let (procedure, plan) = (self.procedure, self.plan.clone());
        let agreement = Agreement::among_parties(&key, procedure, self.setting, plan, units);
        let agreed = Arc::new(Agreed::new(agreement)?);
        let mut study = Embedded::over(source, agreed, &key, self.absence.attendance(seed))?;
        Ok(procedure.run_on_sums(&self.setting, &mut study, |_| ())?)
    }
}

impl Method for Certified {
    type Error = TrialError;

    fn fit(&self, records: Records<'_>, _sparsity: usize, seed: u64) -> Result<Fit, TrialError> {
        match self.setting.origin {
            NoiseOrigin::Shares(participation) => self.fit_federated(participation, &records, seed),
            NoiseOrigin::Trustees => self.fit_by_trustees(&records, seed),
            NoiseOrigin::Curator => {
                let generator = NoiseGenerator::simulated(seed);
                let mut curator = Curator::open(records, self.plan.clone(), generator)?;
                Ok(self.procedure.run(&self.setting, &mut curator, |_| ())?)
            }
        }
    }

    fn run(&self, request: WorldRequest, seed: u64) -> Result<TrialOutcome, TrialError> {
        match self.setting.origin {
            // Parties generate their records on demand, so that no process holds all of them.
            NoiseOrigin::Shares(participation) if request.reading == Reading::Clean => {
                let rows = Rows::generate(request, seed);
                let fit = self.fit_federated(participation, &rows, noise_seed(seed))?;
                let errors = rows.population_errors(&fit.model);
                Ok(TrialOutcome {
                    odds: rows.odds_scores(&fit.model),
                    times: rows.time_scores(&fit.model),
                    ..TrialOutcome::with_errors(rows.kept(&fit), errors, fit)
                })
            }
            _ => self.run_on(&World::generate(request, seed), seed),
        }
    }
}

/// The seed of a trial's noise, apart from that of its data.
const fn noise_seed(seed: u64) -> u64 {
    seed ^ 0x5EED_0F01
}

/// What a procedure is planned for in worlds of this kind, on a curator.
///
/// # Errors
/// When the world is too large.
pub fn setting_of(
    world: &WorldRequest,
    budget: ApproxDp,
    relation: Relation,
) -> Result<Setting, PlanError> {
    let (feature_bound, response_bound) = match (world.outcome, world.reading) {
        (WorldOutcome::Binary { .. }, _) => (8.0, 1.0),
        (WorldOutcome::Survival { .. }, _) => (8.0, LARGEST_HAZARD),
        (WorldOutcome::Linear, Reading::Paper) => (1.4, 1.1),
        (WorldOutcome::Linear, Reading::Clean) => (8.0, default_response_bound(world.support)),
    };
    Ok(Setting {
        n_records: small(world.records)?,
        n_features: small(world.features)?,
        sparsity: small(world.sparsity)?,
        choice: Keep::Exactly,
        inference: InferenceMethod::Selective,
        always: 0,
        groups: Groups::NONE,
        sites: match world.sites.are_fitted {
            true => Sites::new(&world.sites.sizes(world.records))?,
            false => Sites::NONE,
        },
        outcome: match world.outcome {
            WorldOutcome::Linear => Outcome::Linear,
            WorldOutcome::Binary { .. } => Outcome::Binary,
            WorldOutcome::Survival { .. } => Outcome::Survival,
        },
        budget,
        relation,
        unit: PrivacyUnit::Record,
        origin: NoiseOrigin::Curator,
        response_bound,
        feature_bound,
        feature_scale: Some(1.0),
        column_scales: ColumnScales::NONE,
        intercept: match (world.sites.count, world.outcome) {
            (0, WorldOutcome::Linear) => Intercept::Absent,
            _ => Intercept::Estimated,
        },
        robust: false,
    })
}

fn small(number: usize) -> Result<u32, PlanError> {
    u32::try_from(number).map_err(|_| PlanError::Request {
        found: format!("{number} records or features"),
        required: "at most 2^32 are possible".to_owned(),
    })
}
