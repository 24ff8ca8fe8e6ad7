//! A party's policy: decides which studies the party takes part in, before a record is touched.

mod columns;
mod day;
mod requirements;
#[cfg(test)]
mod tests;
mod trustee;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use sprifed_privacy::{Cost, Epsilon, PrivacyUnit, Relation};
use sprifed_recovery::CertifiedProcedure;

pub use self::day::{Day, NotADay};
pub use self::trustee::TrusteePolicy;
use crate::agreement::Agreed;
use crate::hexadecimal::Digest;

/// What a party allows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Policy {
    /// Identity keys of the coordinators that it accepts.
    pub coordinators: Vec<Digest>,
    /// Purposes it accepts, by their exact text.
    pub purposes: Vec<String>,
    /// Columns that a study may use, the response included: names, in which `*` matches any
    /// characters.
    pub columns: Vec<String>,
    /// The last day on which it allows anything.
    pub expires: Day,
    /// The most one study may cost, repetitions included.
    pub largest_epsilon_per_study: Epsilon,
    /// The most all studies of one unit and relation may cost together: epsilons are added.
    pub largest_epsilon_in_total: Epsilon,
    /// The largest delta of a study.
    #[serde(deserialize_with = "share")]
    pub largest_delta: f64,
    /// The largest delta of all studies of one unit and relation together: deltas are added.
    #[serde(deserialize_with = "share")]
    pub largest_delta_in_total: f64,
    /// The fewest clients that a sum must be over.
    pub smallest_quorum: u32,
    /// The guarantee must hold even if this share of all clients collude.
    #[serde(deserialize_with = "share")]
    pub largest_colluder_share: f64,
    /// Procedures it answers.
    pub procedures: Vec<CertifiedProcedure>,
    /// Units of privacy it accepts.
    pub units: Vec<PrivacyUnit>,
    /// Relations of neighbours it accepts.
    pub neighbours: Vec<Relation>,
    /// Identity keys of the trustees that it accepts; a study without trustees needs none.
    pub trustees: Vec<Digest>,
    /// How many trustees may collude without harm: 1, because two of them together see all contributions.
    #[serde(deserialize_with = "coalition")]
    pub largest_trustee_coalition: u32,
    /// Whether it takes part in studies with simulated noise, which protects no record; for tests.
    #[serde(default)]
    pub allow_simulated_noise: bool,
    /// Whether it takes part in studies whose trustees do not prove their gates: one that deviates is not found there.
    #[serde(default)]
    pub allow_unproved_gates: bool,
    /// Identity keys of the other parties it takes part with, by the names that this party gives
    /// them.
    pub parties: BTreeMap<String, Digest>,
}

/// A number from 0 to 1: no other can be a probability or a part of all clients.
fn share<'de, D: Deserializer<'de>>(source: D) -> Result<f64, D::Error> {
    let number = f64::deserialize(source)?;
    if (0.0..=1.0).contains(&number) {
        Ok(number)
    } else {
        Err(D::Error::custom("not a number from 0 to 1"))
    }
}

/// The one number of colluding trustees that the protocol tolerates: a party that writes it down knows that.
fn coalition<'de, D: Deserializer<'de>>(source: D) -> Result<u32, D::Error> {
    let number = u32::deserialize(source)?;
    if number == 1 {
        Ok(number)
    } else {
        Err(D::Error::custom("not 1"))
    }
}

/// A key of a policy, for its author.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyKey {
    /// Its name.
    pub name: &'static str,
    /// A line that sets it.
    pub line: &'static str,
    /// What its value must be.
    pub value: &'static str,
    /// Whether every policy has it.
    pub is_required: bool,
}

impl PolicyKey {
    /// Of parties and of trustees.
    const ALLOW_SIMULATED_NOISE: Self = Self {
        name: "allow-simulated-noise",
        line: "allow-simulated-noise = false",
        value: "true or false, without quotes",
        is_required: false,
    };

    /// Of parties and of trustees.
    const ALLOW_UNPROVED_GATES: Self = Self {
        name: "allow-unproved-gates",
        line: "allow-unproved-gates = false",
        value: "true or false, without quotes",
        is_required: false,
    };

    const fn required(name: &'static str, line: &'static str, value: &'static str) -> Self {
        Self {
            name,
            line,
            value,
            is_required: true,
        }
    }
}

/// The party that applies its policy, and the agreement in terms of its table.
#[derive(Clone, Copy, Debug)]
pub struct Applicant<'a> {
    /// The party's own identity key, which its policy need not list.
    pub own: Digest,
    /// All columns that the study reads, the response included.
    pub columns: &'a [String],
    /// The present date.
    pub today: Day,
}

