//! A circuit as data: operations on planes, with all ANDs of a layer exchanged together.
//!
//! A *plane* is one bit of many candidates, its *lanes*, packed in words of 64 bits. A number of w
//! bits is w planes, lowest first. A circuit is made by this crate from a public plan and the set of
//! clients, and never read from a message. Its readers are [`clear`](crate::clear),
//! [`count`](crate::count) and [`Evaluation`](crate::Evaluation).

use sha2::{Digest as _, Sha256};

/// One plane of a circuit, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Plane(pub(crate) u32);

impl Plane {
    pub(crate) const fn place(self) -> usize {
        self.0 as usize
    }
}

/// Neighbouring lanes of a plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The first lane.
    pub start: u32,
    /// How many.
    pub len: u32,
}

/// One operation. Each plane is written once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A plane that is known to all.
    Public {
        /// What is written.
        to: Plane,
        /// Its lanes.
        public: usize,
    },
    /// One or the other.
    Xor {
        /// What is written.
        to: Plane,
        /// The one.
        left: Plane,
        /// The other.
        right: Plane,
    },
    /// A plane with the lanes changed where a public one is set.
    XorPublic {
        /// What is written.
        to: Plane,
        /// What is changed.
        from: Plane,
        /// Where.
        public: usize,
    },
    /// A plane, cleared where a public one is not set.
    Mask {
        /// What is written.
        to: Plane,
        /// What is cleared.
        from: Plane,
        /// Where it is kept.
        public: usize,
    },
    /// Runs of lanes, one after the other.
    Gather {
        /// What is written.
        to: Plane,
        /// Where the runs are.
        from: Plane,
        /// Which runs.
        runs: usize,
    },
    /// Equal parts of a plane, added up by XOR.
    Fold {
        /// What is written: one part.
        to: Plane,
        /// The parts.
        from: Plane,
    },
    /// Both: the one gate that the trustees exchange bits for.
    And {
        /// What is written; it may be read after the next [`Operation::Exchange`].
        to: Plane,
        /// The one.
        left: Plane,
        /// The other.
        right: Plane,
    },
    /// The end of a layer: its ANDs travel in one frame.
    Exchange,
    /// A plane that is not read any more.
    Free {
        /// Which.
        plane: Plane,
    },
}

/// What the trustees compute together. All of it is public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circuit {
    pub(crate) n_inputs: usize,
    pub(crate) lanes: Vec<u32>,
    pub(crate) publics: Vec<Vec<u64>>,
    pub(crate) runs: Vec<Vec<Run>>,
    pub(crate) operations: Vec<Operation>,
    pub(crate) outputs: Vec<Plane>,
}

/// The version of the builders, which is part of every digest.
pub(crate) const BUILDERS: u8 = 1;

impl Circuit {
    /// How many planes go in; they are the first ones.
    #[must_use]
    pub const fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    /// How many words an input has.
    #[must_use]
    pub fn input_words(&self, input: usize) -> usize {
        let lanes = self.lanes.iter().take(self.n_inputs).nth(input);
        lanes.map_or(0, |lanes| crate::lanes::n_words(*lanes))
    }

    /// How many lanes a plane has.
    #[must_use]
    pub fn lanes(&self, plane: Plane) -> u32 {
        self.lanes.get(plane.place()).copied().unwrap_or(0)
    }

    /// The planes that are opened.
    #[must_use]
    pub fn outputs(&self) -> &[Plane] {
        &self.outputs
    }

    /// Identifies the circuit: trustees with different circuits must not exchange a bit.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        let mut hash = Sha256::new_with_prefix(b"sprifed trustees: circuit");
        hash.update([BUILDERS]);
        hash.update((self.n_inputs as u64).to_le_bytes());
        numbers(&mut hash, self.lanes.iter().copied());
        hash.update((self.publics.len() as u64).to_le_bytes());
        for public in &self.publics {
            hash.update((public.len() as u64).to_le_bytes());
            for word in public {
                hash.update(word.to_le_bytes());
            }
        }
        hash.update((self.runs.len() as u64).to_le_bytes());
        for runs in &self.runs {
            numbers(&mut hash, runs.iter().flat_map(|run| [run.start, run.len]));
        }
        let operations = self.operations.iter().flat_map(|one| one.as_numbers());
        numbers(&mut hash, operations);
        numbers(&mut hash, self.outputs.iter().map(|plane| plane.0));
        hash.finalize().into()
    }
}

impl Operation {
    fn as_numbers(&self) -> [u32; 4] {
        let place = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
        match *self {
            Self::Public { to, public } => [1, to.0, place(public), 0],
            Self::Xor { to, left, right } => [2, to.0, left.0, right.0],
            Self::XorPublic { to, from, public } => [3, to.0, from.0, place(public)],
            Self::Mask { to, from, public } => [4, to.0, from.0, place(public)],
            Self::Gather { to, from, runs } => [5, to.0, from.0, place(runs)],
            Self::Fold { to, from } => [6, to.0, from.0, 0],
            Self::And { to, left, right } => [7, to.0, left.0, right.0],
            Self::Exchange => [8, 0, 0, 0],
            Self::Free { plane } => [9, plane.0, 0, 0],
        }
    }
}

/// Numbers after how many they are, so that no two lists are joined to the same bytes.
fn numbers(hash: &mut Sha256, numbers: impl Iterator<Item = u32>) {
    let bytes: Vec<u8> = numbers.flat_map(u32::to_le_bytes).collect();
    hash.update((bytes.len() as u64).to_le_bytes());
    hash.update(bytes);
}
