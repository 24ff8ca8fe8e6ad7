//! The chain in a SQLite file.

use core::ops::Deref;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, OptionalExtension as _, params};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};
use sprifed_secure_sum::IdentityKey;
use sprifed_study::{Digest, Signature};
use time::OffsetDateTime;

use super::assessment::has_left;
use super::chain::{Chain, Signatures, SignedEntry, opened};
use super::witness::Witness;
use super::{Cost, Event, LifetimeLine, Reservation, witness};
use crate::database::{StateLock, StoreError, connect, existing, schema_of};

/// A ledger that can be added to; one process at a time.
///
/// It gives what it says ([`LedgerView`]) by reference.
#[derive(Debug)]
pub struct LifetimeLedger {
    connection: Connection,
    path: PathBuf,
    signer: IdentityKey,
    view: LedgerView,
    _lock: StateLock,
}

/// What a ledger says; one that is not begun yet says nothing.
#[derive(Debug, Clone, Default)]
pub struct LedgerView {
    pub(crate) chain: Chain,
    pub(crate) fingerprint_key: [u8; 32],
}

/// What the file says that it holds.
pub(crate) const CONTENT: &str = "all that was spent";

pub(crate) const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS entries (
    number INTEGER PRIMARY KEY,
    entry TEXT NOT NULL,
    signature TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS fingerprint (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    key BLOB NOT NULL
) STRICT;
";

impl LifetimeLedger {
    /// Opens or creates the ledger; what is added is signed by `signer`.
    ///
    /// # Errors
    /// If another process has it, it is lost or not whole, or the disk refuses.
    pub fn open(path: &Path, signer: &IdentityKey) -> Result<Self, StoreError> {
        let noted = witness::require_file(path)?;
        let lock = StateLock::take(path)?;
        let opened = || {
            let connection = connect(path)?;
            schema_of(&connection, path, CONTENT, SCHEMA)?;
            let chain = read_chain(&connection, path, noted.as_ref(), Signatures::Last)?;
            Ok((chain, connection))
        };
        let (chain, connection) = opened().map_err(in_ledger(path))?;
        let mut ledger = Self {
            view: LedgerView {
                fingerprint_key: fingerprint_key(&connection)?,
                chain,
            },
            connection,
            path: path.to_owned(),
            signer: signer.clone(),
            _lock: lock,
        };
        // A kill came between an entry and its note, or before the first entry.
        if noted.is_none_or(|noted| noted.entries < ledger.chain.len()) {
            witness::note(path, &ledger.chain)?;
        }
        if ledger.chain.len() == 0 {
            ledger.begin()?;
        }
        Ok(ledger)
    }

    /// Opens the ledger; others have it for moments only, which are waited for.
    ///
    /// # Errors
    /// If another process has it for long, it is not whole, or the disk refuses.
    pub fn open_patiently(path: &Path, signer: &IdentityKey) -> Result<Self, StoreError> {
        let mut tries = 200;
        loop {
            match Self::open(path, signer) {
                Err(StoreError::InUse { .. }) if tries > 0 => {
                    tries -= 1;
                    std::thread::sleep(Duration::from_millis(50));
                }
                opened => return opened,
            }
        }
    }

    /// What a ledger says, without taking it from the process that has it. Nothing is written.
    ///
    /// # Errors
    /// If there is none, it is lost or not whole, or it cannot be read.
    pub fn look_into(path: &Path) -> Result<LedgerView, StoreError> {
        Self::view(path, Signatures::Last)?.ok_or_else(|| witness::gone(path, "it is asked for"))
    }

    /// What a ledger says, after every signature was looked at. Nothing is written.
    ///
    /// # Errors
    /// If there is none, it is lost or not whole, or it cannot be read.
    pub fn examine(path: &Path) -> Result<LedgerView, StoreError> {
        Self::view(path, Signatures::All)?.ok_or_else(|| witness::gone(path, "it is asked for"))
    }

    /// What a ledger says, if one was begun.
    pub(crate) fn view(
        path: &Path,
        signatures: Signatures,
    ) -> Result<Option<LedgerView>, StoreError> {
        let noted = witness::require_file(path)?;
        let Some(connection) = existing_ledger(path).map_err(in_ledger(path))? else {
            let nothing = Chain::default();
            return witness::require_all(path, noted.as_ref(), &nothing).map(|()| None);
        };
        let view = || {
            Ok(LedgerView {
                chain: read_chain(&connection, path, noted.as_ref(), signatures)?,
                fingerprint_key: fingerprint_key(&connection)?,
            })
        };
        let view = view().map_err(in_ledger(path))?;
        Ok(Some(view).filter(|view| view.chain.len() > 0))
    }

    /// How far the client's own record of `study` was when it last sent something.
    ///
    /// # Errors
    /// Never now: it was read when the ledger was opened.
    pub fn answered(&self, study: &str) -> Result<u64, StoreError> {
        Ok(self.chain.answered.get(study).copied().unwrap_or(0))
    }

    /// Counts what the client's own record of `study` has now; never less than before.
    ///
    /// # Errors
    /// If the party has left the study, or it could not be made durable. Nothing may be sent then.
    pub fn count(&mut self, study: &str, entries: u64) -> Result<(), StoreError> {
        if self.has_left(study) {
            return Err(has_left(&self.path));
        }
        if entries <= self.answered(study)? {
            return Ok(());
        }
        let study = study.to_owned();
        self.append(Event::Counted { study, entries })
    }

    /// Enters `line`; a study that is there already is left as it is.
    ///
    /// # Errors
    /// If it would pass the limit of this ledger, or could not be made durable. No record may be touched then.
    pub fn reserve(&mut self, line: &LifetimeLine) -> Result<(), StoreError> {
        if self.chain.line(&line.study).is_some() {
            return Ok(());
        }
        self.require_limit(line)?;
        self.append(Event::Reserved(Reservation::of(line)))
    }

    /// Refuses a line that would pass the limit of this ledger.
    ///
    /// # Errors
    /// If it would.
    pub fn require_limit(&self, line: &LifetimeLine) -> Result<(), StoreError> {
        self.within_limit(line).map_err(|over| StoreError::Ledger {
            path: self.path.clone(),
            problem: format!("has a limit: {over}"),
            help: "ask for less, or raise the limit with `sprifed ledger limit`; nothing was spent now",
        })
    }

    /// Takes back the reservation of a study in which nothing was sent.
    ///
    /// # Errors
    /// If it could not be made durable.
    pub fn withdraw(&mut self, study: &str) -> Result<(), StoreError> {
        if !self.is_open(study) {
            return Ok(());
        }
        let study = study.to_owned();
        self.append(Event::Withdrawn { study })
    }

    /// Replaces the most that `study` could cost by what it did cost.
    ///
    /// # Errors
    /// If the ledger does not know it, or it could not be made durable.
    pub fn settle(&mut self, study: &str, cost: Cost) -> Result<(), StoreError> {
        if self.line(study).is_none() {
            let problem =
                format!("does not know {study}, which is to be settled: it was replaced meanwhile");
            return Err(witness::refused(&self.path, problem));
        }
        if !self.is_open(study) {
            return Ok(());
        }
        let study = study.to_owned();
        self.append(Event::Settled { study, cost })
    }

    /// The same for a study that this party has left.
    ///
    /// # Errors
    /// If it could not be made durable.
    pub fn leave(&mut self, study: &str, cost: Cost) -> Result<(), StoreError> {
        if !self.is_open(study) {
            return Ok(());
        }
        let study = study.to_owned();
        self.append(Event::Left { study, cost })
    }

    /// Sets what no total may pass from here on.
    ///
    /// # Errors
    /// If it could not be made durable.
    pub fn set_limit(&mut self, limit: Cost) -> Result<(), StoreError> {
        self.append(Event::Limited { limit })
    }

    /// A name that no other fit in this ledger has.
    pub(crate) fn name_of_next_fit(&self) -> String {
        let hash = Sha256::new_with_prefix(b"sprifed: local fit").chain_update(self.chain.head().0);
        Digest(hash.finalize().into()).to_string()
    }

    fn is_open(&self, study: &str) -> bool {
        self.chain
            .line(study)
            .is_some_and(|line| !line.is_settled())
    }

    /// The first entry, and the key of fingerprints.
    fn begin(&mut self) -> Result<(), StoreError> {
        let key = fresh_fingerprint_key(&self.signer);
        put_fingerprint_key(&self.connection, &key)?;
        self.view.fingerprint_key = key;
        self.append(opened(now().nanosecond()))
    }

    fn append(&mut self, event: Event) -> Result<(), StoreError> {
        let signed = self.chain.next(event, text_of_now(), &self.signer);
        let mut longer = self.chain.clone();
        longer
            .append(signed.clone())
            .map_err(|problem| not_whole(&self.path, &format!("would be broken: {problem}")))?;
        put_entry(&self.connection, self.chain.len(), &signed)?;
        self.view.chain = longer;
        witness::note(&self.path, &self.chain)
    }
}

impl Deref for LifetimeLedger {
    type Target = LedgerView;

    fn deref(&self) -> &LedgerView {
        &self.view
    }
}

impl LedgerView {
    /// Every study and fit, in the order in which they were entered.
    #[must_use]
    pub fn lines(&self) -> &[LifetimeLine] {
        &self.chain.lines
    }

    /// The line of a study or fit.
    #[must_use]
    pub fn line(&self, study: &str) -> Option<&LifetimeLine> {
        self.chain.line(study)
    }

    /// What no total may pass, if a limit was set.
    #[must_use]
    pub const fn limit(&self) -> Option<Cost> {
        self.chain.limit
    }

    /// How many entries it has.
    #[must_use]
    pub const fn n_entries(&self) -> u64 {
        self.chain.len()
    }

    /// Whether it took the place of a ledger that was lost.
    #[must_use]
    pub const fn is_restarted(&self) -> bool {
        self.chain.is_restarted
    }

    /// What names the ledger: the digest of its first entry.
    #[must_use]
    pub fn id(&self) -> Digest {
        self.chain.id()
    }

    /// Whether this is the ledger that `id` names, or took its place.
    pub(crate) fn answers_for(&self, id: Digest) -> bool {
        self.id() == id || self.chain.replaces == Some(id)
    }

    /// The digest of the last entry, which names all before it.
    #[must_use]
    pub fn head(&self) -> Digest {
        self.chain.head()
    }

    /// The keys that signed entries.
    pub fn signers(&self) -> impl Iterator<Item = Digest> + '_ {
        self.chain.signers.iter().copied()
    }
}

