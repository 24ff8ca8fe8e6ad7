//! Survivors sign the set that the coordinator sent them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::client_set::ClientSet;
use crate::coordinator::unmasking::Unmasking;
use crate::coordinator::uploading::Tags;
use crate::identity::ClientId;
use crate::mask::Residues;
use crate::message::Confirmation;
use crate::notice::Certificate;
use crate::outcome::{Abandoned, SumOutcome};
use crate::rejected::Reason;
use crate::study::Study;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Confirming {
    pub(super) sum: u32,
    pub(super) context: [u8; 32],
    pub(super) total: Residues,
    pub(super) survivors: Arc<ClientSet>,
    pub(super) tags: BTreeMap<ClientId, Tags>,
    pub(super) digest: [u8; 32],
    pub(super) signatures: BTreeMap<ClientId, [u8; 64]>,
}

impl Confirming {
    pub(super) fn has(&self, client: ClientId) -> bool {
        self.signatures.contains_key(&client)
    }

    pub(super) fn take(
        &mut self,
        from: ClientId,
        confirmation: &Confirmation,
        signature: [u8; 64],
    ) -> Result<(), Reason> {
        if !self.survivors.contains(from) {
            return Err(Reason::NotPresent);
        }
        if self.has(from) {
            return Err(Reason::Repeated);
        }
        if confirmation.digest != self.digest {
            return Err(Reason::OtherDigest);
        }
        self.signatures.insert(from, signature);
        Ok(())
    }

    pub(super) fn close(self, study: &Study) -> Result<Unmasking, SumOutcome> {
        let required = study.parameters().confirmations();
        let found = u32::try_from(self.signatures.len()).unwrap_or(u32::MAX);
        if found < required {
            let reason = Abandoned::Unconfirmed { found, required };
            return Err(SumOutcome::Abandoned {
                sum: self.sum,
                reason,
            });
        }
        let shown = self.signatures.into_iter().take(required as usize);
        let certificate = Arc::new(Certificate {
            signatures: shown.collect(),
        });
        Ok(Unmasking::open(
            study,
            (self.sum, self.context),
            self.total,
            self.survivors,
            self.tags,
            certificate,
        ))
    }
}
