//! Who a party is, and what it tells the coordinator.

use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use sprifed_privacy::PrivacyUnit;
use sprifed_secure_sum::{IdentityKey, is_signed_statement};
use sprifed_study::{Digest, Party, Signature};

use crate::error::PartyError;
use crate::private_files::read_file;

/// The file `party.json`: what a party tells the coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublicParty {
    /// Letters, digits, `-` and `_`.
    pub name: String,
    /// The public half of its identity key.
    pub identity: Digest,
    /// The most records it will contribute.
    pub records: u32,
    /// Whether the key was made from a seed, so that it can be repeated.
    #[serde(default)]
    pub simulated: bool,
    /// Its request for a TLS certificate; none where an engine carries the messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate_request: Option<CertificateRequest>,
}

/// A party's request for a TLS certificate, whose key the party made and keeps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CertificateRequest {
    /// The request, in PEM.
    pub pem: String,
    /// The signature of the party's identity key for it.
    pub signature: Signature,
}

/// What a party's signature for a request is about.
const CERTIFICATE_REQUEST: &str = "certificate request";

impl CertificateRequest {
    /// The request of the party with this identity.
    #[must_use]
    pub fn sign(pem: String, identity: &IdentityKey) -> Self {
        let digest = Sha256::digest(&pem).into();
        let signature = Signature(identity.sign_statement(CERTIFICATE_REQUEST, &digest));
        Self { pem, signature }
    }

    /// The request in PEM, if the holder of `identity` has signed it.
    #[must_use]
    pub fn of(&self, identity: &Digest) -> Option<&str> {
        let digest = Sha256::digest(&self.pem).into();
        let (key, signature) = (&identity.0, &self.signature.0);
        is_signed_statement(key, CERTIFICATE_REQUEST, &digest, signature).then_some(&self.pem)
    }
}

impl PublicParty {
    /// Reads the file that a party sent, or its own.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(path: &Path) -> Result<Self, PartyError> {
        serde_json::from_slice(&read_file(path)?).map_err(|error| {
            let required = "the party.json of `study identity`";
            PartyError::unusable(path.display().to_string(), error, required)
        })
    }

    /// The party's request for a TLS certificate, in PEM.
    ///
    /// # Errors
    /// When there is none, or another key than the party's signed it.
    pub fn certificate_request(&self) -> Result<&str, PartyError> {
        let refuse = |found| PartyError::CertificateRequest {
            party: self.name.clone(),
            found,
        };
        let Some(request) = &self.certificate_request else {
            return Err(refuse("has no certificate request"));
        };
        let request = request.of(&self.identity);
        request.ok_or_else(|| refuse("has a certificate request of another party"))
    }

    /// How many units of privacy it has at most.
    #[must_use]
    pub const fn units(&self, unit: PrivacyUnit) -> u32 {
        match unit {
            PrivacyUnit::Record => self.records,
            PrivacyUnit::Client => 1,
        }
    }

    /// Why the seat that a coordinator gave this party is not the one it asked for, if so.
    #[must_use]
    pub fn refuses(&self, seat: &Party, unit: PrivacyUnit) -> Option<String> {
        if seat.name != self.name {
            let (found, required) = (&seat.name, &self.name);
            return Some(format!(
                "the study calls it {found:?}, but its name is {required:?}"
            ));
        }
        let (found, required) = (seat.units, self.units(unit));
        (found != required).then(|| {
            // A smaller number would tell a coordinator by a refusal how many records there are.
            format!(
                "the study has room for {found} of its {unit}s, but it said {required}",
                unit = unit.text()
            )
        })
    }
}

/// Whether `name` can stand in certificates and file names.
///
/// # Errors
/// When it cannot.
pub fn check_party_name(name: &str) -> Result<(), PartyError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.is_empty() && name.len() <= 60 && name.chars().all(plain) {
        return Ok(());
    }
    let name = name.to_owned();
    Err(PartyError::IllegalName { name })
}
