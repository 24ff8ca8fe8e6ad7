//! How many clients must stay, how many may collude, and the noise share that follows.
//!
//! Every client adds noise of variance σ²/h, where h is the number of honest clients that are
//! certain to remain: the quorum less the tolerated colluders. With more survivors there is more
//! noise than promised, never less; with fewer than the quorum nothing is unmasked.
//!
//! One honest client is enough (h = 1): its share then has the full variance, as a curator's noise has.
//! Two parties that do not trust each other study so; see docs/proofs/two_parties.md.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::Zero;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::{IllegalQuantity, Mu};
use crate::shown::counted;

#[cfg(test)]
mod tests;

/// A number of clients for which no guarantee exists.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IllegalParticipation {
    /// The quorum is larger than the roster.
    #[error(
        "the quorum is {quorum}, but only {clients} clients are invited; invite more or lower the quorum"
    )]
    QuorumAboveClients {
        /// Clients that must stay.
        quorum: u32,
        /// Clients invited.
        clients: u32,
    },
    /// Too few honest clients are certain to stay.
    #[error(
        "a quorum of {quorum} with {} leaves {}, but at least 1 honest client in a quorum of at least 2 is required; raise the \
         quorum or tolerate fewer colluders",
        counted(*colluders, "colluder", "colluders"),
        counted(quorum.saturating_sub(*colluders), "honest client", "honest clients")
    )]
    TooFewHonest {
        /// Clients that must stay.
        quorum: u32,
        /// Clients that may collude.
        colluders: u32,
    },
    /// More survivors than clients.
    #[error("{survivors} survivors are reported, but only {clients} clients are invited")]
    TooManySurvivors {
        /// The clients that are reported to have stayed.
        survivors: u32,
        /// Clients invited.
        clients: u32,
    },
}

/// How many clients take part, must stay, and may collude.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Announced", into = "Announced")]
pub struct Participation {
    clients: u32,
    quorum: u32,
    colluders: u32,
}

/// What to do with a sum once the survivors are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Enough clients stayed: unmask.
    Release,
    /// Too few stayed: end the sum without unmasking.
    Abort,
}

impl Participation {
    /// `clients` are invited, at least `quorum` stay, at most `colluders` of them collude.
    ///
    /// # Errors
    /// When the quorum exceeds the roster, is below two or leaves no honest client.
    pub fn new(clients: u32, quorum: u32, colluders: u32) -> Result<Self, IllegalParticipation> {
        if quorum > clients {
            return Err(IllegalParticipation::QuorumAboveClients { quorum, clients });
        }
        if quorum < 2 || quorum <= colluders {
            return Err(IllegalParticipation::TooFewHonest { quorum, colluders });
        }
        Ok(Self {
            clients,
            quorum,
            colluders,
        })
    }

    /// n: how many clients are invited.
    #[must_use]
    pub const fn clients(self) -> u32 {
        self.clients
    }

    /// t_min: how many must stay.
    #[must_use]
    pub const fn quorum(self) -> u32 {
        self.quorum
    }

    /// c: how many may collude.
    #[must_use]
    pub const fn colluders(self) -> u32 {
        self.colluders
    }

    /// h: how many honest clients are certain to stay.
    #[must_use]
    pub const fn honest(self) -> u32 {
        self.quorum - self.colluders
    }

    /// Whether a sum may be unmasked with these `survivors`.
    ///
    /// # Errors
    /// When there are more survivors than clients.
    pub fn decide(self, survivors: u32) -> Result<Decision, IllegalParticipation> {
        if survivors > self.clients {
            let clients = self.clients;
            return Err(IllegalParticipation::TooManySurvivors { survivors, clients });
        }
        Ok(if survivors < self.quorum {
            Decision::Abort
        } else {
            Decision::Release
        })
    }

    /// The variance of each client's share when h of them must add up to `total`.
    #[must_use]
    pub fn share_variance(self, total: &BigRational) -> BigRational {
        total / BigRational::from(BigInt::from(self.honest()))
    }
}

/// What a release would have cost had fewer honest clients been present than planned.
///
/// # Why
/// The honest variance shrinks by `present`/`planned`, and μ is proportional to the inverse of the
/// standard deviation. No guarantee rests on this: with too few survivors nothing is released.
///
/// # Errors
/// When no client was present or the result leaves the range of doubles.
pub fn shortfall_cost(planned_cost: Mu, planned: u32, present: u32) -> Result<Mu, IllegalQuantity> {
    Mu::try_from(planned_cost.get() * (f64::from(planned) / f64::from(present)).sqrt())
}

/// Noise in components, so that what a missing client would have made necessary can be removed.
///
/// Component 0 is for a sum without dropouts, and each further component makes up for one more
/// dropout. After `d` dropouts the components above `d` are removed, and the honest noise is
/// exactly the planned variance. [`crate::Skellam`] noise only: the components are too small for
/// the merging bound of discrete Gaussians.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemovableNoise {
    components: Vec<BigRational>,
    clients: u32,
    colluders: u32,
}

impl RemovableNoise {
    /// Components for `clients`, at most `tolerated` of which drop out and `colluders` collude, so
    /// that the honest noise has variance `total`.
    ///
    /// # Errors
    /// When no honest client, or no second client, would be left.
    pub fn plan(
        clients: u32,
        tolerated: u32,
        colluders: u32,
        total: &BigRational,
    ) -> Result<Self, IllegalParticipation> {
        let quorum = clients.saturating_sub(tolerated);
        Participation::new(clients, quorum, colluders)?;
        let honest_after = |dropped: u32| BigInt::from(clients - dropped - colluders);
        let component = |dropped: u32| match dropped {
            0 => total / BigRational::from(honest_after(0)),
            _ => total / BigRational::from(honest_after(dropped) * honest_after(dropped - 1)),
        };
        Ok(Self {
            components: (0..=tolerated).map(component).collect(),
            clients,
            colluders,
        })
    }

    /// The variance of each component of one client's noise.
    #[must_use]
    pub fn components(&self) -> &[BigRational] {
        &self.components
    }

    /// The variance that one client's noise keeps once `dropped` clients are known to be gone.
    #[must_use]
    pub fn kept_per_client(&self, dropped: usize) -> BigRational {
        let kept = self.components.iter().take(dropped + 1);
        kept.fold(BigRational::zero(), |sum, component| sum + component)
    }

    /// The variance that the honest clients' noise keeps together.
    #[must_use]
    pub fn honest_total(&self, dropped: u32) -> BigRational {
        let honest = self
            .clients
            .saturating_sub(dropped)
            .saturating_sub(self.colluders);
        self.kept_per_client(dropped as usize) * BigRational::from(BigInt::from(honest))
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Announced {
    clients: u32,
    quorum: u32,
    colluders: u32,
}

impl TryFrom<Announced> for Participation {
    type Error = IllegalParticipation;

    fn try_from(announced: Announced) -> Result<Self, IllegalParticipation> {
        Self::new(announced.clients, announced.quorum, announced.colluders)
    }
}

impl From<Participation> for Announced {
    fn from(participation: Participation) -> Self {
        let Participation {
            clients,
            quorum,
            colluders,
        } = participation;
        Self {
            clients,
            quorum,
            colluders,
        }
    }
}
