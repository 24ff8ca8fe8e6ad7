//! Uploads arrive and are added at once: what one client sent is not kept.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::client_set::ClientSet;
use crate::coordinator::confirming::Confirming;
use crate::coordinator::setup::{Setup, sufficient};
use crate::identity::ClientId;
use crate::mask::Residues;
use crate::message::Upload;
use crate::outcome::SumOutcome;
use crate::rejected::Reason;
use crate::study::{Study, SumShape};

/// The tags of one upload, by slot.
pub(super) type Tags = Vec<(u8, [u8; 16])>;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Uploading {
    pub(super) sum: u32,
    context: [u8; 32],
    shape: SumShape,
    total: Residues,
    uploaded: ClientSet,
    tags: BTreeMap<ClientId, Tags>,
}

impl Uploading {
    pub(super) fn open(study: &Study, sum: u32, context: [u8; 32], shape: SumShape) -> Self {
        Self {
            sum,
            context,
            shape,
            total: Residues::zero(shape),
            uploaded: ClientSet::empty(study.roster().n_clients()),
            tags: BTreeMap::new(),
        }
    }

    pub(super) fn has(&self, client: ClientId) -> bool {
        self.uploaded.contains(client)
    }

    pub(super) fn take(
        &mut self,
        study: &Study,
        setup: &Setup,
        from: ClientId,
        upload: &Upload,
    ) -> Result<(), Reason> {
        if !setup.sharers.contains(from) {
            return Err(Reason::NotPresent);
        }
        if self.has(from) {
            return Err(Reason::Repeated);
        }
        if upload.context != self.context {
            let (found, required) = (upload.context, self.context);
            return Err(Reason::OtherContext { found, required });
        }
        let present = study.neighbours_in(from, &setup.sharers);
        let (found, required) = (upload.tags.len(), present.len());
        if found != required {
            return Err(Reason::WrongLength {
                what: "the list of tags",
                found,
                required,
            });
        }
        let expected = present
            .into_iter()
            .map(|neighbour| study.graph().slot(from, neighbour));
        if !expected.eq(upload.tags.iter().map(|(slot, _)| Some(*slot))) {
            return Err(Reason::NotANeighbour);
        }
        if !self.total.add_packed(&upload.packed) {
            let (found, required) = (upload.packed.len(), self.shape.packed_len());
            return Err(Reason::WrongLength {
                what: "the packed vector",
                found,
                required,
            });
        }
        self.uploaded.insert(from);
        self.tags.insert(from, upload.tags.clone());
        Ok(())
    }

    pub(super) fn close(self, study: &Study, setup: &Setup) -> Result<Confirming, SumOutcome> {
        let sum = self.sum;
        let survivors = sufficient(study, self.uploaded.iter())
            .map_err(|reason| SumOutcome::Abandoned { sum, reason })?;
        let digest = study.survivors_digest(sum, &self.context, &setup.directory, &survivors);
        Ok(Confirming {
            sum,
            context: self.context,
            total: self.total,
            survivors: Arc::new(survivors),
            tags: self.tags,
            digest,
            signatures: BTreeMap::new(),
        })
    }
}
