//! Sets of clients of one roster, with one encoding for each set.

use sprifed_crypto::codec::{DecodeError, Reader, Writer};

use crate::identity::ClientId;

/// Some of the clients of a roster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientSet {
    bits: Vec<u8>,
    n_clients: u32,
    len: u32,
}

impl ClientSet {
    /// The empty set, for a roster of `n_clients`.
    #[must_use]
    pub fn empty(n_clients: u32) -> Self {
        Self {
            bits: vec![0; n_clients.div_ceil(8) as usize],
            n_clients,
            len: 0,
        }
    }

    /// Adds a client; false if it was there already or is not of the roster.
    pub fn insert(&mut self, client: ClientId) -> bool {
        let (byte, bit) = place(client);
        match self.bits.get_mut(byte) {
            Some(bits) if client.0 < self.n_clients && *bits & bit == 0 => {
                *bits |= bit;
                self.len += 1;
                true
            }
            _ => false,
        }
    }

    /// Whether the set has `client`.
    #[must_use]
    pub fn contains(&self, client: ClientId) -> bool {
        let (byte, bit) = place(client);
        self.bits.get(byte).is_some_and(|bits| bits & bit != 0)
    }

    /// How many clients the set has.
    #[must_use]
    pub const fn len(&self) -> u32 {
        self.len
    }

    /// Whether the set is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many clients the roster has.
    #[must_use]
    pub const fn n_clients(&self) -> u32 {
        self.n_clients
    }

    /// The clients of the set, in order.
    pub fn iter(&self) -> impl Iterator<Item = ClientId> + '_ {
        (0..self.n_clients)
            .map(ClientId)
            .filter(|client| self.contains(*client))
    }

    /// Whether every element is in `other` too.
    #[must_use]
    pub fn is_subset(&self, other: &Self) -> bool {
        self.n_clients == other.n_clients
            && self
                .bits
                .iter()
                .zip(&other.bits)
                .all(|(mine, theirs)| mine & !theirs == 0)
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bits
    }

    /// The set with these bytes, if they are its only encoding.
    pub(crate) fn from_bytes(n_clients: u32, bits: &[u8]) -> Option<Self> {
        let fits = bits.len() == n_clients.div_ceil(8) as usize;
        let spare = (8 - n_clients % 8) % 8;
        let last = bits.last().copied().unwrap_or(0);
        if !fits || last.leading_zeros() < spare {
            return None;
        }
        let len = bits.iter().map(|byte| byte.count_ones()).sum();
        Some(Self {
            bits: bits.to_vec(),
            n_clients,
            len,
        })
    }

    pub(crate) fn write(&self, writer: &mut Writer) {
        writer.number(self.n_clients).put(&self.bits);
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let n_clients = reader.number()?;
        let bits = reader.bytes(n_clients.div_ceil(8) as usize)?;
        Self::from_bytes(n_clients, bits).ok_or(DecodeError::Unknown { what: "a set" })
    }
}

impl Extend<ClientId> for ClientSet {
    fn extend<I: IntoIterator<Item = ClientId>>(&mut self, clients: I) {
        for client in clients {
            self.insert(client);
        }
    }
}

const fn place(client: ClientId) -> (usize, u8) {
    ((client.0 / 8) as usize, 1 << (client.0 % 8))
}
