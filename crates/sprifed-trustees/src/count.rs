//! What a circuit costs, read off the circuit itself.

use crate::circuit::{Circuit, Operation};
use crate::lanes::n_words;
use crate::proof::batches::{Part, opened_words, parts};
use crate::proof::{MOST_WORDS, WORDS_LOGGED, WORDS_PROVED, lengths};

/// The cost of a circuit for each trustee.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CircuitCost {
    /// ANDs, one for each lane.
    pub gates: u64,
    /// Exchanges, without the opening.
    pub rounds: u32,
    /// Bytes in all frames of gates: whole words.
    pub bytes: u64,
    /// Bytes of the longest of these frames.
    pub longest_frame: u64,
    /// The most words of planes that are held at once, in each of two shares.
    pub words_held: u64,
}

/// Counts gates, rounds and bytes.
#[must_use]
pub fn count(circuit: &Circuit) -> CircuitCost {
    let mut cost = CircuitCost::default();
    let inputs = circuit.lanes.iter().take(circuit.n_inputs);
    let mut held: u64 = inputs.map(|lanes| n_words(*lanes) as u64).sum();
    cost.words_held = held;
    let mut frame = 0;
    for operation in &circuit.operations {
        if let Some(to) = operation.written_and_read().0 {
            held += n_words(circuit.lanes(to)) as u64;
            cost.words_held = cost.words_held.max(held);
        }
        match *operation {
            Operation::And { to, .. } => {
                cost.gates += u64::from(circuit.lanes(to));
                frame += 8 * n_words(circuit.lanes(to)) as u64;
            }
            Operation::Exchange => {
                cost.rounds += 1;
                cost.bytes += frame;
                cost.longest_frame = cost.longest_frame.max(frame);
                frame = 0;
            }
            Operation::Free { plane } => held -= n_words(circuit.lanes(plane)) as u64,
            _ => {}
        }
    }
    cost
}

/// What the proof of a circuit's gates adds for each trustee.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProofCost {
    /// Gates that are proved: those of whole words.
    pub gates: u64,
    /// Batches of at most 2^26 gates.
    pub batches: u32,
    /// Exchanges, that of the signatures before the opening included.
    pub rounds: u32,
    /// Bytes in all frames of the proofs, and in the opened shares that are sent a second time: whole words.
    pub bytes: u64,
    /// Bytes of the longest frame of a proof.
    pub longest_frame: u64,
    /// The most words that the log of the gates and a proof hold at once, beside the planes.
    pub words_held: u64,
}

/// Counts what proving its gates adds to a circuit.
#[must_use]
pub fn count_proof(circuit: &Circuit) -> ProofCost {
    count_batches(circuit, MOST_WORDS)
}

/// As [`count_proof`], with batches of so many words of gates.
pub(crate) fn count_batches(circuit: &Circuit, batch: usize) -> ProofCost {
    let mut cost = ProofCost {
        rounds: 1,
        bytes: 8 * opened_words(circuit) as u64,
        ..ProofCost::default()
    };
    let mut logged = 0;
    for part in parts(circuit, Some(batch)) {
        let held = match part {
            Part::Layer(words) => {
                logged += words;
                WORDS_LOGGED * logged
            }
            Part::Proof(words) => {
                let held = WORDS_LOGGED * logged + WORDS_PROVED * words;
                logged -= words;
                cost.add_batch(words);
                held
            }
        };
        cost.words_held = cost.words_held.max(held as u64);
    }
    cost
}

impl ProofCost {
    fn add_batch(&mut self, words: usize) {
        self.gates += 64 * words as u64;
        self.batches += 1;
        for length in lengths(words) {
            self.rounds += 1;
            self.bytes += 8 * (length.to_previous + length.to_next) as u64;
            let longest = 8 * length.to_previous.max(length.to_next) as u64;
            self.longest_frame = self.longest_frame.max(longest);
        }
    }
}
