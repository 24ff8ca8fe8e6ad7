//! The registry of backends: who adds up the records and adds the noise.
//!
//! A new backend is a variant of [`Backend`] with its [`Entry`] here, and how its runs go in `run.rs`. Names, help
//! texts, parsing and JSON follow from the entry. What its guarantee says follows from who adds the noise.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use sprifed_privacy::{NoiseOrigin, Participation};
use sprifed_recovery::Needs;

use crate::error::Error;

/// A backend on one machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// One trusted party holds all records; it adds all the noise.
    Curator,
    /// Every client masks its own vector and adds its own share of the noise; no party is trusted
    /// with records.
    SecureSum,
    /// Three trustees hold shared bits of what clients send, and add noise that none of them knows.
    Trustees,
}

/// What is known of a backend before it runs.
struct Entry {
    /// Its name, in commands and files.
    name: &'static str,
    /// What it is, in one line.
    about: &'static str,
    /// The most that a procedure may need of it.
    most: Needs,
    /// Who adds the noise.
    noise: NoiseSource,
}

/// Who adds the noise, before the clients are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NoiseSource {
    /// One trusted party.
    Curator,
    /// Each client its share.
    Clients,
    /// Each of three trustees its share.
    Trustees,
}

impl Backend {
    /// All of them, in the order of help texts.
    pub const ALL: &'static [Self] = &[Self::Curator, Self::SecureSum, Self::Trustees];

    const fn entry(self) -> Entry {
        match self {
            Self::Curator => Entry {
                name: "curator",
                about: "One trusted party holds all records; it adds all the noise",
                most: Needs::Choices,
                noise: NoiseSource::Curator,
            },
            Self::SecureSum => Entry {
                name: "secure-sum",
                about: "Every client masks its own vector and adds its own share of the noise; no party is trusted \
                        with the records of others",
                most: Needs::Sums,
                noise: NoiseSource::Clients,
            },
            Self::Trustees => Entry {
                name: "trustees",
                about: "Three trustees choose and add up on shared bits, with noise that none of them knows; any two of \
                        them together see everything",
                most: Needs::Choices,
                noise: NoiseSource::Trustees,
            },
        }
    }

    /// The name as it is typed.
    #[must_use]
    pub const fn text(self) -> &'static str {
        self.entry().name
    }

    /// What it is, in one line.
    #[must_use]
    pub const fn about(self) -> &'static str {
        self.entry().about
    }

    /// Whether a procedure with these needs can run on it.
    #[must_use]
    pub fn answers(self, needs: Needs) -> bool {
        needs == Needs::Sums || self.entry().most == Needs::Choices
    }

    /// Those on which a procedure with these needs can run.
    pub fn answering(needs: Needs) -> impl Iterator<Item = Self> {
        let all = Self::ALL.iter().copied();
        all.filter(move |backend| backend.answers(needs))
    }

    /// The backend that trials and audits of noise of this origin run.
    #[must_use]
    pub const fn of(origin: NoiseOrigin) -> Self {
        match origin {
            NoiseOrigin::Curator => Self::Curator,
            NoiseOrigin::Shares(_) => Self::SecureSum,
            NoiseOrigin::Trustees => Self::Trustees,
        }
    }

    /// The backend of this name, if its noise is of this origin.
    pub(crate) fn named(name: &str, origin: NoiseOrigin) -> Option<Self> {
        let noise = match origin {
            NoiseOrigin::Curator => NoiseSource::Curator,
            NoiseOrigin::Shares(_) => NoiseSource::Clients,
            NoiseOrigin::Trustees => NoiseSource::Trustees,
        };
        let is_it = |backend: &Self| backend.text() == name && backend.entry().noise == noise;
        Self::ALL.iter().copied().find(is_it)
    }
}

impl Serialize for Backend {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.text())
    }
}

impl JsonSchema for Backend {
    fn schema_name() -> Cow<'static, str> {
        "Backend".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = Self::ALL.iter().map(|backend| backend.text()).collect();
        json_schema!({ "type": "string", "enum": names })
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
    /// When a curator or trustees are given a quorum or colluders, or secure sums illegal ones.
    pub fn origin(&self, clients: usize) -> Result<NoiseOrigin, Error> {
        let is_given = self.quorum.is_some() || self.colluders.is_some();
        match self.backend.entry().noise {
            NoiseSource::Curator if is_given => return Err(Error::ParticipationOfCurator),
            NoiseSource::Trustees if is_given => return Err(Error::ParticipationOfTrustees),
            NoiseSource::Curator => return Ok(NoiseOrigin::Curator),
            NoiseSource::Trustees => return Ok(NoiseOrigin::Trustees),
            NoiseSource::Clients => {}
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

#[cfg(test)]
mod tests {
    use super::{Backend, BackendRequest};

    /// Who adds the noise of 20 clients by default.
    fn origin_of(backend: Backend) -> sprifed_privacy::NoiseOrigin {
        let request = BackendRequest {
            backend,
            quorum: None,
            colluders: None,
        };
        request.origin(20).unwrap()
    }

    #[test]
    fn a_name_is_that_of_one_backend_and_of_its_noise_only() {
        for &backend in Backend::ALL {
            for &other in Backend::ALL {
                let found = Backend::named(backend.text(), origin_of(other));
                let is_same_noise = backend.entry().noise == other.entry().noise;
                assert_eq!(found, is_same_noise.then_some(backend));
            }
            let json = serde_json::to_value(backend).unwrap();
            assert_eq!(json, backend.text());
        }
        assert_eq!(Backend::named("cloud", origin_of(Backend::Curator)), None);
    }
}
