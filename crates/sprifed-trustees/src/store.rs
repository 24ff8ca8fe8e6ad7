//! The planes that a reader of a circuit holds, and every operation that needs no exchange.
//!
//! XOR, gathering and folding act on each share alone, so one store serves the clear values and
//! each share of a trustee. Public planes belong to the clear values and to share 0.

use zeroize::Zeroize as _;

use crate::circuit::{Circuit, Operation, Plane};
use crate::lanes::{fold, gather, n_words};

/// Planes of one share, or of clear values; zeroed on drop.
#[derive(Default)]
pub(crate) struct Store {
    planes: Vec<Vec<u64>>,
    spare: Vec<Vec<u64>>,
    has_public: bool,
}

impl Store {
    /// The inputs, and room for what a circuit computes from them.
    pub(crate) fn new(circuit: &Circuit, mut inputs: Vec<Vec<u64>>, has_public: bool) -> Self {
        inputs.resize_with(circuit.lanes.len(), Vec::new);
        Self {
            planes: inputs,
            spare: Vec::new(),
            has_public,
        }
    }

    /// The words of a plane; none if it was not written or is free.
    pub(crate) fn get(&self, plane: Plane) -> &[u64] {
        self.planes.get(plane.place()).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn put(&mut self, plane: Plane, words: Vec<u64>) {
        if let Some(place) = self.planes.get_mut(plane.place()) {
            *place = words;
        }
    }

    /// Room for a plane, with any content.
    pub(crate) fn room(&mut self, words: usize) -> Vec<u64> {
        let mut room = self.spare.pop().unwrap_or_default();
        room.resize(words, 0);
        room
    }

    /// Carries out an operation that needs no exchange.
    pub(crate) fn apply(&mut self, operation: &Operation, circuit: &Circuit) {
        let public = |place: usize| circuit.publics.get(place).map_or(&[][..], Vec::as_slice);
        match *operation {
            Operation::Xor { to, left, right } => {
                let mut room = self.room(n_words(circuit.lanes(to)));
                let both = self.get(left).iter().zip(self.get(right));
                for (word, (left, right)) in room.iter_mut().zip(both) {
                    *word = left ^ right;
                }
                self.put(to, room);
            }
            Operation::Public { to, public: place } => {
                let mut room = self.room(n_words(circuit.lanes(to)));
                room.fill(0);
                if self.has_public {
                    room.copy_from_slice(public(place));
                }
                self.put(to, room);
            }
            Operation::XorPublic {
                to,
                from,
                public: place,
            } => {
                let mut room = self.room(n_words(circuit.lanes(to)));
                room.copy_from_slice(self.get(from));
                if self.has_public {
                    for (word, public) in room.iter_mut().zip(public(place)) {
                        *word ^= public;
                    }
                }
                self.put(to, room);
            }
            Operation::Mask {
                to,
                from,
                public: place,
            } => {
                let mut room = self.room(n_words(circuit.lanes(to)));
                let both = self.get(from).iter().zip(public(place));
                for (word, (from, public)) in room.iter_mut().zip(both) {
                    *word = from & public;
                }
                self.put(to, room);
            }
            Operation::Gather { to, from, runs } => {
                let mut room = self.room(n_words(circuit.lanes(to)));
                let runs = circuit.runs.get(runs).map_or(&[][..], Vec::as_slice);
                gather(&mut room, self.get(from), runs);
                self.put(to, room);
            }
            Operation::Fold { to, from } => {
                let mut room = self.room(n_words(circuit.lanes(to)));
                let (part, lanes) = (circuit.lanes(to), circuit.lanes(from));
                fold(&mut room, self.get(from), part, lanes);
                self.put(to, room);
            }
            Operation::Free { plane } => {
                if let Some(place) = self.planes.get_mut(plane.place()) {
                    self.spare.push(core::mem::take(place));
                }
            }
            Operation::And { .. } | Operation::Exchange => {}
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        for plane in self.planes.iter_mut().chain(&mut self.spare) {
            plane.zeroize();
        }
    }
}

impl core::fmt::Debug for Store {
    /// Only how many: the planes are secret.
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "Store({} planes)", self.planes.len())
    }
}
