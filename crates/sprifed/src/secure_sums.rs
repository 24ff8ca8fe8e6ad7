//! What secure sums need of each party, before any of them is made: neighbours, bits, bytes and seconds.
//!
//! Bytes follow from the formats of the messages. Seconds follow from figures that were measured once
//! (`docs/benchmarks.md`, masked sums), so they are an order of magnitude for another machine.

use schemars::JsonSchema;
use serde::Serialize;
use sprifed_privacy::{LOG_WRAP_PROBABILITY, NoiseOrigin, Participation};
use sprifed_query::Plan;
use sprifed_recovery::{CertifiedProcedure, Setting};
use sprifed_secure_sum::{Parameters, SumShape};
use sprifed_study::{Agreed, Agreement, PartyKey, split_evenly};

use crate::error::Error;

#[cfg(test)]
mod tests;

/// What secure sums need of each party.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SecureSums {
    /// How many clients take part.
    pub clients: u32,
    /// A sum of fewer is never opened.
    pub quorum: u32,
    /// How many may tell others their shares of the noise.
    pub colluders: u32,
    /// The shares of the noise that may be counted.
    pub honest_shares: u32,
    /// With how many others each client agrees on masks.
    pub neighbours: u32,
    /// How many shares open a secret.
    pub threshold: u32,
    /// How many clients must confirm who survived.
    pub confirmations: u32,
    /// How likely the protocol fails, and what that means.
    pub failures: Failures,
    /// Bits of an integer, for each sum.
    pub bits: Vec<u32>,
    /// Bytes of all masked vectors of a client.
    pub masked_bytes_per_client: usize,
    /// What a client does in the whole study.
    pub client: ClientCosts,
    /// What the coordinator does in the whole study.
    pub coordinator: CoordinatorCosts,
    /// Where the seconds are from.
    pub seconds_are: &'static str,
}

/// How likely the protocol fails: what is a part of delta, and what is not because it reveals nothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Failures {
    /// More than the sums is revealed.
    pub privacy: StudyFailure,
    /// A sum cannot be opened.
    pub availability: SumFailure,
    /// A sum is wrong.
    pub accuracy: StudyFailure,
}

/// A failure, by its probability in the whole study.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StudyFailure {
    /// At most this.
    pub in_the_study: f64,
    /// Whether delta contains it.
    pub is_in_delta: bool,
    /// What it is, in words.
    pub means: &'static str,
}

/// A failure, by its probability for each sum.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SumFailure {
    /// At most this.
    pub for_each_sum: f64,
    /// Whether delta contains it.
    pub is_in_delta: bool,
    /// What it is, in words.
    pub means: &'static str,
}

impl Failures {
    fn of(origin: NoiseOrigin, parameters: Parameters, participation: Participation) -> Self {
        Self {
            privacy: StudyFailure {
                in_the_study: origin.protocol_failure(),
                is_in_delta: true,
                means: "more than the sums is revealed",
            },
            availability: SumFailure {
                for_each_sum: parameters.unopened_probability(participation.clients()),
                is_in_delta: false,
                means: "a sum of enough clients cannot be opened and must be repeated",
            },
            accuracy: StudyFailure {
                in_the_study: LOG_WRAP_PROBABILITY.exp(),
                is_in_delta: false,
                means: "a sum wraps around its modulus and is wrong",
            },
        }
    }
}

/// What a client does in the whole study.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ClientCosts {
    /// Bytes of all its messages, on average.
    pub sends_bytes: usize,
    /// Seconds that it computes.
    pub seconds: f64,
}

/// What the coordinator does in the whole study.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CoordinatorCosts {
    /// Bytes of all messages of all clients.
    pub receives_bytes: f64,
    /// Seconds that it computes.
    pub seconds: f64,
}

/// Version, phase, sum, sender, length and signature, around the body of every message.
const ENVELOPE: usize = 2 + 4 + 4 + 4 + 64;

/// What HTTP adds to a message, at most.
const TRANSPORT: usize = 1024;

