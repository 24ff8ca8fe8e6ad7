//! The exchange of keys, once for a study: keys, ciphertexts, then shares.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::client_set::ClientSet;
use crate::identity::ClientId;
use crate::message::{Bundle, Ciphertext, Ciphertexts, Keys, Shares, SumKeys, Wrap, ascend};
use crate::notice::Notice;
use crate::outcome::Abandoned;
use crate::rejected::Reason;
use crate::signed::{SignedMessage, is_signed_ciphertext};
use crate::study::Study;

/// A client that has published keys.
#[derive(Clone, Debug, PartialEq)]
struct Joined {
    signed: Arc<SignedMessage>,
    keys: Keys,
}

/// Keys arrive.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Joining {
    joined: BTreeMap<ClientId, Joined>,
}

/// Ciphertexts arrive.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Agreeing {
    joined: BTreeMap<ClientId, Joined>,
    ciphertexts: BTreeMap<ClientId, Encapsulated>,
}

/// The ciphertexts of one sender, by slot.
type Encapsulated = Vec<(u8, Arc<Ciphertext>)>;

/// Shares arrive.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sharing {
    joined: BTreeMap<ClientId, Joined>,
    ciphertexts: BTreeMap<ClientId, Encapsulated>,
    bundles: BTreeMap<ClientId, Bundles>,
}

/// The bundles of one sender, by slot.
type Bundles = Vec<Kept>;

/// What one client sent to another in confidence, and published about the pair.
#[derive(Clone, Debug, PartialEq)]
struct Kept {
    slot: u8,
    sealed: Arc<Vec<u8>>,
    wraps: Vec<Wrap>,
}

/// Everything that sums need of the exchange of keys.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Setup {
    joined: BTreeMap<ClientId, Joined>,
    ciphertexts: BTreeMap<ClientId, Encapsulated>,
    bundles: BTreeMap<ClientId, Bundles>,
    pub(super) sharers: ClientSet,
    pub(super) directory: [u8; 32],
}

impl Joining {
    pub(super) fn has(&self, client: ClientId) -> bool {
        self.joined.contains_key(&client)
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
        if let Some(flaw) = keys.flaw() {
            return Err(flaw);
        }
        let signed = Arc::new(message.clone());
        self.joined.insert(message.sender, Joined { signed, keys });
        Ok(())
    }

    pub(super) fn close(self, study: &Study) -> Result<Agreeing, Abandoned> {
        sufficient(study, self.joined.keys().copied())?;
        Ok(Agreeing {
            joined: self.joined,
            ciphertexts: BTreeMap::new(),
        })
    }
}

impl Agreeing {
    pub(super) fn has(&self, client: ClientId) -> bool {
        self.ciphertexts.contains_key(&client)
    }

    pub(super) fn clients(&self) -> impl Iterator<Item = ClientId> + '_ {
        self.joined.keys().copied()
    }

    pub(super) fn directory_for(&self, study: &Study, to: ClientId) -> Notice {
        directory(&self.joined, study, to)
    }

    pub(super) fn take(
        &mut self,
        study: &Study,
        from: ClientId,
        sent: Ciphertexts,
    ) -> Result<(), Reason> {
        if !self.joined.contains_key(&from) {
            return Err(Reason::NotPresent);
        }
        if self.has(from) {
            return Err(Reason::Repeated);
        }
        let neighbours = study.graph().neighbours(from);
        let larger: Vec<ClientId> = neighbours
            .filter(|id| *id > from && self.joined.contains_key(id))
            .collect();
        let (found, required) = (sent.ciphertexts.len(), larger.len());
        if found != required {
            return Err(Reason::WrongLength {
                what: "the list of ciphertexts",
                found,
                required,
            });
        }
        for (to, (slot, ciphertext)) in larger.into_iter().zip(&sent.ciphertexts) {
            if study.graph().slot(from, to) != Some(*slot) {
                return Err(Reason::NotANeighbour);
            }
            if !is_signed_ciphertext(study, (from, to), ciphertext) {
                return Err(Reason::UnsignedCiphertext { from, to });
            }
        }
        self.ciphertexts.insert(from, sent.ciphertexts);
        Ok(())
    }

    pub(super) fn close(self, study: &Study) -> Result<Sharing, Abandoned> {
        sufficient(study, self.ciphertexts.keys().copied())?;
        Ok(Sharing {
            joined: self.joined,
            ciphertexts: self.ciphertexts,
            bundles: BTreeMap::new(),
        })
    }
}

impl Sharing {
    pub(super) fn has(&self, client: ClientId) -> bool {
        self.bundles.contains_key(&client)
    }