/// The database at `path`, if there is one with the tables of a ledger. Nothing is written.
pub(crate) fn existing_ledger(path: &Path) -> Result<Option<Connection>, StoreError> {
    if std::fs::metadata(path).is_ok_and(|file| file.len() == 0) || !is_there(path)? {
        return Ok(None);
    }
    existing(path, &["entries", "fingerprint"])
}

fn is_there(path: &Path) -> Result<bool, StoreError> {
    std::fs::exists(path).map_err(|error| StoreError::Unusable {
        path: path.to_owned(),
        reason: error.to_string(),
    })
}

fn read_chain(
    connection: &Connection,
    path: &Path,
    noted: Option<&Witness>,
    signatures: Signatures,
) -> Result<Chain, StoreError> {
    let mut entries = Vec::new();
    for entry in read_entries(connection)? {
        let number = entries.len();
        let damaged = || not_whole(path, &format!("is damaged: entry {number} is no entry"));
        entries.push(entry?.ok_or_else(damaged)?);
    }
    let chain = Chain::of(entries, signatures)
        .map_err(|problem| not_whole(path, &format!("is damaged: {problem}")))?;
    witness::require_all(path, noted, &chain)?;
    Ok(chain)
}

/// The entries in their order; nothing in the place of one that is none.
pub(crate) fn read_entries(
    connection: &Connection,
) -> Result<Vec<Result<Option<SignedEntry>, StoreError>>, StoreError> {
    let sql = "SELECT entry, signature FROM entries ORDER BY number";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
    })?;
    let entries = rows.map(|row| {
        let (entry, signature) = row?;
        let (entry, signature) = (RawValue::from_string(entry), Signature::try_from(signature));
        Ok(entry
            .ok()
            .zip(signature.ok())
            .map(|(entry, signature)| SignedEntry { entry, signature }))
    });
    Ok(entries.collect())
}