/// One thing that a policy does not allow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{what} is {found}, but this {role}'s policy requires {required}")]
pub struct Violation {
    /// Whose policy it is: a party's or a trustee's.
    #[serde(skip)]
    pub role: &'static str,
    /// What is wrong.
    pub what: &'static str,
    /// What the study says.
    pub found: String,
    /// What the policy says.
    pub required: String,
}

/// Why a party does not take part. No record was touched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", joined(.violations))]
pub struct Forbidden {
    /// Everything that is not allowed, at least one thing.
    pub violations: Vec<Violation>,
}

impl Forbidden {
    fn unless_none(violations: Vec<Violation>) -> Result<(), Self> {
        if violations.is_empty() {
            Ok(())
        } else {
            Err(Self { violations })
        }
    }

    /// Who does not take part: a party or a trustee.
    #[must_use]
    pub fn role(&self) -> &'static str {
        self.violations.first().map_or(PARTY, |first| first.role)
    }
}

/// The role of a party in a [`Violation`].
const PARTY: &str = "party";

fn joined(violations: &[Violation]) -> String {
    let each: Vec<String> = violations.iter().map(Violation::to_string).collect();
    each.join("; ")
}

impl Policy {
    /// Every key that a policy may have.
    ///
    /// The required keys have no default: a party must state what it agrees to.
    pub const KEYS: [PolicyKey; 18] = [
        PolicyKey::required(
            "coordinators",
            "coordinators = [\"KEY\"]",
            "a list of keys, each 64 hexadecimal digits in quotes",
        ),
        PolicyKey::required(
            "purposes",
            "purposes = [\"which measurements predict the risk\"]",
            "a list of texts in quotes",
        ),
        PolicyKey::required(
            "columns",
            "columns = [\"risk\", \"m*\"]",
            "a list of names in quotes",
        ),
        PolicyKey::required(
            "expires",
            "expires = \"2027-12-31\"",
            "a day such as \"2027-12-31\"",
        ),
        PolicyKey::required(
            "largest-epsilon-per-study",
            "largest-epsilon-per-study = 3.0",
            "a number greater than 0, without quotes",
        ),
        PolicyKey::required(
            "largest-epsilon-in-total",
            "largest-epsilon-in-total = 10.0",
            "a number greater than 0, without quotes",
        ),
        PolicyKey::required(
            "largest-delta",
            "largest-delta = 1e-5",
            "a number from 0 to 1, without quotes",
        ),
        PolicyKey::required(
            "largest-delta-in-total",
            "largest-delta-in-total = 1e-5",
            "a number from 0 to 1, without quotes",
        ),
        PolicyKey::required(
            "smallest-quorum",
            "smallest-quorum = 3",
            "a whole number, without quotes",
        ),
        PolicyKey::required(
            "largest-colluder-share",
            "largest-colluder-share = 0.0",
            "a number from 0 to 1, without quotes",
        ),
        PolicyKey::required(
            "procedures",
            "procedures = [\"grad\"]",
            "a list of procedures in quotes, such as \"grad\"",
        ),
        PolicyKey::required(
            "units",
            "units = [\"record\"]",
            "a list of \"record\" and \"client\"",
        ),
        PolicyKey::required(
            "neighbours",
            "neighbours = [\"zero-out\"]",
            "a list of \"zero-out\" and \"replace-one\"",
        ),
        PolicyKey::required(
            "trustees",
            "trustees = []",
            "a list of keys, each 64 hexadecimal digits in quotes",
        ),
        PolicyKey::required(
            "largest-trustee-coalition",
            "largest-trustee-coalition = 1",
            "1, without quotes: any two trustees together see all contributions",
        ),
        PolicyKey::required(
            "parties",
            "parties = { south = \"KEY\", west = \"KEY\" }",
            "names with keys, each key 64 hexadecimal digits in quotes",
        ),
        PolicyKey::ALLOW_SIMULATED_NOISE,
        PolicyKey::ALLOW_UNPROVED_GATES,
    ];

    /// Whether `applicant` takes part under this policy, whose earlier studies cost `spent`.
    ///
    /// # Errors
    /// With everything that is not allowed.
    pub fn check(
        &self,
        agreed: &Agreed,
        applicant: &Applicant<'_>,
        spent: Cost,
    ) -> Result<(), Forbidden> {
        Forbidden::unless_none(self.violations(agreed, applicant, spent))
    }
}
