//! Repeated trials of anything that looks for a model, from what was asked to the answer.

use schemars::JsonSchema;
use serde::Serialize;
use sprifed::{
    Backend, BackendRequest, Error, IllegalWorld, NoGuarantee, Simulation, SimulationAnswer,
    TrialGuarantee, WorldSize,
};
use sprifed_privacy::{ApproxDp, IllegalQuantity, Mu, NoiseOrigin, Relation};
use sprifed_query::PlanError;
use sprifed_recovery::{CertifiedProcedure, InferenceMethod, Keep, Setting};
use sprifed_simulate::{Absence, Certified, Method as _, Summary, WorldRequest};

use crate::baseline::Baseline;
use crate::comparison::certified_setting;
use crate::contender::{Contender, NamedContender};
use crate::method::{AnyMethod, MethodError};
use crate::theorem::RecoveryTheorems;

mod guarantee;
mod parameters;
mod tuned;

pub use guarantee::{AnyGuarantee, Claimed, Delivered, NominalGuarantee, Priced};
pub use parameters::{BaselineParameters, GivenParameters, NoSuchParameter, Parameter};
pub use tuned::{TunedAnswer, TunedSummary};

use parameters::NoiseKind;

/// Trials that were asked for.
#[derive(Clone, Debug)]
pub struct TrialsRequest {
    /// What looks for the model.
    pub contender: NamedContender,
    /// Who adds up.
    pub backend: BackendRequest,
    /// The share of clients that leaves each sum.
    pub dropouts: f64,
    /// The data.
    pub world: WorldSize,
    /// Which of the chosen features certified procedures keep.
    pub keep: Keep,
    /// Whether their intervals and p-values allow for errors of unequal variance, at a share of the budget.
    pub robust: bool,
    /// By which records certified procedures choose features, and by which they estimate coefficients.
    pub inference: InferenceMethod,
    /// Parameters of a baseline.
    pub parameters: GivenParameters,
    /// The budget of certified procedures.
    pub budget: ApproxDp,
    /// Which data sets are neighbours.
    pub relation: Relation,
    /// μ_p of the paper's procedures; what the paper uses by default.
    pub per_vector: Option<Mu>,
    /// μ_s of the paper's procedures.
    pub per_support: Mu,
    /// How many trials.
    pub trials: u64,
    /// The seed of the first.
    pub seed: u64,
}

/// Why there are no trials.
#[derive(Debug, thiserror::Error)]
pub enum TrialsError {
    /// The library refused.
    #[error(transparent)]
    Library(#[from] Error),
    /// Secure sums have certified noise only, and do not tune.
    #[error("{name} has no certified noise, or is tuned")]
    NotOnSums {
        /// What was to run.
        name: &'static str,
    },
    /// Robust intervals of what has none.
    #[error("robust intervals are asked for, but {name} has no intervals, or is tuned")]
    NotRobust {
        /// What was to run.
        name: &'static str,
    },
    /// There is nothing to look for.
    #[error("a search for parameters is asked for, but {name} has no parameters to look for")]
    NothingToTune {
        /// What was to run.
        name: &'static str,
    },
    /// Only certified procedures split records.
    #[error(
        "the inference \"split\" is asked for, but {name} is not a certified procedure, or is tuned"
    )]
    NothingToSplit {
        /// What was to run.
        name: &'static str,
    },
    /// A parameter that the procedure does not have.
    #[error(transparent)]
    Parameter(#[from] NoSuchParameter),
}

impl From<MethodError> for TrialsError {
    fn from(error: MethodError) -> Self {
        Self::Library(error.into())
    }
}

impl From<IllegalQuantity> for TrialsError {
    fn from(error: IllegalQuantity) -> Self {
        Self::Library(error.into())
    }
}

/// The trials and what they came out to.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TrialsAnswer {
    /// The trials.
    #[serde(flatten)]
    pub simulation: SimulationAnswer<AnyGuarantee>,
    /// The parameters of a baseline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<BaselineParameters>,
    /// What the paper's recovery theorems say of this world, for the algorithms that they are about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub theorem: Option<RecoveryTheorems>,
}

impl TrialsRequest {
    /// Runs all trials; `watch` hears of each.
    ///
    /// # Errors
    /// When there are no such trials, or one failed.
    pub fn run(&self, mut watch: impl FnMut()) -> Result<TrialsAnswer, TrialsError> {
        let request = self.world.request().map_err(Error::from)?;
        let method = self.method(false)?;
        let mut outcomes = Vec::new();
        for trial in 0..self.trials {
            outcomes.push(method.run(request, self.seed.wrapping_add(trial))?);
            watch();
        }
        let summary = Summary::of(&outcomes, request.support);
        let simulation = Simulation {
            procedure: self.contender.name.to_owned(),
            backend: Backend::of(self.backend.origin(self.world.clients())?),
            dropouts: self.dropouts,
            inference: self.inference,
            seeking: method.seeking().map_err(Error::from)?,
            world: self.world,
            trials: self.trials,
            seed: self.seed,
        };
        let guarantee = self.guarantee(&method)?;
        Ok(TrialsAnswer {
            simulation: simulation.answer(guarantee, &summary, None),
            parameters: baseline_of(&method).map(BaselineParameters::from),
            theorem: self.theorem()?,
        })
    }

