//! A party of a study in the shape that the network shell wants.

use std::collections::VecDeque;

use sprifed::study_files;
use sprifed_net::{ClientEffect, ClientMachine, Refused};
use sprifed_study::{JournalLine, PartyEffect, PartyReceipt, RecordStore, StudyParty, Transcript};
use tracing::warn;
use zeroize::Zeroizing;

/// See the module.
#[derive(Debug)]
pub(super) struct PartyMachine<R> {
    party: StudyParty<R>,
    /// What is left of an effect that is several for the shell.
    rest: VecDeque<ClientEffect>,
}

impl<R: RecordStore> PartyMachine<R> {
    pub(super) fn new(party: StudyParty<R>) -> Self {
        if let Some(sum) = party.unanswered() {
            warn!(
                sum,
                "this sum was charged before, but the process ended before it was answered; it counts as spent"
            );
        }
        Self {
            party,
            rest: VecDeque::new(),
        }
    }
}

impl<R: RecordStore + Send + 'static> ClientMachine for PartyMachine<R> {
    fn receive(&mut self, notice: &[u8]) -> Result<(), Refused> {
        self.party.receive(notice).map_err(|refused| Refused {
            is_final: refused.is_final(),
            reason: refused.to_string(),
        })
    }

    fn poll(&mut self) -> Option<ClientEffect> {
        if let Some(effect) = self.rest.pop_front() {
            return Some(effect);
        }
        match self.party.poll()? {
            PartyEffect::Persist(line) => Some(ClientEffect::Persist(to_bytes(&line))),
            PartyEffect::Send(bytes) => Some(ClientEffect::Send(bytes)),
            PartyEffect::Forget { lines, .. } => {
                let erased = lines.into_iter().map(|(place, line)| ClientEffect::Erase {
                    place,
                    tombstone: to_bytes(&line),
                });
                self.rest.extend(erased);
                // Everything before this was carried out: what was erased is not needed any more.
                let stored = self.party.stored_key();
                let secret = stored.map(|text| Zeroizing::new(text.as_bytes().to_vec()));
                self.rest.extend(secret.map(ClientEffect::ReplaceSecret));
                self.poll()
            }
            PartyEffect::Ended(receipt) => Some(ClientEffect::Finished {
                success: receipt.study.receipt.fit.is_some(),
                artefacts: files_of(&receipt, self.party.transcript()),
            }),
        }
    }
}

/// The party's own receipt, the released sums, and the model of the study in the units of its table.
fn files_of(receipt: &PartyReceipt, transcript: &Transcript) -> Vec<(String, Vec<u8>)> {
    let mut files = vec![("receipt.json".to_owned(), receipt.to_json())];
    let others = study_files(&receipt.study).into_iter();
    files.extend(others.filter(|(name, _)| name != "receipt.json"));
    files.push((TRANSCRIPT.to_owned(), transcript.to_json()));
    files
}

/// The file with the released sums.
pub(super) const TRANSCRIPT: &str = "transcript.json";

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
