//! A sum that has ended, as the coordinator stores it in place of its messages.

use sprifed_secure_sum::SumOutcome;

use crate::hexadecimal::Signature;
use crate::transcript::Released;
use crate::trustee_attempt::RefusedAttempt;

/// A sum that has ended.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Checkpoint {
    /// Which sum.
    pub(crate) sum: u32,
    /// How it ended.
    pub(crate) ending: SumEnding,
}

/// How a sum ended, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum SumEnding {
    /// With these integers.
    Unmasked {
        /// Whose vectors are in it.
        survivors: Vec<u32>,
        /// The noisy sums.
        values: Vec<i64>,
    },
    /// Without.
    Abandoned {
        /// Why.
        reason: String,
    },
    /// With the whole study, by its coordinator.
    Cancelled,
    /// By three trustees.
    Opened(Released),
    /// By three trustees, without opening anything, as they signed.
    Unopened([Signature; 3]),
    /// With the whole study, by a trustee.
    Refused(RefusedAttempt),
}

impl SumEnding {
    pub(crate) fn of(outcome: SumOutcome) -> Self {
        match outcome {
            SumOutcome::Unmasked(sum) => Self::Unmasked {
                survivors: sum.survivors().iter().map(|id| id.0).collect(),
                values: sum.values().to_vec(),
            },
            SumOutcome::Abandoned { reason, .. } => Self::Abandoned {
                reason: reason.to_string(),
            },
        }
    }
}

impl Checkpoint {
    pub(crate) fn encode(&self) -> Vec<u8> {
        // Numbers, text and lists, which can always be written.
        postcard::to_allocvec(self).unwrap_or_default()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, String> {
        postcard::from_bytes(bytes).map_err(|error| error.to_string())
    }
}
