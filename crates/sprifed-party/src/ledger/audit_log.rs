//! A ledger as a file that any reader can check: every entry with its signature, and the totals at the end.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};
use sprifed_secure_sum::{IdentityKey, is_signed_statement};
use sprifed_study::{Digest, Signature};

use super::chain::{Chain, Signatures, SignedEntry};
use super::stored::text_of_now;
use super::{ChainProblem, LedgerPlace, LedgerView, LifetimeLine, LifetimeTotal, totals_of};
use crate::database::StoreError;

/// What the signature of the last line is over.
const CLOSING: &str = "ledger log";

/// A log that was checked: chain, signatures and totals.
#[derive(Debug, Clone)]
pub struct AuditLog {
    chain: Chain,
    closing: Closing,
}

/// Why a log is not to be believed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LogProblem {
    /// A line is no JSON of the right kind.
    #[error("line {line} cannot be read: {problem}")]
    Unreadable {
        /// Which line, counted from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// An entry is wrong.
    #[error(transparent)]
    Chain(#[from] ChainProblem),
    /// The last line is missing or does not fit.
    #[error("the closing line {0}")]
    Closing(String),
    /// An entry is signed by a key that was not expected.
    #[error("an entry is signed with the key {found}, which is none of those that were given")]
    OtherSigner {
        /// By which key.
        found: Digest,
    },
}

/// What the last line says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Closing {
    entries: u64,
    head: Digest,
    /// When the log was written.
    time: String,
    signer: Digest,
    totals: Vec<LifetimeTotal>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SignedClosing {
    closing: Box<RawValue>,
    signature: Signature,
}

impl LedgerView {
    /// The log of this ledger: one line of JSON for each entry, and a closing line with the totals, signed by
    /// `signer`.
    #[must_use]
    pub fn to_log(&self, signer: &IdentityKey) -> String {
        let mut text = String::new();
        for entry in &self.chain.entries {
            // Text and numbers: there is nothing that JSON could not hold.
            text += &serde_json::to_string(entry).unwrap_or_default();
            text.push('\n');
        }
        let closing = Closing {
            entries: self.chain.len(),
            head: self.chain.head(),
            time: text_of_now(),
            signer: Digest(signer.public()),
            totals: totals_of(&self.chain.lines),
        };
        let closing = serde_json::value::to_raw_value(&closing).unwrap_or_default();
        let signature = signer.sign_statement(CLOSING, &digest_of(&closing));
        let signed = SignedClosing {
            closing,
            signature: Signature(signature),
        };
        text += &serde_json::to_string(&signed).unwrap_or_default();
        text.push('\n');
        text
    }
}

impl LedgerPlace {
    /// The log of the ledger here, with all its signatures checked.
    ///
    /// # Errors
    /// If the ledger is not whole, or cannot be read.
    pub fn to_log(&self) -> Result<String, StoreError> {
        let view = super::LifetimeLedger::examine(&self.file())?;
        Ok(view.to_log(self.signer()))
    }
}

impl AuditLog {
    /// Reads and checks a log; if `keys` are given, every signature must be by one of them.
    ///
    /// # Errors
    /// With the first thing that is wrong.
    pub fn read(text: &str, keys: &[Digest]) -> Result<Self, LogProblem> {
        let lines: Vec<&str> = text.lines().collect();
        let unreadable = |line: usize, error: &serde_json::Error| LogProblem::Unreadable {
            line: line + 1,
            problem: error.to_string(),
        };
        let Some((last, entries)) = lines.split_last() else {
            return Err(LogProblem::Closing(
                "is missing: the log is empty".to_owned(),
            ));
        };
        let mut signed: Vec<SignedEntry> = Vec::with_capacity(entries.len());
        for (number, line) in entries.iter().enumerate() {
            let entry = serde_json::from_str(line).map_err(|error| unreadable(number, &error))?;
            signed.push(entry);
        }
        let chain = Chain::of(signed, Signatures::All)?;
        let closing = if serde_json::from_str::<SignedEntry>(last).is_ok() {
            return Err(LogProblem::Closing(
                "is missing: the end of the log was cut off".to_owned(),
            ));
        } else {
            let closing: SignedClosing =
                serde_json::from_str(last).map_err(|error| unreadable(entries.len(), &error))?;
            closing.check(&chain)?
        };
        let log = Self { chain, closing };
        let stranger = log
            .signers()
            .find(|signer| !keys.is_empty() && !keys.contains(signer));
        match stranger {
            Some(found) => Err(LogProblem::OtherSigner { found }),
            None => Ok(log),
        }
    }

    /// How many entries it has.
    #[must_use]
    pub const fn n_entries(&self) -> u64 {
        self.chain.len()
    }

    /// When it was written.
    #[must_use]
    pub fn time(&self) -> &str {
        &self.closing.time
    }

    /// What names the ledger, and the digest of its last entry.
    #[must_use]
    pub fn ends(&self) -> (Digest, Digest) {
        (self.chain.id(), self.chain.head())
    }

    /// Whether the ledger took the place of one that was lost.
    #[must_use]
    pub const fn is_restarted(&self) -> bool {
        self.chain.is_restarted
    }

    /// Every study and fit.
    #[must_use]
    pub fn lines(&self) -> &[LifetimeLine] {
        &self.chain.lines
    }

    /// The keys that signed something in it.
    pub fn signers(&self) -> impl Iterator<Item = Digest> + '_ {
        let mut signers = self.chain.signers.clone();
        signers.insert(self.closing.signer);
        signers.into_iter()
    }
}

impl SignedClosing {
    fn check(&self, chain: &Chain) -> Result<Closing, LogProblem> {
        let wrong = |problem: String| LogProblem::Closing(problem);
        let closing: Closing = serde_json::from_str(self.closing.get())
            .map_err(|error| wrong(format!("cannot be read: {error}")))?;
        let digest = digest_of(&self.closing);
        if !is_signed_statement(&closing.signer.0, CLOSING, &digest, &self.signature.0) {
            let signer = closing.signer;
            return Err(wrong(format!(
                "is not signed with the key {signer} that it names"
            )));
        }
        if (closing.entries, closing.head) != (chain.len(), chain.head()) {
            return Err(wrong(format!(
                "is of {} entries, but {} are here: some were cut off or put in",
                closing.entries,
                chain.len()
            )));
        }
        if totals_of(&chain.lines) != closing.totals {
            return Err(wrong(
                "states other totals than the entries add up to".to_owned(),
            ));
        }
        Ok(closing)
    }
}

fn digest_of(closing: &RawValue) -> [u8; 32] {
    let hash = Sha256::new_with_prefix(b"sprifed: ledger log").chain_update(closing.get());
    hash.finalize().into()
}
