//! A party of a study in the shape that the network shell wants.

use sprifed_fit::{PartyRecords, study_files};
use sprifed_net::{ClientEffect, ClientMachine, Refused};
use sprifed_study::{JournalLine, PartyEffect, PartyReceipt, StudyParty};

/// See the module.
#[derive(Debug)]
pub(super) struct PartyMachine(pub(super) StudyParty<PartyRecords>);

impl ClientMachine for PartyMachine {
    fn receive(&mut self, notice: &[u8]) -> Result<(), Refused> {
        self.0.receive(notice).map_err(|refused| Refused {
            is_final: refused.is_final(),
            reason: refused.to_string(),
        })
    }

    fn poll(&mut self) -> Option<ClientEffect> {
        Some(match self.0.poll()? {
            PartyEffect::Persist(line) => ClientEffect::Persist(to_bytes(&line)),
            PartyEffect::Send(bytes) => ClientEffect::Send(bytes),
            PartyEffect::Ended(receipt) => ClientEffect::Finished {
                success: receipt.study.receipt.fit.is_some(),
                artefacts: files_of(&receipt),
            },
        })
    }
}

/// The party's own receipt, and the model of the study in the units of its table.
fn files_of(receipt: &PartyReceipt) -> Vec<(String, Vec<u8>)> {
    let mut files = vec![("receipt.json".to_owned(), receipt.to_json())];
    let others = study_files(&receipt.study).into_iter();
    files.extend(others.filter(|(name, _)| name != "receipt.json"));
    files
}

/// A line as it is stored.
pub(super) fn to_bytes(line: &JournalLine) -> Vec<u8> {
    // Numbers and bytes: there is nothing that JSON could not hold.
    serde_json::to_vec(line).unwrap_or_default()
}

/// The journal as it was stored.
pub(super) fn read_journal(entries: &[Vec<u8>]) -> Result<Vec<JournalLine>, Refused> {
    let line = |entry: &Vec<u8>| serde_json::from_slice(entry);
    entries
        .iter()
        .map(line)
        .collect::<Result<_, _>>()
        .map_err(|error| Refused::because(format!("the journal is damaged: {error}")))
}
