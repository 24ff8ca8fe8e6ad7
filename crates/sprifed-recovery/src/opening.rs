//! What every certified procedure asks before its first pick: the scale of the response and, where
//! they are not public, its mean and the scale of a row of features.

use sprifed_privacy::Mu;
use sprifed_privacy::Rounding;
use sprifed_query::{
    Answer, AnswerBlock, Limit, LinearModel, PlanError, PlannedBlock, Question, ROW_BUCKETS,
    SCALE_BUCKETS,
};

use crate::residual_scale::{estimate_row_scale, estimate_scale};
use crate::setting::{Intercept, Setting};

/// What the opening may cost, block by block.
#[derive(Clone, Copy, Debug)]
pub struct OpeningCosts {
    /// The scale of the response.
    pub scale: Mu,
    /// Its mean, where an intercept is estimated.
    pub mean: Mu,
    /// The scale of a row of features, where it is not public.
    pub row_scale: Mu,
}

/// What the opening found.
#[derive(Clone, Copy, Debug)]
pub struct Opening {
    /// The scale of the response.
    pub scale: f64,
    /// Its mean, if it was asked for.
    pub intercept: f64,
    /// The scale of a feature, asked for or public.
    pub feature_scale: f64,
}

impl Setting {
    /// The blocks of the opening.
    ///
    /// # Errors
    /// When no grid exists.
    pub fn opening_blocks(&self, costs: OpeningCosts) -> Result<Vec<PlannedBlock>, PlanError> {
        let (planner, counts) = (self.planner(), self.count_rounding());
        let mut blocks = vec![planner.ball("scale", SCALE_BUCKETS, costs.scale, counts)?];
        if self.intercept == Intercept::Estimated {
            blocks.push(planner.ball("mean response", 1, costs.mean, Rounding::Dithered)?);
        }
        if self.feature_scale.is_none() {
            blocks.push(planner.ball("row scale", ROW_BUCKETS, costs.row_scale, counts)?);
        }
        Ok(blocks)
    }

    /// The questions of the opening, in the order of its blocks.
    #[must_use]
    pub fn opening_questions(&self) -> Vec<Question> {
        let mut questions = vec![self.scale_question(LinearModel::default())];
        if self.intercept == Intercept::Estimated {
            let response_limit = Limit::nearest(self.response_bound);
            questions.push(Question::ResponseMean { response_limit });
        }
        if self.feature_scale.is_none() {
            let largest = Limit::nearest(self.feature_bound);
            questions.push(Question::RowScale { largest });
        }
        questions
    }

    /// What the answer to [`Self::opening_questions`] says.
    #[must_use]
    pub fn opening_of(&self, answer: &Answer) -> Opening {
        let mut blocks = answer.blocks.iter();
        let scale = blocks
            .next()
            .map_or(self.response_bound, |block| self.scale_of(block));
        let mut opening = Opening {
            scale,
            intercept: 0.0,
            feature_scale: self.feature_scale.unwrap_or(1.0),
        };
        if self.intercept == Intercept::Estimated {
            let sum = blocks
                .next()
                .and_then(|block| block.values.first())
                .copied();
            let mean = (sum.unwrap_or(0.0) / f64::from(self.n_records)).clamp(-1.0, 1.0);
            opening.intercept = mean * self.response_bound;
        }
        if self.feature_scale.is_none()
            && let Some(block) = blocks.next()
        {
            opening.feature_scale = estimate_row_scale(&block.values, self.feature_bound);
        }
        opening
    }

    /// The question for the scale of the residual at `model`.
    #[must_use]
    pub fn scale_question(&self, model: LinearModel) -> Question {
        Question::ResidualScale {
            model: model.into(),
            largest: Limit::nearest(self.largest_residual()),
        }
    }

    /// What the answer to [`Self::scale_question`] says.
    #[must_use]
    pub fn scale_of(&self, block: &AnswerBlock) -> f64 {
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
