//! Many parties of one study in one process, for measurements: one record each, made up, and a
//! journal in memory. NOT PRIVATE.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sprifed::{party_files, software};
use sprifed_coordinator::CoordinatorFolder;
use sprifed_net::{ClientConfig, ClientEnded, ClientLoop, Identity, Persistence};
use sprifed_party::{
    PartyEnd, PartyError, PartyRecords, PartyRuntime, PartyStore, Seat, StudyFolder,
};
use sprifed_secure_sum::ClientId;
use sprifed_study::{JournalLine, PartyKey};
use zeroize::Zeroizing;

use super::refuse;
use crate::error::Error;

/// From which identities, masks and noise of the parties are derived.
pub(super) const SEED: u64 = 1;

/// The file beside the study with the TLS key of a party.
pub(super) fn tls_key_of(party: &str) -> String {
    format!("{party}.key")
}

/// What a process that is never started again has to remember.
#[derive(Debug, Default)]
struct MemoryStore {
    lines: Vec<JournalLine>,
    end: Option<PartyEnd>,
}

impl PartyStore for MemoryStore {
    fn path(&self) -> PathBuf {
        PathBuf::from("memory")
    }

    fn secret_path(&self) -> PathBuf {
        self.path()
    }

    fn is_over(&mut self) -> Result<bool, PartyError> {
        Ok(self.end.is_some())
    }

    fn lines(&mut self) -> Result<Vec<JournalLine>, PartyError> {
        Ok(self.lines.clone())
    }

    fn append(&mut self, line: &JournalLine) -> Result<(), PartyError> {
        self.lines.push(line.clone());
        Ok(())
    }

    fn forget(
        &mut self,
        lines: &[(u64, JournalLine)],
        _secret: Option<&str>,
    ) -> Result<(), PartyError> {
        for (place, line) in lines {
            let place = usize::try_from(*place).unwrap_or(usize::MAX);
            if let Some(known) = self.lines.get_mut(place) {
                known.clone_from(line);
            }
        }
        Ok(())
    }

    fn secret(&mut self) -> Result<Option<Zeroizing<String>>, PartyError> {
        Ok(None)
    }

    fn create(&mut self, _secret: Option<&str>) -> Result<(), PartyError> {
        Ok(())
    }

    fn erase_secret(&mut self) -> Result<(), PartyError> {
        Ok(())
    }

    fn progress(&self) -> u64 {
        self.lines.len() as u64
    }

    fn end(&mut self) -> Result<Option<PartyEnd>, PartyError> {
        Ok(self.end.clone())
    }

    fn finish(&mut self, end: &PartyEnd) -> Result<(), PartyError> {
        self.end = Some(end.clone());
        Ok(())
    }
}

/// All parties of the study in `folder`, until it is over; says how many ended well.
pub(super) fn run_all_parties(folder: &Path) -> Result<usize, Error> {
    let study = CoordinatorFolder::new(folder);
    let (invitation, agreed) = study.study().map_err(refuse)?;
    let agreement = agreed.agreement();
    let mut clients = Vec::new();
    for (id, party) in (0..).zip(&agreement.parties) {
        let invited = study.invitation_of(&party.name);
        let config = ClientConfig {
            coordinator: format!("https://{}", invitation.reach.address),
            identity: Identity {
                certificate: invited.certificate(),
                key: folder.with_file_name(tls_key_of(&party.name)),
            },
            authorities: invited.authority(),
            proxy: None,
            persistence: Persistence {
                spread: u64::from(id),
                ..Persistence::default()
            },
            largest_notice: agreed.largest_notice(),
        };
        let records = PartyRecords::made_up(id, agreement.setting.n_features);
        let seat = Seat {
            agreed: Arc::clone(&agreed),
            me: ClientId(id),
            identity: PartyKey::simulated(SEED, 0).of_party(id).identity(),
            seed: Some(SEED),
            folder: StudyFolder::new(invited.path()),
            software: software(),
            files: party_files,
        };
        // Without a ledger: the records are made up.
        let runtime = PartyRuntime::new(seat, records, MemoryStore::default(), None);
        let runtime = runtime.map_err(refuse)?;
        clients.push(ClientLoop::open(&config, runtime).map_err(refuse)?);
    }
    let ended = ClientLoop::run_together(clients).map_err(refuse)?;
    let is_good =
        |ended: &&ClientEnded| matches!(ended, ClientEnded::Finished(ended) if ended.success);
    Ok(ended.iter().filter(is_good).count())
}
