//! What every procedure is planned for, and how a budget is shared out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sprifed_privacy::{
    ApproxDp, IllegalQuantity, Mu, NoiseOrigin, PrivacyUnit, Relation, Rounding, counted,
};
use sprifed_query::{Plan, PlanError, PlannedStep, Planner};

use crate::column_scales::ColumnScales;
use crate::groups::Groups;
use crate::outcome::Outcome;
use crate::portable::larger;
use crate::sites::Sites;

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests decide nothing for a study"
)]
pub(crate) mod tests;

/// What every procedure is planned for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// n: how many privacy units, public: records, or clients that each contribute a mean.
    pub n_records: u32,
    /// p: how many features.
    pub n_features: u32,
    /// s: how many features are chosen, those that are in every model not counted; a group counts as one.
    pub sparsity: u32,
    /// Which of the chosen features are kept.
    pub choice: Keep,
    /// By which records they are chosen, and by which their coefficients are estimated.
    #[serde(default, skip_serializing_if = "InferenceMethod::is_selective")]
    pub inference: InferenceMethod,
    /// How many features are in every model and are no candidates: the first of a record. The
    /// candidates are those after them.
    pub always: u32,
    /// The candidates that private choices pick together. Procedures that see sums pick each on its own.
    #[serde(default = "no_groups", skip_serializing_if = "Groups::is_empty")]
    pub groups: Groups,
    /// The sites that have an intercept of their own.
    #[serde(default = "no_sites", skip_serializing_if = "Sites::is_empty")]
    pub sites: Sites,
    /// What the response is.
    #[serde(default, skip_serializing_if = "Outcome::is_linear")]
    pub outcome: Outcome,
    /// The budget.
    pub budget: ApproxDp,
    /// Which data sets are neighbours.
    pub relation: Relation,
    /// Whose presence is protected.
    pub unit: PrivacyUnit,
    /// The source of the noise.
    pub origin: NoiseOrigin,
    /// A public bound on the absolute response, in bounded units.
    pub response_bound: f64,
    /// A public bound on the absolute value of a feature, in bounded units.
    pub feature_bound: f64,
    /// The public root mean square of a feature, in bounded units: one for standardised ones.
    /// Queried, at a small share of the budget, if it is not known.
    pub feature_scale: Option<f64>,
    /// The columns whose means and scales are asked for, so that they are standardised.
    #[serde(default = "no_columns", skip_serializing_if = "ColumnScales::is_empty")]
    pub column_scales: ColumnScales,
    /// Whether the model has an intercept.
    pub intercept: Intercept,
    /// Whether intervals and p-values allow for errors that vary more for some records than for others. It takes one more
    /// block of the last sum, at a share of the budget.
    #[serde(default, skip_serializing_if = "is_not")]
    pub robust: bool,
}

const fn no_groups() -> Groups {
    Groups::NONE
}

const fn no_sites() -> Sites {
    Sites::NONE
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "as serde passes the field"
)]
const fn is_not(option: &bool) -> bool {
    !*option
}

const fn no_columns() -> ColumnScales {
    ColumnScales::NONE
}

/// Which of the chosen features are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    /// Those whose selection p-values pass Benjamini-Hochberg: the sparsity is a maximum. With
    /// clients as the unit of privacy there are no p-values, and all are kept.
    Significant,
    /// All of them.
    Exactly,
}

/// By which records features are chosen, and by which their coefficients are estimated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InferenceMethod {
    /// Both by all records; intervals and p-values allow for the choice.
    #[default]
    Selective,
    /// Features by one part of the records, coefficients by the other: intervals and p-values are ordinary ones.
    Split,
}

impl InferenceMethod {
    /// Both of them, in the order of help texts.
    pub const ALL: [Self; 2] = [Self::Selective, Self::Split];

    /// Its name, in commands and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Selective => "selective",
            Self::Split => "split",
        }
    }

    /// Whether it is [`Self::Selective`].
    #[must_use]
    pub const fn is_selective(&self) -> bool {
        matches!(self, Self::Selective)
    }
}

