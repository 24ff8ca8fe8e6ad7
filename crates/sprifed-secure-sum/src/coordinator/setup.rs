//! The exchange of keys, once for a study: keys, then shares.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::client_set::ClientSet;
use crate::identity::ClientId;
use crate::message::{Keys, Shares, SumKeys, ascend};
use crate::notice::Notice;
use crate::outcome::Abandoned;
use crate::rejected::Reason;
use crate::signed::SignedMessage;
use crate::study::Study;

/// A client that has published keys.
#[derive(Clone, Debug, PartialEq)]
struct Member {
    signed: Arc<SignedMessage>,
    keys: Keys,
}

/// Keys arrive.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Joining {
    members: BTreeMap<ClientId, Member>,
}

/// Shares arrive.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sharing {
    members: BTreeMap<ClientId, Member>,
    bundles: BTreeMap<ClientId, Bundles>,
}

/// The bundles of one sender, by slot.
type Bundles = Vec<(u8, Arc<Vec<u8>>)>;

/// Everything that sums need of the exchange of keys.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Setup {
    members: BTreeMap<ClientId, Member>,
    bundles: BTreeMap<ClientId, Bundles>,
    pub(super) sharers: ClientSet,
    pub(super) directory: [u8; 32],
}

impl Joining {
    pub(super) fn has(&self, client: ClientId) -> bool {
        self.members.contains_key(&client)
    }

    pub(super) fn take(
        &mut self,
        study: &Study,
        message: &SignedMessage,
        keys: Keys,
    ) -> Result<(), Reason> {
        if self.has(message.sender) {
            return Err(Reason::Repeated);
        }
        let (found, required) = (keys.sums.len(), study.n_sums() as usize);
        if found != required {
            return Err(Reason::WrongLength {
                what: "the list of keys",
                found,
                required,
            });
        }
        if keys.are_weak() {
            return Err(Reason::WeakKey);
        }
        let signed = Arc::new(message.clone());
        self.members.insert(message.sender, Member { signed, keys });
        Ok(())
    }

    pub(super) fn close(self, study: &Study) -> Result<Sharing, Abandoned> {
        sufficient(study, self.members.keys().copied())?;
        Ok(Sharing {
            members: self.members,
            bundles: BTreeMap::new(),
        })
    }
}

impl Sharing {
    pub(super) fn has(&self, client: ClientId) -> bool {
        self.bundles.contains_key(&client)
    }

    pub(super) fn members(&self) -> impl Iterator<Item = ClientId> + '_ {
        self.members.keys().copied()
    }

    pub(super) fn directory_for(&self, study: &Study, to: ClientId) -> Notice {
        directory(&self.members, study, to)
    }

    pub(super) fn take(
        &mut self,
        study: &Study,
        from: ClientId,
        shares: Shares,
    ) -> Result<(), Reason> {
        if !self.members.contains_key(&from) {
            return Err(Reason::NotPresent);
        }
        if self.has(from) {
            return Err(Reason::Repeated);
        }
        let present = study
            .graph()
            .neighbours(from)
            .filter(|id| self.members.contains_key(id));
        let (found, required) = (shares.bundles.len(), present.count());
        if found != required {
            return Err(Reason::WrongLength {
                what: "the list of bundles",
                found,
                required,
            });
        }
        let is_member = |slot: &u8| {
            let neighbour = study.graph().neighbour(from, u32::from(*slot));
            neighbour.is_some_and(|neighbour| self.members.contains_key(&neighbour))
        };
        let slots = || shares.bundles.iter().map(|(slot, _)| *slot);
        if !ascend(slots()) || !slots().all(|slot| is_member(&slot)) {
            return Err(Reason::NotANeighbour);
        }
        let required = 64 * study.n_sums() as usize + 16;
        for (_, bundle) in &shares.bundles {
            if bundle.len() != required {
                let found = bundle.len();
                return Err(Reason::WrongLength {
                    what: "a bundle",
                    found,
                    required,
                });
            }
        }
        let bundles = shares
            .bundles
            .into_iter()
            .map(|(slot, bundle)| (slot, Arc::new(bundle)));
        self.bundles.insert(from, bundles.collect());
        Ok(())
    }

    pub(super) fn close(self, study: &Study) -> Result<Setup, Abandoned> {
        let sharers = sufficient(study, self.bundles.keys().copied())?;
        let directory = study.directory_digest(&sharers);
        Ok(Setup {
            members: self.members,
            bundles: self.bundles,
            sharers,
            directory,
        })
    }
}

impl Setup {
    /// What `client` published for `sum`.
    pub(super) fn keys(&self, client: ClientId, sum: u32) -> Option<&SumKeys> {
        self.members.get(&client)?.keys.sums.get(sum as usize)
    }

    pub(super) fn directory_for(&self, study: &Study, to: ClientId) -> Notice {
        directory(&self.members, study, to)
    }

    pub(super) fn bundles_for(&self, study: &Study, to: ClientId) -> Notice {
        let senders = study.neighbours_in(to, &self.sharers);
        let bundles = senders.into_iter().filter_map(|sender| {
            let slot = study.graph().slot(sender, to)?;
            let bundles = self.bundles.get(&sender)?;
            let place = bundles
                .binary_search_by_key(&slot, |(slot, _)| *slot)
                .ok()?;
            bundles
                .get(place)
                .map(|(_, bundle)| (sender, Arc::clone(bundle)))
        });
        Notice::Bundles {
            sharers: self.sharers.clone(),
            bundles: bundles.collect(),
        }
    }
}

fn directory(members: &BTreeMap<ClientId, Member>, study: &Study, to: ClientId) -> Notice {
    let neighbours = study.graph().neighbours(to);
    let keys =
        neighbours.filter_map(|id| members.get(&id).map(|member| Arc::clone(&member.signed)));
    Notice::Directory {
        keys: keys.collect(),
    }
}

/// The set of `clients`, if a sum over them can hide anybody.
pub(super) fn sufficient(
    study: &Study,
    clients: impl Iterator<Item = ClientId>,
) -> Result<ClientSet, Abandoned> {
    let mut present = ClientSet::empty(study.roster().n_clients());
    present.extend(clients);
    let (found, required) = (present.len(), study.participation().quorum());
    if found < required {
        return Err(Abandoned::QuorumLost { found, required });
    }
    if !study.suffices(&present) {
        return Err(Abandoned::Gap { found });
    }
    Ok(present)
}
