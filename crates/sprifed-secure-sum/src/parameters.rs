//! Chooses the number of neighbours and of shares from the participation.
//!
//! Three things must not happen, the first two each with a probability of at most 2⁻⁴² over the random order of
//! the ring (for colluders and dropouts that are fixed without knowledge of it), by a union bound
//! over all clients of exact hypergeometric tails, the third with at most twice that:
//!
//! - *some client has `threshold` colluders among its neighbours*, which could open its secrets;
//! - *some run of k/2 places holds `least_in_window` colluders*. Every client checks that every
//!   such run holds at least that many survivors, so one of them is honest and the honest survivors
//!   are connected, **whichever clients the coordinator reports as dropped out**;
//! - *as many dropouts as are tolerated make a sum fail*: a neighbourhood keeps fewer than
//!   `threshold` survivors or a run fewer than `least_in_window`. This one is per sum, and costs the
//!   sum only.
//!
//! The first two are about the graph, which is drawn once, and they are part of the study's δ
//! (docs/proofs/protocol_failure.md). Where each client is a neighbour of all others they cannot happen.

use sprifed_privacy::{COMPLETE_GRAPH_UP_TO, GRAPH_FAILURE, LOG_GRAPH_FAILURE, Participation};

use crate::hypergeometric::LogFactorials;
use crate::secret_sharing::MOST_SHARES;

#[cfg(test)]
mod tests;

/// There are no parameters for this participation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoParameters {
    /// Two different survivor sets could both find enough signatures.
    #[error(
        "a quorum of {quorum} among {clients} clients with {colluders} colluders lets a coordinator \
         have two survivor sets confirmed; at least {required} are required"
    )]
    QuorumTooSmall {
        /// Clients that must stay.
        quorum: u32,
        /// Clients invited.
        clients: u32,
        /// Clients that may collude.
        colluders: u32,
        /// The least quorum.
        required: u32,
    },
    /// No graph keeps both promises.
    #[error(
        "no graph of up to {most} neighbours keeps {clients} clients safe from {colluders} colluders \
         and correct with {dropouts} dropouts at 2^-40; tolerate fewer of either"
    )]
    NoGraph {
        /// The most neighbours that were tried.
        most: u32,
        /// Clients invited.
        clients: u32,
        /// Clients that may collude.
        colluders: u32,
        /// Clients that may drop out.
        dropouts: u32,
    },
    /// Parameters given by hand that break a rule.
    #[error("{found} {what}, but {required} are required")]
    ByHand {
        /// What is wrong.
        what: &'static str,
        /// How many were given.
        found: u32,
        /// How many are required.
        required: u32,
    },
}

/// The numbers of a study's masking graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    neighbours: u32,
    threshold: u32,
    least_in_window: u32,
    confirmations: u32,
}

impl Parameters {
    /// The sparsest graph that keeps its promises with these clients, or the complete one.
    ///
    /// # Errors
    /// When there is none, with the reason.
    pub fn choose(participation: Participation) -> Result<Self, NoParameters> {
        let confirmations = confirmations(participation)?;
        let n_clients = participation.clients();
        let sparse = (n_clients > COMPLETE_GRAPH_UP_TO)
            .then(|| sparse(participation, confirmations))
            .flatten();
        let complete =
            (n_clients - 1 <= MOST_SHARES).then(|| complete(participation, confirmations));
        sparse.or(complete).ok_or(NoParameters::NoGraph {
            most: MOST_SHARES - 1,
            clients: n_clients,
            colluders: participation.colluders(),
            dropouts: n_clients - participation.quorum(),
        })
    }

    /// A ring of `neighbours` with this `threshold`, for measurements.
    ///
    /// # Trust
    /// Nothing is promised about colluders or dropouts: the caller vouches for the numbers.
    ///
    /// # Errors
    /// When the numbers contradict each other.
    pub fn assume_sufficient(
        participation: Participation,
        neighbours: u32,
        threshold: u32,
    ) -> Result<Self, NoParameters> {
        let confirmations = confirmations(participation)?;
        let most = (participation.clients() - 1).min(MOST_SHARES);
        let complete = neighbours == participation.clients() - 1;
        let by_hand = |what, found, required| {
            Err(NoParameters::ByHand {
                what,
                found,
                required,
            })
        };
        if neighbours == 0 || neighbours > most || (neighbours % 2 == 1 && !complete) {
            return by_hand("neighbours (an even number)", neighbours, most);
        }
        if threshold == 0 || threshold > neighbours {
            return by_hand("shares as a threshold", threshold, neighbours);
        }
        Ok(Self {
            neighbours,
            threshold,
            least_in_window: 1,
            confirmations,
        })
    }

