//! The parameters of the baselines, as the command line takes them.

use clap::Args;
use serde_json::{Value, json};
use sprifed_paper::{
    Baseline, Batch, Contender, DP_GCD, DP_SGD, DpGcdParameters, DpSgdParameters, NamedContender,
};

use crate::failure::Failure;

/// Whose noise a baseline gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoiseKind {
    /// What the budget buys.
    Certified,
    /// What the paper's pseudocode says.
    Paper,
}

/// Parameters of dp-sgd, dp-gcd and their paper- twins; each has a documented default.
#[derive(Args, Clone, Debug)]
pub(crate) struct BaselineArguments {
    /// Baselines: how many steps.
    #[arg(long)]
    steps: Option<u32>,
    /// Baselines: how far a step goes; 1 is a full step for independent features of unit variance.
    #[arg(long, allow_negative_numbers = true)]
    step_size: Option<f64>,
    /// DP-SGD: the L1 weight, in standard deviations of a step's noise.
    #[arg(long, allow_negative_numbers = true)]
    penalty: Option<f64>,
    /// Certified baselines: the limit on a residual, in units of the response's scale.
    #[arg(long, allow_negative_numbers = true)]
    clip: Option<f64>,
    /// DP-SGD: the sampling rate of mini-batches. Refused, with the reason.
    #[arg(long, allow_negative_numbers = true)]
    batch_rate: Option<f64>,
}

impl BaselineArguments {
    /// The baseline that is meant, if `procedure` is one.
    pub(crate) fn read(
        &self,
        procedure: NamedContender,
        sparsity: usize,
    ) -> Result<Option<(Baseline, NoiseKind)>, Failure> {
        let sparsity = u32::try_from(sparsity).unwrap_or(u32::MAX);
        let (baseline, noise) = match procedure.contender {
            Contender::Certified(one) if one == DP_SGD => (
                Baseline::DpSgd(DpSgdParameters::certified()),
                NoiseKind::Certified,
            ),
            Contender::Certified(one) if one == DP_GCD => (
                Baseline::DpGcd(DpGcdParameters::certified(sparsity)),
                NoiseKind::Certified,
            ),
            Contender::PaperDpSgd => (
                Baseline::DpSgd(DpSgdParameters::published()),
                NoiseKind::Paper,
            ),
            Contender::PaperDpGcd => (
                Baseline::DpGcd(DpGcdParameters::published(sparsity)),
                NoiseKind::Paper,
            ),
            _ => {
                let given = [
                    ("--steps", self.steps.is_some()),
                    ("--step-size", self.step_size.is_some()),
                    ("--clip", self.clip.is_some()),
                    ("--penalty", self.penalty.is_some()),
                    ("--batch-rate", self.batch_rate.is_some()),
                ];
                return match given.into_iter().find(|(_, is_given)| *is_given) {
                    Some((name, _)) => Err(no_such_parameter(name, procedure)),
                    None => Ok(None),
                };
            }
        };
        let baseline = self.with_given(baseline, procedure)?;
        if noise == NoiseKind::Paper && self.clip.is_some() {
            return Err(no_such_parameter("--clip", procedure));
        }
        Ok(Some((baseline, noise)))
    }

    /// `baseline` with the parameters that were given.
    fn with_given(
        &self,
        baseline: Baseline,
        procedure: NamedContender,
    ) -> Result<Baseline, Failure> {
        Ok(match baseline {
            Baseline::DpSgd(usual) => Baseline::DpSgd(DpSgdParameters {
                steps: self.steps.unwrap_or(usual.steps),
                step_size: self.step_size.unwrap_or(usual.step_size),
                penalty: self.penalty.unwrap_or(usual.penalty),
                clip: self.clip.unwrap_or(usual.clip),
                batch: self
                    .batch_rate
                    .map_or(usual.batch, |rate| Batch::Sampled { rate }),
            }),
            Baseline::DpGcd(_) if self.penalty.is_some() => {
                return Err(no_such_parameter("--penalty", procedure));
            }
            Baseline::DpGcd(_) if self.batch_rate.is_some() => {
                return Err(no_such_parameter("--batch-rate", procedure));
            }
            Baseline::DpGcd(usual) => Baseline::DpGcd(DpGcdParameters {
                steps: self.steps.unwrap_or(usual.steps),
                step_size: self.step_size.unwrap_or(usual.step_size),
                clip: self.clip.unwrap_or(usual.clip),
            }),
        })
    }
}

/// The parameters of `baseline`, for a report.
pub(crate) fn parameters_of(baseline: &Baseline) -> Value {
    match baseline {
        Baseline::DpSgd(parameters) => json!({
            "steps": parameters.steps, "step_size": parameters.step_size,
            "penalty": parameters.penalty, "clip": parameters.clip, "batch": "full",
        }),
        Baseline::DpGcd(parameters) => json!({
            "steps": parameters.steps, "step_size": parameters.step_size,
            "clip": parameters.clip,
        }),
    }
}

fn no_such_parameter(name: &str, procedure: NamedContender) -> Failure {
    Failure::usage(
        "sprifed::simulate::no-such-parameter",
        format!(
            "{name} is given, but {} has no such parameter",
            procedure.name
        ),
        "leave it out, or choose a baseline that has it",
    )
}
