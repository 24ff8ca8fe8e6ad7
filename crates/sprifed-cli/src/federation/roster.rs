//! Who may connect: one certificate for each party, in the order of the agreement.

use std::path::Path;

use serde::{Deserialize, Serialize};
use sprifed_net::{Fingerprint, PartyId, RosterEntry};
use sprifed_study::Party;

use super::{read, unusable};
use crate::failure::{Explained as _, Failure};

/// The file `roster.json`.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RosterFile {
    /// The fingerprints, in the order of the parties.
    pub(super) certificates: Vec<String>,
}

impl RosterFile {
    /// The content of the file.
    pub(super) fn to_text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}

/// The certificates of `parties` in the file at `path`.
pub(super) fn read_roster(path: &Path, parties: &[Party]) -> Result<Vec<RosterEntry>, Failure> {
    let roster: RosterFile = serde_json::from_slice(&read(path)?)
        .map_err(|error| unusable(path, &error, "the roster that `study init` wrote"))?;
    let (found, required) = (roster.certificates.len(), parties.len());
    if found != required {
        let found = format!("it has {found} certificates");
        let required = format!("exactly one for each of the {required} parties, in their order");
        return Err(unusable(path, &found, &required));
    }
    let mut entries: Vec<RosterEntry> = Vec::with_capacity(required);
    for (id, (party, certificate)) in (0..).zip(parties.iter().zip(&roster.certificates)) {
        let certificate = certificate.parse::<Fingerprint>().explained()?;
        if let Some(other) = entries
            .iter()
            .find(|entry| entry.certificate == certificate)
        {
            let found = format!(
                "{} and {} have the same certificate",
                other.name, party.name
            );
            return Err(unusable(path, &found, "one of its own for each party"));
        }
        entries.push(RosterEntry {
            party: PartyId(id),
            name: party.name.clone(),
            certificate,
        });
    }
    Ok(entries)
}