    pub(super) fn agreed(&self) -> impl Iterator<Item = ClientId> + '_ {
        self.ciphertexts.keys().copied()
    }

    pub(super) fn directory_for(&self, study: &Study, to: ClientId) -> Notice {
        directory(&self.joined, study, to)
    }

    pub(super) fn ciphertexts_for(&self, study: &Study, to: ClientId) -> Notice {
        ciphertexts(&self.ciphertexts, study, to)
    }

    pub(super) fn take(
        &mut self,
        study: &Study,
        from: ClientId,
        shares: Shares,
    ) -> Result<(), Reason> {
        if !self.ciphertexts.contains_key(&from) {
            return Err(Reason::NotPresent);
        }
        if self.has(from) {
            return Err(Reason::Repeated);
        }
        let present = study
            .graph()
            .neighbours(from)
            .filter(|id| self.ciphertexts.contains_key(id));
        let (found, required) = (shares.bundles.len(), present.count());
        if found != required {
            return Err(Reason::WrongLength {
                what: "the list of bundles",
                found,
                required,
            });
        }
        let is_neighbour = |slot: &u8| {
            let neighbour = study.graph().neighbour(from, u32::from(*slot));
            neighbour.is_some_and(|neighbour| self.ciphertexts.contains_key(&neighbour))
        };
        let slots = || shares.bundles.iter().map(|bundle| bundle.slot);
        if !ascend(slots()) || !slots().all(|slot| is_neighbour(&slot)) {
            return Err(Reason::NotANeighbour);
        }
        let n_sums = study.n_sums() as usize;
        for bundle in &shares.bundles {
            has_length("a bundle", bundle.sealed.len(), 64 * n_sums + 16)?;
            has_length("a list of wraps", bundle.wraps.len(), n_sums)?;
        }
        let bundles = shares.bundles.into_iter().map(
            |Bundle {
                 slot,
                 sealed,
                 wraps,
             }| Kept {
                slot,
                sealed: Arc::new(sealed),
                wraps,
            },
        );
        self.bundles.insert(from, bundles.collect());
        Ok(())
    }

    pub(super) fn close(self, study: &Study) -> Result<Setup, Abandoned> {
        let sharers = sufficient(study, self.bundles.keys().copied())?;
        let directory = study.directory_digest(&sharers);
        Ok(Setup {
            joined: self.joined,
            ciphertexts: self.ciphertexts,
            bundles: self.bundles,
            sharers,
            directory,
        })
    }
}

impl Setup {
    /// What `client` published for `sum`.
    pub(super) fn keys(&self, client: ClientId, sum: u32) -> Option<&SumKeys> {
        self.joined.get(&client)?.keys.sums.get(sum as usize)
    }

    pub(super) fn directory_for(&self, study: &Study, to: ClientId) -> Notice {
        directory(&self.joined, study, to)
    }

    pub(super) fn ciphertexts_for(&self, study: &Study, to: ClientId) -> Notice {
        ciphertexts(&self.ciphertexts, study, to)
    }

    fn kept(&self, study: &Study, from: ClientId, to: ClientId) -> Option<&Kept> {
        let slot = study.graph().slot(from, to)?;
        let bundles = self.bundles.get(&from)?;
        let place = bundles.binary_search_by_key(&slot, |kept| kept.slot).ok()?;
        bundles.get(place)
    }

    /// What `from` published for its mask with `with` in `sum`.
    pub(super) fn wrap(
        &self,
        study: &Study,
        (from, with): (ClientId, ClientId),
        sum: u32,
    ) -> Option<&Wrap> {
        self.kept(study, from, with)?.wraps.get(sum as usize)
    }

    pub(super) fn bundles_for(&self, study: &Study, to: ClientId) -> Notice {
        let senders = study.neighbours_in(to, &self.sharers);
        let bundles = senders.into_iter().filter_map(|sender| {
            let kept = self.kept(study, sender, to)?;
            Some((sender, Arc::clone(&kept.sealed)))
        });
        Notice::Bundles {
            sharers: self.sharers.clone(),
            bundles: bundles.collect(),
        }
    }
}

fn directory(joined: &BTreeMap<ClientId, Joined>, study: &Study, to: ClientId) -> Notice {
    let neighbours = study.graph().neighbours(to);
    let keys = neighbours.filter_map(|id| joined.get(&id).map(|client| Arc::clone(&client.signed)));
    Notice::Directory {
        keys: keys.collect(),
    }
}

/// Which neighbours of `to` have agreed, and what those encapsulated that are smaller.
fn ciphertexts(
    ciphertexts: &BTreeMap<ClientId, Encapsulated>,
    study: &Study,
    to: ClientId,
) -> Notice {
    let neighbours = study.graph().neighbours(to).filter_map(|id| {
        let sent = ciphertexts.get(&id)?;
        let slot = study.graph().slot(id, to)?;
        let place = sent.binary_search_by_key(&slot, |(slot, _)| *slot).ok();
        let ciphertext = place.and_then(|place| sent.get(place));
        Some((id, ciphertext.map(|(_, ciphertext)| Arc::clone(ciphertext))))
    });
    Notice::Ciphertexts {
        neighbours: neighbours.collect(),
    }
}

const fn has_length(what: &'static str, found: usize, required: usize) -> Result<(), Reason> {
    if found == required {
        return Ok(());
    }
    Err(Reason::WrongLength {
        what,
        found,
        required,
    })
}

/// The set of `clients`, if a sum over them hides each of them.
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
