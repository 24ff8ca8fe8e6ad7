//! One trustee of one study at work: orders in, messages out, and everything that must be kept in between.
//!
//! A restart of the process, of the coordinator or of the connection is the same for a trustee: it abandons the attempt
//! that it was in. So its state is its journal and its key, and no message is kept to be sent again.

use std::path::PathBuf;
use std::sync::Arc;

use sprifed_noise::Provenance;
use sprifed_secure_sum::IdentityKey;
use sprifed_study::{
    Agreed, Digest, SignedReceipt, StudyTrustee, Transcript, TrusteeEffect, TrusteeKey,
    TrusteeLine, TrusteeRefused,
};
use zeroize::Zeroizing;

use crate::error::PartyError;
use crate::folder::StudyFolder;
use crate::private_files::{erase_private, read_if_there, replace_private, write_artefacts};
use crate::runtime::{Finished, Outgoing};
use crate::store::{Artefacts, Entropy, PartyEnd, PartyStore as _, SqliteStore};

#[cfg(test)]
mod tests;

/// Which trustee serves what.
#[derive(Clone, Debug)]
pub struct TrusteeSeat {
    /// What was agreed on.
    pub agreed: Arc<Agreed>,
    /// The trustee's signing key.
    pub identity: IdentityKey,
    /// The seed of a rehearsal.
    pub seed: Option<u64>,
    /// The file of its secret of this study.
    pub key: PathBuf,
    /// Where its state is, and where the files of a study that is over go.
    pub folder: StudyFolder,
    /// The files that the study leaves behind.
    pub files: fn(&SignedReceipt, &Transcript) -> Artefacts,
    /// Fresh bytes of the operating system.
    pub entropy: Entropy,
}

/// One trustee of one study.
#[derive(Debug)]
pub struct TrusteeRuntime {
    seat: TrusteeSeat,
    store: SqliteStore,
    /// None before the start, and after the end.
    trustee: Option<StudyTrustee>,
}

impl TrusteeRuntime {
    /// The trustee in `seat`, which was admitted. It does nothing before [`restart`](Self::restart).
    ///
    /// # Errors
    /// If its state cannot be opened, or another process has it.
    pub fn new(seat: TrusteeSeat) -> Result<Self, PartyError> {
        Ok(Self {
            store: SqliteStore::open(&seat.folder, seat.agreed.digest())?,
            seat,
            trustee: None,
        })
    }

    /// Begins, or begins again, with what is stored. Says how the trustee's part ended, if it did: no coordinator is
    /// needed then.
    ///
    /// # Errors
    /// If the state cannot be used or written.
    pub fn restart(&mut self) -> Result<Option<Finished>, PartyError> {
        self.trustee = None;
        if let Some(end) = self.store.end()? {
            return self.deliver(&end).map(Some);
        }
        let mut lines = Vec::new();
        for bytes in self.store.blobs()? {
            let line = TrusteeLine::decode(&bytes);
            lines.push(line.map_err(|error| self.contradiction(error.to_string()))?);
        }
        let trustee = StudyTrustee::join(
            Arc::clone(&self.seat.agreed),
            self.seat.identity.clone(),
            self.key()?,
            (self.seat.entropy)()?,
            &lines,
        );
        self.trustee = Some(trustee.map_err(|error| self.contradiction(error.to_string()))?);
        Ok(None)
    }

    /// Takes an order of the coordinator.
    ///
    /// # Errors
    /// If the trustee refuses it.
    pub fn receive(&mut self, order: &[u8]) -> Result<(), TrusteeRefused> {
        let trustee = self.trustee.as_mut().ok_or(TrusteeRefused::Over)?;
        trustee.receive(order)
    }

    /// What is to be carried next; poll until there is nothing. Everything else that the trustee wants done is done in
    /// here, in order: a charge is stored before noise is drawn for it, and every line before what follows it is sent.
    ///
    /// # Errors
    /// If something could not be stored; nothing that depends on it is sent.
    pub fn poll(&mut self) -> Result<Option<Outgoing>, PartyError> {
        while let Some(trustee) = self.trustee.as_mut() {
            let polled = trustee.poll();
            let effect = match polled {
                Ok(Some(effect)) => effect,
                Ok(None) => return Ok(None),
                Err(refused) => return Err(self.contradiction(refused.to_string())),
            };
            match effect {
                TrusteeEffect::Persist(line) => self.store.append_blob(&line.encode())?,
                TrusteeEffect::Forget => {
                    // Everything before this was carried out: what was erased is not needed any more.
                    if let Some(text) = trustee.stored_key() {
                        replace_private(&self.seat.key, text.as_bytes())?;
                    }
                }
                TrusteeEffect::Send(report) => return Ok(Some(Outgoing::Send(report.encode()))),
                TrusteeEffect::Ended(receipt) => {
                    let end = PartyEnd {
                        artefacts: (self.seat.files)(&receipt, trustee.transcript()),
                        success: receipt.receipt.fit.is_some(),
                    };
                    self.store.finish(&end)?;
                    return Ok(Some(Outgoing::Ended(self.deliver(&end)?)));
                }
            }
        }
        Ok(None)
    }

    /// Writes the files and erases the secret. A second time changes nothing.
    fn deliver(&mut self, end: &PartyEnd) -> Result<Finished, PartyError> {
        let files = write_artefacts(self.seat.folder.path(), &end.artefacts)?;
        erase_private(&self.seat.key)?;
        self.trustee = None;
        Ok(Finished {
            success: end.success,
            files,
        })
    }

    fn key(&self) -> Result<TrusteeKey, PartyError> {
        let TrusteeSeat {
            agreed,
            identity,
            seed,
            key,
            ..
        } = &self.seat;
        match (agreed.agreement().noise, seed) {
            (Provenance::Simulated, Some(seed)) => {
                let trustees = agreed.trustees();
                let place = trustees.and_then(|all| all.place_of(&Digest(identity.public())));
                let place = place.map_or(0, |trustee| trustee.share());
                Ok(TrusteeKey::simulated(*seed, place))
            }
            (Provenance::Simulated, None) => Err(PartyError::NoSeed),
            (Provenance::Cryptographic, Some(_)) => Err(PartyError::SeedGiven),
            (Provenance::Cryptographic, None) => {
                let Some(bytes) = read_if_there(key)? else {
                    return Err(PartyError::StateLost { path: key.clone() });
                };
                let bytes = Zeroizing::new(bytes);
                let name = || key.display().to_string();
                let required = "the key of this study";
                let text = core::str::from_utf8(&bytes)
                    .map_err(|error| PartyError::unusable(name(), error, required))?;
                TrusteeKey::from_stored(text)
                    .map_err(|error| PartyError::unusable(name(), error, required))
            }
        }
    }

    fn contradiction(&self, found: String) -> PartyError {
        PartyError::Contradiction {
            path: self.store.path(),
            found,
        }
    }
}
