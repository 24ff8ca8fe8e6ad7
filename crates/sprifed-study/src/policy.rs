//! A party's own say: which studies it takes part in, decided before a record is touched.

use serde::{Deserialize, Serialize};
use sprifed_noise::Provenance;
use sprifed_privacy::{Epsilon, PrivacyUnit, Relation};
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
    /// The most all studies of one unit and relation may cost together: epsilons are added.
    pub largest_epsilon_in_total: Epsilon,
    /// The largest delta of a study.
    pub largest_delta: f64,
    /// The largest delta of all studies of one unit and relation together: deltas are added.
    pub largest_delta_in_total: f64,
    /// The fewest clients that a sum must be over.
    pub smallest_quorum: u32,
    /// The guarantee must hold even if this share of all clients collude.
    pub largest_colluder_share: f64,
    /// Procedures it answers.
    pub procedures: Vec<CertifiedProcedure>,
    /// Units of privacy it accepts.
    pub units: Vec<PrivacyUnit>,
    /// Relations of neighbours it accepts.
    pub neighbours: Vec<Relation>,
    /// Whether it takes part in studies whose noise protects nobody; for tests.
    #[serde(default)]
    pub allow_simulated_noise: bool,
}

/// What a party's earlier studies of the same unit and relation cost together; one that is not over counts with
/// the most it can cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SpentBefore {
    /// Their epsilons, added.
    pub epsilon: f64,
    /// Their deltas, added.
    pub delta: f64,
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
    /// Keys that a policy of an earlier version does not have, each with a line that adds it.
    ///
    /// There is no default for them: what a party agrees to is not made up for it.
    pub const LATER_KEYS: [(&str, &str); 2] = [
        ("largest-delta-in-total", "largest-delta-in-total = 1e-5"),
        ("neighbours", "neighbours = [\"zero-out\"]"),
    ];

    /// Whether a party with this policy takes part, whose earlier studies cost `spent`.
    ///
    /// A study with simulated noise is held to the same limits, as a rehearsal should be; what it
    /// costs is not to be counted afterwards, because it protects nobody.
    ///
    /// # Errors
    /// With the first thing that is not allowed.
    pub fn check(&self, agreed: &Agreed, spent: SpentBefore) -> Result<(), Forbidden> {
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
            "secret noise, or `allow-simulated-noise = true` for records that need no protection"
                .to_owned(),
        )?;
        require(
            ceiling <= self.largest_epsilon_per_study,
            "the most that the study can cost",
            format!("epsilon = {ceiling}"),
            format!("at most {}", self.largest_epsilon_per_study),
        )?;
        let total = spent.epsilon + ceiling.get();
        require(
            total <= self.largest_epsilon_in_total.get(),
            "the cost of this and all earlier studies",
            format!(
                "epsilon = {total}, of which {} is reserved or spent",
                spent.epsilon
            ),
            format!("at most {}", self.largest_epsilon_in_total),
        )?;
        let delta = agreed.ceiling().delta().get();
        require(
            delta <= self.largest_delta,
            "delta",
            delta.to_string(),
            format!("at most {}", self.largest_delta),
        )?;
        let total = spent.delta + delta;
        require(
            total <= self.largest_delta_in_total,
            "the delta of this and all earlier studies",
            format!("{total:e}, of which {:e} is reserved or spent", spent.delta),
            format!("at most {:e}", self.largest_delta_in_total),
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
            written(&agreement.procedure),
            one_of(&self.procedures),
        )?;
        require(
            self.units.contains(&agreement.plan.unit),
            "the unit of privacy",
            written(&agreement.plan.unit),
            one_of(&self.units),
        )?;
        require(
            self.neighbours.contains(&agreement.plan.relation),
            "the relation of neighbours",
            written(&agreement.plan.relation),
            one_of(&self.neighbours),
        )
    }
}

/// A value as the policy file spells it.
fn written(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn one_of<T: Serialize>(allowed: &[T]) -> String {
    format!("one of {}", written(&allowed))
}
