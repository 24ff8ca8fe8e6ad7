//! A party's state in one encrypted file, for a process that is started for each request.
//!
//! # Trust
//! The seal hides the state from readers of the disk and finds changes. It does not find an older copy put back in
//! place: the ledger does, which counts the requests.

use std::fs::File;
use std::path::PathBuf;

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use sprifed_secure_sum::Notice;
use sprifed_study::{Digest, JournalLine, Order};
use zeroize::{Zeroize as _, Zeroizing};

use super::{PartyEnd, PartyStore};
use crate::error::PartyError;
use crate::folder::StudyFolder;
use crate::private_files::{is_there, lock_private, put_private, read_if_there, store_private};

#[cfg(test)]
mod tests;

/// The first byte of a sealed file.
const VERSION: u8 = 1;

const NONCE: usize = 24;

/// Gives 32 fresh secret bytes of the operating system.
pub type Entropy = fn() -> Result<[u8; 32], PartyError>;

/// The state of a party that is woken for each request.
pub struct SealedStore {
    folder: StudyFolder,
    key: Zeroizing<[u8; 32]>,
    study: Digest,
    entropy: Entropy,
    state: State,
    /// Whether the file lacks something of the state.
    is_changed: bool,
    _lock: File,
}

#[derive(Default, Serialize, Deserialize)]
struct State {
    /// Where masks and noise come from, as a party key is stored; empty before it is made and after it was erased.
    secret: String,
    /// The number of the last request.
    number: u64,
    /// Orders that a party must be told again when it is rebuilt.
    orders: Vec<Vec<u8>>,
    journal: Vec<JournalLine>,
}

impl Drop for State {
    fn drop(&mut self) {
        self.secret.zeroize();
    }
}

impl core::fmt::Debug for SealedStore {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter
            .debug_struct("SealedStore")
            .field("path", &self.folder.sealed())
            .finish_non_exhaustive()
    }
}

impl SealedStore {
    /// Opens or begins the state of one party in `study`, under a key that is derived from `secret`. Waits until no
    /// other process has it.
    ///
    /// # Errors
    /// If it is damaged or sealed with another key, or the disk refuses.
    pub fn open(
        folder: &StudyFolder,
        secret: &[u8; 32],
        study: &Digest,
        entropy: Entropy,
    ) -> Result<Self, PartyError> {
        let key = Sha256::new_with_prefix(b"sprifed: sealed state")
            .chain_update(secret)
            .chain_update(study.0);
        let mut store = Self {
            _lock: lock_private(&folder.lock())?,
            folder: folder.clone(),
            key: Zeroizing::new(key.finalize().into()),
            study: *study,
            entropy,
            state: State::default(),
            is_changed: false,
        };
        if let Some(sealed) = read_if_there(&folder.sealed())? {
            store.state = store.unseal(&sealed)?;
        }
        Ok(store)
    }

    /// Begins a request: the state is of this request when it is stored next.
    ///
    /// # Errors
    /// If a request with this number or a larger one was answered before.
    pub fn begin_request(&mut self, number: u64) -> Result<(), PartyError> {
        let last = self.state.number;
        if number <= last {
            return Err(PartyError::OldRequest {
                found: number,
                last,
            });
        }
        self.state.number = number;
        self.is_changed = true;
        Ok(())
    }

    fn unseal(&self, sealed: &[u8]) -> Result<State, PartyError> {
        let damaged = || {
            let name = self.folder.sealed().display().to_string();
            let found = "it is damaged, or sealed with another key";
            PartyError::unusable(name, found, "the file and the key of this party")
        };
        let [VERSION, rest @ ..] = sealed else {
            return Err(damaged());
        };
        let (nonce, text) = rest.split_first_chunk::<NONCE>().ok_or_else(damaged)?;
        let payload = Payload {
            msg: text,
            aad: &self.study.0,
        };
        let opened = self.cipher().decrypt(&XNonce::from(*nonce), payload);
        let plain = Zeroizing::new(opened.map_err(|_| damaged())?);
        match postcard::take_from_bytes(&plain) {
            Ok((state, [])) => Ok(state),
            _ => Err(damaged()),
        }
    }

