//! How a trustee ends a study because a proof or an opening does not fit.

use super::{Attempt, Ending, Refused};
use crate::book::JournalLine;
use crate::deviation::{Deviation, Finding};
use crate::message::Body;
use crate::set::Statement;
use crate::trustee_id::TrusteeId;

impl Attempt {
    /// Ends the study because of what this trustee found.
    pub(super) fn refuse(&mut self, deviation: Deviation) -> Result<(), Refused> {
        let by = self.setting.trustee;
        let finding = Finding { deviation, by };
        // What was not stored or sent yet never will be.
        self.effects.clear();
        self.persist(JournalLine::Refused { finding })?;
        let digest = finding.digest(&self.setting.attempt);
        let signature = Statement::Refusal.sign(&self.setting.identity, &digest);
        self.tell_peers(&Body::Refusal(finding, signature));
        self.tell_coordinator(Body::Refusal(finding, signature));
        self.end(Ending::Refused(finding));
        Ok(())
    }

    /// Ends the study because of what a peer found.
    pub(super) fn receive_refusal(
        &mut self,
        from: TrusteeId,
        finding: Finding,
        signature: &[u8; 64],
    ) -> Result<(), Refused> {
        let digest = finding.digest(&self.setting.attempt);
        let is_signed = Statement::Refusal.is_signed(self.identity_of(from), &digest, signature);
        if finding.by != from || !is_signed {
            return Err(Refused::Signature { from });
        }
        self.effects.clear();
        self.persist(JournalLine::Refused { finding })?;
        // The coordinator may lack it, or its author may have told the peers alone.
        self.tell_coordinator(Body::Refusal(finding, *signature));
        self.end(Ending::Refused(finding));
        Ok(())
    }
}
