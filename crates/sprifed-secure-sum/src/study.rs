//! What all clients agree on before the first message: roster, participation, graph and sums.

use sha2::{Digest, Sha256};
use sprifed_privacy::{IllegalModulus, NoiseOrigin, Participation, SumPlan, SumSize};

use crate::client_set::ClientSet;
use crate::graph::Graph;
use crate::identity::{ClientId, Roster};
use crate::parameters::{NoParameters, Parameters};

/// The version of every message and of the key derivation.
pub(crate) const VERSION: u8 = 2;

/// A study that cannot be set up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IllegalStudy {
    /// The roster and the plan do not have the same number of clients.
    #[error("the roster has {found} clients, but the plan has {required}")]
    Roster {
        /// Clients of the roster.
        found: u32,
        /// Clients of the plan.
        required: u32,
    },
    /// The study has no sums, or too many.
    #[error("the study has {found} sums, but between 1 and {most} are possible", most = MOST_SUMS)]
    Sums {
        /// Sums given.
        found: usize,
    },
    /// A sum of no coordinates or of an impossible number of bits.
    #[error(
        "a sum has {coordinates} coordinates of {bits} bits, but 1 to 2^28 of 1 to 62 are possible"
    )]
    Shape {
        /// Coordinates given.
        coordinates: u64,
        /// Bits given.
        bits: u32,
    },
    /// No masking graph exists.
    #[error(transparent)]
    Parameters(#[from] NoParameters),
    /// The sum does not fit a modulus.
    #[error(transparent)]
    Modulus(#[from] IllegalModulus),
}

/// The most sums a study can have.
const MOST_SUMS: usize = 4096;

/// A digest of everything that a study agreed on; it is part of every signature and every key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StudyId([u8; 32]);

impl StudyId {
    /// The digest.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// How many integers a sum has, and how many bits each takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SumShape {
    coordinates: u32,
    bits: u32,
}

impl SumShape {
    /// `coordinates` integers modulo 2^`bits`.
    ///
    /// # Errors
    /// When there are none or too many, or the modulus is not planned for.
    pub fn new(coordinates: u32, bits: u32) -> Result<Self, IllegalStudy> {
        if coordinates == 0 || coordinates > 1 << 28 || !(1..=62).contains(&bits) {
            return Err(IllegalStudy::Shape {
                coordinates: u64::from(coordinates),
                bits,
            });
        }
        Ok(Self { coordinates, bits })
    }

    /// The shape of `plan`: enough bits for every block, so that no coordinate of the study wraps
    /// except with probability e^`log_wrap_probability`.
    ///
    /// `units` is how many privacy units contribute at most, over all clients; `study_coordinates`
    /// how many coordinates the whole study releases.
    ///
    /// # Errors
    /// When no modulus is large enough.
    pub fn plan(
        plan: &SumPlan,
        origin: NoiseOrigin,
        units: u64,
        study_coordinates: u64,
        log_wrap_probability: f64,
    ) -> Result<Self, IllegalStudy> {
        let mut bits = 1;
        for block in &plan.blocks {
            let size = SumSize {
                largest_sum: u128::from(units) * u128::from(block.bounds.coordinate_bound()),
                shares: origin.most_shares(),
                share_variance: block.share_variance.to_f64(),
                coordinates: study_coordinates,
                log_wrap_probability,
            };
            bits = bits.max(size.plan()?.bits);
        }
        let coordinates = plan.coordinates();
        match u32::try_from(coordinates) {
            Ok(coordinates) => Self::new(coordinates, bits),
            Err(_) => Err(IllegalStudy::Shape { coordinates, bits }),
        }
    }

    /// How many integers.
    #[must_use]
    pub const fn coordinates(self) -> u32 {
        self.coordinates
    }

    /// b: the sum is modulo 2^b.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.bits
    }

    /// Bytes of a packed vector.
    #[must_use]
    pub const fn packed_len(self) -> usize {
        (self.coordinates as usize * self.bits as usize).div_ceil(8)
    }
}

/// One study: all its sums are set up in one exchange of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Study {
    id: StudyId,
    roster: Roster,
    participation: Participation,
    parameters: Parameters,
    graph: Graph,
    sums: Vec<SumShape>,
}

