//! Who may connect: one certificate for each party and each trustee, in the order of the agreement.

use std::path::Path;

use serde::{Deserialize, Serialize};
use sprifed_net::{Fingerprint, PartyId, RosterEntry};
use sprifed_party::{PartyError, read_file, seat_names};
use sprifed_study::Agreement;

use crate::error::CoordinatorError;

/// The file `roster.json`.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RosterFile {
    /// The fingerprints, in the order of the parties.
    pub(crate) certificates: Vec<String>,
    /// The same of the trustees, if the study has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) trustees: Vec<String>,
}

impl RosterFile {
    /// The content of the file.
    pub(crate) fn to_text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// The certificates of the parties and trustees of `agreement` in the file at `path`.
    pub(crate) fn entries(
        path: &Path,
        agreement: &Agreement,
    ) -> Result<Vec<RosterEntry>, CoordinatorError> {
        let unusable = |found: String, required: &'static str| PartyError::Unusable {
            name: path.display().to_string(),
            found,
            required,
        };
        let roster: Self = serde_json::from_slice(&read_file(path)?)
            .map_err(|error| unusable(error.to_string(), "the roster that `study init` wrote"))?;
        let n_trustees = agreement.trustees.as_ref().map_or(0, |three| three.len());
        let counts = [
            (
                roster.certificates.len(),
                agreement.parties.len(),
                "parties",
            ),
            (roster.trustees.len(), n_trustees, "trustees"),
        ];
        for (found, required, role) in counts {
            if found != required {
                let found = format!("it has {found} certificates for {required} {role}");
                return Err(unusable(found, "exactly one for each, in their order").into());
            }
        }
        let certificates = roster.certificates.iter().chain(&roster.trustees);
        let mut entries: Vec<RosterEntry> = Vec::new();
        for (id, (name, certificate)) in
            (0..).zip(seat_names(agreement).into_iter().zip(certificates))
        {
            let certificate = certificate.parse::<Fingerprint>()?;
            let mut known = entries.iter();
            if let Some(other) = known.find(|entry| entry.certificate == Some(certificate)) {
                let found = format!("{} and {name} have the same certificate", other.name);
                return Err(unusable(found, "one of its own for each").into());
            }
            entries.push(RosterEntry {
                party: PartyId(id),
                name,
                certificate: Some(certificate),
            });
        }
        Ok(entries)
    }
}
