//! A client that can upload: it knows its neighbours and holds its neighbours' shares.

use sprifed_noise::Noised;
use sprifed_privacy::NoiseOrigin;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::client::sharing::Peer;
use crate::client::{Own, Progress};
use crate::client_set::ClientSet;
use crate::keys::self_mask_seed;
use crate::mask::{MaskSeed, Residues, Sign};
use crate::message::{Confirmation, Upload};
use crate::pair::{BundleKey, pair_seed};
use crate::rejected::Reason;

/// An upload that was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UploadRefused {
    /// The exchange of keys is not finished.
    #[error("the exchange of keys is not finished")]
    NotReady,
    /// There is no such sum.
    #[error("the study has no sum {sum}")]
    NoSuchSum {
        /// Which sum.
        sum: u32,
    },
    /// A second upload would uncover the first.
    #[error("sum {sum} was uploaded to before; its masks hide one vector only")]
    Repeated {
        /// Which sum.
        sum: u32,
    },
    /// The vector has another length than the sum.
    #[error("the vector has {found} integers, but the sum has {required}")]
    WrongLength {
        /// Integers given.
        found: usize,
        /// Integers required.
        required: u32,
    },
    /// The noise is not a share of this study.
    #[error("the noise was not drawn as a share of this study's participation")]
    OtherNoise,
    /// The masks of this sum were erased.
    #[error("the secrets of sum {sum} were erased; it was made before")]
    Erased {
        /// Which sum.
        sum: u32,
    },
    /// An integer does not fit the modulus.
    #[error("an integer does not fit {bits} bits; plan more")]
    TooLarge {
        /// Bits of the modulus.
        bits: u32,
    },
}

/// A neighbour that takes part, and the encrypted shares that it entrusted to this client.
#[derive(PartialEq, Eq)]
pub(super) struct Trusted {
    pub(super) peer: Peer,
    pub(super) key: BundleKey,
    pub(super) sealed: Arc<Vec<u8>>,
}

#[derive(PartialEq, Eq)]
pub(super) struct Ready {
    pub(super) sharers: ClientSet,
    pub(super) directory: [u8; 32],
    pub(super) trusted: Vec<Trusted>,
    pub(super) confirmed: BTreeMap<u32, Confirmed>,
    prepared: Option<Prepared>,
}

/// The pairwise masks of one sum in one context.
#[derive(PartialEq, Eq)]
struct Prepared {
    sum: u32,
    context: [u8; 32],
    masks: Vec<(Sign, MaskSeed)>,
}

/// A survivor set that this client has signed.
#[derive(PartialEq, Eq)]
pub(super) struct Confirmed {
    pub(super) digest: [u8; 32],
    pub(super) context: [u8; 32],
    pub(super) survivors: ClientSet,
    pub(super) revealed: bool,
}

impl Ready {
    pub(super) const fn new(
        sharers: ClientSet,
        directory: [u8; 32],
        trusted: Vec<Trusted>,
    ) -> Self {
        Self {
            sharers,
            directory,
            trusted,
            confirmed: BTreeMap::new(),
            prepared: None,
        }
    }

    /// Has the masks of `sum` ready, unless there is no such sum or its secrets were erased.
    pub(super) fn prepare(&mut self, own: &Own, sum: u32, context: &[u8; 32]) {
        let is_it = |ready: &Prepared| ready.sum == sum && ready.context == *context;
        if own.study.sum(sum).is_some() && !self.prepared.as_ref().is_some_and(is_it) {
            let masks = self.pair_masks(own, sum, context);
            self.prepared = masks.map(|masks| Prepared {
                sum,
                context: *context,
                masks,
            });
        }
    }

    /// Drops masks that were made ahead of time.
    pub(super) fn forget(&mut self) {
        self.prepared = None;
    }

