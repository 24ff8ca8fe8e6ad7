//! Shares arrive; with enough of them the masks come off.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::client_set::ClientSet;
use crate::coordinator::recovery::{Recovered, recover};
use crate::coordinator::setup::Setup;
use crate::coordinator::uploading::Tags;
use crate::identity::ClientId;
use crate::keys::{MaskSecret, SelfSeed, commitment, self_mask_seed};
use crate::mask::{Residues, Sign};
use crate::message::{ShareKind, Unmask, ascend};
use crate::notice::{Certificate, Notice};
use crate::outcome::{Abandoned, SumOutcome, UnmaskedSum, WrongShare, culprits};
use crate::pair::{PairSecret, pair_seed};
use crate::rejected::Reason;
use crate::secret_sharing::Share;
use crate::study::Study;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Unmasking {
    pub(super) sum: u32,
    context: [u8; 32],
    total: Residues,
    pub(super) survivors: Arc<ClientSet>,
    tags: BTreeMap<ClientId, Tags>,
    certificate: Arc<Certificate>,
    answered: ClientSet,
    /// For each owner: points and shares.
    shares: BTreeMap<ClientId, Vec<(u8, Share)>>,
}

impl Unmasking {
    pub(super) fn open(
        study: &Study,
        (sum, context): (u32, [u8; 32]),
        total: Residues,
        survivors: Arc<ClientSet>,
        tags: BTreeMap<ClientId, Tags>,
        certificate: Arc<Certificate>,
    ) -> Self {
        let answered = ClientSet::empty(study.roster().n_clients());
        Self {
            sum,
            context,
            total,
            survivors,
            tags,
            certificate,
            answered,
            shares: BTreeMap::new(),
        }
    }

    pub(super) fn has(&self, client: ClientId) -> bool {
        self.answered.contains(client)
    }

    pub(super) fn certificate_for(&self, study: &Study, setup: &Setup, to: ClientId) -> Notice {
        let neighbours = study.neighbours_in(to, &setup.sharers);
        let tags = neighbours.into_iter().filter_map(|neighbour| {
            let tags = self.tags.get(&neighbour)?;
            let slot = study.graph().slot(neighbour, to)?;
            let (_, tag) = tags.iter().find(|(tagged, _)| *tagged == slot)?;
            Some((neighbour, *tag))
        });
        let certificate = Arc::clone(&self.certificate);
        Notice::Certificate {
            sum: self.sum,
            certificate,
            tags: tags.collect(),
        }
    }

    pub(super) fn take(
        &mut self,
        study: &Study,
        setup: &Setup,
        from: ClientId,
        unmask: &Unmask,
    ) -> Result<(), Reason> {
        if !self.survivors.contains(from) {
            return Err(Reason::NotPresent);
        }
        if self.has(from) {
            return Err(Reason::Repeated);
        }
        if !ascend(unmask.shares.iter().map(|share| share.slot)) {
            return Err(Reason::NotANeighbour);
        }
        let mut owners = Vec::with_capacity(unmask.shares.len());
        for share in &unmask.shares {
            let owner = study.graph().neighbour(from, u32::from(share.slot));
            let owner = owner.filter(|owner| setup.sharers.contains(*owner));
            let owner = owner.ok_or(Reason::NotANeighbour)?;
            let survived = self.survivors.contains(owner);
            let point = study
                .graph()
                .slot(owner, from)
                .and_then(|slot| slot.checked_add(1));
            let point = point.ok_or(Reason::NotANeighbour)?;
            if survived != (share.kind == ShareKind::SelfSeed) {
                return Err(Reason::ContradictorySet);
            }
            owners.push((owner, point, Share::from_bytes(share.share)));
        }
        self.answered.insert(from);
        for (owner, point, share) in owners {
            self.shares.entry(owner).or_default().push((point, share));
        }
        Ok(())
    }

    pub(super) fn close(self, study: &Study, setup: &Setup) -> SumOutcome {
        let sum = self.sum;
        self.unmask(study, setup)
            .unwrap_or_else(|reason| SumOutcome::Abandoned { sum, reason })
    }

