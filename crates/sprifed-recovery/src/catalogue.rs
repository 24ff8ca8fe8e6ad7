//! The certified procedures by name: one way to plan each and one way to run it.

use core::fmt;

use serde::{Deserialize, Serialize};
use sprifed_query::{
    Answer, ChoiceBackend, Plan, PlanError, Procedure, Step, SumBackend, run, run_choosing,
};

use crate::argmax::{Argmax, plan_argmax};
use crate::baseline::{Baseline, Descent, DpGcdParameters, DpSgdParameters};
use crate::fit::Fit;
use crate::paper::{PaperGradient, PaperOmp, plan_honest_gradient, plan_honest_omp};
use crate::pooled::Pooled;
use crate::schedule::{Schedule, Working};
use crate::setting::Setting;

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests decide nothing for a study"
)]
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
    /// The procedure asks for choices, and the backend shows every sum it makes.
    #[error(
        "{procedure} needs a backend that never shows scores, which is a trusted curator today; \
         on secure sums use grad or sieve"
    )]
    NeedsChoices {
        /// The procedure.
        procedure: CertifiedProcedure,
    },
    /// The backend did not answer.
    #[error("{0}")]
    Backend(#[source] B),
}

/// A procedure that can begin, by what it needs of a backend.
#[derive(Clone, Debug)]
pub enum Ready {
    /// It asks for sums only.
    Sums(SummingProcedure),
    /// It asks for choices too.
    Choices(Argmax),
}

/// Any certified procedure that asks for sums only.
#[derive(Clone, Debug)]
pub enum SummingProcedure {
    /// The sieve or certified GRAD.
    Pooled(Box<Pooled>),
    /// The paper's SPriFed-OMP.
    Omp(PaperOmp),
    /// The paper's SPriFed-OMP-GRAD.
    Gradient(PaperGradient),
    /// DP-SGD or DP-GCD.
    Descent(Box<Descent>),
}

impl Procedure for SummingProcedure {
    type Fit = Fit;

    fn start(self) -> Step<Self> {
        match self {
            Self::Pooled(waiting) => waiting.start().map(|next| Self::Pooled(Box::new(next))),
            Self::Omp(waiting) => waiting.start().map(Self::Omp),
            Self::Gradient(waiting) => waiting.start().map(Self::Gradient),
            Self::Descent(waiting) => waiting.start().map(|next| Self::Descent(Box::new(next))),
        }
    }

    fn resume(self, answer: Answer) -> Step<Self> {
        match self {
            Self::Pooled(waiting) => {
                let next = waiting.resume(answer);
                next.map(|next| Self::Pooled(Box::new(next)))
            }
            Self::Omp(waiting) => waiting.resume(answer).map(Self::Omp),
            Self::Gradient(waiting) => waiting.resume(answer).map(Self::Gradient),
            Self::Descent(waiting) => {
                let next = waiting.resume(answer);
                next.map(|next| Self::Descent(Box::new(next)))
            }
        }
    }
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

    /// Which questions follow from which answers: grows with every change of that.
    ///
    /// Parties of a study derive the questions themselves, so all must have the same version.
    #[must_use]
    pub const fn version(self) -> u32 {
        match self {
            Self::Grad
            | Self::Sieve
            | Self::Argmax
            | Self::HonestOmp
            | Self::HonestGrad
            | Self::DpSgd
            | Self::DpGcd => 1,
        }
    }

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

    /// The procedure, about to ask its first question.
    ///
    /// # Errors
    /// When no plan exists.
    pub fn begin(self, setting: &Setting) -> Result<Ready, PlanError> {
        let pooled = |working| -> Result<Ready, PlanError> {
            let pooled = Pooled::new(*setting, Schedule::of(setting, working)?);
            Ok(Ready::Sums(SummingProcedure::Pooled(Box::new(pooled))))
        };
        let descent = |baseline| {
            let descent = Descent::new(*setting, baseline);
            Ready::Sums(SummingProcedure::Descent(Box::new(descent)))
        };
        Ok(match self {
            Self::Grad => pooled(Working::LeastSquares)?,
            Self::Sieve => pooled(Working::Pooled)?,
            Self::Argmax => Ready::Choices(Argmax::new(*setting)?),
            Self::HonestOmp => Ready::Sums(SummingProcedure::Omp(PaperOmp::honest(setting))),
            Self::HonestGrad => {
                Ready::Sums(SummingProcedure::Gradient(PaperGradient::honest(setting)))
            }
            Self::DpSgd => descent(dp_sgd()),
            Self::DpGcd => descent(dp_gcd(setting)),
        })
    }

    /// Runs the procedure against a backend that follows [`Self::plan`] and can make choices;
    /// `watch` hears of every step that is done.
    ///
    /// # Errors
    /// When the backend does not answer.
    pub fn run<B: ChoiceBackend<Error: 'static>>(
        self,
        setting: &Setting,
        backend: &mut B,
        watch: impl FnMut(usize),
    ) -> Result<Fit, RunError<B::Error>> {
        match self.begin(setting)? {
            Ready::Sums(procedure) => run(procedure, backend, watch),
            Ready::Choices(argmax) => run_choosing(argmax, backend, watch),
        }
        .map_err(RunError::Backend)
    }

    /// Runs the procedure against a backend that answers sums only.
    ///
    /// # Errors
    /// When the procedure needs choices, or the backend does not answer.
    pub fn run_on_sums<B: SumBackend<Error: 'static>>(
        self,
        setting: &Setting,
        backend: &mut B,
        watch: impl FnMut(usize),
    ) -> Result<Fit, RunError<B::Error>> {
        match self.begin(setting)? {
            Ready::Sums(procedure) => run(procedure, backend, watch).map_err(RunError::Backend),
            Ready::Choices(_) => Err(RunError::NeedsChoices { procedure: self }),
        }
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
