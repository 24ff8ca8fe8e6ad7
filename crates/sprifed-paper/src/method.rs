//! How a model is looked for: certified, with the paper's noise, or without any.

use sprifed::{Error, Seeking};
use sprifed_noise::NoiseGenerator;
use sprifed_privacy::{ApproxDp, IllegalQuantity, Mu, NoiseOrigin, Participation, Relation};
use sprifed_query::{Curator, CuratorError, IllegalRecords, Plan, PlanError, Records, run};
use sprifed_recovery::{CertifiedProcedure, Fit, Setting};
use sprifed_simulate::{
    Absence, Certified, Method, Reference, TrialError, TrialOutcome, WorldRequest,
};

use crate::algorithm::{PaperDescent, PaperGradient, PaperOmp, SupportNoise};
use crate::baseline::{Baseline, Descent};
use crate::comparison::{DP_SGD, certified_setting};
use crate::paper_noise::{PaperBackend, PaperBackendError, PaperNoise};

#[cfg(test)]
mod tests;

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

/// Why a method has no outcome.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MethodError {
    /// The trial failed.
    #[error(transparent)]
    Trial(#[from] TrialError),
    /// The paper's backend refused.
    #[error(transparent)]
    Paper(#[from] PaperBackendError),
}

impl From<PlanError> for MethodError {
    fn from(error: PlanError) -> Self {
        Self::Trial(error.into())
    }
}

impl From<IllegalQuantity> for MethodError {
    fn from(error: IllegalQuantity) -> Self {
        Self::Trial(PlanError::Quantity(error).into())
    }
}

impl From<CuratorError> for MethodError {
    fn from(error: CuratorError) -> Self {
        Self::Trial(error.into())
    }
}

impl From<IllegalRecords> for MethodError {
    fn from(error: IllegalRecords) -> Self {
        Self::Trial(error.into())
    }
}

impl From<MethodError> for Error {
    fn from(error: MethodError) -> Self {
        match error {
            MethodError::Trial(error) => error.into(),
            MethodError::Paper(error) => Self::Method(Box::new(error)),
        }
    }
}

/// How the model is looked for.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyMethod {
    /// With certified noise, by a procedure of the registry or of the comparisons.
    Certified(Certified),
    /// With the paper's noise: NOT PRIVATE.
    Paper {
        /// The algorithm.
        algorithm: PaperAlgorithm,
        /// Its noise.
        noise: PaperNoise,
    },
    /// A baseline with parameters of its own and certified noise, by a curator that follows the
    /// plan.
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
    /// Without noise.
    Reference(Reference),
}

impl AnyMethod {
    /// A certified procedure in a [`certified_setting`], by a curator.
    ///
    /// # Errors
    /// When no plan exists.
    pub fn certified(procedure: CertifiedProcedure, setting: Setting) -> Result<Self, PlanError> {
        let planned = Certified::planned(procedure, setting, Absence::NONE)?;
        Ok(Self::Certified(planned))
    }

    /// A certified procedure in a [`certified_setting`], over secure sums: every party, mask and share of noise
    /// for real.
    ///
    /// # Errors
    /// When no plan exists.
    pub fn federated(
        procedure: CertifiedProcedure,
        setting: Setting,
        participation: Participation,
        absence: Absence,
    ) -> Result<Self, PlanError> {
        let origin = NoiseOrigin::Shares(participation);
        let planned = Certified::planned(procedure, Setting { origin, ..setting }, absence)?;
        Ok(Self::Certified(planned))
    }

    /// A certified procedure in a [`certified_setting`], by three trustees, with this many clients: every upload, gate
    /// and share of noise for real.
    ///
    /// # Errors
    /// When no plan exists.
    pub fn by_trustees(
        procedure: CertifiedProcedure,
        setting: Setting,
        clients: u32,
        absence: Absence,
    ) -> Result<Self, PlanError> {
        let origin = NoiseOrigin::Trustees;
        let planned = Certified::planned(procedure, Setting { origin, ..setting }, absence)?;
        Ok(Self::Certified(planned.with_clients(clients)))
    }

    /// How it seeks features; none if it is not a certified procedure.
    ///
    /// # Errors
    /// When no plan exists.
    pub fn seeking(&self) -> Result<Option<Seeking>, PlanError> {
        match self {
            Self::Certified(Certified {
                procedure, setting, ..
            }) => Seeking::of(*procedure, setting).map(Some),
            _ => Ok(None),
        }
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
        certified_setting(DP_SGD, world, budget, relation)
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
}

impl Method for AnyMethod {
    type Error = MethodError;

    fn fit(&self, records: Records<'_>, sparsity: usize, seed: u64) -> Result<Fit, MethodError> {
        match self {
            Self::Certified(certified) => Ok(certified.fit(records, sparsity, seed)?),
            Self::Reference(reference) => Ok(reference.fit(records, sparsity, seed)?),
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
                let descent = Descent::new(*setting, *baseline);
                Ok(run(descent, &mut curator, |_| ())?)
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
        }
    }

    fn run(&self, request: WorldRequest, seed: u64) -> Result<TrialOutcome, MethodError> {
        match self {
            // Over secure sums it generates its records on demand.
            Self::Certified(certified) => Ok(certified.run(request, seed)?),
            // It refits responses that are no numbers.
            Self::Reference(reference) => Ok(reference.run(request, seed)?),
            _ => self.run_on(&sprifed_simulate::World::generate(request, seed), seed),
        }
    }
}

fn small(number: usize) -> Result<u32, PlanError> {
    u32::try_from(number).map_err(|_| PlanError::Request {
        found: format!("{number} records or features"),
        required: "at most 2^32 are possible".to_owned(),
    })
}
