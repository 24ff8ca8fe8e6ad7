//! Who may take part: names and certificates, nothing else.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

use crate::error::NetError;
use crate::machine::PartyId;

/// The SHA-256 of a certificate in DER, as `openssl x509 -fingerprint -sha256` prints it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// Of a certificate in DER.
    #[must_use]
    pub fn of(certificate: &[u8]) -> Self {
        Self(Sha256::digest(certificate).into())
    }

    /// The hash itself.
    #[must_use]
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl FromStr for Fingerprint {
    type Err = NetError;

    /// Takes 64 hexadecimal digits, with or without colons.
    fn from_str(text: &str) -> Result<Self, NetError> {
        let wrong = || NetError::Setting {
            found: text.to_owned(),
            required: "SHA-256 fingerprint of 64 hexadecimal digits",
        };
        let mut bytes = [0; 32];
        match hex::decode_to_slice(text.replace(':', ""), &mut bytes) {
            Ok(()) => Ok(Self(bytes)),
            Err(_) => Err(wrong()),
        }
    }
}

/// One invited client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RosterEntry {
    /// Its place; the machine is told this number.
    pub party: PartyId,
    /// Its name, for logs and the page.
    pub name: String,
    /// The one certificate that it may present. Without one it does not connect: another program carries its messages.
    pub certificate: Option<Fingerprint>,
}

/// The invited clients, found by certificate.
#[derive(Debug, Clone)]
pub(crate) struct Roster {
    entries: Vec<RosterEntry>,
    by_certificate: BTreeMap<Fingerprint, usize>,
}

impl Roster {
    /// Refuses two clients with one certificate or one number.
    pub(crate) fn new(mut entries: Vec<RosterEntry>) -> Result<Self, NetError> {
        entries.sort_by_key(|entry| entry.party);
        if let Some(pair) = entries
            .windows(2)
            .find(|pair| pair[0].party == pair[1].party)
        {
            return Err(NetError::Setting {
                found: format!("{} (twice)", pair[0].party),
                required: "number that belongs to one party of the roster",
            });
        }
        let mut by_certificate = BTreeMap::new();
        for (at, entry) in entries.iter().enumerate() {
            let Some(certificate) = entry.certificate else {
                continue;
            };
            if by_certificate.insert(certificate, at).is_some() {
                return Err(NetError::Setting {
                    found: certificate.to_string(),
                    required: "certificate of one party only",
                });
            }
        }
        Ok(Self {
            entries,
            by_certificate,
        })
    }

    pub(crate) fn entries(&self) -> &[RosterEntry] {
        &self.entries
    }

    /// The place in [`entries`](Self::entries) of the holder of this certificate.
    pub(crate) fn place_of_certificate(&self, certificate: &Fingerprint) -> Option<usize> {
        self.by_certificate.get(certificate).copied()
    }

    /// The place in [`entries`](Self::entries) of `party`.
    pub(crate) fn place_of(&self, party: PartyId) -> Option<usize> {
        self.entries
            .binary_search_by_key(&party, |entry| entry.party)
            .ok()
    }
}
