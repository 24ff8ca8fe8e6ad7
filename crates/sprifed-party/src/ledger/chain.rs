//! Entries that name the one before, each signed, and what they say together.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};
use sprifed_secure_sum::{IdentityKey, is_signed_statement};
use sprifed_study::{Digest, Signature};

use super::{Cost, CostKind, DataSet, LifetimeLine, Protection, Standing, Work};

/// What signatures of entries are over.
const ENTRY: &str = "ledger entry";

/// The format and version of an entry.
const FORMAT: &str = "sprifed-ledger-1";

/// What an entry says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// The ledger begins.
    Opened {
        /// Which format this is.
        format: String,
        /// The nanoseconds of the moment, so that no two ledgers begin alike.
        nanosecond: u32,
    },
    /// The most that a study can cost is set aside before a record is read.
    Reserved(Reservation),
    /// So many entries of a study's own journal stand for something that may have been sent.
    Counted {
        /// Which study.
        study: String,
        /// How long the journal is.
        entries: u64,
    },
    /// A study is over and has cost this.
    Settled {
        /// Which study.
        study: String,
        /// What it did cost.
        cost: Cost,
    },
    /// The party has left a study, which has cost this.
    Left {
        /// Which study.
        study: String,
        /// What it did cost.
        cost: Cost,
    },
    /// Nothing was sent: what was set aside is free again.
    Withdrawn {
        /// Which study.
        study: String,
    },
    /// From here on no total may pass this.
    Limited {
        /// The most that a total may be.
        limit: Cost,
    },
    /// The ledger before this one is lost. What is known of it is carried over.
    Restarted {
        /// What named the lost one, if that could be read.
        replaces: Option<Digest>,
    },
    /// A study or fit of the lost ledger, with what it has cost or can cost at most. A study is left by this.
    CarriedOver(Reservation),
}

/// What is set aside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reservation {
    /// Which study or fit: a digest.
    pub study: String,
    /// Which of both.
    pub work: Work,
    /// What it is called.
    pub title: String,
    /// What the cost is about.
    pub kind: CostKind,
    /// Whether the cost means anything.
    pub protection: Protection,
    /// The most it can cost.
    pub cost: Cost,
    /// Over which records.
    pub data: Option<DataSet>,
}

impl Reservation {
    /// What a line says when it is entered.
    pub(crate) fn of(line: &LifetimeLine) -> Self {
        Self {
            study: line.study.clone(),
            work: line.work,
            title: line.title.clone(),
            kind: line.kind,
            protection: line.protection,
            cost: line.cost,
            data: line.data.clone(),
        }
    }

    fn into_line(self, standing: Standing) -> LifetimeLine {
        LifetimeLine {
            study: self.study,
            work: self.work,
            title: self.title,
            kind: self.kind,
            protection: self.protection,
            cost: self.cost,
            data: self.data,
            standing,
        }
    }
}

/// One entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    pub(crate) number: u64,
    /// When it was made, in Coordinated Universal Time.
    pub(crate) time: String,
    /// The digest of the entry before; zeros for the first.
    pub(crate) previous: Digest,
    /// The identity key of the writer.
    pub(crate) signer: Digest,
    pub(crate) event: Event,
}

/// An entry as it was written, letter for letter, and its signature.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SignedEntry {
    pub(crate) entry: Box<RawValue>,
    pub(crate) signature: Signature,
}

/// Why a chain is not to be believed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("entry {number} {problem}")]
pub struct ChainProblem {
    /// Which entry is the first that is wrong.
    pub number: u64,
    /// What is wrong with it.
    pub problem: String,
}

/// Which signatures are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signatures {
    All,
    /// That of the last entry, which names all before it.
    Last,
}

/// What the entries so far say.
#[derive(Debug, Clone, Default)]
pub(crate) struct Chain {
    pub(crate) entries: Vec<SignedEntry>,
    digests: Vec<Digest>,
    pub(crate) lines: Vec<LifetimeLine>,
    pub(crate) answered: BTreeMap<String, u64>,
    pub(crate) limit: Option<Cost>,
    /// Whether it took the place of a lost ledger.
    pub(crate) is_restarted: bool,
    /// What named that one, if it could be read.
    pub(crate) replaces: Option<Digest>,
    pub(crate) signers: BTreeSet<Digest>,
}

