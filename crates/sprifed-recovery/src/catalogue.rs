//! The certified procedures by name: one way to plan each and one way to run it.

use core::fmt;

use serde::{Deserialize, Serialize};
use sprifed_query::{ChoiceBackend, Plan, PlanError, run, run_choosing};

use crate::argmax::{Argmax, plan_argmax};
use crate::baseline::{Baseline, Descent, DpGcdParameters, DpSgdParameters};
use crate::fit::Fit;
use crate::paper::{PaperGradient, PaperOmp, plan_honest_gradient, plan_honest_omp};
use crate::pooled::Pooled;
use crate::schedule::{Schedule, Working};
use crate::setting::Setting;

#[cfg(test)]
mod tests;

/// A procedure whose noise is calibrated from proved sensitivities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CertifiedProcedure {
    /// Certified GRAD: for correlated features, on any backend.
    Grad,
    /// The sieve: for centred and weakly correlated features, on any backend.
    Sieve,
    /// Argmax OMP: for backends that never show scores.
    Argmax,
    /// The paper's SPriFed-OMP with certified noise, to be compared with.
    HonestOmp,
    /// The paper's SPriFed-OMP-GRAD with certified noise, to be compared with.
    HonestGrad,
    /// DP-SGD with an L1 penalty, to be compared with.
    DpSgd,
    /// Enhanced DP-GCD, to be compared with.
    DpGcd,
}

/// Why a run has no fit.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError<B: core::error::Error + 'static> {
    /// No plan exists.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The backend did not answer.
    #[error("{0}")]
    Backend(#[source] B),
}

impl CertifiedProcedure {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Grad,
        Self::Sieve,
        Self::Argmax,
        Self::HonestOmp,
        Self::HonestGrad,
        Self::DpSgd,
        Self::DpGcd,
    ];

    /// The public plan for `setting`.
    ///
    /// # Errors
    /// When no plan exists.
    pub fn plan(self, setting: &Setting) -> Result<Plan, PlanError> {
        match self {
            Self::Grad => Schedule::of(setting, Working::LeastSquares)?.plan(setting),
            Self::Sieve => Schedule::of(setting, Working::Pooled)?.plan(setting),
            Self::Argmax => plan_argmax(setting),
            Self::HonestOmp => plan_honest_omp(setting),
            Self::HonestGrad => plan_honest_gradient(setting),
            Self::DpSgd => dp_sgd().plan(setting),
            Self::DpGcd => dp_gcd(setting).plan(setting),
        }
    }

    /// Runs the procedure against a backend that follows [`Self::plan`]; `watch` hears of every
    /// step that is done.
    ///
    /// # Errors
    /// When the backend does not answer.
    pub fn run<B: ChoiceBackend<Error: 'static>>(
        self,
        setting: &Setting,
        backend: &mut B,
        watch: impl FnMut(usize),
    ) -> Result<Fit, RunError<B::Error>> {
        let pooled = |working| -> Result<Pooled, PlanError> {
            Ok(Pooled::new(*setting, Schedule::of(setting, working)?))
        };
        match self {
            Self::Grad => run(pooled(Working::LeastSquares)?, backend, watch),
            Self::Sieve => run(pooled(Working::Pooled)?, backend, watch),
            Self::Argmax => run_choosing(Argmax::new(*setting)?, backend, watch),
            Self::HonestOmp => run(PaperOmp::honest(setting), backend, watch),
            Self::HonestGrad => run(PaperGradient::honest(setting), backend, watch),
            Self::DpSgd => run(Descent::new(*setting, dp_sgd()), backend, watch),
            Self::DpGcd => run(Descent::new(*setting, dp_gcd(setting)), backend, watch),
        }
        .map_err(RunError::Backend)
    }
}

const fn dp_sgd() -> Baseline {
    Baseline::DpSgd(DpSgdParameters::certified())
}

const fn dp_gcd(setting: &Setting) -> Baseline {
    Baseline::DpGcd(DpGcdParameters::certified(setting.sparsity))
}

impl fmt::Display for CertifiedProcedure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Grad => "grad",
            Self::Sieve => "sieve",
            Self::Argmax => "argmax",
            Self::HonestOmp => "honest-omp",
            Self::HonestGrad => "honest-grad",
            Self::DpSgd => "dp-sgd",
            Self::DpGcd => "dp-gcd",
        })
    }
}
