//! Cancels a study: all parties get a receipt without a model.

use super::{CoordinatorEffect, CoordinatorError, Engine, Stage, StudyCoordinator};
use crate::checkpoint::{Checkpoint, SumEnding};
use crate::receipt::Outcome;

/// How such a study ended, in its receipt.
const CANCELLED: &str = "cancelled by the coordinator";

impl StudyCoordinator {
    /// Ends the study without a model, wherever it is; one that is over stays as it ended.
    ///
    /// What was charged stays charged: a sum that was open counts, as it may have been answered.
    pub fn cancel(&mut self) {
        if self.receipt().is_some() {
            return;
        }
        let sum = self.open_sum();
        let ending = SumEnding::Cancelled;
        let (epoch, bytes) = (
            self.epoch(),
            Checkpoint {
                sum: sum.unwrap_or(0),
                ending,
            }
            .encode(),
        );
        self.effects
            .push_back(CoordinatorEffect::Checkpoint { epoch, bytes });
        self.end_cancelled(sum);
    }

    /// Restores the state after the study was cancelled in this sum, or before the first one.
    pub(super) fn restore_cancelled(
        &mut self,
        epoch: u32,
        sum: u32,
    ) -> Result<(), CoordinatorError> {
        let open = self.open_sum();
        if open.unwrap_or(0) != sum || epoch != self.epoch() || self.receipt().is_some() {
            let reason = format!("it was cancelled in sum {sum}, but {open:?} is open");
            return Err(CoordinatorError::Checkpoint { epoch, reason });
        }
        self.end_cancelled(open);
        Ok(())
    }

    /// The sum that is open, if one is.
    pub(super) fn open_sum(&self) -> Option<u32> {
        match &self.stage {
            Stage::Summing(summing) => Some(summing.sum),
            Stage::Attempting(attempting) => Some(attempting.sum),
            _ => None,
        }
    }

    /// A sum that was open has a charge, and so a line in the receipt.
    pub(super) fn end_cancelled(&mut self, open: Option<u32>) {
        self.phases += 1;
        if let Some(sum) = open {
            let reason = CANCELLED.to_owned();
            self.record(sum, Outcome::Abandoned { reason });
        }
        // No party receives further notices about sums.
        if matches!(self.engine, Engine::Masks(_)) {
            self.engine = Engine::open(&self.agreed);
        }
        self.finish(CANCELLED.to_owned());
    }
}