    /// The masks of this sum: added to the smaller client's upload, subtracted from the larger
    /// client's.
    fn pair_masks(&self, own: &Own, sum: u32, context: &[u8; 32]) -> Option<Vec<(Sign, MaskSeed)>> {
        let study = own.study.id();
        let secret = own.secrets.mask_secret(study, sum)?.key(study);
        let masks = self.trusted.iter().filter_map(|Trusted { peer, .. }| {
            let public = peer.mask_key(sum)?;
            // Keys of small order were refused, so that there is a mask for every neighbour.
            let pair_secret = peer.channel.pair_secret(study, sum);
            let seed = pair_seed(
                (&secret, public),
                &pair_secret,
                study,
                (sum, context),
                (own.me, peer.id),
            )?;
            Some((
                if own.me < peer.id {
                    Sign::Plus
                } else {
                    Sign::Minus
                },
                seed,
            ))
        });
        Some(masks.collect())
    }

    pub(super) fn upload(
        &mut self,
        own: &Own,
        sum: u32,
        context: &[u8; 32],
        noised: &Noised,
    ) -> Result<Upload, UploadRefused> {
        let shape = own.study.sum(sum).ok_or(UploadRefused::NoSuchSum { sum })?;
        if noised.origin() != NoiseOrigin::Shares(own.study.participation()) {
            return Err(UploadRefused::OtherNoise);
        }
        let values = noised.values();
        if values.len() != shape.coordinates() as usize {
            let (found, required) = (values.len(), shape.coordinates());
            return Err(UploadRefused::WrongLength { found, required });
        }
        let bits = shape.bits();
        let fits = |value: &i64| value.unsigned_abs() <= (1u64 << (bits - 1)) - u64::from(bits > 1);
        if !values.iter().fold(true, |all, value| all & fits(value)) {
            return Err(UploadRefused::TooLarge { bits });
        }
        let (study, place) = (own.study.id(), (sum, context));
        let own_seed = own.secrets.self_seed(study, sum);
        let own_seed = own_seed.ok_or(UploadRefused::Erased { sum })?;
        self.prepare(own, sum, context);
        let prepared = self.prepared.take().ok_or(UploadRefused::Erased { sum })?;
        let mut masked = Residues::zero(shape);
        masked.add_values(values);
        masked.add_mask(&self_mask_seed(&own_seed, study, place), Sign::Plus);
        for (sign, seed) in prepared.masks {
            masked.add_mask(&seed, sign);
        }
        let tags = self.trusted.iter().map(|Trusted { peer, .. }| {
            (
                peer.slot,
                peer.channel
                    .tag(study, (own.me, peer.id), place, &self.directory),
            )
        });
        Ok(Upload {
            context: *context,
            tags: tags.collect(),
            packed: masked.pack(),
        })
    }

    /// Signs the survivor set of a sum, once.
    pub(super) fn take_survivors(
        &mut self,
        own: &Own,
        sum: u32,
        survivors: &ClientSet,
        progress: Option<Progress>,
    ) -> Result<Confirmation, Reason> {
        let progress = progress.unwrap_or_default();
        let Some(context) = progress.context else {
            return Err(Reason::WrongSum { found: sum });
        };
        if !survivors.contains(own.me) || !survivors.is_subset(&self.sharers) {
            return Err(Reason::ContradictorySet);
        }
        if !own.study.suffices(survivors) {
            let quorum = own.study.participation().quorum();
            return Err(Reason::TooFewPresent {
                found: survivors.len(),
                quorum,
            });
        }
        let digest = own
            .study
            .survivors_digest(sum, &context, &self.directory, survivors);
        // Safety of the guarantee: the set decides which kind of share of each neighbour is
        // revealed, so that one set for each sum means one kind for each neighbour.
        if progress.confirmed.is_some_and(|before| before != digest) {
            return Err(Reason::OtherSetConfirmed);
        }
        if self.confirmed.contains_key(&sum) {
            return Err(Reason::Repeated);
        }
        let confirmed = Confirmed {
            digest,
            context,
            survivors: survivors.clone(),
            revealed: false,
        };
        self.confirmed.insert(sum, confirmed);
        Ok(Confirmation { digest })
    }
}
