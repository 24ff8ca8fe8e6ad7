//! Circuits in the making: values in the order of their computation, put into layers at the end.
//!
//! A value knows its *depth*, the number of exchanges before it is known. At the end all values of
//! one depth are computed together, so parts of a circuit that do not wait for each other share
//! their rounds. Values that no output needs are left out, and a plane is freed after its last use.

use std::collections::BTreeMap;

use crate::circuit::{Circuit, Operation, Plane, Run};
use crate::lanes::{last_word, n_words};

/// A circuit in the making.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    n_inputs: usize,
    lanes: Vec<u32>,
    depth: Vec<u32>,
    operations: Vec<Operation>,
    publics: Vec<Vec<u64>>,
    known: BTreeMap<Vec<u64>, usize>,
    runs: Vec<Vec<Run>>,
}

impl Builder {
    /// A circuit whose inputs have these lanes.
    pub(crate) fn new(inputs: impl IntoIterator<Item = u32>) -> Self {
        let lanes: Vec<_> = inputs.into_iter().collect();
        Self {
            n_inputs: lanes.len(),
            depth: vec![0; lanes.len()],
            lanes,
            ..Self::default()
        }
    }

    /// The inputs, in order.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = Plane> + use<> {
        (0..number(self.n_inputs)).map(Plane)
    }

    pub(crate) fn lanes(&self, plane: Plane) -> u32 {
        self.lanes.get(plane.place()).copied().unwrap_or(0)
    }

    /// After how many exchanges the plane is known.
    pub(crate) fn depth(&self, plane: Plane) -> u32 {
        self.depth.get(plane.place()).copied().unwrap_or(0)
    }

    fn push(
        &mut self,
        lanes: u32,
        depth: u32,
        operation: impl FnOnce(Plane) -> Operation,
    ) -> Plane {
        let to = Plane(number(self.lanes.len()));
        self.lanes.push(lanes);
        self.depth.push(depth);
        self.operations.push(operation(to));
        to
    }

    pub(crate) fn xor(&mut self, left: Plane, right: Plane) -> Plane {
        debug_assert_eq!(self.lanes(left), self.lanes(right), "planes of one length");
        let depth = self.depth(left).max(self.depth(right));
        self.push(self.lanes(left), depth, |to| Operation::Xor {
            to,
            left,
            right,
        })
    }

    pub(crate) fn and(&mut self, left: Plane, right: Plane) -> Plane {
        debug_assert_eq!(self.lanes(left), self.lanes(right), "planes of one length");
        let depth = self.depth(left).max(self.depth(right)) + 1;
        self.push(self.lanes(left), depth, |to| Operation::And {
            to,
            left,
            right,
        })
    }

    pub(crate) fn not(&mut self, from: Plane) -> Plane {
        let ones = ones(self.lanes(from));
        self.xor_public(from, ones)
    }

    pub(crate) fn xor_public(&mut self, from: Plane, public: Vec<u64>) -> Plane {
        let public = self.public(public);
        self.push(self.lanes(from), self.depth(from), |to| {
            Operation::XorPublic { to, from, public }
        })
    }

    /// Clears the lanes that `public` does not have.
    pub(crate) fn mask(&mut self, from: Plane, public: Vec<u64>) -> Plane {
        let public = self.public(public);
        self.push(self.lanes(from), self.depth(from), |to| Operation::Mask {
            to,
            from,
            public,
        })
    }

    /// A plane of ones, or of zeros.
    pub(crate) fn constant(&mut self, lanes: u32, is_one: bool) -> Plane {
        let plane = if is_one {
            ones(lanes)
        } else {
            vec![0; n_words(lanes)]
        };
        let public = self.public(plane);
        self.push(lanes, 0, |to| Operation::Public { to, public })
    }

    /// Runs of lanes of `from`, one after the other; all of them lie within it.
    pub(crate) fn gather(&mut self, from: Plane, runs: Vec<Run>) -> Plane {
        let all = self.lanes(from);
        debug_assert!(runs.iter().all(|run| run.start + run.len <= all));
        if runs == [Run { start: 0, len: all }] {
            return from;
        }
        let lanes = runs.iter().map(|run| run.len).sum();
        let place = match self.runs.iter().rposition(|known| *known == runs) {
            Some(place) => place,
            None => {
                self.runs.push(runs);
                self.runs.len() - 1
            }
        };
        self.push(lanes, self.depth(from), |to| Operation::Gather {
            to,
            from,
            runs: place,
        })
    }

    /// The parts of `lanes` lanes, added up by XOR.
    pub(crate) fn fold(&mut self, from: Plane, lanes: u32) -> Plane {
        debug_assert_eq!(self.lanes(from) % lanes, 0, "equal parts");
        if self.lanes(from) == lanes {
            return from;
        }
        self.push(lanes, self.depth(from), |to| Operation::Fold { to, from })
    }

    fn public(&mut self, words: Vec<u64>) -> usize {
        if let Some(place) = self.known.get(&words) {
            return *place;
        }
        self.publics.push(words.clone());
        let place = self.publics.len() - 1;
        self.known.insert(words, place);
        place
    }

    /// The circuit that computes these planes.
    pub(crate) fn finish(self, outputs: Vec<Plane>) -> Circuit {
        let needed = self.needed(&outputs);
        let is_needed = |plane: Plane| needed.get(plane.place()).copied().unwrap_or(false);
        let mut layers: BTreeMap<u32, Vec<Operation>> = BTreeMap::new();
        for operation in &self.operations {
            let (to, _) = operation.written_and_read();
            let Some(to) = to.filter(|to| is_needed(*to)) else {
                continue;
            };
            let is_gate = matches!(operation, Operation::And { .. });
            let layer = self.depth(to) - u32::from(is_gate);
            layers.entry(layer).or_default().push(*operation);
        }
        let mut ordered = Vec::with_capacity(self.operations.len());
        for layer in layers.into_values() {
            let has_gates = layer.iter().any(|one| matches!(one, Operation::And { .. }));
            ordered.extend(layer);
            if has_gates {
                ordered.push(Operation::Exchange);
            }
        }
        Circuit {
            operations: self.with_frees(&ordered, &outputs),
            n_inputs: self.n_inputs,
            lanes: self.lanes,
            publics: self.publics,
            runs: self.runs,
            outputs,
        }
    }

    /// Which planes an output needs.
    fn needed(&self, outputs: &[Plane]) -> Vec<bool> {
        let mut needed = vec![false; self.lanes.len()];
        for plane in outputs {
            if let Some(place) = needed.get_mut(plane.place()) {
                *place = true;
            }
        }
        for operation in self.operations.iter().rev() {
            let (to, read) = operation.written_and_read();
            if to.is_some_and(|to| needed.get(to.place()) == Some(&true)) {
                for plane in read.into_iter().flatten() {
                    if let Some(place) = needed.get_mut(plane.place()) {
                        *place = true;
                    }
                }
            }
        }
        needed
    }

    /// The operations, each followed by the planes that it was the last to read.
    fn with_frees(&self, ordered: &[Operation], outputs: &[Plane]) -> Vec<Operation> {
        let mut is_read_later = vec![false; self.lanes.len()];
        for plane in outputs {
            if let Some(place) = is_read_later.get_mut(plane.place()) {
                *place = true;
            }
        }
        let mut reversed = Vec::with_capacity(2 * ordered.len());
        for operation in ordered.iter().rev() {
            for plane in operation.written_and_read().1.into_iter().flatten() {
                if let Some(place) = is_read_later.get_mut(plane.place())
                    && !core::mem::replace(place, true)
                {
                    reversed.push(Operation::Free { plane });
                }
            }
            reversed.push(*operation);
        }
        reversed.reverse();
        reversed
    }
}

impl Operation {
    /// The plane that is written and those that are read.
    pub(crate) const fn written_and_read(&self) -> (Option<Plane>, [Option<Plane>; 2]) {
        match *self {
            Self::Public { to, .. } => (Some(to), [None; 2]),
            Self::Xor { to, left, right } | Self::And { to, left, right } => {
                (Some(to), [Some(left), Some(right)])
            }
            Self::XorPublic { to, from, .. }
            | Self::Mask { to, from, .. }
            | Self::Gather { to, from, .. }
            | Self::Fold { to, from } => (Some(to), [Some(from), None]),
            Self::Exchange => (None, [None; 2]),
            Self::Free { plane } => (None, [Some(plane), None]),
        }
    }
}

/// A plane of ones.
pub(crate) fn ones(lanes: u32) -> Vec<u64> {
    let mut plane = vec![u64::MAX; n_words(lanes)];
    if let Some(last) = plane.last_mut() {
        *last = last_word(lanes);
    }
    plane
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
