//! A trustee's policy: which studies it serves, decided before it sends anything.
//!
//! It is about work and about the two peers. What a study may cost in privacy is for the parties to decide.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sprifed_noise::Provenance;
use sprifed_query::PlannedStep;

use super::requirements::{require, require_proof};
use super::{Day, Forbidden, PolicyKey, Violation};
use crate::agreement::Agreed;
use crate::hexadecimal::Digest;

/// What a trustee allows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TrusteePolicy {
    /// Identity keys of the coordinators that it serves.
    pub coordinators: Vec<Digest>,
    /// The last day on which it allows anything.
    pub expires: Day,
    /// The most choices and sums of one study, repetitions included.
    pub most_steps: u32,
    /// The most clients of one study.
    pub most_clients: u32,
    /// The most candidates of one choice, and the most coordinates of one sum.
    pub most_candidates: u64,
    /// Whether it serves studies with simulated noise, which protects no record; for tests.
    #[serde(default)]
    pub allow_simulated_noise: bool,
    /// Whether it serves studies in which trustees do not prove their gates: one that deviates is not found there.
    #[serde(default)]
    pub allow_unproved_gates: bool,
    /// Identity keys of the other trustees that it works with, by the names that it gives them.
    pub trustees: BTreeMap<String, Digest>,
}

impl TrusteePolicy {
    /// Every key that such a policy may have.
    ///
    /// The required keys have no default: a trustee must state what it agrees to.
    pub const KEYS: [PolicyKey; 8] = [
        PolicyKey::required(
            "coordinators",
            "coordinators = [\"KEY\"]",
            "a list of keys, each 64 hexadecimal digits in quotes",
        ),
        PolicyKey::required(
            "expires",
            "expires = \"2027-12-31\"",
            "a day such as \"2027-12-31\"",
        ),
        PolicyKey::required(
            "most-steps",
            "most-steps = 200",
            "a whole number, without quotes",
        ),
        PolicyKey::required(
            "most-clients",
            "most-clients = 1000",
            "a whole number, without quotes",
        ),
        PolicyKey::required(
            "most-candidates",
            "most-candidates = 1000000",
            "a whole number, without quotes",
        ),
        PolicyKey::required(
            "trustees",
            "trustees = { court = \"KEY\", registry = \"KEY\" }",
            "names with keys, each key 64 hexadecimal digits in quotes",
        ),
        PolicyKey::ALLOW_SIMULATED_NOISE,
        PolicyKey::ALLOW_UNPROVED_GATES,
    ];

    /// Whether the trustee with the identity key `own` serves the study under this policy.
    ///
    /// # Errors
    /// With everything that is not allowed.
    pub fn check(&self, agreed: &Agreed, own: &Digest, today: Day) -> Result<(), Forbidden> {
        Forbidden::unless_none(self.violations(agreed, own, today))
    }

    /// Everything about the study that this policy does not allow to the trustee with the identity key `own`.
    #[must_use]
    pub fn violations(&self, agreed: &Agreed, own: &Digest, today: Day) -> Vec<Violation> {
        let mut found = Vec::new();
        let agreement = agreed.agreement();
        require(
            &mut found,
            today <= self.expires,
            "today's date",
            || today.to_string(),
            || {
                let expires = self.expires;
                format!("a date until {expires}, after which it allows nothing")
            },
        );
        require(
            &mut found,
            self.coordinators.contains(&agreement.coordinator),
            "the coordinator",
            || agreement.coordinator.to_string(),
            || "a key among its `coordinators`".to_owned(),
        );
        for trustee in agreement.trustees.iter().flatten() {
            let is_known = trustee.identity == *own
                || self.trustees.values().any(|key| *key == trustee.identity);
            require(
                &mut found,
                is_known,
                "a trustee",
                || format!("{:?} with the key {}", trustee.name, trustee.identity),
                || "a key among its `trustees`".to_owned(),
            );
        }
        require(
            &mut found,
            agreement.noise == Provenance::Cryptographic || self.allow_simulated_noise,
            "the noise",
            || format!("{:?}", agreement.noise),
            || "secret noise, or `allow-simulated-noise = true` for tests".to_owned(),
        );
        require_proof(&mut found, agreed, self.allow_unproved_gates);
        // An attempt that opens nothing is not charged, but it is computed.
        let attempts = u64::from(agreement.repeats) + 1;
        let steps = attempts.saturating_mul(agreement.plan.steps.len() as u64);
        let clients = agreement.parties.len() as u64;
        let candidates = agreement.plan.steps.iter().map(lanes).max().unwrap_or(0);
        let sizes = [
            (
                "the number of choices and sums, with all repeats",
                steps,
                u64::from(self.most_steps),
            ),
            (
                "the number of clients",
                clients,
                u64::from(self.most_clients),
            ),
            ("the number of candidates", candidates, self.most_candidates),
        ];
        for (what, number, most) in sizes {
            require(
                &mut found,
                number <= most,
                what,
                || number.to_string(),
                || format!("at most {most}"),
            );
        }
        for violation in &mut found {
            violation.role = "trustee";
        }
        found
    }
}

/// Candidates of a choice, or coordinates of a sum.
fn lanes(step: &PlannedStep) -> u64 {
    match step {
        PlannedStep::Choice(choice) => u64::from(choice.purchase.candidates),
        PlannedStep::Sum(sum) => sum.to_sum_plan().coordinates(),
    }
}