    /// How a model is looked for; `is_tuned` if its parameters are still to be found.
    fn method(&self, is_tuned: bool) -> Result<AnyMethod, TrialsError> {
        let request = self.world.request().map_err(Error::from)?;
        let NamedContender {
            name, contender, ..
        } = self.contender;
        let is_certified = contender.procedure().is_some() && !is_tuned;
        let has_intervals = CertifiedProcedure::all().any(|one| contender.procedure() == Some(one));
        if self.robust && !(has_intervals && is_certified) {
            return Err(TrialsError::NotRobust { name });
        }
        if request.sites.count > 0 && (!is_certified || self.dropouts != 0.0) {
            return Err(Error::from(IllegalWorld::SitesOfContender).into());
        }
        let is_reference = matches!(contender, Contender::NonPrivate(_));
        if !request.outcome.is_linear() && !(has_intervals && is_certified) && !is_reference {
            return Err(Error::from(IllegalWorld::OutcomeOfContender).into());
        }
        if !self.inference.is_selective() && !is_certified {
            return Err(TrialsError::NothingToSplit { name });
        }
        let (budget, relation) = (self.budget, self.relation);
        if let NoiseOrigin::Shares(participation) = self.backend.origin(self.world.clients())? {
            let procedure = contender.procedure().filter(|_| !is_tuned);
            let procedure = procedure.ok_or(TrialsError::NotOnSums { name })?;
            let absence = Absence::of(self.dropouts).map_err(Error::from)?;
            let setting = self.setting(procedure, &request);
            let method = setting.and_then(|setting| {
                AnyMethod::federated(procedure, setting, participation, absence)
            });
            return Ok(method.map_err(Error::from)?);
        }
        if self.backend.origin(self.world.clients())? == NoiseOrigin::Trustees {
            let procedure = contender.procedure().filter(|_| !is_tuned);
            let procedure = procedure.ok_or(TrialsError::NotOnSums { name })?;
            let absence = Absence::of(self.dropouts).map_err(Error::from)?;
            let clients = u32::try_from(self.world.clients()).unwrap_or(u32::MAX);
            let setting = self.setting(procedure, &request);
            let method = setting
                .and_then(|setting| AnyMethod::by_trustees(procedure, setting, clients, absence));
            return Ok(method.map_err(Error::from)?);
        }
        if self.dropouts != 0.0 {
            return Err(Error::DropoutsOfCurator.into());
        }
        let per_vector = self.per_vector()?;
        let method = match self.parameters.of(self.contender, request.sparsity)? {
            Some((baseline, NoiseKind::Certified)) => {
                AnyMethod::baseline(baseline, &request, budget, relation)
            }
            Some((baseline, NoiseKind::Paper)) => {
                AnyMethod::paper_baseline(baseline, &request, per_vector, self.per_support)
            }
            None => match contender {
                Contender::Certified(procedure) => self
                    .setting(procedure, &request)
                    .and_then(|setting| AnyMethod::certified(procedure, setting)),
                Contender::Paper(algorithm) => {
                    AnyMethod::paper(algorithm, &request, per_vector, self.per_support)
                }
                Contender::NonPrivate(reference) => Ok(AnyMethod::Reference(reference)),
                Contender::PaperDpSgd | Contender::PaperDpGcd => {
                    unreachable!("baselines have parameters")
                }
            },
        };
        Ok(method.map_err(Error::from)?)
    }

    /// What a certified procedure is planned for.
    fn setting(
        &self,
        procedure: CertifiedProcedure,
        world: &WorldRequest,
    ) -> Result<Setting, PlanError> {
        Ok(Setting {
            choice: self.keep,
            robust: self.robust,
            inference: self.inference,
            ..certified_setting(procedure, world, self.budget, self.relation)?
        })
    }

    /// μ_p: what the paper uses for so many active features, unless it was given.
    fn per_vector(&self) -> Result<Mu, IllegalQuantity> {
        let usual = if self.world.sparsity <= 5 { 0.543 } else { 0.4 };
        self.per_vector.map_or_else(|| Mu::try_from(usual), Ok)
    }

    fn theorem(&self) -> Result<Option<RecoveryTheorems>, TrialsError> {
        if !self.contender.contender.has_recovery_theorem() {
            return Ok(None);
        }
        let request = self.world.request().map_err(Error::from)?;
        let theorems = RecoveryTheorems::of(self.budget, &request, self.relation)?;
        Ok(Some(theorems))
    }

    fn guarantee(&self, method: &AnyMethod) -> Result<AnyGuarantee, TrialsError> {
        Ok(match method {
            AnyMethod::Certified(Certified { plan, .. }) | AnyMethod::Baseline { plan, .. } => {
                let spending = plan.spending().map_err(Error::from)?;
                let delta = self.budget.delta();
                TrialGuarantee::of(&spending, plan.origin, delta, self.relation).into()
            }
            AnyMethod::Paper { algorithm, .. } => self.nominal(*algorithm)?.into(),
            AnyMethod::PaperBaseline { baseline, .. } => self.nominal_baseline(baseline)?.into(),
            AnyMethod::Reference(_) => NoGuarantee::REFERENCE.into(),
        })
    }
}

const fn baseline_of(method: &AnyMethod) -> Option<&Baseline> {
    match method {
        AnyMethod::Baseline { baseline, .. } | AnyMethod::PaperBaseline { baseline, .. } => {
            Some(baseline)
        }
        _ => None,
    }
}
