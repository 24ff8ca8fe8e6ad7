//! Sets of clients of one roster, with one encoding for each set.

use crate::identity::ClientId;

/// Some of the clients of a roster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientSet {
    members: Vec<u8>,
    n_clients: u32,
    len: u32,
}

impl ClientSet {
    /// Nobody, of a roster of `n_clients`.
    #[must_use]
    pub fn empty(n_clients: u32) -> Self {
        Self {
            members: vec![0; n_clients.div_ceil(8) as usize],
            n_clients,
            len: 0,
        }
    }

    /// Adds a client; false if it was there already or is not of the roster.
    pub fn insert(&mut self, client: ClientId) -> bool {
        let (byte, bit) = place(client);
        match self.members.get_mut(byte) {
            Some(members) if client.0 < self.n_clients && *members & bit == 0 => {
                *members |= bit;
                self.len += 1;
                true
            }
            _ => false,
        }
    }

    /// Whether `client` is a member.
    #[must_use]
    pub fn contains(&self, client: ClientId) -> bool {
        let (byte, bit) = place(client);
        self.members
            .get(byte)
            .is_some_and(|members| members & bit != 0)
    }

    /// How many members.
    #[must_use]
    pub const fn len(&self) -> u32 {
        self.len
    }

    /// Whether nobody is a member.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many clients the roster has.
    #[must_use]
    pub const fn n_clients(&self) -> u32 {
        self.n_clients
    }

    /// The members, in order.
    pub fn iter(&self) -> impl Iterator<Item = ClientId> + '_ {
        (0..self.n_clients)
            .map(ClientId)
            .filter(|client| self.contains(*client))
    }

    /// Whether every member is one of `other` too.
    #[must_use]
    pub fn is_subset(&self, other: &Self) -> bool {
        self.n_clients == other.n_clients
            && self
                .members
                .iter()
                .zip(&other.members)
                .all(|(mine, theirs)| mine & !theirs == 0)
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.members
    }

    /// The set with these bytes, if they are its only encoding.
    pub(crate) fn from_bytes(n_clients: u32, members: &[u8]) -> Option<Self> {
        let fits = members.len() == n_clients.div_ceil(8) as usize;
        let spare = (8 - n_clients % 8) % 8;
        let last = members.last().copied().unwrap_or(0);
        if !fits || last.leading_zeros() < spare {
            return None;
        }
        let len = members.iter().map(|byte| byte.count_ones()).sum();
        Some(Self {
            members: members.to_vec(),
            n_clients,
            len,
        })
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