impl SignedEntry {
    fn digest(&self) -> Digest {
        let hash = Sha256::new_with_prefix(b"sprifed: ledger entry").chain_update(self.entry.get());
        Digest(hash.finalize().into())
    }
}

/// The event with which a ledger begins.
pub(crate) fn opened(nanosecond: u32) -> Event {
    Event::Opened {
        format: FORMAT.to_owned(),
        nanosecond,
    }
}

impl Chain {
    /// The chain of these entries, if each follows from those before it.
    pub(crate) fn of(
        entries: impl IntoIterator<Item = SignedEntry>,
        signatures: Signatures,
    ) -> Result<Self, ChainProblem> {
        let mut chain = Self::default();
        let mut last = None;
        for signed in entries {
            let entry = chain.check(&signed)?;
            if signatures == Signatures::All {
                check_signature(&entry, &signed)?;
            }
            last = Some(entry.clone());
            chain.add(signed, entry)?;
        }
        if let (Some(entry), Some(signed)) = (&last, chain.entries.last()) {
            check_signature(entry, signed)?;
        }
        Ok(chain)
    }

    /// What these entries say that are signed, each by itself: an entry counts even if one before it cannot be read.
    /// Also says how many those are.
    pub(crate) fn salvage(
        entries: impl IntoIterator<Item = SignedEntry>,
        signer: &IdentityKey,
    ) -> (Self, u64) {
        let mut chain = Self::default();
        let mut used = 0;
        // Both first, so that whatever can be read may follow.
        let mut events = vec![opened(0), Event::Restarted { replaces: None }];
        for signed in entries {
            let entry = serde_json::from_str(signed.entry.get());
            let entry = entry
                .ok()
                .filter(|entry| check_signature(entry, &signed).is_ok());
            used += u64::from(entry.is_some());
            events.extend(entry.map(|entry: Entry| entry.event));
        }
        for event in events {
            // What does not follow, as the end of a study whose beginning is lost, adds nothing.
            let _ = chain.append(chain.next(event, String::new(), signer));
        }
        (chain, used)
    }

    /// What names the ledger that begins with `entry`, if that can be read.
    pub(crate) fn id_of(entry: &SignedEntry) -> Option<Digest> {
        let mut chain = Self::default();
        chain.append(entry.clone()).ok().map(|()| chain.id())
    }

    /// How many entries there are.
    pub(crate) const fn len(&self) -> u64 {
        self.entries.len() as u64
    }

    /// The digest of the last entry; zeros if there is none.
    pub(crate) fn head(&self) -> Digest {
        self.digests.last().copied().unwrap_or(Digest([0; 32]))
    }

    /// What names this ledger: the digest of its first entry.
    pub(crate) fn id(&self) -> Digest {
        self.digests.first().copied().unwrap_or(Digest([0; 32]))
    }

    /// The digest of the last of the first `n` entries.
    pub(crate) fn head_after(&self, n: u64) -> Option<Digest> {
        let last = usize::try_from(n).ok()?.checked_sub(1)?;
        self.digests.get(last).copied()
    }

    /// The line of a study, unless it was withdrawn.
    pub(crate) fn line(&self, study: &str) -> Option<&LifetimeLine> {
        self.lines.iter().find(|line| line.study == study)
    }

    /// A next entry, signed; it is not part of the chain before it is [added](Self::append).
    pub(crate) fn next(&self, event: Event, time: String, signer: &IdentityKey) -> SignedEntry {
        let entry = Entry {
            number: self.len(),
            time,
            previous: self.head(),
            signer: Digest(signer.public()),
            event,
        };
        // Text and finite numbers: there is nothing that JSON could not hold.
        let entry = serde_json::value::to_raw_value(&entry).unwrap_or_default();
        let mut signed = SignedEntry {
            entry,
            signature: Signature([0; 64]),
        };
        signed.signature = Signature(signer.sign_statement(ENTRY, &signed.digest().0));
        signed
    }

    /// Adds an entry, if it follows.
    pub(crate) fn append(&mut self, signed: SignedEntry) -> Result<(), ChainProblem> {
        let entry = self.check(&signed)?;
        check_signature(&entry, &signed)?;
        self.add(signed, entry)
    }