impl Study {
    /// A study with parameters chosen from its participation.
    ///
    /// `nonce` makes the study unlike any other with the same roster; `graph_seed` decides which
    /// clients share masks.
    ///
    /// # Trust
    /// `graph_seed` was drawn after the roster was fixed, and not by a colluder; see [`Graph`].
    ///
    /// # Errors
    /// When numbers contradict each other or no parameters exist.
    pub fn new(
        nonce: [u8; 32],
        roster: Roster,
        participation: Participation,
        graph_seed: [u8; 32],
        sums: Vec<SumShape>,
    ) -> Result<Self, IllegalStudy> {
        let parameters = Parameters::choose(participation)?;
        Self::with_parameters(nonce, roster, participation, parameters, graph_seed, sums)
    }

    /// A study with these `parameters`.
    ///
    /// # Errors
    /// When numbers contradict each other.
    pub fn with_parameters(
        nonce: [u8; 32],
        roster: Roster,
        participation: Participation,
        parameters: Parameters,
        graph_seed: [u8; 32],
        sums: Vec<SumShape>,
    ) -> Result<Self, IllegalStudy> {
        let (found, required) = (roster.n_clients(), participation.clients());
        if found != required {
            return Err(IllegalStudy::Roster { found, required });
        }
        if sums.is_empty() || sums.len() > MOST_SUMS {
            return Err(IllegalStudy::Sums { found: sums.len() });
        }
        let graph = Graph::new(required, parameters, &graph_seed);
        let mut hash = Sha256::new_with_prefix(b"sprifed secure sum: study");
        hash.update([VERSION]);
        hash.update(nonce);
        hash.update(graph_seed);
        let numbers = [
            required,
            participation.quorum(),
            participation.colluders(),
            parameters.neighbours(),
            parameters.threshold(),
            parameters.least_in_window(),
            parameters.confirmations(),
        ];
        for number in numbers {
            hash.update(number.to_le_bytes());
        }
        for client in roster.clients() {
            hash.update(roster.key(client).map_or([0; 32], |key| key.to_bytes()));
        }
        for shape in &sums {
            hash.update(shape.coordinates.to_le_bytes());
            hash.update(shape.bits.to_le_bytes());
        }
        let id = StudyId(hash.finalize().into());
        Ok(Self {
            id,
            roster,
            participation,
            parameters,
            graph,
            sums,
        })
    }

    /// The digest of all of it.
    #[must_use]
    pub const fn id(&self) -> &StudyId {
        &self.id
    }

    /// The invited clients.
    #[must_use]
    pub const fn roster(&self) -> &Roster {
        &self.roster
    }

    /// How many must stay and may collude.
    #[must_use]
    pub const fn participation(&self) -> Participation {
        self.participation
    }

    /// The numbers of the graph.
    #[must_use]
    pub const fn parameters(&self) -> Parameters {
        self.parameters
    }

    /// Which clients share masks.
    #[must_use]
    pub const fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The shape of a sum, counted from zero.
    #[must_use]
    pub fn sum(&self, sum: u32) -> Option<SumShape> {
        self.sums.get(sum as usize).copied()
    }

    /// How many sums the study has.
    #[must_use]
    pub fn n_sums(&self) -> u32 {
        u32::try_from(self.sums.len()).unwrap_or(u32::MAX)
    }

    /// Whether a sum over `present` hides every honest client in enough others.
    pub(crate) fn suffices(&self, present: &ClientSet) -> bool {
        present.len() >= self.participation.quorum()
            && self
                .graph
                .holds_together(present, self.parameters.least_in_window())
    }

    /// The digest of the set of clients that took part in the exchange of keys.
    pub(crate) fn directory_digest(&self, sharers: &ClientSet) -> [u8; 32] {
        let mut hash = Sha256::new_with_prefix(b"sprifed secure sum: directory");
        hash.update(self.id.0);
        hash.update(sharers.as_bytes());
        hash.finalize().into()
    }

    /// What a client signs when it gets the survivors of `sum`, which it masked in `context`.
    pub(crate) fn survivors_digest(
        &self,
        sum: u32,
        context: &[u8; 32],
        directory: &[u8; 32],
        survivors: &ClientSet,
    ) -> [u8; 32] {
        let mut hash = Sha256::new_with_prefix(b"sprifed secure sum: survivors");
        hash.update(self.id.0);
        hash.update(sum.to_le_bytes());
        hash.update(context);
        hash.update(directory);
        hash.update(survivors.as_bytes());
        hash.finalize().into()
    }

    pub(crate) fn neighbours_in(&self, client: ClientId, present: &ClientSet) -> Vec<ClientId> {
        self.graph
            .neighbours(client)
            .filter(|other| present.contains(*other))
            .collect()
    }
}
