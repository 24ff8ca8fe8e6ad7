//! What is said of a study on the coordinator's machine.

use schemars::JsonSchema;
use serde::Serialize;
use sprifed_net::StatusView;
use sprifed_privacy::shown_cost;
use sprifed_study::Digest;

use crate::error::CoordinatorError;
use crate::folder::CoordinatorFolder;
use crate::machine::OVER;

/// How far a study is.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StatusAnswer {
    /// What its page shows.
    #[serde(flatten)]
    status: StatusView,
    /// The digest of the agreement.
    study: Digest,
    /// Whether it was ever served.
    begun: bool,
    /// Whether the coordinator cancelled it.
    cancelled: bool,
}

impl StatusAnswer {
    /// How far the study in `folder` is.
    ///
    /// # Errors
    /// When the study or its state cannot be read.
    pub fn of(folder: &CoordinatorFolder) -> Result<Self, CoordinatorError> {
        let (_, agreed) = folder.study()?;
        let status = folder.status(&agreed)?;
        Ok(Self {
            // One that had ended before it was cancelled stays as it ended.
            cancelled: status.phase != OVER && folder.cancellation().exists(),
            status,
            study: *agreed.digest(),
            begun: folder.is_begun(),
        })
    }

    /// Its state first, then the guarantee, the cost so far, and each role.
    #[must_use]
    pub fn text(&self) -> String {
        let status = &self.status;
        let state = match (self.cancelled, self.begun) {
            (true, _) => "cancelled",
            (false, true) => status.phase.as_str(),
            (false, false) => "not begun",
        };
        let (spent, planned) = (status.budget.epsilon_spent, status.budget.epsilon_planned);
        let counted = if spent > 0.0 && shown_cost(spent) != shown_cost(planned) {
            format!(
                "; {} counts, whether a sum fails or not",
                shown_cost(planned)
            )
        } else {
            String::new()
        };
        let mut text = format!(
            "{}: {state}\n\n{}\n\n{} {} of {}; epsilon {} of at most {} spent{counted}\n",
            status.title,
            status.guarantee,
            if status.trustees.is_empty() {
                "sums"
            } else {
                "choices and sums"
            },
            status.progress.done,
            status.progress.planned,
            shown_cost(spent),
            shown_cost(planned),
        );
        for trustee in &status.trustees {
            text += &format!("  trustee {} {}\n", trustee.name, trustee.state.name());
        }
        for party in &status.parties {
            text += &format!("  {} {}\n", party.name, party.state.name());
        }
        for line in &status.report {
            text += &format!("{line}\n");
        }
        text.trim_end().to_owned()
    }
}
