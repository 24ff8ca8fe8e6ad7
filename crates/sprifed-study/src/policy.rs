//! A party's own say: which studies it takes part in, decided before a record is touched.

use serde::{Deserialize, Serialize};
use sprifed_noise::Provenance;
use sprifed_privacy::{Epsilon, PrivacyUnit};
use sprifed_recovery::CertifiedProcedure;

use crate::agreement::Agreed;
use crate::hexadecimal::Digest;

#[cfg(test)]
mod tests;

/// What a party allows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Policy {
    /// Identity keys of coordinators it deals with.
    pub coordinators: Vec<Digest>,
    /// The most one study may cost, repetitions included.
    pub largest_epsilon_per_study: Epsilon,
    /// The most all studies together may cost: epsilons are added.
    pub largest_epsilon_in_total: Epsilon,
    /// The largest delta of a study.
    pub largest_delta: f64,
    /// The fewest clients that a sum must be over.
    pub smallest_quorum: u32,
    /// The guarantee must hold even if this share of all clients collude.
    pub largest_colluder_share: f64,
    /// Procedures it answers.
    pub procedures: Vec<CertifiedProcedure>,
    /// Units of privacy it accepts.
    pub units: Vec<PrivacyUnit>,
    /// Whether it takes part in studies whose noise protects nobody; for tests.
    #[serde(default)]
    pub allow_simulated_noise: bool,
}

/// Why a party stays away. Nothing was touched.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{what} is {found}, but this party's policy requires {required}")]
pub struct Forbidden {
    /// What is wrong.
    pub what: &'static str,
    /// What the study says.
    pub found: String,
    /// What the policy says.
    pub required: String,
}

impl Policy {
    /// Whether a party with this policy, whose earlier studies cost `spent` in all, takes part.
    ///
    /// # Errors
    /// With the first thing that is not allowed.
    pub fn check(&self, agreed: &Agreed, spent: f64) -> Result<(), Forbidden> {
        let agreement = agreed.agreement();
        let participation = agreed.participation();
        let ceiling = agreed.ceiling().epsilon();
        let require = |allowed: bool, what, found: String, required: String| {
            let forbidden = Forbidden {
                what,
                found,
                required,
            };
            if allowed { Ok(()) } else { Err(forbidden) }
        };
        require(
            self.coordinators.contains(&agreement.coordinator),
            "the coordinator",
            agreement.coordinator.to_string(),
            format!("one of {:?}", self.coordinators),
        )?;
        require(
            agreement.noise == Provenance::Cryptographic || self.allow_simulated_noise,
            "the noise",
            format!("{:?}", agreement.noise),
            "secret noise".to_owned(),
        )?;
        require(
            ceiling <= self.largest_epsilon_per_study,
            "the most that the study can cost",
            format!("epsilon = {ceiling}"),
            format!("at most {}", self.largest_epsilon_per_study),
        )?;
        let total = spent + ceiling.get();
        require(
            total <= self.largest_epsilon_in_total.get(),
            "the cost of this and all earlier studies",
            format!("epsilon = {total}, of which {spent} is spent"),
            format!("at most {}", self.largest_epsilon_in_total),
        )?;
        let delta = agreed.ceiling().delta().get();
        require(
            delta <= self.largest_delta,
            "delta",
            delta.to_string(),
            format!("at most {}", self.largest_delta),
        )?;
        require(
            participation.quorum() >= self.smallest_quorum,
            "the quorum",
            participation.quorum().to_string(),
            format!("at least {}", self.smallest_quorum),
        )?;
        let share = f64::from(participation.colluders()) / f64::from(participation.clients());
        require(
            share >= self.largest_colluder_share,
            "the share of colluders against whom the noise is made",
            format!("{share:.3}"),
            format!("at least {}", self.largest_colluder_share),
        )?;
        require(
            self.procedures.contains(&agreement.procedure),
            "the procedure",
            agreement.procedure.to_string(),
            format!("one of {:?}", self.procedures),
        )?;
        require(
            self.units.contains(&agreement.plan.unit),
            "the unit of privacy",
            agreement.plan.unit.words().to_owned(),
            format!("one of {:?}", self.units),
        )
    }
}
