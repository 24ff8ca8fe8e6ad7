//! When the gates of a circuit are proved: as soon as there are enough for a batch, and the rest in the end.

use crate::circuit::{Circuit, Operation};
use crate::lanes::n_words;

/// A part of the evaluation of a circuit whose gates are proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A layer of so many words of gates.
    Layer(usize),
    /// The proof of so many words of gates, the first that were not proved.
    Proof(usize),
}

/// The layers of a circuit, with proofs of at most `batch` words of gates between and after them; without proofs
/// if there is no such number.
pub(crate) fn parts(circuit: &Circuit, batch: Option<usize>) -> Vec<Part> {
    let mut parts = Vec::new();
    let (mut layer, mut left) = (0, 0);
    for operation in &circuit.operations {
        match *operation {
            Operation::And { to, .. } => layer += n_words(circuit.lanes(to)),
            Operation::Exchange => {
                parts.push(Part::Layer(layer));
                left += core::mem::take(&mut layer);
                while let Some(batch) = batch.filter(|batch| left >= *batch) {
                    parts.push(Part::Proof(batch));
                    left -= batch;
                }
            }
            _ => {}
        }
    }
    if batch.is_some() && left > 0 {
        parts.push(Part::Proof(left));
    }
    parts
}

/// Words of all outputs.
pub(crate) fn opened_words(circuit: &Circuit) -> usize {
    let outputs = circuit.outputs().iter();
    outputs.map(|plane| n_words(circuit.lanes(*plane))).sum()
}
