//! Who a trustee is, and what it tells the coordinator.

use std::path::Path;

use serde::{Deserialize, Serialize};
use sprifed_study::{Agreement, TrusteeEntry};

use crate::error::PartyError;
use crate::identity::CertificateRequest;
use crate::private_files::read_file;

/// The file `trustee.json`: what a trustee tells the coordinator, for one study.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublicTrustee {
    /// Its name, its identity key, and the key for one study that the identity key signed.
    pub trustee: TrusteeEntry,
    /// Whether the keys were made from a seed, so that they can be repeated.
    #[serde(default)]
    pub simulated: bool,
    /// Its request for a TLS certificate.
    pub certificate_request: CertificateRequest,
}

impl PublicTrustee {
    /// Reads the file that a trustee sent, or its own.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(path: &Path) -> Result<Self, PartyError> {
        serde_json::from_slice(&read_file(path)?).map_err(|error| {
            let required = "the trustee.json of `study trustee`";
            PartyError::unusable(path.display().to_string(), error, required)
        })
    }

    /// The trustee's request for a TLS certificate, in PEM.
    ///
    /// # Errors
    /// When another key than the trustee's signed it.
    pub fn certificate_request(&self) -> Result<&str, PartyError> {
        let request = self.certificate_request.of(&self.trustee.identity);
        request.ok_or_else(|| PartyError::PublicTrustee {
            trustee: self.trustee.name.clone(),
            found: "has a certificate request of another identity",
        })
    }

    /// The content of the file.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}

/// What the files and the certificate of the trustee `name` are called: the organisation may be a party under the same
/// name.
#[must_use]
pub fn seat_name(name: &str) -> String {
    format!("trustee-{name}")
}

/// What the files and certificates of all who connect to the coordinator are called, in the order of its roster: the
/// parties, then the trustees.
#[must_use]
pub fn seat_names(agreement: &Agreement) -> Vec<String> {
    let parties = agreement.parties.iter().map(|party| party.name.clone());
    let trustees = agreement.trustees.iter().flatten();
    let trustees = trustees.map(|trustee| seat_name(&trustee.name));
    parties.chain(trustees).collect()
}