impl SecureSums {
    /// The needs of a study that is planned for `setting`; none with a curator.
    ///
    /// # Errors
    /// When the parties could not agree on the study.
    pub fn of(
        procedure: CertifiedProcedure,
        setting: &Setting,
        plan: &Plan,
    ) -> Result<Option<Self>, Error> {
        let NoiseOrigin::Shares(participation) = plan.origin else {
            return Ok(None);
        };
        // Everything public follows from the agreement, as in a real study; only its keys are not real.
        let key = PartyKey::simulated(0, 0);
        let units = split_evenly(setting.n_records, participation.clients());
        let agreement = Agreement::among_parties(&key, procedure, *setting, plan.clone(), units);
        let agreed = Agreed::new(agreement)?;
        let Some(study) = agreed.study() else {
            return Ok(None);
        };
        let shapes: Vec<SumShape> = (0..study.n_sums())
            .filter_map(|sum| study.sum(sum))
            .collect();
        let parameters = study.parameters();
        let sizes = MessageSizes::of(parameters.neighbours(), shapes.len());
        let sends_bytes = sizes.setup
            + shapes
                .iter()
                .map(|shape| sizes.for_sum(*shape) + TRANSPORT)
                .sum::<usize>();
        let (client_seconds, coordinator_seconds) = seconds(participation, parameters, &shapes);
        #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 bytes")]
        let receives_bytes = f64::from(participation.clients()) * sends_bytes as f64;
        Ok(Some(Self {
            clients: participation.clients(),
            quorum: participation.quorum(),
            colluders: participation.colluders(),
            honest_shares: participation.honest(),
            neighbours: parameters.neighbours(),
            threshold: parameters.threshold(),
            confirmations: parameters.confirmations(),
            failures: Failures::of(plan.origin, parameters, participation),
            bits: shapes.iter().map(|shape| shape.bits()).collect(),
            masked_bytes_per_client: shapes.iter().map(|shape| shape.packed_len()).sum(),
            client: ClientCosts {
                sends_bytes,
                seconds: client_seconds,
            },
            coordinator: CoordinatorCosts {
                receives_bytes,
                seconds: coordinator_seconds,
            },
            seconds_are: "CPU time, estimated from the measurements in docs/benchmarks.md; other machines differ",
        }))
    }
}

/// Bytes of a client's messages by the formats of `sprifed-secure-sum`, without transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageSizes {
    /// The exchange of keys, for all sums: on average, as a client encapsulates to its larger neighbours only.
    pub setup: usize,
    /// For one sum, beside the masked vector.
    beside_vector: usize,
}

impl MessageSizes {
    /// The sizes with this many neighbours, in a study of this many sums.
    #[must_use]
    pub const fn of(neighbours: u32, sums: usize) -> Self {
        let neighbours = neighbours as usize;
        // Two keys of X25519, one of ML-KEM-768; for each sum a key and a commitment.
        let keys = ENVELOPE + 32 + 32 + 1184 + 4 + 64 * sums;
        // A slot, a ciphertext of ML-KEM-768 and a signature.
        let ciphertexts = ENVELOPE + 4 + (1 + 1088 + 64) * neighbours / 2;
        // A slot, sealed shares of two secrets for each sum, and for each sum what the pair has for it.
        let bundle = 1 + 4 + (64 * sums + 16) + 4 + 40 * sums;
        let shares = ENVELOPE + 4 + bundle * neighbours;
        let upload = ENVELOPE + 32 + 4 + 17 * neighbours + 4;
        let confirmation = ENVELOPE + 32;
        let unmask = ENVELOPE + 4 + 34 * neighbours;
        Self {
            setup: keys + ciphertexts + shares,
            beside_vector: upload + confirmation + unmask,
        }
    }

    /// All that a client sends for a sum of this shape.
    #[must_use]
    pub fn for_sum(&self, shape: SumShape) -> usize {
        self.beside_vector + shape.packed_len()
    }
}

/// Seconds of one client and of the coordinator for the whole study, if no client drops out.
///
/// # Why
/// Each constant is a figure of `docs/benchmarks.md`, masked sums: two cores of a shared virtual machine.
fn seconds(
    participation: Participation,
    parameters: Parameters,
    shapes: &[SumShape],
) -> (f64, f64) {
    /// A key agreement with one neighbour.
    const AGREEMENT: f64 = 54e-6;
    /// Keys, ciphertexts and shares for one neighbour …
    const EXCHANGE: f64 = 98e-6;
    /// … and for each sum.
    const EXCHANGE_FOR_SUM: f64 = 1.7e-6;
    /// A mask, for each byte.
    const MASK_BYTE: f64 = 0.15e-9;
    /// A draw of noise.
    const DRAW: f64 = 14e-9;
    /// A signature, checked.
    const SIGNATURE: f64 = 19e-6;
    /// Tags and the client's own signature.
    const OWN: f64 = 66e-6;
    /// The coordinator's part of an exchange: for a client, and for each of its neighbours.
    const COLLECTED: (f64, f64) = (20e-6, 2.5e-6);
    /// The coordinator's part of a sum: for a client, and for each square of its neighbours.
    const UNMASKED: (f64, f64) = (160e-6, 19e-9);
    let (clients, neighbours) = (
        f64::from(participation.clients()),
        f64::from(parameters.neighbours()),
    );
    let confirmations = f64::from(parameters.confirmations());
    let (mut client, mut coordinator) = (
        EXCHANGE * neighbours,
        clients * (COLLECTED.0 + COLLECTED.1 * neighbours),
    );
    for shape in shapes {
        #[expect(clippy::cast_precision_loss, reason = "sizes far below 2^53")]
        let bytes = shape.packed_len() as f64;
        client += neighbours * (AGREEMENT + EXCHANGE_FOR_SUM + MASK_BYTE * bytes)
            + DRAW * f64::from(shape.coordinates())
            + SIGNATURE * confirmations
            + OWN;
        coordinator += clients * (UNMASKED.0 + UNMASKED.1 * neighbours * neighbours);
    }
    (client, coordinator)
}
