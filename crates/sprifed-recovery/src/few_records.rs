//! The public rule for studies with too few records: no feature is sought, and the model is a well-funded private mean.
//!
//! # Why
//! p-values hold where the residual scale is known and the noise is small against the records. With fewer records than
//! one feature needs, neither is so: without any true feature something was kept in up to two thirds of the runs.

use sprifed_query::{Plan, PlanError, PlannedStep};

use crate::catalogue::Needs;
use crate::floor::Floor;
use crate::opening::SCALE_BLOCK;
use crate::portable::larger;
use crate::setting::Setting;

#[cfg(test)]
mod tests;

/// A feature of this correlation with the response must be within reach.
const STRONGEST: f64 = 0.7;

/// A residual scale is told from a histogram of at least so many records for each standard deviation of the noise in a
/// bucket.
const RECORDS_PER_NOISE: f64 = 8.0;

impl Setting {
    /// The fewest records for which a procedure with these needs and this `plan` seeks features.
    ///
    /// It follows from public numbers only: the budget, the backend, the numbers of features and of features sought.
    ///
    /// # Errors
    /// When the budget is too small to be spent.
    pub(crate) fn fewest_records(&self, needs: Needs, plan: &Plan) -> Result<u64, PlanError> {
        let floor = Floor::of(self, needs, STRONGEST)?.records;
        let scales = plan.steps.iter().map(|step| {
            let scale = RECORDS_PER_NOISE * scale_noise(step, plan.origin.most_shares());
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "not negative; too large numbers become the largest"
            )]
            let records = scale.ceil() as u64;
            step.part().least_records(records)
        });
        Ok(scales.fold(floor, u64::max))
    }

    /// The fewest records that would do, if this study has fewer.
    pub(crate) fn too_few_records(
        &self,
        needs: Needs,
        plan: &Plan,
    ) -> Result<Option<u64>, PlanError> {
        let needed = self.fewest_records(needs, plan)?;
        Ok((u64::from(self.n_records) < needed).then_some(needed))
    }
}

/// The largest standard deviation of the noise on a bucket of a residual histogram, in records; zero if none is asked.
fn scale_noise(step: &PlannedStep, shares: u32) -> f64 {
    let blocks = match step {
        PlannedStep::Sum(sum) => sum.blocks.as_slice(),
        PlannedStep::Choice(_) => &[],
    };
    let scales = blocks
        .iter()
        .filter(|planned| planned.block.name == SCALE_BLOCK);
    scales
        .map(|planned| planned.noise_std_dev(shares))
        .fold(0.0, larger)
}
