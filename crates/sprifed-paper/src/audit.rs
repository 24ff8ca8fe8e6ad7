//! Fits of neighbouring tables, many times, and what can be told apart: from what was asked to the answer.

use schemars::JsonSchema;
use serde::Serialize;
use sprifed::{Backend, BackendRequest, Error};
use sprifed_privacy::{ApproxDp, PrivacyUnit, Relation};
use sprifed_recovery::CertifiedProcedure;
use sprifed_simulate::{AuditPoint, AuditRequest};

use crate::comparison::intercept_of;
use crate::contender::NamedContender;

/// An audit that was asked for.
#[derive(Clone, Copy, Debug)]
pub struct Audit {
    /// What is audited.
    pub contender: NamedContender,
    /// Whose presence is protected.
    pub unit: PrivacyUnit,
    /// Which data sets are neighbours.
    pub relation: Relation,
    /// Who adds up.
    pub backend: BackendRequest,
    /// Of secure sums: how many parties hold the records.
    pub clients: u32,
    /// The budget of one fit.
    pub budget: ApproxDp,
    /// How many privacy units each table has.
    pub units: u32,
    /// How many features.
    pub features: u32,
    /// How many of them are chosen.
    pub sparsity: u32,
    /// How often each of the two tables is fitted.
    pub trials: u32,
    /// The confidence level.
    pub level: f64,
    /// The seed of all trials.
    pub seed: u64,
}

/// Why there is no audit.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The library refused.
    #[error(transparent)]
    Library(#[from] Error),
    /// There is nothing to audit.
    #[error("{name} claims no guarantee to audit")]
    NoGuarantee {
        /// What was to be audited.
        name: &'static str,
    },
    /// No confidence level.
    #[error("the level is {found}")]
    Level {
        /// What was given.
        found: f64,
    },
    /// Secure sums show every sum.
    #[error("{procedure} needs a backend that never shows scores")]
    NeedsChoices {
        /// The procedure.
        procedure: CertifiedProcedure,
    },
}

/// What an audit found.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AuditAnswer {
    /// What was audited.
    pub procedure: String,
    /// Whose presence is protected.
    pub unit: PrivacyUnit,
    /// Which data sets are neighbours.
    pub neighbours: Relation,
    /// Who added up.
    pub backend: Backend,
    /// How often each of the two tables was fitted.
    pub trials: u32,
    /// The confidence level.
    pub level: f64,
    /// The seed of all trials.
    pub seed: u64,
    /// At the δ of the budget.
    pub at_budget: AuditedPoint,
    /// At the δ at which the tables are told apart best.
    pub at_best: AuditedPoint,
    /// Whether the trials contradict the claim.
    pub verdict: AuditVerdict,
}

/// Whether trials contradict a claimed guarantee.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub enum AuditVerdict {
    /// They do: there is a bug.
    #[serde(rename = "VIOLATED")]
    Violated,
    /// They do not, which proves nothing.
    #[serde(rename = "consistent")]
    Consistent,
}

impl AuditVerdict {
    /// The verdict in words.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Violated => "VIOLATED",
            Self::Consistent => "consistent",
        }
    }
}

/// What is claimed and what was found at one δ.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AuditedPoint {
    /// δ.
    pub delta: f64,
    /// The ε that is claimed.
    pub claimed_epsilon: f64,
    /// The ε that the trials prove to be the least.
    pub least_epsilon: f64,
}

impl From<AuditPoint> for AuditedPoint {
    fn from(point: AuditPoint) -> Self {
        Self {
            delta: point.delta,
            claimed_epsilon: point.claim,
            least_epsilon: point.bound,
        }
    }
}

impl Audit {
    /// Fits both tables as often as was asked; `watch` hears of each fit.
    ///
    /// # Errors
    /// When there is no such audit, or a fit failed.
    pub fn run(&self, watch: &(dyn Fn() + Sync)) -> Result<AuditAnswer, AuditError> {
        let request = self.request()?;
        let found = request.run(watch).map_err(Error::from)?;
        Ok(AuditAnswer {
            procedure: self.contender.name.to_owned(),
            unit: self.unit,
            neighbours: self.relation,
            backend: Backend::of(request.origin),
            trials: self.trials,
            level: self.level,
            seed: self.seed,
            at_budget: found.at_budget.into(),
            at_best: found.at_best.into(),
            verdict: if found.is_violated() {
                AuditVerdict::Violated
            } else {
                AuditVerdict::Consistent
            },
        })
    }

    fn request(&self) -> Result<AuditRequest, AuditError> {
        let name = self.contender.name;
        let procedure = self.contender.contender.procedure();
        let procedure = procedure.ok_or(AuditError::NoGuarantee { name })?;
        if !(self.level > 0.5 && self.level < 1.0) {
            return Err(AuditError::Level { found: self.level });
        }
        let clients = match self.unit {
            PrivacyUnit::Record => self.clients.min(self.units),
            PrivacyUnit::Client => self.units,
        };
        let origin = self.backend.origin(clients as usize)?;
        if !Backend::of(origin).answers(procedure.needs()) {
            return Err(AuditError::NeedsChoices { procedure });
        }
        Ok(AuditRequest {
            procedure,
            intercept: intercept_of(procedure),
            unit: self.unit,
            relation: self.relation,
            origin,
            budget: self.budget,
            units: self.units,
            features: self.features,
            sparsity: self.sparsity,
            trials: self.trials,
            false_alarm: 1.0 - self.level,
            seed: self.seed,
        })
    }
}
