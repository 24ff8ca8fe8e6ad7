//! Who may connect: one certificate for each party, in the order of the agreement.

use std::path::Path;

use serde::{Deserialize, Serialize};
use sprifed_net::{Fingerprint, PartyId, RosterEntry};
use sprifed_party::{PartyError, read_file};
use sprifed_study::Party;

use crate::error::CoordinatorError;

/// The file `roster.json`.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RosterFile {
    /// The fingerprints, in the order of the parties.
    pub(crate) certificates: Vec<String>,
}

impl RosterFile {
    /// The content of the file.
    pub(crate) fn to_text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// The certificates of `parties` in the file at `path`.
    pub(crate) fn entries(
        path: &Path,
        parties: &[Party],
    ) -> Result<Vec<RosterEntry>, CoordinatorError> {
        let unusable = |found: String, required: &'static str| PartyError::Unusable {
            name: path.display().to_string(),
            found,
            required,
        };
        let roster: Self = serde_json::from_slice(&read_file(path)?)
            .map_err(|error| unusable(error.to_string(), "the roster that `study init` wrote"))?;
        let (found, required) = (roster.certificates.len(), parties.len());
        if found != required {
            let found = format!("it has {found} certificates for {required} parties");
            return Err(unusable(found, "exactly one for each party, in their order").into());
        }
        let mut entries: Vec<RosterEntry> = Vec::with_capacity(required);
        for (id, (party, certificate)) in (0..).zip(parties.iter().zip(&roster.certificates)) {
            let certificate = certificate.parse::<Fingerprint>()?;
            let mut known = entries.iter();
            if let Some(other) = known.find(|entry| entry.certificate == certificate) {
                let found = format!(
                    "{} and {} have the same certificate",
                    other.name, party.name
                );
                return Err(unusable(found, "one of its own for each party").into());
            }
            entries.push(RosterEntry {
                party: PartyId(id),
                name: party.name.clone(),
                certificate,
            });
        }
        Ok(entries)
    }
}
