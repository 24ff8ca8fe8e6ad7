//! Whether a trustee serves a study, decided in one place before it sends anything.

use sprifed_noise::Provenance;
use sprifed_secure_sum::IdentityKey;
use sprifed_study::{Agreed, Digest, Forbidden, TrusteeEntry, TrusteePolicy};
use sprifed_trustees::TrusteeId;

use super::folder::TrusteeFolder;
use crate::error::PartyError;
use crate::folder::StudyFolder;
use crate::ledger::today;
use crate::private_files::is_there;

/// What a trustee brings to a study.
#[derive(Clone, Copy, Debug)]
pub struct TrusteeApplication<'a> {
    /// The trustee's folder.
    pub trustee: &'a TrusteeFolder,
    /// What the coordinator signed.
    pub agreed: &'a Agreed,
    /// The trustee's key.
    pub identity: &'a IdentityKey,
    /// Where the trustee keeps its part of the study.
    pub folder: &'a StudyFolder,
}

/// What is decided about a trustee that is asked to serve.
#[derive(Clone, Debug)]
pub struct TrusteeAdmission {
    /// Which of the three it is.
    pub me: TrusteeId,
    /// What it agrees to.
    pub policy: TrusteePolicy,
    /// Whether it has served the study before.
    pub is_known: bool,
    /// Everything that stands against serving, the most important first.
    pub obstacles: Vec<PartyError>,
}

impl TrusteeApplication<'_> {
    /// Decides without writing anything, and says everything that stands against serving.
    ///
    /// # Errors
    /// If it cannot be decided: the trustee is not invited, or its policy cannot be read.
    pub fn look(&self) -> Result<TrusteeAdmission, PartyError> {
        let own = Digest(self.identity.public());
        let (me, entry) = self.seat()?;
        let policy = self.trustee.read_policy()?;
        let public = self.trustee.public()?;
        let is_known = is_there(&self.folder.begun());
        let mut obstacles = Vec::new();
        if public.simulated && self.agreed.agreement().noise != Provenance::Simulated {
            obstacles.push(PartyError::RehearsalKey);
        }
        if entry.name != public.trustee.name {
            let (found, required) = (&entry.name, &public.trustee.name);
            let problem = format!("the study calls it {found:?}, but its name is {required:?}");
            obstacles.push(PartyError::OtherSeat { problem });
        }
        let violations = policy.violations(self.agreed, &own, today());
        if !violations.is_empty() {
            obstacles.push(PartyError::Forbidden(Forbidden { violations }));
        }
        if is_known && !is_there(&self.folder.database()) {
            // Without it the trustee would open steps a second time (THREAT_MODEL.md, A17).
            let path = self.folder.database();
            obstacles.push(PartyError::StateLost { path });
        } else if !is_known && !public.simulated && !self.trustee.has_study_key(self.folder, entry)
        {
            let folder = self.trustee.offers();
            obstacles.push(PartyError::OtherStudyKey { folder });
        }
        Ok(TrusteeAdmission {
            me,
            policy,
            is_known,
            obstacles,
        })
    }

    /// Decides for a trustee that serves.
    ///
    /// # Errors
    /// As [`look`](Self::look); with the most important obstacle, if there is one.
    pub fn apply(&self) -> Result<TrusteeAdmission, PartyError> {
        let mut admission = self.look()?;
        if admission.obstacles.is_empty() {
            return Ok(admission);
        }
        Err(admission.obstacles.swap_remove(0))
    }

    /// Which of the three it is, and what the agreement says of it.
    ///
    /// # Errors
    /// If it is none of them.
    pub fn seat(&self) -> Result<(TrusteeId, &TrusteeEntry), PartyError> {
        let identity = Digest(self.identity.public());
        let trustees = self.agreed.agreement().trustees.iter().flatten();
        let mut seats = TrusteeId::ALL.into_iter().zip(trustees);
        let seat = seats.find(|(_, entry)| entry.identity == identity);
        seat.ok_or(PartyError::NotInvited { identity })
    }
}
