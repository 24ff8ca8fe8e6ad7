//! Whether a party's part in a study has ended, and what it cost.

use sprifed_party::{LifetimeLine, Standing};

use crate::failure::Failure;

/// How a party's part in a study has ended.
pub(super) struct Ended {
    line: LifetimeLine,
}

impl Ended {
    /// The end of the study of `line`.
    pub(super) const fn of(line: LifetimeLine) -> Self {
        Self { line }
    }

    /// What a person should know.
    pub(super) fn text(&self) -> String {
        let how = match self.line.standing {
            Standing::Left => "this party has left this study and answers nothing more in it",
            Standing::Reserved | Standing::Settled => "this party's part in this study has ended",
        };
        let Some(cost) = self.line.protected_cost() else {
            return format!("{how}; its noise was simulated, so it is in no total");
        };
        let (epsilon, delta) = (cost.epsilon.shown(), cost.delta.shown());
        if self.line.is_settled() {
            format!("{how}; it counts with epsilon = {epsilon} at delta = {delta}")
        } else {
            format!(
                "{how}; it counts with the most it can cost, epsilon = {epsilon} at delta = {delta}, until `join` runs \
                 once more"
            )
        }
    }

    /// Why the party does not take part.
    pub(super) fn into_failure(self) -> Failure {
        Failure::outcome(
            "sprifed::study::over",
            self.text(),
            "`sprifed study status` shows what all studies have cost; nothing was sent and nothing was spent",
        )
    }
}
