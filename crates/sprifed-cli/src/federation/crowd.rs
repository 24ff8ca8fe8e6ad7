//! Many parties of one study in one process, for measurements: one record each, made up, and a
//! journal in memory. NOT PRIVATE.

use std::path::Path;
use std::sync::Arc;

use sprifed_net::{ClientConfig, ClientEnded, ClientLoop, Identity, Persistence, Refused};
use sprifed_party::{ClientEnd, Journal, PartyRecords, StoreError};
use sprifed_secure_sum::ClientId;
use sprifed_study::{PartyKey, StudyParty};

use super::coordinate::read_study;
use super::invitation_folder::InvitationFolder;
use super::party_machine::{PartyMachine, read_journal};
use crate::failure::{Explained as _, Failure};
use crate::model::software;

/// From which identities, masks and noise of a crowd are derived.
pub(crate) const SEED: u64 = 1;

/// The file beside the study with the TLS key of a party.
pub(crate) fn tls_key_of(party: &str) -> String {
    format!("{party}.key")
}

/// What a process that is never started again has to remember.
#[derive(Default)]
struct Memory {
    entries: Vec<Vec<u8>>,
    end: Option<ClientEnd>,
}

impl Journal for Memory {
    fn entries(&mut self) -> Result<Vec<Vec<u8>>, StoreError> {
        Ok(self.entries.clone())
    }

    fn end(&mut self) -> Result<Option<ClientEnd>, StoreError> {
        Ok(self.end.clone())
    }

    fn append(&mut self, entry: &[u8]) -> Result<(), StoreError> {
        self.entries.push(entry.to_owned());
        Ok(())
    }

    fn erase(&mut self, place: u64, tombstone: &[u8]) -> Result<(), StoreError> {
        let place = usize::try_from(place).unwrap_or(usize::MAX);
        if let Some(entry) = self.entries.get_mut(place) {
            tombstone.clone_into(entry);
        }
        Ok(())
    }

    fn finish(&mut self, end: &ClientEnd) -> Result<(), StoreError> {
        self.end = Some(end.clone());
        Ok(())
    }
}

/// All parties of the study in `folder`, until it is over; says how many ended well.
pub(crate) fn run_crowd(folder: &Path) -> Result<usize, Failure> {
    let (invitation, agreed) = read_study(folder)?;
    let agreement = agreed.agreement();
    let mut clients = Vec::new();
    for (id, party) in (0..).zip(&agreement.parties) {
        let invited = InvitationFolder(folder.join(format!("for-{}", party.name)));
        let config = ClientConfig {
            study: agreed.digest().to_string(),
            coordinator: format!("https://{}", invitation.reach.address),
            identity: Identity {
                certificate: invited.certificate(),
                key: folder.with_file_name(tls_key_of(&party.name)),
            },
            authorities: invited.authority(),
            state: invited.0.join("state.sqlite"),
            secret: None,
            artefacts: invited.0.clone(),
            proxy: None,
            persistence: Persistence {
                spread: u64::from(id),
                ..Persistence::default()
            },
            largest_notice: agreed.largest_notice(),
        };
        let records = PartyRecords::made_up(id, agreement.setting.n_features);
        let (key, member) = (
            PartyKey::simulated(SEED, 0).of_member(id),
            Arc::clone(&agreed),
        );
        let factory = move |entries: Vec<Vec<u8>>| {
            let journal = read_journal(&entries)?;
            let (agreed, identity) = (Arc::clone(&member), key.identity());
            let (key, records) = (key.clone(), records.clone());
            StudyParty::join(
                agreed,
                ClientId(id),
                identity,
                key,
                records,
                &journal,
                &software(),
            )
            .map(PartyMachine::new)
            .map_err(|declined| Refused::because(declined.to_string()))
        };
        let journal = Box::new(Memory::default());
        clients.push(ClientLoop::open_with_journal(config, journal, factory).explained()?);
    }
    let ended = ClientLoop::run_together(clients).explained()?;
    let is_good =
        |ended: &&ClientEnded| matches!(ended, ClientEnded::Finished { success: true, .. });
    Ok(ended.iter().filter(is_good).count())
}
