//! What three trustees need of each role, before any of them computes: bytes, rounds and records.
//!
//! Bytes and rounds are counted on the circuits that the trustees will evaluate, if all clients stay.

use schemars::JsonSchema;
use serde::Serialize;
use sprifed_privacy::{Gates, NoiseOrigin, PrivacyUnit};
use sprifed_query::Plan;
use sprifed_recovery::{Floor, Needs, Setting};
use sprifed_secure_sum::ClientId;
use sprifed_study::{split_evenly, step_with};
use sprifed_trustees::{Circuit, IllegalStep, Step, Upload, count, count_proof};

use crate::error::Error;

#[cfg(test)]
mod tests;

/// What two trustees that collude see, in one sentence.
const TRUST: &str = "any one trustee learns the opened indices, the noisy sums and its own noise; any two trustees \
                     together see every contribution of every client";

/// The correlation of the feature by which records are compared with those of a curator.
const COMPARED_AT: f64 = 0.5;

/// What a study by three trustees needs of each role.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TrusteeCosts {
    /// How many clients take part.
    pub clients: u32,
    /// The most bits of a number that a client shares.
    pub most_bits: u32,
    /// Bytes of all uploads of the client that holds most, without transport.
    pub client_sends_bytes: u64,
    /// Bytes of all uploads that the coordinator passes on to each trustee.
    pub coordinator_receives_bytes: u64,
    /// Bytes of frames between trustees that the coordinator passes on.
    pub coordinator_relays_bytes: u64,
    /// About how many seconds of the study go by on the network while trustees compute.
    pub network_seconds: f64,
    /// What these seconds are.
    pub seconds_are: &'static str,
    /// What each trustee does in the whole study, without the proof of its gates.
    pub trustee: TrusteeWork,
    /// What the proof adds for each trustee; absent where gates are not proved.
    pub proof: Option<ProofWork>,
    /// About how many records are needed for each record that a trusted curator would need.
    pub records_per_curator_record: f64,
    /// What one trustee sees, and what two together see.
    pub trust: &'static str,
}

/// What each trustee does in the whole study.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TrusteeWork {
    /// Bytes of shares, gates, openings and lists that it sends to the other two, without headers and signatures.
    pub sends_bytes: u64,
    /// Exchanges between trustees, one after the other.
    pub rounds: u32,
    /// ANDs.
    pub gates: u64,
    /// Bytes of shares that it holds at once, at most.
    pub memory_bytes: u64,
}

/// What the proof of gates and the verification of norms add for each trustee in the whole study.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ProofWork {
    /// Gates that are proved, those that compute norms included.
    pub gates: u64,
    /// Bytes that it sends to the other two.
    pub sends_bytes: u64,
    /// Exchanges between trustees, one after the other.
    pub rounds: u32,
    /// About how many seconds of computation they take, to prove its own gates and to verify those of the two others.
    pub cpu_seconds: f64,
}

/// Seconds of computation for each gate that is proved, both verifications included: measured once, with 18 million
/// gates on one core (docs/decisions/0018-trustees.md).
const SECONDS_A_PROVED_GATE: f64 = 21e-9;

impl ProofWork {
    /// Adds a circuit whose gates are proved; the bytes that this holds beside the shares.
    fn add(&mut self, circuit: &Circuit) -> u64 {
        let cost = count_proof(circuit);
        self.gates += cost.gates;
        self.sends_bytes += cost.bytes;
        self.rounds += cost.rounds;
        #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 gates")]
        let gates = self.gates as f64;
        self.cpu_seconds = gates * SECONDS_A_PROVED_GATE;
        8 * cost.words_held
    }

    /// Adds the circuit of the norms of so many clients: its gates, the opening of a bit for each, and the signatures of the
    /// set without those outside. The bytes that it holds, with the shares.
    fn add_norms(&mut self, circuit: &Circuit, clients: u32) -> u64 {
        let cost = count(circuit);
        self.sends_bytes += cost.bytes + 8 * u64::from(clients.div_ceil(64));
        self.rounds += cost.rounds + ROUNDS_OF_A_SECOND_SET;
        BYTES_OF_TWO_SHARES * cost.words_held + self.add(circuit)
    }
}

/// Of a word of a plane.
const BYTES_OF_TWO_SHARES: u64 = 16;

/// The opening of the norms, and the signatures of the second set.
const ROUNDS_OF_A_SECOND_SET: u32 = 2;

/// Seconds from one organisation to the coordinator.
const ONE_WAY: f64 = 0.02;

/// Bytes that a link carries in a second.
const BYTES_A_SECOND: f64 = 100e6 / 8.0;

/// A frame goes to the coordinator, and from there to the other trustee.
const HOPS: f64 = 2.0;

/// What [`TrusteeCosts::network_seconds`] is.
const SECONDS_ARE: &str = "rounds times delay plus bytes over bandwidth, at 40 ms there and back and 100 Mbit/s to the \
                           coordinator, which passes frames on; computing and waiting for clients come on top";

