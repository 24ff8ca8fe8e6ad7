//! How a sum ends: by value, never as an error.

use std::collections::BTreeMap;

use sprifed_noise::{PrivateSum, Provenance};
use sprifed_privacy::{Participation, SumPlan, counted};

use crate::client_set::ClientSet;
use crate::identity::ClientId;

/// How one sum ended.
#[derive(Clone, Debug, PartialEq)]
pub enum SumOutcome {
    /// The sum of the survivors.
    Unmasked(UnmaskedSum),
    /// There is no sum.
    Abandoned {
        /// Which sum.
        sum: u32,
        /// Why.
        reason: Abandoned,
    },
}

/// Why there is no sum, or no study.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Abandoned {
    /// Too few clients stayed; nothing was unmasked.
    #[error(
        "{} stayed, but {required} are required; nothing was unmasked",
        counted(*found, "client", "clients")
    )]
    QuorumLost {
        /// Clients that stayed.
        found: u32,
        /// Clients required.
        required: u32,
    },
    /// Enough stayed, but they leave a gap in the ring; nothing was unmasked.
    #[error("the {found} clients that stayed leave a gap between neighbours; nothing was unmasked")]
    Gap {
        /// Clients that stayed.
        found: u32,
    },
    /// Too few clients confirmed the survivor set; nothing was unmasked.
    #[error(
        "{} confirmed the survivors, but {required} are required; nothing was unmasked",
        counted(*found, "client", "clients")
    )]
    Unconfirmed {
        /// Clients that confirmed.
        found: u32,
        /// Clients required.
        required: u32,
    },
    /// What a client that dropped out published of its mask with a neighbour is not what the
    /// neighbour published: one of the two lied, and the mask stays on.
    #[error("{owner} dropped out, and what it published for its mask with {neighbour} is wrong")]
    WrongWrap {
        /// The client that dropped out.
        owner: ClientId,
        /// The neighbour that shares its mask.
        neighbour: ClientId,
    },
    /// Too few good shares of one client's secret arrived.
    #[error("{found} shares of a secret of {owner} arrived, but {required} good ones are required")]
    SharesMissing {
        /// Whose secret.
        owner: ClientId,
        /// Shares that arrived.
        found: u32,
        /// Shares required.
        required: u32,
    },
}

/// A share that was not a share of its owner's secret.
///
/// Either of the two lied: the sender may have altered it, or the owner may have dealt a wrong
/// share. The coordinator cannot know which, as it was encrypted to the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongShare {
    /// The client that revealed it.
    pub sender: ClientId,
    /// Whose secret it was dealt for.
    pub owner: ClientId,
}

/// The clients that must have lied, whichever of the others did.
pub(crate) fn culprits(wrong: &[WrongShare], participation: Participation) -> Vec<ClientId> {
    let mut counts = BTreeMap::<ClientId, u32>::new();
    for end in wrong.iter().flat_map(|share| [share.sender, share.owner]) {
        *counts.entry(end).or_default() += 1;
    }
    let most = participation.colluders().max(1);
    let liars = counts.into_iter().filter(|(_, count)| *count > most);
    liars.map(|(client, _)| client).collect()
}

/// The exact sum of what the survivors sent.
#[derive(Clone, Debug, PartialEq)]
pub struct UnmaskedSum {
    pub(crate) sum: u32,
    pub(crate) values: Vec<i64>,
    pub(crate) survivors: ClientSet,
    pub(crate) wrong_shares: Vec<WrongShare>,
    pub(crate) culprits: Vec<ClientId>,
    pub(crate) participation: Participation,
}

impl UnmaskedSum {
    /// Which sum of the study.
    #[must_use]
    pub const fn sum(&self) -> u32 {
        self.sum
    }

    /// The integers, each with the noise of every survivor.
    #[must_use]
    pub fn values(&self) -> &[i64] {
        &self.values
    }

    /// Whose uploads are in the sum.
    #[must_use]
    pub const fn survivors(&self) -> &ClientSet {
        &self.survivors
    }

    /// Shares that were wrong, though the sum could be saved.
    #[must_use]
    pub fn wrong_shares(&self) -> &[WrongShare] {
        &self.wrong_shares
    }

    /// Clients that are in more wrong shares than an honest one can be: each of those has a liar
    /// at one end, and there are at most as many liars as colluders, or one.
    #[must_use]
    pub fn culprits(&self) -> &[ClientId] {
        &self.culprits
    }

    /// The answer to `plan`; `None` if it has another length.
    ///
    /// # Trust
    /// As [`PrivateSum::assume_unmasked_from`].
    #[must_use]
    pub fn into_private_sum(self, plan: SumPlan, provenance: Provenance) -> Option<PrivateSum> {
        let survivors = self.survivors.len();
        PrivateSum::assume_unmasked_from(
            survivors,
            self.participation,
            plan,
            self.values,
            provenance,
        )
    }
}

#[cfg(test)]
mod tests;
