//! Parameters of the baselines, as a user gives them and as an answer shows them.

use core::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use crate::baseline::{Baseline, Batch, DpGcdParameters, DpSgdParameters};
use crate::comparison::{DP_GCD, DP_SGD};
use crate::contender::{Contender, NamedContender};

/// Whose noise a baseline gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoiseKind {
    /// What the budget buys.
    Certified,
    /// What the paper's pseudocode says.
    Paper,
}

/// Parameters that were given; each has a default of its baseline.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GivenParameters {
    /// How many steps.
    pub steps: Option<u32>,
    /// How far a step goes.
    pub step_size: Option<f64>,
    /// DP-SGD: the L1 weight, in standard deviations of a step's noise.
    pub penalty: Option<f64>,
    /// Certified baselines: the limit on a residual, in units of the response's scale.
    pub clip: Option<f64>,
    /// DP-SGD: the sampling rate of mini-batches.
    pub batch_rate: Option<f64>,
}

/// One of the parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// See [`GivenParameters::steps`].
    Steps,
    /// See [`GivenParameters::step_size`].
    StepSize,
    /// See [`GivenParameters::penalty`].
    Penalty,
    /// See [`GivenParameters::clip`].
    Clip,
    /// See [`GivenParameters::batch_rate`].
    BatchRate,
}

impl fmt::Display for Parameter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Steps => "steps",
            Self::StepSize => "step-size",
            Self::Penalty => "penalty",
            Self::Clip => "clip",
            Self::BatchRate => "batch-rate",
        })
    }
}

/// A parameter that a procedure does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{parameter} is given, but {name} has no such parameter")]
pub struct NoSuchParameter {
    /// What was given.
    pub parameter: Parameter,
    /// The name of the procedure.
    pub name: &'static str,
}

impl GivenParameters {
    /// The baseline that is meant, if `procedure` is one.
    pub(super) fn of(
        &self,
        procedure: NamedContender,
        sparsity: usize,
    ) -> Result<Option<(Baseline, NoiseKind)>, NoSuchParameter> {
        let name = procedure.name;
        let refuse = |parameter| Err(NoSuchParameter { parameter, name });
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
            _ => return self.first_given().map_or(Ok(None), refuse),
        };
        let baseline = match baseline {
            Baseline::DpSgd(usual) => Baseline::DpSgd(DpSgdParameters {
                steps: self.steps.unwrap_or(usual.steps),
                step_size: self.step_size.unwrap_or(usual.step_size),
                penalty: self.penalty.unwrap_or(usual.penalty),
                clip: self.clip.unwrap_or(usual.clip),
                batch: self
                    .batch_rate
                    .map_or(usual.batch, |rate| Batch::Sampled { rate }),
            }),
            Baseline::DpGcd(_) if self.penalty.is_some() => return refuse(Parameter::Penalty),
            Baseline::DpGcd(_) if self.batch_rate.is_some() => {
                return refuse(Parameter::BatchRate);
            }
            Baseline::DpGcd(usual) => Baseline::DpGcd(DpGcdParameters {
                steps: self.steps.unwrap_or(usual.steps),
                step_size: self.step_size.unwrap_or(usual.step_size),
                clip: self.clip.unwrap_or(usual.clip),
            }),
        };
        if noise == NoiseKind::Paper && self.clip.is_some() {
            return refuse(Parameter::Clip);
        }
        Ok(Some((baseline, noise)))
    }

    fn first_given(&self) -> Option<Parameter> {
        let given = [
            (Parameter::Steps, self.steps.is_some()),
            (Parameter::StepSize, self.step_size.is_some()),
            (Parameter::Clip, self.clip.is_some()),
            (Parameter::Penalty, self.penalty.is_some()),
            (Parameter::BatchRate, self.batch_rate.is_some()),
        ];
        let given = given.into_iter().find(|(_, is_given)| *is_given);
        given.map(|(parameter, _)| parameter)
    }
}

/// The parameters of a baseline, for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BaselineParameters {
    /// How many steps.
    pub steps: u32,
    /// How far a step goes.
    pub step_size: f64,
    /// DP-SGD: the L1 weight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub penalty: Option<f64>,
    /// The limit on a residual.
    pub clip: f64,
    /// DP-SGD: always `full`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<&'static str>,
}

impl From<&Baseline> for BaselineParameters {
    fn from(baseline: &Baseline) -> Self {
        match baseline {
            Baseline::DpSgd(parameters) => Self {
                steps: parameters.steps,
                step_size: parameters.step_size,
                penalty: Some(parameters.penalty),
                clip: parameters.clip,
                batch: Some("full"),
            },
            Baseline::DpGcd(parameters) => Self {
                steps: parameters.steps,
                step_size: parameters.step_size,
                penalty: None,
                clip: parameters.clip,
                batch: None,
            },
        }
    }
}