    /// Stores the state and overwrites the former one.
    fn seal(&mut self) -> Result<(), PartyError> {
        // Numbers and lists: there is nothing that could not be written.
        let plain = Zeroizing::new(postcard::to_allocvec(&self.state).unwrap_or_default());
        let fresh = (self.entropy)()?;
        let nonce: [u8; NONCE] = *fresh.first_chunk().unwrap_or(&[0; NONCE]);
        let payload = Payload {
            msg: &plain,
            aad: &self.study.0,
        };
        let path = self.folder.sealed();
        let sealed = self.cipher().encrypt(&XNonce::from(nonce), payload);
        let sealed = sealed.map_err(|_| {
            let name = path.display().to_string();
            PartyError::unusable(name, "it is too large to be sealed", "a smaller study")
        })?;
        store_private(&path, &[&[VERSION][..], &nonce, &sealed].concat())?;
        self.is_changed = false;
        Ok(())
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(&Key::from(*self.key))
    }

    fn set_secret(&mut self, secret: &str) {
        self.state.secret.zeroize();
        self.state.secret.push_str(secret);
    }
}

impl PartyStore for SealedStore {
    fn path(&self) -> PathBuf {
        self.folder.sealed()
    }

    fn secret_path(&self) -> PathBuf {
        self.folder.sealed()
    }

    fn is_over(&mut self) -> Result<bool, PartyError> {
        let is_end = |line: &JournalLine| matches!(line, JournalLine::Ended { .. });
        Ok(self.state.secret.is_empty() && self.state.journal.iter().any(is_end))
    }

    fn lines(&mut self) -> Result<Vec<JournalLine>, PartyError> {
        Ok(self.state.journal.clone())
    }

    fn append(&mut self, line: &JournalLine) -> Result<(), PartyError> {
        self.state.journal.push(line.clone());
        self.seal()
    }

    fn forget(
        &mut self,
        lines: &[(u64, JournalLine)],
        secret: Option<&str>,
    ) -> Result<(), PartyError> {
        for (place, line) in lines {
            let known = usize::try_from(*place).ok();
            let known = known.and_then(|place| self.state.journal.get_mut(place));
            let known = known.ok_or_else(|| {
                let name = self.folder.sealed().display().to_string();
                let found = format!("its journal has no line {place} to replace");
                PartyError::unusable(name, found, "the journal of this party")
            })?;
            *known = line.clone();
        }
        if let Some(secret) = secret {
            self.set_secret(secret);
        }
        self.seal()
    }

    fn secret(&mut self) -> Result<Option<Zeroizing<String>>, PartyError> {
        let secret = Some(&self.state.secret).filter(|secret| !secret.is_empty());
        Ok(secret.map(|secret| Zeroizing::new(secret.clone())))
    }

    fn create(&mut self, secret: Option<&str>) -> Result<(), PartyError> {
        self.set_secret(secret.unwrap_or_default());
        self.seal()
    }

    fn erase_secret(&mut self) -> Result<(), PartyError> {
        self.set_secret("");
        self.seal()
    }

    fn progress(&self) -> u64 {
        self.state.number
    }

    fn begin(&mut self) -> Result<(), PartyError> {
        let begun = self.folder.begun();
        if is_there(&begun) {
            return Ok(());
        }
        // A search for lost studies sees it without a key.
        put_private(&begun, b"")
    }

    fn orders(&self) -> Vec<Vec<u8>> {
        self.state.orders.clone()
    }

    fn accept(&mut self, order: &[u8]) {
        match Order::decode(order) {
            Ok(
                Order::Notice(
                    Notice::Directory { .. } | Notice::Ciphertexts { .. } | Notice::Bundles { .. },
                )
                | Order::Released(_),
            ) => {}
            // Sums are made one after the other: the survivors of earlier ones are history.
            Ok(Order::Notice(Notice::Survivors { .. })) => {
                self.state.orders.retain(|known| !is_survivors(known));
            }
            _ => return,
        }
        self.state.orders.push(order.to_vec());
        self.is_changed = true;
    }

    fn flush(&mut self) -> Result<(), PartyError> {
        if self.is_changed { self.seal() } else { Ok(()) }
    }

    fn end(&mut self) -> Result<Option<PartyEnd>, PartyError> {
        // The receipt lies beside it; a coordinator that asks again is told again by the party.
        Ok(None)
    }

    fn finish(&mut self, _end: &PartyEnd) -> Result<(), PartyError> {
        self.flush()
    }
}

fn is_survivors(order: &[u8]) -> bool {
    let order = Order::decode(order);
    matches!(order, Ok(Order::Notice(Notice::Survivors { .. })))
}
