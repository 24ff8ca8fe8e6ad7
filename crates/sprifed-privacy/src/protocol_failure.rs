//! How likely the protocol that hides single uploads fails: a part of every δ.
//!
//! The accountant assumes that only sums are seen. Secure sums keep that promise except with a small
//! probability, and in that event ε promises nothing; so the probability belongs to δ. The user's δ is
//! the total: the noise is made for what is left of it.
//!
//! Each event is derived in docs/proofs/protocol_failure.md.

use crate::quantity::{Delta, IllegalQuantity};
use crate::sum_plan::NoiseOrigin;

#[cfg(test)]
mod tests;

/// ln of the probability of each event that the masking graph is chosen to exclude.
pub const LOG_GRAPH_FAILURE: f64 = -42.0 * core::f64::consts::LN_2;

/// Up to this many clients each is a neighbour of all others.
pub const COMPLETE_GRAPH_UP_TO: u32 = 40;

/// How often the events of a random graph harm privacy: too many colluders around one client, and too
/// many in one run of places. Both are about the graph, which is drawn once in a study.
const GRAPH_EVENTS: f64 = 2.0;

/// 2⁻⁶⁴: what is set aside for the cryptography of the secure sum, or of the trustees.
///
/// # Trust
/// This is assumption A7 with a number, not a theorem.
pub const CRYPTOGRAPHIC_ALLOWANCE: f64 = 1.0 / (1u128 << 64) as f64;

/// 2⁻⁴²: the same probability.
pub const GRAPH_FAILURE: f64 = 1.0 / (1u64 << 42) as f64;

/// The most attempts at all sums and choices of a study.
pub const MOST_ATTEMPTS: u32 = 1 << 12;

/// 2⁻⁵³: how likely a trustee passes off a wrong gate in one attempt, at most.
const WRONG_GATE: f64 = 1.0 / (1u64 << 53) as f64;

impl NoiseOrigin {
    /// The probability with which a whole study reveals more than its sums, at most.
    ///
    /// # Why
    /// docs/proofs/protocol_failure.md#2-the-events: a complete graph never fails, a random one with at
    /// most 2 · 2⁻⁴² for all sums, repetitions and clients together, and the cryptography is given 2⁻⁶⁴.
    /// Wrap-around is post-processing. A curator runs no protocol. One of three trustees passes off a wrong gate with
    /// at most 2⁻⁵³ in each of [`MOST_ATTEMPTS`] (docs/proofs/trustees-gates.md#5-the-whole-study).
    #[must_use]
    pub fn protocol_failure(self) -> f64 {
        match self {
            Self::Curator => 0.0,
            Self::Trustees => f64::from(MOST_ATTEMPTS) * WRONG_GATE + CRYPTOGRAPHIC_ALLOWANCE,
            Self::Shares(participation) if participation.clients() <= COMPLETE_GRAPH_UP_TO => {
                CRYPTOGRAPHIC_ALLOWANCE
            }
            Self::Shares(_) => GRAPH_EVENTS * GRAPH_FAILURE + CRYPTOGRAPHIC_ALLOWANCE,
        }
    }

    /// What is left of `delta` for the noise, rounded down.
    ///
    /// # Guarantee
    /// A mechanism that is (ε, δ')-DP with the returned δ' on the sums alone is (ε, `delta`)-DP with the
    /// protocol.
    ///
    /// # Why
    /// docs/proofs/protocol_failure.md#1-why-the-probability-is-added-to-delta.
    ///
    /// # Errors
    /// When nothing is left, with the least δ.
    pub fn noise_delta(self, delta: Delta) -> Result<Delta, IllegalQuantity> {
        check_left(delta, self.protocol_failure())
    }
}

/// As [`left_for_noise`], with an error that names the least δ of one study.
pub(crate) fn check_left(delta: Delta, failure: f64) -> Result<Delta, IllegalQuantity> {
    left_for_noise(delta, failure).ok_or(IllegalQuantity {
        quantity: "delta",
        found: delta.get(),
        required: if failure > GRAPH_FAILURE {
            LEAST_WITH_CHANCE
        } else {
            LEAST_WITH_COMPLETE_GRAPH
        },
    })
}

/// `delta` without `failure`, rounded down; `None` if nothing is left.
pub(crate) fn left_for_noise(delta: Delta, failure: f64) -> Option<Delta> {
    if failure > 0.0 {
        Delta::try_from((delta.get() - failure).next_down()).ok()
    } else {
        Some(delta)
    }
}

const LEAST_WITH_COMPLETE_GRAPH: &str =
    "above 5.422e-20, the probability with which the cryptography of secure sums may fail";

/// The masking graph and the proofs of gates fail with the same probability.
const LEAST_WITH_CHANCE: &str = "above 4.548e-13, the probability with which the masking graph of secure sums, or the \
                                 trustees' proof of their gates, may fail";