/// About how many seconds go by on the network.
fn network_seconds(rounds: u32, bytes: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 bytes")]
    let bytes = bytes as f64;
    HOPS * (f64::from(rounds) * ONE_WAY + bytes / BYTES_A_SECOND)
}

/// Deals, openings, lists, sets and outcomes: exchanges of a step beside those of its gates.
const ROUNDS_BESIDE_GATES: u32 = 5;

/// A client and the digest of its upload, in a list.
const LISTED: u64 = 4 + 32;

impl TrusteeCosts {
    /// The needs of a study that is planned for `setting`, with this many clients and with proved gates; none with other
    /// backends.
    ///
    /// # Errors
    /// When trustees cannot compute a step of the plan.
    pub fn of(
        setting: &Setting,
        plan: &Plan,
        clients: u32,
        needs: Needs,
    ) -> Result<Option<Self>, Error> {
        if plan.origin != NoiseOrigin::Trustees {
            return Ok(None);
        }
        let units = match plan.unit {
            PrivacyUnit::Record => split_evenly(setting.n_records, clients),
            PrivacyUnit::Client => vec![1; clients as usize],
        };
        Self::of_units(setting, plan, &units, needs, Gates::Proved).map(Some)
    }

    /// The same for clients that hold at most so many `units` each, and a plan for trustees.
    ///
    /// # Errors
    /// When trustees cannot compute a step of the plan.
    pub fn of_units(
        setting: &Setting,
        plan: &Plan,
        units: &[u32],
        needs: Needs,
        gates: Gates,
    ) -> Result<Self, Error> {
        let mut costs = Self {
            clients: u32::try_from(units.len()).unwrap_or(u32::MAX),
            most_bits: 0,
            client_sends_bytes: 0,
            coordinator_receives_bytes: 0,
            coordinator_relays_bytes: 0,
            network_seconds: 0.0,
            seconds_are: SECONDS_ARE,
            trustee: TrusteeWork::default(),
            proof: None,
            records_per_curator_record: records_against_curator(setting, needs)?,
            trust: TRUST,
        };
        for planned in &plan.steps {
            let step = step_with(gates, plan, planned, units)?;
            costs
                .add(&step)
                .map_err(sprifed_study::IllegalTrusteeStep::from)?;
        }
        let proof = costs.proof.unwrap_or_default();
        let bytes = costs.trustee.sends_bytes + proof.sends_bytes;
        costs.coordinator_relays_bytes = 3 * bytes;
        costs.network_seconds = network_seconds(costs.trustee.rounds + proof.rounds, bytes);
        Ok(costs)
    }

    fn add(&mut self, step: &Step) -> Result<(), IllegalStep> {
        let all: Vec<ClientId> = (0..self.clients).map(ClientId).collect();
        let circuit = step.circuit(&all)?;
        let cost = count(&circuit);
        let (mut held, mut of_norms) = (BYTES_OF_TWO_SHARES * cost.words_held, 0);
        if step.is_proved() {
            let proof = self.proof.get_or_insert_default();
            held += proof.add(&circuit);
            if let Some(norms) = step.norm_circuit(&all) {
                of_norms = proof.add_norms(&norms, self.clients);
            }
        }
        let words = |lanes: u32| u64::from(lanes.div_ceil(64));
        let deal = 8 * u64::from(step.noise_bits()) * words(step.lanes());
        let opening = 8 * match step {
            Step::Sum(_) => u64::from(step.noise_bits()) * words(step.lanes()),
            // Digits of the index, one lane each.
            Step::Choice(_) => u64::from(step.n_numbers().next_power_of_two().trailing_zeros()),
        };
        let lists = 2 * LISTED * u64::from(self.clients);
        self.trustee.sends_bytes += cost.bytes + deal + opening + lists;
        self.trustee.rounds += cost.rounds + ROUNDS_BESIDE_GATES;
        self.trustee.gates += cost.gates;
        self.trustee.memory_bytes = self.trustee.memory_bytes.max(held).max(of_norms);
        let mut longest = 0;
        for client in all {
            let bytes = Upload::encoded_len(step, client)? as u64;
            self.coordinator_receives_bytes += bytes;
            longest = longest.max(bytes);
            self.most_bits = self.most_bits.max(step.client_bits(client)?);
        }
        self.client_sends_bytes += longest;
        Ok(())
    }
}

/// How many times the records of a curator one feature needs.
fn records_against_curator(setting: &Setting, needs: Needs) -> Result<f64, Error> {
    let curator = Setting {
        origin: NoiseOrigin::Curator,
        ..*setting
    };
    let records = |setting: &Setting| Floor::of(setting, needs, COMPARED_AT);
    let (ours, theirs) = (records(setting)?, records(&curator)?);
    #[expect(clippy::cast_precision_loss, reason = "at most 1e15 records")]
    let quotient = ours.records as f64 / theirs.records.max(1) as f64;
    Ok(quotient)
}