    /// The entry, if its number and what it names before it are right.
    fn check(&self, signed: &SignedEntry) -> Result<Entry, ChainProblem> {
        let number = self.len();
        let wrong = |problem: String| ChainProblem { number, problem };
        let entry: Entry = serde_json::from_str(signed.entry.get())
            .map_err(|error| wrong(format!("cannot be read: {error}")))?;
        if entry.number != number {
            return Err(wrong(format!("has the number {}", entry.number)));
        }
        if entry.previous != self.head() {
            return Err(wrong(
                "does not follow the entry before it: one was changed, removed or put in"
                    .to_owned(),
            ));
        }
        Ok(entry)
    }

    fn add(&mut self, signed: SignedEntry, entry: Entry) -> Result<(), ChainProblem> {
        let number = entry.number;
        self.apply(entry.event)
            .map_err(|problem| ChainProblem { number, problem })?;
        self.signers.insert(entry.signer);
        self.digests.push(signed.digest());
        self.entries.push(signed);
        Ok(())
    }

    fn apply(&mut self, event: Event) -> Result<(), String> {
        match (event, self.entries.is_empty()) {
            (Event::Opened { format, .. }, true) if format == FORMAT => Ok(()),
            (Event::Opened { format, .. }, true) => {
                Err(format!("has the format {format:?}; {FORMAT:?} is required"))
            }
            (_, true) => Err("is the first and does not begin a ledger".to_owned()),
            (Event::Opened { .. }, false) => Err("begins a ledger inside another".to_owned()),
            (Event::Reserved(reservation), _) => self.enter(reservation, Standing::Reserved),
            (Event::Restarted { replaces }, _) => {
                if self.len() != 1 {
                    return Err("restarts a ledger that has begun".to_owned());
                }
                self.is_restarted = true;
                self.replaces = replaces;
                Ok(())
            }
            (Event::CarriedOver(_), _) if !self.is_restarted => {
                Err("is carried over into a ledger that was not restarted".to_owned())
            }
            (Event::CarriedOver(carried), _) => {
                let standing = match carried.work {
                    Work::Study => Standing::Left,
                    Work::Fit => Standing::Settled,
                };
                self.enter(carried, standing)
            }
            (Event::Counted { study, entries }, _) => {
                self.known(&study)?;
                let counted = self.answered.entry(study).or_default();
                if entries <= *counted {
                    return Err(format!("counts {entries} after {counted}"));
                }
                *counted = entries;
                Ok(())
            }
            (Event::Settled { study, cost }, _) => self.close(&study, cost, Standing::Settled),
            (Event::Left { study, cost }, _) => self.close(&study, cost, Standing::Left),
            (Event::Withdrawn { study }, _) => {
                if self.known(&study)?.is_settled() {
                    return Err(format!("withdraws {study}, which is settled"));
                }
                self.lines.retain(|line| line.study != study);
                self.answered.remove(&study);
                Ok(())
            }
            (Event::Limited { limit }, _) => {
                self.limit = Some(limit);
                Ok(())
            }
        }
    }

    fn close(&mut self, study: &str, cost: Cost, standing: Standing) -> Result<(), String> {
        let line = self.known(study)?;
        if line.is_settled() {
            return Err(format!("settles {study} a second time"));
        }
        line.cost = cost;
        line.standing = standing;
        Ok(())
    }

    fn enter(&mut self, reservation: Reservation, standing: Standing) -> Result<(), String> {
        if self.line(&reservation.study).is_some() {
            return Err(format!("reserves {} a second time", reservation.study));
        }
        self.lines.push(reservation.into_line(standing));
        Ok(())
    }

    fn known(&mut self, study: &str) -> Result<&mut LifetimeLine, String> {
        let line = self.lines.iter_mut().find(|line| line.study == study);
        line.ok_or_else(|| format!("is about {study}, for which nothing is reserved"))
    }
}

fn check_signature(entry: &Entry, signed: &SignedEntry) -> Result<(), ChainProblem> {
    let digest = signed.digest();
    if is_signed_statement(&entry.signer.0, ENTRY, &digest.0, &signed.signature.0) {
        return Ok(());
    }
    Err(ChainProblem {
        number: entry.number,
        problem: format!("is not signed with the key {} that it names", entry.signer),
    })
}
