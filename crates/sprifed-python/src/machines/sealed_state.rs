//! What a party keeps of one study between two errands, encrypted on its own disk.
//!
//! # Trust
//! The seal hides the state from readers of the disk and finds changes. It does not find an older copy
//! put back in place: a state must never be restored from a backup, since a sum would be answered twice.

use std::path::{Path, PathBuf};

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use sprifed_party::store_private;
use sprifed_secure_sum::Notice;
use sprifed_study::{Digest, JournalLine, Order};
use zeroize::{Zeroize as _, Zeroizing};

use super::failure::Failure;
use super::files::read_if_there;
use crate::entropy::fresh_bits;

/// The first byte of a sealed file.
const VERSION: u8 = 1;

const NONCE: usize = 24;

/// See the module.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct PartyState {
    /// Where masks and noise come from, as a party key is stored; drawn once.
    pub(super) secret: String,
    /// The number of the last errand.
    pub(super) number: u64,
    /// Notices that a machine must be told again when it is rebuilt.
    pub(super) notices: Vec<Vec<u8>>,
    /// What the machine persisted.
    pub(super) journal: Vec<JournalLine>,
}

impl PartyState {
    /// Remembers a notice that was accepted, if a rebuilt machine needs it.
    pub(super) fn remember(&mut self, order: &[u8]) {
        match Order::decode(order) {
            Ok(
                Order::Notice(
                    Notice::Directory { .. } | Notice::Ciphertexts { .. } | Notice::Bundles { .. },
                )
                | Order::Released(_),
            ) => {}
            // Sums are made one after the other: the survivors of earlier ones are history.
            Ok(Order::Notice(Notice::Survivors { .. })) => {
                self.notices.retain(|known| !is_survivors(known));
            }
            _ => return,
        }
        self.notices.push(order.to_vec());
    }

    /// Adds a line.
    pub(super) fn persist(&mut self, line: JournalLine) {
        self.journal.push(line);
    }

    /// Erases uploads that were released: a line of `erased` takes the place of the upload to the same sum.
    pub(super) fn erase(&mut self, erased: Vec<(u64, JournalLine)>) {
        for (_, line) in erased {
            let is_same = |known: &&mut JournalLine| match (&**known, &line) {
                (JournalLine::Uploaded { sum: known, .. }, JournalLine::Uploaded { sum, .. }) => {
                    known == sum
                }
                _ => false,
            };
            let places = self.journal.iter_mut().filter(is_same);
            places.for_each(|known| *known = line.clone());
        }
    }
}

impl PartyState {
    /// The key without what was erased, in the place of the one with it.
    pub(super) fn replace_secret(&mut self, stored: &str) {
        self.secret.zeroize();
        self.secret.push_str(stored);
    }
}

impl Drop for PartyState {
    fn drop(&mut self) {
        self.secret.zeroize();
    }
}

fn is_survivors(order: &[u8]) -> bool {
    let order = Order::decode(order);
    matches!(order, Ok(Order::Notice(Notice::Survivors { .. })))
}

/// The file of one party in one study, and its key.
pub(super) struct Seal {
    path: PathBuf,
    key: Zeroizing<[u8; 32]>,
    study: Digest,
}

impl Seal {
    /// The seal of `study` under a key that is derived from `secret`.
    pub(super) fn of(folder: &Path, secret: &[u8; 32], study: &Digest) -> Self {
        let key = Sha256::new_with_prefix(b"sprifed: sealed state")
            .chain_update(secret)
            .chain_update(study.0);
        Self {
            path: folder.join("party.sealed"),
            key: Zeroizing::new(key.finalize().into()),
            study: *study,
        }
    }

    /// The state, or nothing if the party has not begun.
    pub(super) fn open(&self) -> Result<Option<PartyState>, Failure> {
        let Some(sealed) = read_if_there(&self.path)? else {
            return Ok(None);
        };
        let damaged = || {
            let what = self.path.display().to_string();
            let found = "it is damaged, or sealed with another key";
            Failure::unusable(what, found, "the file and the key of this party")
        };
        let [VERSION, rest @ ..] = sealed.as_slice() else {
            return Err(damaged());
        };
        let (nonce, text) = rest.split_first_chunk::<NONCE>().ok_or_else(damaged)?;
        let payload = Payload {
            msg: text,
            aad: &self.study.0,
        };
        let opened = self.cipher().decrypt(&XNonce::from(*nonce), payload);
        let plain = Zeroizing::new(opened.map_err(|_| damaged())?);
        postcard::from_bytes(&plain)
            .map(Some)
            .map_err(|_| damaged())
    }

    /// Stores the state and overwrites the former one; when this returns, a power cut can not undo it.
    pub(super) fn close(&self, state: &PartyState) -> Result<(), Failure> {
        // Numbers and lists: there is nothing that could not be written.
        let plain = Zeroizing::new(postcard::to_allocvec(state).unwrap_or_default());
        let fresh = fresh_bits()?;
        let nonce: [u8; NONCE] = *fresh.first_chunk().unwrap_or(&[0; NONCE]);
        let payload = Payload {
            msg: &plain,
            aad: &self.study.0,
        };
        let sealed = self.cipher().encrypt(&XNonce::from(nonce), payload);
        let sealed = sealed
            .map_err(|_| Failure::Refused("the state is too large to be sealed".to_owned()))?;
        let sealed = [&[VERSION][..], &nonce, &sealed].concat();
        Ok(store_private(&self.path, &sealed)?)
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(&Key::from(*self.key))
    }
}
