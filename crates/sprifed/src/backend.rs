//! Who adds up the records and adds the noise.

use schemars::JsonSchema;
use serde::Serialize;
use sprifed_privacy::{NoiseOrigin, Participation};

use crate::error::Error;

/// A backend on one machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Backend {
    /// One trusted party holds all records; it adds all the noise.
    Curator,
    /// Every client masks its own vector and adds its own share of the noise; no party is trusted
    /// with records.
    SecureSum,
}

impl Backend {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Curator, Self::SecureSum];

    /// The name as it is typed.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Curator => "curator",
            Self::SecureSum => "secure-sum",
        }
    }

    /// The backend whose noise is of this origin.
    #[must_use]
    pub const fn of(origin: NoiseOrigin) -> Self {
        match origin {
            NoiseOrigin::Curator => Self::Curator,
            NoiseOrigin::Shares(_) => Self::SecureSum,
        }
    }
}

/// Who answers, and on whom the noise depends.
#[derive(Clone, Copy, Debug)]
pub struct BackendRequest {
    /// Who adds up.
    pub backend: Backend,
    /// Of secure sums: a sum of fewer clients is never opened; nine tenths of them by default.
    pub quorum: Option<u32>,
    /// Of secure sums: how many clients may tell others their shares of the noise; a twentieth of
    /// them by default, at least one.
    pub colluders: Option<u32>,
}

impl BackendRequest {
    /// Who adds the noise of a study with this many clients.
    ///
    /// # Errors
    /// When a curator is given a quorum or colluders, or secure sums illegal ones.
    pub fn origin(&self, clients: usize) -> Result<NoiseOrigin, Error> {
        if self.backend == Backend::Curator {
            return match (self.quorum, self.colluders) {
                (None, None) => Ok(NoiseOrigin::Curator),
                _ => Err(Error::ParticipationOfCurator),
            };
        }
        let clients = u32::try_from(clients).unwrap_or(u32::MAX);
        let (quorum, colluders) = (clients - clients / 10, (clients / 20).max(1));
        let participation = Participation::new(
            clients,
            self.quorum.unwrap_or(quorum),
            self.colluders.unwrap_or(colluders),
        );
        participation
            .map(NoiseOrigin::Shares)
            .map_err(Error::Backend)
    }
}