    fn unmask(mut self, study: &Study, setup: &Setup) -> Result<SumOutcome, Abandoned> {
        let mut wrong_shares = Vec::new();
        for owner in setup.sharers.iter() {
            let survived = self.survivors.contains(owner);
            let neighbours = study.neighbours_in(owner, &self.survivors);
            if !survived && neighbours.is_empty() {
                continue;
            }
            let shares = self.shares.remove(&owner).unwrap_or_default();
            let recovered = recover(&shares, study.parameters().threshold(), |secret| {
                fits(study, setup, self.sum, owner, survived, secret)
            });
            let Recovered {
                secret,
                wrong_points,
            } = recovered.ok_or(Abandoned::SharesMissing {
                owner,
                found: u32::try_from(shares.len()).unwrap_or(u32::MAX),
                required: study.parameters().threshold(),
            })?;
            wrong_shares.extend(wrong_points.into_iter().filter_map(|point| {
                let slot = u32::from(point).saturating_sub(1);
                let sender = study.graph().neighbour(owner, slot)?;
                Some(WrongShare { sender, owner })
            }));
            if survived {
                let place = (self.sum, &self.context);
                let seed = self_mask_seed(&self_seed(&secret), study.id(), place);
                self.total.add_mask(&seed, Sign::Minus);
            } else {
                let secret = mask_secret(&secret);
                self.remove_pairs(study, setup, owner, &secret, &neighbours)?;
            }
        }
        Ok(SumOutcome::Unmasked(UnmaskedSum {
            sum: self.sum,
            values: self.total.to_centred(),
            survivors: (*self.survivors).clone(),
            culprits: culprits(&wrong_shares, study.participation()),
            wrong_shares,
            participation: study.participation(),
        }))
    }

    /// Removes the masks that survivors share with a client that has dropped out.
    ///
    /// What the dropout published of a pair is compared with what the survivor committed to: a sum
    /// is exact or there is none. Which of the two lied cannot be determined.
    fn remove_pairs(
        &mut self,
        study: &Study,
        setup: &Setup,
        owner: ClientId,
        secret: &MaskSecret,
        neighbours: &[ClientId],
    ) -> Result<(), Abandoned> {
        let key = secret.key(study.id());
        for neighbour in neighbours.iter().copied() {
            let wrong = Abandoned::WrongWrap { owner, neighbour };
            let wraps = (
                setup.wrap(study, (owner, neighbour), self.sum),
                setup.wrap(study, (neighbour, owner), self.sum),
            );
            let (Some(own), Some(other)) = wraps else {
                return Err(wrong);
            };
            let pair = PairSecret::unwrapped(own, secret, study.id(), neighbour);
            let keys = setup.keys(neighbour, self.sum);
            let keys = keys.filter(|_| pair.commitment(study.id(), self.sum) == other.commitment);
            let seed = keys.and_then(|keys| {
                pair_seed(
                    (&key, &keys.mask),
                    &pair,
                    study.id(),
                    (self.sum, &self.context),
                    (owner, neighbour),
                )
            });
            let put_on = if neighbour < owner {
                Sign::Plus
            } else {
                Sign::Minus
            };
            self.total.add_mask(&seed.ok_or(wrong)?, put_on.reversed());
        }
        Ok(())
    }
}

fn mask_secret(secret: &Share) -> MaskSecret {
    MaskSecret::filled(|bytes| bytes.copy_from_slice(secret.expose()))
}

fn self_seed(secret: &Share) -> SelfSeed {
    SelfSeed::filled(|seed| seed.copy_from_slice(secret.expose()))
}

/// Whether a secret is the one that `owner` published the other half of.
fn fits(
    study: &Study,
    setup: &Setup,
    sum: u32,
    owner: ClientId,
    survived: bool,
    secret: &Share,
) -> bool {
    setup.keys(owner, sum).is_some_and(|keys| {
        if survived {
            commitment(&self_seed(secret), study.id(), sum, owner) == keys.commitment
        } else {
            mask_secret(secret).public(study.id()) == keys.mask
        }
    })
}
