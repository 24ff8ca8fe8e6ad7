//! Whether a party takes part in a study, decided in one place before a record is touched.
//!
//! ```text
//! invitation ─▶ seat, rehearsal, derivation, terms ─▶ ledger: own, whole, not left ─▶ policy, limit ─▶ state still there
//!               └────────── look: everything that stands against it, nothing is written ──────────────────────┘
//!               └────────── apply: the first of these as an error, or the open ledger ─▶ enter ───────────────┘
//! ```

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sprifed_noise::Provenance;
use sprifed_secure_sum::{ClientId, IdentityKey};
use sprifed_study::{Agreed, Derivation, Digest, Forbidden, PartyKey, Policy};

use crate::error::PartyError;
use crate::folder::{PartyFolder, StudyFolder};
use crate::ledger::{
    Bound, Cost, LedgerPlace, LedgerView, LifetimeLedger, LifetimeLine, Protection, has_left,
    look_for_ledger,
};
use crate::private_files::is_there;
use crate::store::{Entropy, PartyStore};
use crate::terms::terms_of;

#[cfg(test)]
mod tests;

/// What a party brings to a study.
#[derive(Clone, Copy, Debug)]
pub struct Application<'a> {
    /// The party's folder.
    pub party: &'a PartyFolder,
    /// What the coordinator signed.
    pub agreed: &'a Arc<Agreed>,
    /// The party's key.
    pub identity: &'a IdentityKey,
    /// Where the party keeps its part of the study.
    pub folder: &'a StudyFolder,
    /// The file of its state in that folder.
    pub state: &'a Path,
    /// Its table.
    pub data: &'a Path,
    /// The table that is joined to it.
    pub phenotypes: Option<&'a Path>,
    /// The ledger that accounts for the table.
    pub ledger: &'a LedgerPlace,
    /// Other ledgers that may account for it.
    pub other_ledgers: &'a [PathBuf],
    /// A policy in the place of the one in the party's folder.
    pub policy: Option<&'a Path>,
    /// Whether the mark beside the table is renewed for a party that is known, too. It hashes the table.
    pub marks_again: bool,
}

/// What is decided about a party that wants to take part.
#[derive(Clone, Debug)]
pub struct Admission {
    /// The party's seat.
    pub me: ClientId,
    /// What the party agrees to.
    pub policy: Policy,
    /// All columns that the study reads, the response included.
    pub columns: Vec<String>,
    /// What the party's other studies of the same kind have cost.
    pub spent_elsewhere: Cost,
    /// How many studies of the party had simulated noise.
    pub n_unprotected: usize,
    /// Whether the study is in the ledger.
    pub is_known: bool,
    /// The study in the ledger, if the party's part in it has ended.
    pub ended: Option<LifetimeLine>,
    /// Everything that stands against taking part, the most important first.
    pub obstacles: Vec<PartyError>,
}

/// A party that takes part, with the open ledger: no other study is entered meanwhile.
#[derive(Debug)]
pub struct Admitted<'a> {
    /// What was decided; nothing stands against it.
    pub admission: Admission,
    application: Application<'a>,
    ledger: LifetimeLedger,
}

/// What is known without the ledger.
struct Papers {
    me: ClientId,
    own: Digest,
    policy: Policy,
    columns: Vec<String>,
    obstacles: Vec<PartyError>,
}

impl<'a> Application<'a> {
    /// Decides without writing anything, and says everything that stands against taking part.
    ///
    /// # Errors
    /// If it cannot be decided: the party is not invited, its policy cannot be read, or the ledger is lost, not whole
    /// or not the one of the table.
    pub fn look(&self) -> Result<Admission, PartyError> {
        let papers = self.papers()?;
        let view = look_for_ledger(self.ledger.folder(), &self.homes())?;
        self.decide(papers, &view.unwrap_or_default())
    }