    /// k: how many neighbours each client has.
    #[must_use]
    pub const fn neighbours(self) -> u32 {
        self.neighbours
    }

    /// t: how many shares open a secret.
    #[must_use]
    pub const fn threshold(self) -> u32 {
        self.threshold
    }

    /// How many survivors every run of k/2 places must hold; of the complete graph, all of them.
    #[must_use]
    pub const fn least_in_window(self) -> u32 {
        self.least_in_window
    }

    /// How many signatures a survivor set needs before a client reveals a share.
    #[must_use]
    pub const fn confirmations(self) -> u32 {
        self.confirmations
    }

    /// The probability that a sum cannot be opened although no more clients are missing than are tolerated. The sum
    /// has to be repeated; nothing is revealed, so this is not a part of δ.
    ///
    /// # Why
    /// docs/proofs/protocol_failure.md#2-the-events: a complete graph never fails so. In a random one either a
    /// neighbourhood or a run of places may keep too few survivors, each with a probability of at most 2⁻⁴².
    #[must_use]
    pub fn unopened_probability(self, n_clients: u32) -> f64 {
        if self.is_complete(n_clients) {
            0.0
        } else {
            2.0 * GRAPH_FAILURE
        }
    }

    /// Whether every client is a neighbour of all others.
    #[must_use]
    pub const fn is_complete(self, n_clients: u32) -> bool {
        self.neighbours + 1 >= n_clients
    }
}

/// More than half of the honest clients and all colluders: two sets cannot both have so many, as
/// an honest client signs one set for each sum.
fn confirmations(participation: Participation) -> Result<u32, NoParameters> {
    let (clients, colluders) = (participation.clients(), participation.colluders());
    let required = (clients + colluders) / 2 + 1;
    let quorum = participation.quorum();
    if quorum < required {
        return Err(NoParameters::QuorumTooSmall {
            quorum,
            clients,
            colluders,
            required,
        });
    }
    Ok(required)
}

fn complete(participation: Participation, confirmations: u32) -> Parameters {
    let (quorum, colluders) = (participation.quorum(), participation.colluders());
    let neighbours = participation.clients() - 1;
    // Even without the cross-check of survivor sets, both kinds of share of one client would then
    // need more shares than its neighbours can give.
    let majority = (neighbours + colluders) / 2 + 1;
    // With one honest client (h = 1, all others collude) no threshold keeps its upload from them,
    // and none has to: a sum without their own parts is that upload, and it carries the noise that
    // is charged (docs/proofs/two_parties.md). All others together open it, and fewer cannot.
    Parameters {
        neighbours,
        threshold: majority.min(quorum - 1).max(colluders + 1).min(neighbours),
        least_in_window: (colluders + 2).min(quorum),
        confirmations,
    }
}

fn sparse(participation: Participation, confirmations: u32) -> Option<Parameters> {
    let n_clients = participation.clients();
    let (colluders, dropouts) = (
        participation.colluders(),
        n_clients - participation.quorum(),
    );
    let factorials = LogFactorials::up_to(n_clients);
    let bound = LOG_GRAPH_FAILURE - f64::from(n_clients).ln();
    // The least count that is reached too rarely to matter.
    let rare = |all: u32, marked: u32, drawn: u32| {
        (0..=drawn + 1).find(|least| factorials.log_upper_tail(all, marked, drawn, *least) <= bound)
    };
    let most = MOST_SHARES.min(n_clients - 2);
    (1..=most / 2)
        .map(|half| (half, 2 * half))
        .find_map(|(half, neighbours)| {
            // The dropouts may all be others, as may the colluders: the client itself is neither.
            let safe = rare(n_clients - 1, colluders, neighbours)?.max(1);
            let lost = rare(n_clients - 1, dropouts, neighbours)?.saturating_sub(1);
            let least_in_window = rare(n_clients, colluders, half)?.max(1);
            let gone = rare(n_clients, dropouts, half)?.saturating_sub(1);
            let correct = neighbours.checked_sub(lost)?;
            let fits = safe <= correct && least_in_window + gone <= half;
            fits.then(|| Parameters {
                neighbours,
                threshold: safe.midpoint(correct),
                least_in_window,
                confirmations,
            })
        })
}
