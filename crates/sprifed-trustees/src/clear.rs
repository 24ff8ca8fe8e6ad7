//! A circuit on clear bits: what the three trustees must agree with, for tests.

use crate::circuit::{Circuit, Operation};
use crate::store::Store;

/// The outputs of a circuit for clear inputs.
#[must_use]
pub fn clear(circuit: &Circuit, inputs: Vec<Vec<u64>>) -> Vec<Vec<u64>> {
    let mut store = Store::new(circuit, inputs, true);
    for operation in &circuit.operations {
        if let Operation::And { to, left, right } = *operation {
            let both = store.get(left).iter().zip(store.get(right));
            let product = both.map(|(left, right)| left & right).collect();
            store.put(to, product);
        } else {
            store.apply(operation, circuit);
        }
    }
    let output = |plane: &crate::circuit::Plane| store.get(*plane).to_vec();
    circuit.outputs().iter().map(output).collect()
}
