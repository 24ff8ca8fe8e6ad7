//! The chain in a SQLite file.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, OptionalExtension as _, params};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};
use sprifed_secure_sum::IdentityKey;
use sprifed_study::{Digest, Signature};
use time::OffsetDateTime;

use super::chain::{Chain, Signatures, SignedEntry, opened};
use super::{Cost, CostKind, Event, LifetimeLine, Reservation, total, witness};
use crate::store::{StateLock, StoreError, durable, schema_of};

/// A ledger that can be added to; one process at a time.
#[derive(Debug)]
pub struct LifetimeLedger {
    connection: Connection,
    path: PathBuf,
    signer: IdentityKey,
    chain: Chain,
    _lock: StateLock,
}

/// What a ledger says.
#[derive(Debug, Clone)]
pub struct LedgerView {
    pub(crate) chain: Chain,
    pub(crate) fingerprint_key: [u8; 32],
}

const SCHEMA: &str = "
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
    /// If another process has it, it is not whole, or the disk refuses.
    pub fn open(path: &Path, signer: &IdentityKey) -> Result<Self, StoreError> {
        witness::require_file(path)?;
        let (connection, lock) = durable(path)?;
        schema_of(&connection, path, "all that was spent", SCHEMA)?;
        let chain = read_chain(&connection, path, Signatures::Last)?;
        let is_new = chain.len() == 0;
        let mut ledger = Self {
            connection,
            path: path.to_owned(),
            signer: signer.clone(),
            chain,
            _lock: lock,
        };
        if is_new {
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

    /// What a ledger says, without taking it from the process that has it.
    ///
    /// # Errors
    /// If there is none, it is not whole, or it can not be read.
    pub fn look_into(path: &Path) -> Result<LedgerView, StoreError> {
        Self::view(path, Signatures::Last)
    }

    /// What a ledger says, after every signature was looked at.
    ///
    /// # Errors
    /// If there is none, it is not whole, or it can not be read.
    pub fn examine(path: &Path) -> Result<LedgerView, StoreError> {
        Self::view(path, Signatures::All)
    }

    fn view(path: &Path, signatures: Signatures) -> Result<LedgerView, StoreError> {
        witness::require_file(path)?;
        let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
        let connection = Connection::open_with_flags(path, flags)?;
        let sql = "SELECT count(*) FROM sqlite_master WHERE name = 'entries'";
        let is_made: bool = connection.query_row(sql, [], |row| row.get(0))?;
        if !is_made {
            return Err(not_whole(path, "has no entries at all".to_owned()));
        }
        Ok(LedgerView {
            chain: read_chain(&connection, path, signatures)?,
            fingerprint_key: fingerprint_key(&connection)?,
        })
    }

    /// What it says now.
    ///
    /// # Errors
    /// If the key of its fingerprints can not be read.
    pub fn to_view(&self) -> Result<LedgerView, StoreError> {
        Ok(LedgerView {
            chain: self.chain.clone(),
            fingerprint_key: fingerprint_key(&self.connection)?,
        })
    }

    /// Every study and fit, in the order in which they were entered.
    ///
    /// # Errors
    /// Never now: they were read when the ledger was opened.
    pub fn lines(&self) -> Result<Vec<LifetimeLine>, StoreError> {
        Ok(self.chain.lines.clone())
    }

    pub(crate) fn known(&self) -> &[LifetimeLine] {
        &self.chain.lines
    }

    /// What no total may pass, if a limit was set.
    #[must_use]
    pub const fn limit(&self) -> Option<Cost> {
        self.chain.limit
    }

    /// How far the client's own record of `study` was when it last sent something.
    ///
    /// # Errors
    /// Never now: it was read when the ledger was opened.
    pub fn answered(&self, study: &str) -> Result<u64, StoreError> {
        Ok(self.chain.answered.get(study).copied().unwrap_or(0))
    }

    /// The cost of all studies of this kind but `study`.
    ///
    /// # Errors
    /// Never now: it was read when the ledger was opened.
    pub fn spent_elsewhere(&self, study: &str, kind: &CostKind) -> Result<Cost, StoreError> {
        let others = self.known().iter().filter(|line| line.study != study);
        Ok(total(others, kind).cost)
    }

    /// Counts what the client's own record of `study` has now; never less than before.
    ///
    /// # Errors
    /// If it could not be made durable. Nothing may be sent then.
    pub fn count(&mut self, study: &str, entries: u64) -> Result<(), StoreError> {
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
        self.append(Event::Reserved(Reservation {
            study: line.study.clone(),
            work: line.work,
            title: line.title.clone(),
            kind: line.kind.clone(),
            protection: line.protection,
            cost: line.cost,
            data: line.data.clone(),
        }))
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
    /// If it could not be made durable.
    pub fn settle(&mut self, study: &str, cost: Cost) -> Result<(), StoreError> {
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

    /// What names this ledger.
    pub(crate) fn id(&self) -> Digest {
        self.chain.id()
    }

    /// A name that no other fit in this ledger has.
    pub(crate) fn name_of_next_fit(&self) -> String {
        let hash = Sha256::new_with_prefix(b"sprifed: local fit").chain_update(self.chain.head().0);
        Digest(hash.finalize().into()).to_string()
    }

    fn is_open(&self, study: &str) -> bool {
        self.chain.line(study).is_some_and(|line| !line.is_settled)
    }

    /// The first entry, and the key of fingerprints: derived from what only the owner of the ledger can make.
    fn begin(&mut self) -> Result<(), StoreError> {
        let secret = self
            .signer
            .sign_statement("ledger fingerprint key", &[0; 32]);
        let key: [u8; 32] = Sha256::digest(secret).into();
        let sql = "INSERT INTO fingerprint (one, key) VALUES (1, ?1) ON CONFLICT DO NOTHING";
        self.connection.execute(sql, params![key])?;
        self.append(opened(now().nanosecond()))
    }

    fn append(&mut self, event: Event) -> Result<(), StoreError> {
        let signed = self.chain.next(event, words_of(now()), &self.signer);
        let mut longer = self.chain.clone();
        longer
            .append(signed.clone())
            .map_err(|problem| not_whole(&self.path, format!("would be broken: {problem}")))?;
        let sql = "INSERT INTO entries (number, entry, signature) VALUES (?1, ?2, ?3)";
        let number = i64::try_from(self.chain.len()).unwrap_or(i64::MAX);
        let signature = signed.signature.to_string();
        self.connection
            .execute(sql, params![number, signed.entry.get(), signature])?;
        self.chain = longer;
        witness::note(&self.path, &self.chain)
    }
}

impl LedgerView {
    /// Every study and fit, in the order in which they were entered.
    #[must_use]
    pub fn lines(&self) -> &[LifetimeLine] {
        &self.chain.lines
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

    /// What names the ledger: the digest of its first entry.
    #[must_use]
    pub fn id(&self) -> Digest {
        self.chain.id()
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

fn read_chain(
    connection: &Connection,
    path: &Path,
    signatures: Signatures,
) -> Result<Chain, StoreError> {
    let mut statement =
        connection.prepare("SELECT entry, signature FROM entries ORDER BY number")?;
    let rows = statement.query_map([], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
    })?;
    let mut entries = Vec::new();
    for row in rows {
        let (entry, signature) = row?;
        let number = entries.len();
        let damaged = || not_whole(path, format!("is damaged: entry {number} is no entry"));
        entries.push(SignedEntry {
            entry: RawValue::from_string(entry).map_err(|_| damaged())?,
            signature: Signature::try_from(signature).map_err(|_| damaged())?,
        });
    }
    let chain = Chain::of(entries, signatures)
        .map_err(|problem| not_whole(path, format!("is damaged: {problem}")))?;
    witness::require_all(path, &chain)?;
    Ok(chain)
}

fn fingerprint_key(connection: &Connection) -> Result<[u8; 32], StoreError> {
    let key = connection.query_row("SELECT key FROM fingerprint", [], |row| row.get(0));
    Ok(key.optional()?.unwrap_or([0; 32]))
}

pub(crate) fn not_whole(path: &Path, problem: String) -> StoreError {
    StoreError::Ledger {
        path: path.to_owned(),
        problem,
        help: "restore the ledger as it was last, from a copy that is not older; nothing was spent now",
    }
}

fn now() -> OffsetDateTime {
    OffsetDateTime::from(SystemTime::now())
}

/// A moment as `2026-01-31T23:59:59Z`.
pub(crate) fn words_of(moment: OffsetDateTime) -> String {
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
pub(crate) fn words_of_now() -> String {
    words_of(now())
}
