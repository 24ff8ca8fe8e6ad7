//! What the response is, and what that changes of a procedure: where the scale of the residual comes from, what is asked
//! last, and what the coefficients of the fit mean.
//!
//! Features are selected by the linear procedure whatever the response is. An outcome is a case of [`Outcome`] and a
//! file beside this one with its refit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sprifed_privacy::{IllegalQuantity, Mu, PrivacyUnit};
use sprifed_query::{
    AnswerBlock, LARGEST_HAZARD, Limit, LinearModel, Link, PlanError, PlannedBlock, PlannedStep,
    PlannedSum, Question,
};

use crate::opening::Opening;
use crate::portable::{dot, larger};
use crate::setting::{InferenceMethod, Intercept, Keep, Setting, share_of};

pub(crate) mod binary;
pub(crate) mod newton;
pub(crate) mod refit;
pub(crate) mod survival;

/// What the response is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// A number, explained by a sum of features.
    #[default]
    Linear,
    /// A zero or a one. A sum of features explains the logarithm of the odds of a one.
    Binary,
    /// A time, and whether the event occurred then. A sum of features explains the logarithm of the hazard.
    Survival,
}

/// Of the last share, what the second moments get: more where p-values decide what is kept.
const MOMENTS_SHARE: f64 = 0.4;
const MOMENTS_SHARE_EXACTLY: f64 = 0.3;

/// Of the share of the score and its curvature, what the score gets.
const GRADIENT_SHARE: f64 = 0.7;

/// The scale of a residual is at least this share of that of the response.
const LEAST_SCALE: f64 = 0.1;

/// The name of the blocks that answer a [`Setting::scale_question`] of an outcome whose residuals are bounded.
const SQUARE_BLOCK: &str = "squared residual";

/// What the questions after the last pick may cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LastCosts {
    /// The second moments.
    pub(crate) moments: Mu,
    /// The score and its curvature, where the outcome asks for them.
    step: Option<(Mu, Mu)>,
}

/// Where the last second moments are asked: the model whose residual they are about.
#[derive(Clone, Debug)]
pub(crate) struct LastPoint {
    /// The model, intercepts of sites included.
    pub(crate) model: LinearModel,
    /// Its coefficients of the features that are asked about, in units of scaled features.
    pub(crate) coefficients: Vec<f64>,
    /// One unit of the residual.
    pub(crate) scale: f64,
}

impl Outcome {
    /// All of them, in the order of help texts.
    pub const ALL: [Self; 3] = [Self::Linear, Self::Binary, Self::Survival];

    /// Its name, in commands and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Binary => "binary",
            Self::Survival => "survival",
        }
    }

    /// Whether it is [`Self::Linear`].
    #[must_use]
    pub const fn is_linear(&self) -> bool {
        matches!(self, Self::Linear)
    }

    /// How the expected response follows from the linear predictor; none if it is the predictor, or if there is a hazard
    /// instead.
    #[must_use]
    pub const fn link(self) -> Option<Link> {
        match self {
            Self::Linear | Self::Survival => None,
            Self::Binary => Some(Link::Logit),
        }
    }

    /// Whether the mean of the response says what its scale is.
    pub(crate) const fn has_scale_of_mean(self) -> bool {
        match self {
            Self::Linear | Self::Survival => false,
            Self::Binary => true,
        }
    }

    /// How many sums follow the last second moments.
    pub(crate) fn steps_after_moments(self) -> usize {
        usize::from(self.link().is_some()) + self.steps_after_procedure()
    }
}

impl Setting {
    /// Refuses what is not built for the outcome, instead of doing something else.
    pub(crate) fn check_outcome(&self) -> Result<(), PlanError> {
        if self.outcome.is_linear() {
            return Ok(());
        }
        let refuse = |what: &str, required: &str| {
            Err(PlanError::Request {
                found: format!("{what} with the outcome \"{}\"", self.outcome.name()),
                required: required.to_owned(),
            })
        };
        if self.intercept == Intercept::Absent {
            return refuse("no intercept", "one is required");
        }
        if self.robust {
            return refuse(
                "robust intervals",
                "they are not built for it: the curvature of the model stands for the variance of its score",
            );
        }
        if self.inference == InferenceMethod::Split {
            return refuse("the inference \"split\"", "use \"selective\"");
        }
        if !self.sites.is_empty() {
            return refuse(
                "site effects",
                "they are not built for it: name covariates of sites that are always in the model, or leave sites out",
            );
        }
        if !self.groups.is_empty() {
            return refuse(
                "categories that are picked together",
                "they are not built for it: leave `together` out of the schema, so that each level is a candidate of its own, \
                 or name the categories in `always`",
            );
        }
        let (bound, why) = match self.outcome {
            Outcome::Linear | Outcome::Binary => (1.0, "its two values are 0 and 1"),
            Outcome::Survival => (LARGEST_HAZARD, "its martingale residuals are within 4"),
        };
        if (self.response_bound - bound).abs() > 0.0 {
            let what = format!("a response within {}", self.response_bound);
            return refuse(&what, why);
        }
        Ok(())
    }