    /// Decides, and keeps the ledger open for a party that takes part.
    ///
    /// # Errors
    /// As [`look`](Self::look); with the most important obstacle, if there is one.
    pub fn apply(self) -> Result<Admitted<'a>, PartyError> {
        let mut papers = self.papers()?;
        // Before a ledger is made.
        if !papers.obstacles.is_empty() {
            return Err(papers.obstacles.swap_remove(0));
        }
        let ledger = self.ledger.open_for(&self.homes())?;
        let mut admission = self.decide(papers, &ledger)?;
        if admission.obstacles.is_empty() {
            return Ok(Admitted {
                admission,
                application: self,
                ledger,
            });
        }
        Err(admission.obstacles.swap_remove(0))
    }

    /// Takes back what [`Admitted::enter`] reserved, for a party that has sent nothing.
    ///
    /// # Errors
    /// If the ledger cannot be written.
    pub fn withdraw(&self) -> Result<(), PartyError> {
        let mut ledger = self.ledger.open()?;
        ledger.withdraw(&self.agreed.digest().to_string())?;
        // Nothing was sent: what lies there is no study.
        let _ = std::fs::remove_dir_all(self.folder.path());
        Ok(())
    }

    /// Where studies of this party may lie that the ledger must know.
    fn homes(&self) -> Vec<PathBuf> {
        let mut homes = self.party.homes();
        homes.extend(self.folder.path().parent().map(Path::to_owned));
        homes
    }

    /// The party's seat in the study.
    ///
    /// # Errors
    /// If it is not invited.
    pub fn seat(&self) -> Result<ClientId, PartyError> {
        let identity = Digest(self.identity.public());
        let seat = self.agreed.place_of(&identity);
        seat.ok_or(PartyError::NotInvited { identity })
    }

    fn papers(&self) -> Result<Papers, PartyError> {
        let agreement = self.agreed.agreement();
        let (me, own) = (self.seat()?, Digest(self.identity.public()));
        let public = self.party.public()?;
        let mut obstacles = Vec::new();
        if public.simulated && agreement.noise != Provenance::Simulated {
            obstacles.push(PartyError::RehearsalKey);
        }
        if let Err(problem) = Derivation::begin(Arc::clone(self.agreed)) {
            obstacles.push(PartyError::Underivable(problem));
        }
        let seat = agreement.parties.get(me.0 as usize);
        let other_seat = seat.and_then(|seat| public.refuses(seat, agreement.plan.unit));
        obstacles.extend(other_seat.map(|problem| PartyError::OtherSeat { problem }));
        Ok(Papers {
            me,
            own,
            policy: self.party.read_policy(self.policy, &own)?,
            columns: terms_of(agreement)?.columns(),
            obstacles,
        })
    }

    fn decide(&self, papers: Papers, view: &LedgerView) -> Result<Admission, PartyError> {
        for table in self.phenotypes.into_iter().chain([self.data]) {
            self.ledger.require_own(view, table, self.other_ledgers)?;
        }
        let Papers {
            me,
            own,
            policy,
            columns,
            mut obstacles,
        } = papers;
        let study = self.agreed.digest().to_string();
        let stored = self.folder.look_into()?.unwrap_or_default();
        let line = view.line(&study);
        let ended = line.filter(|line| line.is_settled() || stored.end.is_some());
        if view.has_left(&study) {
            obstacles.push(has_left(&self.ledger.file()).into());
        } else if stored.has_left() {
            let path = self.folder.database();
            obstacles.push(PartyError::Left { path });
        }
        let (assessment, violations) = view.assess(&policy, self.agreed, own, &columns);
        if !violations.is_empty() {
            obstacles.push(PartyError::Forbidden(Forbidden { violations }));
        }
        let is_known = assessment.is_known;
        if !is_known {
            let over = view.within_limit(&LifetimeLine::of(self.agreed)).err();
            obstacles.extend(over.map(PartyError::OverLimit));
        } else if !is_there(self.state) {
            // Without it the party would answer sums a second time (THREAT_MODEL.md, A11).
            let path = self.state.to_owned();
            obstacles.push(PartyError::StateLost { path });
        }
        let is_unprotected = |line: &&LifetimeLine| line.protection == Protection::Unprotected;
        Ok(Admission {
            me,
            policy,
            columns,
            spent_elsewhere: assessment.spent_elsewhere,
            n_unprotected: view.lines().iter().filter(is_unprotected).count(),
            is_known,
            ended: ended.cloned(),
            obstacles,
        })
    }
}

impl Admitted<'_> {
    /// Makes the state of a party that is new, and reserves the most that the study can cost. First the state, then the
    /// ledger: a party that the ledger knows and that has no state has lost it.
    ///
    /// `seed` is that of a rehearsal. Says how the table is bound to the ledger, if it was looked at.
    ///
    /// # Errors
    /// If the secret of a known party is gone, the seed does not fit the study, or the disk refuses. No record may be
    /// opened then.
    pub fn enter(
        mut self,
        store: &mut dyn PartyStore,
        seed: Option<u64>,
        entropy: Entropy,
    ) -> Result<Option<Bound>, PartyError> {
        let Application {
            agreed,
            data,
            phenotypes,
            ledger: place,
            other_ledgers,
            marks_again,
            ..
        } = self.application;
        let is_known = self.admission.is_known;
        // The secret of a study that is over was erased, and is not needed any more.
        if !store.is_over()? {
            create(store, agreed, is_known, seed, entropy)?;
        }
        let bound = if is_known && !marks_again {
            None
        } else {
            let bind = |table| place.bind(&self.ledger, table, other_ledgers);
            let second = phenotypes.map(bind).transpose()?;
            let first = bind(data)?;
            Some(match second {
                Some(second) => first.joined_with(second),
                None => first,
            })
        };
        if let (Some(bound), false) = (&bound, is_known) {
            let line = LifetimeLine::of(agreed).over(bound.data.clone());
            self.ledger.reserve(&line)?;
        }
        store.begin()?;
        Ok(bound)
    }
}

/// Makes the state of a new party; of a known one it must be there.
fn create(
    store: &mut dyn PartyStore,
    agreed: &Agreed,
    is_known: bool,
    seed: Option<u64>,
    entropy: Entropy,
) -> Result<(), PartyError> {
    match (agreed.agreement().noise, seed) {
        (Provenance::Simulated, None) => Err(PartyError::NoSeed),
        (Provenance::Cryptographic, Some(_)) => Err(PartyError::SeedGiven),
        (Provenance::Simulated, Some(_)) if is_known => Ok(()),
        (Provenance::Simulated, Some(_)) => store.create(None),
        (Provenance::Cryptographic, None) if store.secret()?.is_some() => Ok(()),
        // With new masks, old confirmations would count for a second vector of the same sum (THREAT_MODEL.md, A12).
        (Provenance::Cryptographic, None) if is_known => Err(PartyError::StateLost {
            path: store.secret_path(),
        }),
        (Provenance::Cryptographic, None) => {
            let key = PartyKey::assume_fresh_entropy(entropy()?).split(agreed.n_steps());
            store.create(key.to_stored().as_ref().map(|text| text.as_str()))
        }
    }
}
