//! The invited clients: a roster of identity keys that all clients know before the study.

use ed25519_dalek::VerifyingKey;

/// A client: its place in the roster, counted from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(pub u32);

impl core::fmt::Display for ClientId {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "client {}", self.0)
    }
}

/// A roster that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RosterError {
    /// Bytes that are no identity key, or one of small order.
    #[error("{client} has an identity key that is not a point of full order")]
    NotAKey {
        /// Whose key.
        client: ClientId,
    },
    /// Two clients with one key.
    #[error("{client} has the identity key of an earlier client; every client needs its own")]
    Repeated {
        /// The later of the two.
        client: ClientId,
    },
    /// More clients than can be counted.
    #[error("the roster has {found} clients, but at most {required} are supported")]
    TooLong {
        /// Clients given.
        found: usize,
        /// The most there can be.
        required: u32,
    },
}

/// The identity keys of all invited clients, in order.
///
/// # Trust
/// All clients got the same roster over a channel that the coordinator does not control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roster {
    keys: Vec<VerifyingKey>,
}

/// The most clients a roster can have.
const MOST_CLIENTS: u32 = 1 << 20;

impl Roster {
    /// The roster of these Ed25519 public keys.
    ///
    /// # Errors
    /// When a key is illegal or occurs twice, or there are too many.
    pub fn new(keys: &[[u8; 32]]) -> Result<Self, RosterError> {
        if keys.len() > MOST_CLIENTS as usize {
            return Err(RosterError::TooLong {
                found: keys.len(),
                required: MOST_CLIENTS,
            });
        }
        let mut seen = std::collections::BTreeSet::new();
        let mut parsed = Vec::with_capacity(keys.len());
        for (client, bytes) in (0..).map(ClientId).zip(keys) {
            if !seen.insert(bytes) {
                return Err(RosterError::Repeated { client });
            }
            let key = VerifyingKey::from_bytes(bytes)
                .ok()
                .filter(|key| !key.is_weak());
            parsed.push(key.ok_or(RosterError::NotAKey { client })?);
        }
        Ok(Self { keys: parsed })
    }

    /// How many clients are invited.
    #[must_use]
    pub fn n_clients(&self) -> u32 {
        u32::try_from(self.keys.len()).unwrap_or(u32::MAX)
    }

    /// All clients, in order.
    pub fn clients(&self) -> impl Iterator<Item = ClientId> + use<> {
        (0..self.n_clients()).map(ClientId)
    }

    /// The key of a client; `None` for a stranger.
    #[must_use]
    pub fn key(&self, client: ClientId) -> Option<&VerifyingKey> {
        self.keys.get(client.0 as usize)
    }
}
