//! One trial: a world, a procedure, a backend, a score.

use std::sync::Arc;

use sprifed_noise::NoiseGenerator;
use sprifed_privacy::{ApproxDp, Mu, NoiseOrigin, Participation, PrivacyUnit, Relation};
use sprifed_query::{
    Curator, CuratorError, IllegalRecords, Plan, PlanError, RecordSource, Records, run,
};
use sprifed_recovery::{
    Baseline, CertifiedProcedure, Descent, Fit, Intercept, PaperBackend, PaperBackendError,
    PaperDescent, PaperGradient, PaperNoise, PaperOmp, RunError, Setting, SupportNoise,
    non_private_lasso, non_private_omp,
};

use sprifed_study::{
    Agreed, Agreement, Embedded, EmbeddedError, IllegalAgreement, PartyKey, split_evenly,
};

use crate::absence::Absence;
use crate::world::{Reading, Rows, World, WorldRequest};

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
    /// The parties can not agree on the study.
    #[error(transparent)]
    Agreement(#[from] IllegalAgreement),
    /// The secure sums ended without a result.
    #[error(transparent)]
    Embedded(#[from] EmbeddedError),
    /// The procedure did not end with a fit over secure sums.
    #[error(transparent)]
    Federated(#[from] RunError<EmbeddedError>),
    /// The paper's backend refused.
    #[error(transparent)]
    Paper(#[from] PaperBackendError),
    /// The records are not usable.
    #[error(transparent)]
    Records(#[from] IllegalRecords),
    /// Nobody waits for the rest.
    #[error("the trials were interrupted")]
    Interrupted,
}

/// The paper's algorithms with the paper's noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaperAlgorithm {
    /// SPriFed-OMP.
    Omp,
    /// SPriFed-OMP without Enhancement 1.
    OmpReusing,
    /// SPriFed-OMP-GRAD with B_C = 1 and no clipping.
    Grad,
}

/// How the model is looked for.
#[derive(Clone, Debug, PartialEq)]
pub enum Method {
    /// With certified noise, by a curator or by parties whose noise adds up, as the plan says.
    Certified {
        /// The procedure.
        procedure: CertifiedProcedure,
        /// What it is planned for.
        setting: Setting,
        /// Its public plan.
        plan: Plan,
        /// Who misses sums; a curator misses none.
        absence: Absence,
    },
    /// With the paper's noise: NOT PRIVATE.
    Paper {
        /// The algorithm.
        algorithm: PaperAlgorithm,
        /// Its noise.
        noise: PaperNoise,
    },
    /// A baseline with parameters of its own and certified noise, by a curator who follows the plan.
    Baseline {
        /// The baseline.
        baseline: Baseline,
        /// What it is planned for.
        setting: Setting,
        /// Its public plan.
        plan: Plan,
    },
    /// A baseline with the paper's noise: NOT PRIVATE.
    PaperBaseline {
        /// The baseline.
        baseline: Baseline,
        /// Its noise.
        noise: PaperNoise,
    },
    /// Without noise: orthogonal matching pursuit on the records themselves.
    NonPrivateOmp,
    /// Without noise: the Lasso with as many features, refitted.
    NonPrivateLasso,
}

/// How one trial came out.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialOutcome {
    /// The fit.
    pub fit: Fit,
    /// How many true features were found.
    pub recovered: usize,
    /// Mean squared error on new records.
    pub test_mse: f64,
    /// Mean squared error of predicting zero.
    pub null_mse: f64,
}

impl TrialOutcome {
    /// The score of `fit` in `world`.
    #[must_use]
    pub fn of(world: &World, fit: Fit) -> Self {
        let recovered = world.recovered(&fit.model);
        let (test_mse, null_mse) = world.errors(&fit.model);
        Self {
            fit,
            recovered,
            test_mse,
            null_mse,
        }
    }
}

/// A public bound on the response of a generated world: eight standard deviations of a model with
/// coefficients near two, rounded up to a power of two.
#[must_use]
pub fn default_response_bound(sparsity: usize) -> f64 {
    (8.0 * typical_response(sparsity)).log2().ceil().exp2()
}

/// The standard deviation of the response when coefficients are drawn from N(2, 1).
fn typical_response(sparsity: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a sparsity is small")]
    let active = sparsity as f64;
    (5.0 * active).sqrt()
}

impl Method {
    /// A certified procedure for worlds of this kind.
    ///
    /// # Errors
    /// When no plan exists.
    pub fn certified(
        procedure: CertifiedProcedure,
        world: &WorldRequest,
        budget: ApproxDp,
        relation: Relation,
    ) -> Result<Self, PlanError> {
        Self::planned(
            procedure,
            setting_of(procedure, world, budget, relation)?,
            Absence::NONE,
        )
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
            ..setting_of(procedure, world, budget, relation)?
        };
        Self::planned(procedure, setting, absence)
    }

    fn planned(
        procedure: CertifiedProcedure,
        setting: Setting,
        absence: Absence,
    ) -> Result<Self, PlanError> {
        let plan = procedure.plan(&setting)?;
        Ok(Self::Certified {
            procedure,
            setting,
            plan,
            absence,
        })
    }

    /// One of the paper's algorithms for worlds of this kind.
    ///
    /// # Errors
    /// When the world is too large.
    pub fn paper(
        algorithm: PaperAlgorithm,
        world: &WorldRequest,
        per_vector: Mu,
        per_support: Mu,
    ) -> Result<Self, PlanError> {
        let (features, sparsity) = (small(world.features)?, small(world.sparsity)?);
        let noise = PaperNoise::of(features, sparsity, per_vector, per_support);
        Ok(Self::Paper { algorithm, noise })
    }

    /// A baseline with certified noise for worlds of this kind.
    ///
    /// # Errors
    /// When no plan exists.
    pub fn baseline(
        baseline: Baseline,
        world: &WorldRequest,
        budget: ApproxDp,
        relation: Relation,
    ) -> Result<Self, PlanError> {
        let setting = Self::baseline_setting(world, budget, relation)?;
        let plan = baseline.plan(&setting)?;
        Ok(Self::Baseline {
            baseline,
            setting,
            plan,
        })
    }

    /// What a baseline with certified noise is planned for.
    pub(crate) fn baseline_setting(
        world: &WorldRequest,
        budget: ApproxDp,
        relation: Relation,
    ) -> Result<Setting, PlanError> {
        setting_of(CertifiedProcedure::DpSgd, world, budget, relation)
    }

    /// A baseline with the paper's noise for worlds of this kind.
    ///
    /// # Why
    /// The paper lets DP-SGD run until it has spent what SPriFed-OMP spends, which is s steps of
    /// μ_p. With T steps instead, each has μ_p·√(s/T), so that the paper's formula gives the same.
    /// DP-GCD's noise does not depend on how many steps it takes: T steps cost 2T·μ_p².
    ///
    /// # Errors
    /// When the world is too large or a parameter is illegal.
    pub fn paper_baseline(
        baseline: Baseline,
        world: &WorldRequest,
        per_vector: Mu,
        per_support: Mu,
    ) -> Result<Self, PlanError> {
        baseline.check()?;
        let (features, sparsity) = (small(world.features)?, small(world.sparsity)?);
        let per_step = match baseline {
            Baseline::DpSgd(parameters) => {
                let share = f64::from(sparsity) / f64::from(parameters.steps);
                Mu::try_from(per_vector.get() * share.sqrt())?
            }
            Baseline::DpGcd(_) => per_vector,
        };
        let noise = PaperNoise::of(features, sparsity, per_step, per_support);
        Ok(Self::PaperBaseline { baseline, noise })
    }

    /// Runs the trial of this seed.
    ///
    /// # Errors
    /// When the backend refuses.
    pub fn run(&self, request: WorldRequest, seed: u64) -> Result<TrialOutcome, TrialError> {
        match self {
            // Parties make their records when they are asked, so that nobody holds all of them.
            Self::Certified { setting, .. }
                if setting.origin != NoiseOrigin::Curator && request.reading == Reading::Clean =>
            {
                let rows = Rows::generate(request, seed);
                let fit = self.fit_federated(&rows, noise_seed(seed))?;
                let recovered = rows.recovered(&fit.model);
                let (test_mse, null_mse) = rows.population_errors(&fit.model);
                Ok(TrialOutcome {
                    fit,
                    recovered,
                    test_mse,
                    null_mse,
                })
            }
            _ => self.run_on(&World::generate(request, seed), seed),
        }
    }

    /// Runs the trial on a world that is there already, with noise of this seed.
    ///
    /// # Errors
    /// When the backend refuses.
    pub fn run_on(&self, world: &World, seed: u64) -> Result<TrialOutcome, TrialError> {
        let request = world.request();
        let records = Records::each_a_unit(world.features(), world.responses(), request.features)?;
        let fit = self.fit(records, request.sparsity, noise_seed(seed))?;
        Ok(TrialOutcome::of(world, fit))
    }

    /// Fits records of any origin, with noise of this seed; `sparsity` is that of the plan.
    ///
    /// # Errors
    /// When the backend refuses.
    pub fn fit(&self, records: Records<'_>, sparsity: usize, seed: u64) -> Result<Fit, TrialError> {
        match self {
            Self::Certified { setting, .. } if setting.origin != NoiseOrigin::Curator => {
                self.fit_federated(&records, seed)
            }
            Self::Certified {
                procedure,
                setting,
                plan,
                ..
            } => {
                let generator = NoiseGenerator::simulated(seed);
                let mut curator = Curator::open(records, plan.clone(), generator)?;
                Ok(procedure.run(setting, &mut curator, |_| ())?)
            }
            Self::Paper { algorithm, noise } => {
                let (features, sparsity) = (small(records.n_features())?, small(sparsity)?);
                let mut backend = PaperBackend::open(&records, *noise, seed);
                let omp = |support| PaperOmp::as_published(features, sparsity, support);
                let ended = match algorithm {
                    PaperAlgorithm::Omp => run(omp(SupportNoise::Fresh), &mut backend, |_| ()),
                    PaperAlgorithm::OmpReusing => {
                        run(omp(SupportNoise::Reused), &mut backend, |_| ())
                    }
                    PaperAlgorithm::Grad => run(
                        PaperGradient::as_published(features, sparsity),
                        &mut backend,
                        |_| (),
                    ),
                };
                Ok(ended?)
            }
            Self::Baseline {
                baseline,
                setting,
                plan,
            } => {
                let generator = NoiseGenerator::simulated(seed);
                let mut curator = Curator::open(records, plan.clone(), generator)?;
                Ok(run(
                    Descent::new(*setting, *baseline),
                    &mut curator,
                    |_| (),
                )?)
            }
            Self::PaperBaseline { baseline, noise } => {
                let (features, sparsity) = (small(records.n_features())?, small(sparsity)?);
                let mut backend = PaperBackend::open(&records, *noise, seed);
                let procedure = PaperDescent::as_published(
                    small(records.n_records())?,
                    features,
                    sparsity,
                    *baseline,
                );
                Ok(run(procedure, &mut backend, |_| ())?)
            }
            Self::NonPrivateOmp => Ok(non_private_omp(&records, sparsity)),
            Self::NonPrivateLasso => Ok(non_private_lasso(&records, sparsity)),
        }
    }

    fn fit_federated<S: RecordSource>(&self, source: &S, seed: u64) -> Result<Fit, TrialError> {
        let Self::Certified {
            procedure,
            setting,
            plan,
            absence,
        } = self
        else {
            unreachable!("only certified methods are federated")
        };
        let key = PartyKey::simulated(seed, 0);
        let NoiseOrigin::Shares(participation) = plan.origin else {
            unreachable!("only plans of shares are federated")
        };
        let units = split_evenly(small(source.n_units())?, participation.clients());
        let agreement = Agreement::among_members(&key, *procedure, *setting, plan.clone(), units);
        let agreed = Arc::new(Agreed::new(agreement)?);
        let mut study = Embedded::over(source, agreed, &key, absence.attendance(seed))?;
        Ok(procedure.run_on_sums(setting, &mut study, |_| ())?)
    }
}

/// The seed of a trial's noise, apart from that of its data.
const fn noise_seed(seed: u64) -> u64 {
    seed ^ 0x5EED_0F01
}

fn setting_of(
    procedure: CertifiedProcedure,
    world: &WorldRequest,
    budget: ApproxDp,
    relation: Relation,
) -> Result<Setting, PlanError> {
    // The paper's algorithms pay for their bounds: one standard deviation is what serves them best.
    let (feature_bound, response_bound) = match (procedure, world.reading) {
        (_, Reading::Paper) => (1.4, 1.1),
        (CertifiedProcedure::HonestOmp | CertifiedProcedure::HonestGrad, Reading::Clean) => {
            (1.0, typical_response(world.sparsity))
        }
        (_, Reading::Clean) => (8.0, default_response_bound(world.sparsity)),
    };
    Ok(Setting {
        n_records: small(world.records)?,
        n_features: small(world.features)?,
        sparsity: small(world.sparsity)?,
        budget,
        relation,
        unit: PrivacyUnit::Record,
        origin: NoiseOrigin::Curator,
        response_bound,
        feature_bound,
        feature_scale: Some(1.0),
        intercept: Intercept::Absent,
    })
}

fn small(number: usize) -> Result<u32, PlanError> {
    u32::try_from(number).map_err(|_| PlanError::Request {
        found: format!("{number} records or features"),
        required: "at most 2^32 are possible".to_owned(),
    })
}