/// Whether the model has an intercept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Intercept {
    /// The response is known to be centred.
    Absent,
    /// It is estimated, at a small share of the budget.
    Estimated,
}

/// The share of the budget, in μ² or ρ, that intervals which allow for errors of unequal variance cost.
const ROBUST_SHARE: f64 = 0.05;

/// How many variables a question for second moments can tell apart per unit of n·μ.
const TOLD_APART: f64 = 0.05;

/// Bounds and scales within these keep every number that a procedure derives far from the ends of
/// double precision, whatever integers are released.
const SMALLEST_BOUND: f64 = 1e-30;
const LARGEST_BOUND: f64 = 1e30;

impl Setting {
    /// The μ that sums may cost together.
    ///
    /// A relative 1e-9 is left for the discretisation's slack and for rounding.
    ///
    /// # Errors
    /// When the budget is too small to be a μ.
    pub fn total_mu(&self) -> Result<Mu, IllegalQuantity> {
        Mu::try_from(Mu::largest_within(self.noise_budget()?)?.get() * (1.0 - 1e-9))
    }

    /// What noise may cost: the budget without the probability that the protocol of the sums fails.
    ///
    /// # Errors
    /// When nothing of δ is left.
    pub fn noise_budget(&self) -> Result<ApproxDp, IllegalQuantity> {
        let delta = self.origin.noise_delta(self.budget.delta())?;
        Ok(ApproxDp::new(self.budget.epsilon(), delta))
    }

    /// Refuses what no procedure can do.
    ///
    /// # Errors
    /// When the sparsity is zero or not below the number of features to choose from, there are fewer than two
    /// records, a bound or scale is not from 1e-30 to 1e30, δ is not above the probability that the
    /// protocol of the sums fails, sites are too small or the units of privacy, robust intervals are asked of clients, the
    /// records cannot be split, or something is asked that is not built for the outcome.
    pub fn check(&self) -> Result<(), PlanError> {
        let refuse = |found: String, required: &str| {
            Err(PlanError::Request {
                found,
                required: required.to_owned(),
            })
        };
        if self.always >= self.n_features {
            let found = format!(
                "{} of {} in every model",
                self.always,
                counted(self.n_features, "feature", "features")
            );
            return refuse(found, "at least two must be left to choose from");
        }
        self.check_groups()?;
        let possible = self.n_picks_possible();
        if self.sparsity == 0 || self.sparsity >= possible {
            let candidates = match self.groups.is_empty() {
                true => counted(possible, "feature", "features"),
                false => counted(possible, "candidate", "candidates"),
            };
            let found = format!("a sparsity of {} for {candidates}", self.sparsity);
            return refuse(
                found,
                "it must be at least 1 and below the number of features",
            );
        }
        if self.n_records < 2 {
            let found = counted(self.n_records, "record", "records");
            return refuse(found, "at least 2 are required");
        }
        let legal = Self::is_legal_bound;
        if !legal(self.response_bound) || !legal(self.feature_bound) {
            let found = format!("bounds {} and {}", self.response_bound, self.feature_bound);
            return refuse(found, "bounds must be from 1e-30 to 1e30");
        }
        if let Some(scale) = self.feature_scale
            && !legal(scale)
        {
            return refuse(
                format!("a feature scale of {scale}"),
                "it must be from 1e-30 to 1e30",
            );
        }
        if self.robust && self.unit == PrivacyUnit::Client {
            return refuse(
                "robust intervals with clients as the unit of privacy".to_owned(),
                "records as the unit are required: a client contributes the mean over its records, and there are no \
                 intervals",
            );
        }
        self.noise_budget()?;
        self.check_outcome()?;
        self.check_columns()?;
        self.check_split()?;
        self.check_sites()
    }

