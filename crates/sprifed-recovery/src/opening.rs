//! What every certified procedure asks before its first pick: the mean of the response and the scale
//! of a row of features, where they are not public (or the units of columns, see `column_scales`), and then the scale of the response around its mean,
//! unless the mean says what that is.
//!
//! # Why
//! The mean comes first. Around a public centre at which many responses lie exactly, the scale says
//! how many those are and not how far the others are away.

use sprifed_privacy::Mu;
use sprifed_privacy::Rounding;
use sprifed_query::{
    Answer, AnswerBlock, Limit, LinearModel, PlanError, PlannedBlock, PlannedStep, PlannedSum,
    Question, ROW_BUCKETS, SCALE_BUCKETS,
};

use crate::residual_scale::{estimate_row_scale, estimate_scale};
use crate::setting::{Intercept, Setting};

/// The name of the blocks that answer a [`Setting::scale_question`].
pub(crate) const SCALE_BLOCK: &str = "scale";

/// What the opening may cost, block by block.
#[derive(Clone, Copy, Debug)]
pub struct OpeningCosts {
    /// The scale of the response.
    pub scale: Mu,
    /// Its mean, where an intercept is estimated.
    pub mean: Mu,
    /// The scale of a row of features, where it is asked for.
    pub row_scale: Mu,
    /// Each of the two questions about columns, where they are asked.
    pub columns: Mu,
}

/// What the opening found, as far as it was asked.
#[derive(Clone, Copy, Debug)]
pub struct Opening {
    /// The scale of the response around its mean, where the mean says what it is; a bound on it otherwise.
    pub scale: f64,
    /// Its mean, if it was asked for.
    pub intercept: f64,
    /// The standard deviation of the noise on the mean; none if it was not asked for.
    pub mean_noise: Option<f64>,
    /// The scale of a feature, asked for or public.
    pub feature_scale: f64,
}

impl Opening {
    /// What is public before the first answer.
    #[must_use]
    pub fn before(setting: &Setting) -> Self {
        Self {
            scale: setting.response_bound,
            intercept: 0.0,
            mean_noise: None,
            feature_scale: setting.feature_scale.unwrap_or(1.0),
        }
    }

    /// The model without a feature.
    #[must_use]
    pub const fn model(&self) -> LinearModel {
        LinearModel {
            intercept: self.intercept,
            terms: Vec::new(),
        }
    }
}

impl Setting {
    /// The sums of the opening: of its centre, where there is something to ask, and of the scale.
    ///
    /// # Errors
    /// When no grid exists.
    pub fn opening_steps(&self, costs: OpeningCosts) -> Result<Vec<PlannedStep>, PlanError> {
        let (planner, counts) = (self.planner(), self.count_rounding());
        let mut centre = Vec::new();
        if self.intercept == Intercept::Estimated {
            centre.push(self.mean_block(costs.mean)?);
        }
        if self.asks_row_scale() {
            centre.push(planner.ball("row scale", ROW_BUCKETS, costs.row_scale, counts)?);
        }
        // Of times the units of columns are asked with the first question, before the residuals are known.
        if !self.column_scales.is_empty() && self.outcome.reserved_share() <= 0.0 {
            centre.extend(self.column_blocks(costs.columns)?);
        }
        let purpose = match self.intercept {
            Intercept::Estimated if !self.column_scales.is_empty() => {
                "mean of the response, means and scales of columns"
            }
            Intercept::Estimated => "mean of the response",
            Intercept::Absent => "scale of the features",
        };
        let scale = match self.outcome.has_scale_of_mean() {
            true => Vec::new(),
            false => vec![self.scale_block(costs.scale)?],
        };
        let sums = [(purpose, centre), ("scale of the response", scale)];
        let asked = sums.into_iter().filter(|(_, blocks)| !blocks.is_empty());
        Ok(asked
            .map(|(purpose, blocks)| {
                let purpose = purpose.to_owned();
                PlannedStep::Sum(PlannedSum::new(purpose, blocks))
            })
            .collect())
    }

    /// The block that answers a question for the mean of the response.
    pub(crate) fn mean_block(&self, cost: Mu) -> Result<PlannedBlock, PlanError> {
        self.planner()
            .ball("mean response", 1, cost, Rounding::Dithered)
    }

    /// The block that answers a [`Self::scale_question`].
    pub(crate) fn scale_block(&self, cost: Mu) -> Result<PlannedBlock, PlanError> {
        if self.outcome.has_scale_of_mean() {
            return self.square_block(cost);
        }
        let counts = self.count_rounding();
        self.planner()
            .ball(SCALE_BLOCK, SCALE_BUCKETS, cost, counts)
    }

    /// The questions of the opening's first sum, in the order of its blocks; none if there is
    /// nothing to ask before the scale.
    #[must_use]
    pub fn centre_questions(&self) -> Vec<Question> {
        let mut questions = Vec::new();
        if self.intercept == Intercept::Estimated {
            let response_limit = Limit::nearest(self.response_bound);
            questions.push(Question::ResponseMean { response_limit });
        }
        if self.asks_row_scale() {
            let largest = Limit::nearest(self.feature_bound);
            let features = self.n_features;
            questions.push(Question::RowScale { features, largest });
        }
        questions
    }

    /// What is known once [`Self::centre_questions`] are answered.
    #[must_use]
    pub fn centre_of(&self, answer: &Answer) -> Opening {
        let mut blocks = answer.blocks.iter();
        let mut opening = Opening::before(self);
        if self.intercept == Intercept::Estimated
            && let Some(block) = blocks.next()
        {
            let records = f64::from(self.n_records);
            let sum = block.values.first().copied().unwrap_or(0.0);
            opening.intercept = (sum / records).clamp(-1.0, 1.0) * self.response_bound;
            opening.mean_noise = Some(block.noise_std_dev / records * self.response_bound);
            opening = self.opening_of_mean(opening);
        }
        if self.asks_row_scale()
            && let Some(block) = blocks.next()
        {
            opening.feature_scale = estimate_row_scale(&block.values, self.feature_bound);
        }
        opening
    }

    /// The question for the scale of the residual at `model`.
    #[must_use]
    pub fn scale_question(&self, model: LinearModel) -> Question {
        if self.outcome.has_scale_of_mean() {
            return self.square_question(model);
        }
        Question::ResidualScale {
            model: model.into(),
            largest: Limit::nearest(self.largest_residual()),
        }
    }

    /// What the answer to [`Self::scale_question`] says; `before` without an answer.
    #[must_use]
    pub fn scale_after(&self, answer: &Answer, before: f64) -> f64 {
        let block = answer.blocks.first();
        block.map_or(before, |block| self.scale_of(block))
    }

    /// What the block of a [`Self::scale_question`] says.
    #[must_use]
    pub fn scale_of(&self, block: &AnswerBlock) -> f64 {
        if self.outcome.has_scale_of_mean() {
            return self.scale_of_square(block);
        }
        estimate_scale(
            &block.values,
            f64::from(self.n_records),
            self.largest_residual(),
        )
    }

    fn largest_residual(&self) -> f64 {
        2.0 * self.response_bound
    }
}
