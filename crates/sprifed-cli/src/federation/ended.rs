//! Whether a party's part in a study has ended, and what it cost.

use serde_json::{Value, json};
use sprifed_party::{Cost, LifetimeLine, Protection, Standing};

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
        let Some(cost) = self.cost() else {
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

    /// The same for programs.
    pub(super) fn to_json(&self) -> Value {
        let cost = self.cost();
        json!({
            "left": self.line.standing == Standing::Left, "settled": self.line.is_settled(),
            "epsilon": cost.map(|cost| cost.epsilon), "delta": cost.map(|cost| cost.delta),
        })
    }

    /// Why the party does not take part.
    pub(super) fn into_failure(self) -> Failure {
        Failure::outcome(
            "sprifed::study::over",
            self.text(),
            "`sprifed study status` shows what all studies have cost; nothing was sent and nothing was spent",
        )
    }

    fn cost(&self) -> Option<Cost> {
        let is_protected = self.line.protection == Protection::Secret;
        is_protected.then_some(self.line.cost)
    }
}