pub(crate) fn put_entry(
    connection: &Connection,
    number: u64,
    signed: &SignedEntry,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO entries (number, entry, signature) VALUES (?1, ?2, ?3)";
    let number = i64::try_from(number).unwrap_or(i64::MAX);
    let signature = signed.signature.to_string();
    connection.execute(sql, params![number, signed.entry.get(), signature])?;
    Ok(())
}

/// A key of fingerprints: derived from what only the owner of the ledger can make.
pub(crate) fn fresh_fingerprint_key(signer: &IdentityKey) -> [u8; 32] {
    Sha256::digest(signer.sign_statement("ledger fingerprint key", &[0; 32])).into()
}

pub(crate) fn put_fingerprint_key(
    connection: &Connection,
    key: &[u8; 32],
) -> Result<(), StoreError> {
    let sql = "INSERT INTO fingerprint (one, key) VALUES (1, ?1) ON CONFLICT DO NOTHING";
    connection.execute(sql, params![key])?;
    Ok(())
}

pub(crate) fn fingerprint_key(connection: &Connection) -> Result<[u8; 32], StoreError> {
    let key = connection.query_row("SELECT key FROM fingerprint", [], |row| row.get(0));
    Ok(key.optional()?.unwrap_or_default())
}

/// What an error of the database is about.
fn in_ledger(path: &Path) -> impl Fn(StoreError) -> StoreError + '_ {
    |error| match error {
        StoreError::Damaged(found) => not_whole(path, &format!("is damaged: {found}")),
        StoreError::OtherStudy { found, .. } => {
            not_whole(path, &format!("is no ledger: it holds the study {found}"))
        }
        other => other,
    }
}

fn not_whole(path: &Path, found: &str) -> StoreError {
    witness::refused(path, found.to_owned())
}

pub(crate) fn now() -> OffsetDateTime {
    OffsetDateTime::from(SystemTime::now())
}

/// A moment as `2026-01-31T23:59:59Z`.
pub(crate) fn text_of(moment: OffsetDateTime) -> String {
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
        moment.year(),
        u8::from(moment.month()),
        moment.day(),
        moment.hour(),
        moment.minute(),
        moment.second()
    )
}

/// The present moment in words.
pub(crate) fn text_of_now() -> String {
    text_of(now())
}
