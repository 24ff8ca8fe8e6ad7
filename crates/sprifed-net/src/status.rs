//! The public facts of a running study: the page and the metrics show this and nothing else.

use schemars::JsonSchema;
use serde::Serialize;
use sprifed_privacy::GuaranteeTable;

/// Public facts of a study. Nothing here depends on a record but through released sums.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct StatusView {
    /// What the study is called.
    pub title: String,
    /// The guarantee: what is planned, and at the end what was spent.
    pub guarantee: GuaranteeTable,
    /// The name of the present phase.
    pub phase: String,
    /// Sums done and planned.
    pub progress: Progress,
    /// What was spent of the privacy budget.
    pub budget: Budget,
    /// The clients of the roster, in its order.
    pub parties: Vec<PartyStatus>,
    /// What must be read before anything else: why the model is no more than the mean, or must not be interpreted.
    pub alarm: Option<String>,
    /// The trustees, which follow the clients in the roster; none in a study of secure sums.
    pub trustees: Vec<PartyStatus>,
    /// The features found so far, in the order in which they were found.
    pub features: Vec<FeatureFound>,
    /// The intercept of the model, once there is one.
    pub intercept: Option<f64>,
    /// The ends of its confidence interval, if it has one.
    pub intercept_interval: Option<(f64, f64)>,
    /// How to read estimates, intervals and p-values.
    pub notes: Vec<String>,
    /// How the study ended, as lines of text; empty until the end.
    pub report: Vec<String>,
    /// Messages that the study refused.
    pub refusals: u64,
}

/// Sums done and planned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Progress {
    /// Sums that are complete.
    pub done: u32,
    /// Sums that the plan allows.
    pub planned: u32,
}

/// What was spent of the privacy budget.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct Budget {
    /// The ε of everything released so far.
    pub epsilon_spent: f64,
    /// The ε that the plan allows.
    pub epsilon_planned: f64,
    /// The δ at which both are stated.
    pub delta: f64,
}

/// One client or trustee of the roster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PartyStatus {
    /// Its name in the roster.
    pub name: String,
    /// Where it stands.
    pub state: PartyState,
}

/// Where a client stands in the study.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PartyState {
    /// Invited, has not answered yet.
    Invited,
    /// The present phase waits for it.
    Awaited,
    /// It has answered all that was asked.
    Answered,
    /// It missed a phase.
    DroppedOut,
    /// It declined to take part.
    Declined,
    /// Its part is over.
    Finished,
}

impl PartyState {
    /// All of them, in the order in which they are told.
    pub const ALL: [Self; 6] = [
        Self::Invited,
        Self::Awaited,
        Self::Answered,
        Self::DroppedOut,
        Self::Declined,
        Self::Finished,
    ];

    /// Its name, as in JSON and in the metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Invited => "invited",
            Self::Awaited => "awaited",
            Self::Answered => "answered",
            Self::DroppedOut => "dropped_out",
            Self::Declined => "declined",
            Self::Finished => "finished",
        }
    }
}

/// Whether a party is there now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Presence {
    /// It has a connection.
    Connected,
    /// The coordinator closed its connection, because nothing was asked for a while. It may be computing.
    Quiet,
    /// It never came, said good-bye, broke off, or was silent for long.
    Away,
}

impl Presence {
    /// All of them, in the order of the legend.
    pub(crate) const ALL: [Self; 3] = [Self::Connected, Self::Quiet, Self::Away];

    /// Whether it is connected now.
    pub(crate) const fn is_connected(self) -> bool {
        matches!(self, Self::Connected)
    }

    /// What the page says of it.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Connected => "connected now",
            Self::Quiet => "no connection now, perhaps computing",
            Self::Away => "not connected",
        }
    }
}

/// A feature of the model.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FeatureFound {
    /// Its name in the schema.
    pub name: String,
    /// Its coefficient, as estimated from released sums.
    pub coefficient: f64,
    /// The ends of its confidence interval, if it has one.
    pub interval: Option<(f64, f64)>,
    /// Its p-value, if it has one.
    pub p_value: Option<f64>,
    /// The share of its variance that is due to the noise added for privacy, if it is known.
    pub privacy_share: Option<f64>,
    /// Whether it is always in the model: it was not selected.
    pub is_always: bool,
    /// Half the width of its public bounds: what the page draws is the coefficient times this.
    pub half_range: f64,
}