    /// What the opening says of the response once its mean is known.
    pub(crate) fn opening_of_mean(&self, opening: Opening) -> Opening {
        match self.outcome {
            Outcome::Linear | Outcome::Survival => opening,
            Outcome::Binary => binary::opening_of_mean(opening),
        }
    }

    /// The scale of the residual of a model with these coefficients of scaled features, where it is not asked; none where
    /// it is.
    pub(crate) fn scale_without_question(
        &self,
        opening: &Opening,
        coefficients: &[f64],
    ) -> Option<f64> {
        match self.outcome {
            Outcome::Linear | Outcome::Survival => None,
            Outcome::Binary => Some(binary::residual_scale(
                opening.scale,
                dot(coefficients, coefficients),
            )),
        }
    }

    /// The question for the scale of a bounded residual.
    pub(crate) fn square_question(&self, model: LinearModel) -> Question {
        Question::ResidualSquare {
            model: model.into(),
            residual_limit: Limit::ONE,
        }
    }

    /// The block that answers a [`Self::square_question`].
    ///
    /// # Why
    /// A square is never negative, so replacing a record moves the sum by one, as emptying it does. The planner reckons
    /// that it moves twice as far; so twice the cost is asked of it
    /// (docs/proofs/sensitivity.md#2-boxes).
    pub(crate) fn square_block(&self, cost: Mu) -> Result<PlannedBlock, PlanError> {
        let cost = Mu::try_from(cost.get() * f64::from(self.relation.sum_moves_by()))?;
        self.planner().boxed(SQUARE_BLOCK, 1, 1, cost)
    }

    /// What the block of a [`Self::square_question`] says.
    pub(crate) fn scale_of_square(&self, block: &AnswerBlock) -> f64 {
        let sum = block.values.first().copied().unwrap_or(0.0);
        larger(sum / f64::from(self.n_records), 0.0).sqrt()
    }

    /// The scale of a residual, as far as noise may make it small.
    pub(crate) fn least_scale(&self, opening: &Opening, scale: f64) -> f64 {
        if self.outcome.has_scale_of_mean() {
            larger(scale, LEAST_SCALE * opening.scale)
        } else {
            scale
        }
    }

    /// How `last`, the cost of what is asked after the last pick, is divided.
    pub(crate) fn last_costs(&self, last: Mu) -> Result<LastCosts, IllegalQuantity> {
        if self.outcome.link().is_none() {
            return Ok(LastCosts {
                moments: last,
                step: None,
            });
        }
        let moments = match (self.choice, self.unit) {
            (Keep::Significant, PrivacyUnit::Record) => MOMENTS_SHARE,
            (Keep::Exactly, _) | (_, PrivacyUnit::Client) => MOMENTS_SHARE_EXACTLY,
        };
        let step = 1.0 - moments;
        Ok(LastCosts {
            moments: share_of(last, moments, 1)?,
            step: Some((
                share_of(last, step * GRADIENT_SHARE, 1)?,
                share_of(last, step * (1.0 - GRADIENT_SHARE), 1)?,
            )),
        })
    }

    /// The sum after the last second moments, about at most so many features; none if the outcome asks for none.
    pub(crate) fn refit_step(
        &self,
        n_features: usize,
        costs: LastCosts,
    ) -> Result<Option<PlannedStep>, PlanError> {
        let Some((gradient, curvature)) = costs.step else {
            return Ok(None);
        };
        let blocks = newton::blocks(self, n_features, gradient, curvature)?;
        let purpose = "score of the kept features".to_owned();
        Ok(Some(PlannedStep::Sum(PlannedSum::new(purpose, blocks))))
    }

    /// Where the last second moments are asked: at `current`, or at the mean where the refit starts from all that the
    /// features explain.
    pub(crate) fn last_point(&self, opening: &Opening, current: LastPoint) -> LastPoint {
        if self.outcome.link().is_none() {
            return current;
        }
        LastPoint {
            model: opening.model(),
            coefficients: vec![0.0; current.coefficients.len()],
            scale: opening.scale,
        }
    }

    /// The model of no feature, where the response has this mean.
    pub(crate) fn null_model(&self, opening: &Opening) -> LinearModel {
        match self.outcome {
            Outcome::Linear | Outcome::Survival => opening.model(),
            Outcome::Binary => LinearModel {
                intercept: binary::log_odds(opening.intercept),
                terms: Vec::new(),
            },
        }
    }
}