    /// The share of the budget, in μ² or ρ, that goes to the block for robust intervals: zero without them. All other
    /// shares are of the rest.
    pub(crate) const fn robust_share(&self) -> f64 {
        if self.robust { ROBUST_SHARE } else { 0.0 }
    }

    /// The part of `total` that is left for everything else, and the cost of the block for robust intervals, if it is asked.
    pub(crate) fn without_robust(&self, total: Mu) -> Result<(Mu, Option<Mu>), IllegalQuantity> {
        if !self.robust {
            return Ok((total, None));
        }
        let rest = share_of(total, 1.0 - ROBUST_SHARE, 1)?;
        Ok((rest, Some(share_of(total, ROBUST_SHARE, 1)?)))
    }

    /// The part of `total` that is left for the linear procedure where something is asked before and after it.
    pub(crate) fn of_procedure(&self, total: Mu) -> Result<Mu, IllegalQuantity> {
        match self.outcome.reserved_share() {
            0.0 => Ok(total),
            reserved => share_of(total, 1.0 - reserved, 1),
        }
    }

    pub(crate) fn is_legal_bound(bound: f64) -> bool {
        (SMALLEST_BOUND..=LARGEST_BOUND).contains(&bound)
    }

    /// How many features there are to choose from.
    #[must_use]
    pub const fn n_candidates(&self) -> u32 {
        self.n_features.saturating_sub(self.always)
    }

    /// The features that are in every model.
    pub(crate) fn always_features(&self) -> Vec<u32> {
        (0..self.always).collect()
    }

    /// How many variables a question for second moments can tell apart at the cost `mu`, the
    /// constant not counted.
    pub(crate) fn told_apart(&self, cost: Mu) -> f64 {
        TOLD_APART * f64::from(self.n_records) * cost.get() - 1.0
    }

    /// Refuses more features in every model than the last question, of this cost, can tell apart
    /// beside those that are chosen.
    pub(crate) fn check_always(&self, last_cost: Mu) -> Result<(), PlanError> {
        self.check_told_apart(self.groups.most_columns(self.sparsity), last_cost)
    }

    /// The same for `chosen` features beside those of every model.
    pub(crate) fn check_told_apart(&self, chosen: u32, last_cost: Mu) -> Result<(), PlanError> {
        let most = self.told_apart(last_cost);
        if self.always == 0 || f64::from(self.always + chosen) <= most {
            return Ok(());
        }
        Err(PlanError::Request {
            found: format!(
                "{} in every model and {chosen} to be chosen, with {}",
                counted(self.always, "feature", "features"),
                counted(self.n_records, "record", "records")
            ),
            required: format!(
                "at most {:.0} together can be told apart at this budget; name fewer, or spend more",
                larger(most, 0.0).floor()
            ),
        })
    }

    /// A plan of these steps.
    #[must_use]
    pub fn plan(&self, procedure: &str, steps: Vec<PlannedStep>) -> Plan {
        Plan {
            procedure: procedure.to_owned(),
            origin: self.origin,
            relation: self.relation,
            unit: self.unit,
            budget: self.budget,
            steps,
        }
    }

    /// How counts become integers: a record is in one bucket, which is a whole number of steps; a
    /// client's records are spread over several, and truncation would make nothing of each.
    #[must_use]
    pub const fn count_rounding(&self) -> Rounding {
        match self.unit {
            PrivacyUnit::Record => Rounding::Truncated,
            PrivacyUnit::Client => Rounding::Dithered,
        }
    }

    /// Makes blocks for this setting.
    #[must_use]
    pub const fn planner(&self) -> Planner {
        Planner {
            origin: self.origin,
            relation: self.relation,
            unit: self.unit,
        }
    }
}

/// The cost of one of `times` questions that share the fraction `share` of a budget.
///
/// # Errors
/// When the share is not positive.
pub fn share_of(total: Mu, share: f64, times: u32) -> Result<Mu, IllegalQuantity> {
    Mu::try_from(total.get() * (share / f64::from(times)).sqrt())
}
