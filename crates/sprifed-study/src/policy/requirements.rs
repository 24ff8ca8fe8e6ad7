//! The requirements of a policy for a study.

use serde::Serialize;
use sprifed_noise::Provenance;
use sprifed_privacy::{Cost, Gates, Participation};

use super::columns::matches;
use super::{Applicant, PARTY, Policy, Violation};
use crate::agreement::{Agreed, AgreedTrustees};

/// How many names a violation shows.
const SHOWN: usize = 8;

impl Policy {
    /// Everything about the study that this policy does not allow to `applicant`, whose earlier studies cost
    /// `spent`.
    ///
    /// A study with simulated noise has the same limits, as a rehearsal should; its cost is not
    /// counted afterwards, because it uses no secret noise.
    #[must_use]
    pub fn violations(
        &self,
        agreed: &Agreed,
        applicant: &Applicant<'_>,
        spent: Cost,
    ) -> Vec<Violation> {
        let mut found = Vec::new();
        self.check_time(applicant, &mut found);
        self.check_people(agreed, applicant, &mut found);
        self.check_trustees(agreed, &mut found);
        self.check_subject(agreed, applicant, &mut found);
        self.check_cost(agreed, spent, &mut found);
        self.check_protection(agreed, &mut found);
        found
    }

    fn check_time(&self, applicant: &Applicant<'_>, found: &mut Vec<Violation>) {
        require(
            found,
            applicant.today <= self.expires,
            "today's date",
            || applicant.today.to_string(),
            || {
                let expires = self.expires;
                format!("a date until {expires}, after which it allows nothing")
            },
        );
    }

    fn check_people(&self, agreed: &Agreed, applicant: &Applicant<'_>, found: &mut Vec<Violation>) {
        let agreement = agreed.agreement();
        require(
            found,
            self.coordinators.contains(&agreement.coordinator),
            "the coordinator",
            || agreement.coordinator.to_string(),
            || "a key among its `coordinators`".to_owned(),
        );
        for party in &agreement.parties {
            let is_known = party.identity == applicant.own
                || self.parties.values().any(|key| *key == party.identity);
            require(
                found,
                is_known,
                "a party",
                || format!("{:?} with the key {}", party.name, party.identity),
                || "a key among its `parties`".to_owned(),
            );
        }
    }

    /// Any two trustees together see all contributions: those whom this party does not know are refused.
    fn check_trustees(&self, agreed: &Agreed, found: &mut Vec<Violation>) {
        for trustee in agreed.agreement().trustees.iter().flatten() {
            require(
                found,
                self.trustees.contains(&trustee.identity),
                "a trustee",
                || format!("{:?} with the key {}", trustee.name, trustee.identity),
                || "a key among its `trustees`".to_owned(),
            );
        }
        require_proof(found, agreed, self.allow_unproved_gates);
    }

    fn check_subject(
        &self,
        agreed: &Agreed,
        applicant: &Applicant<'_>,
        found: &mut Vec<Violation>,
    ) {
        let agreement = agreed.agreement();
        require(
            found,
            self.purposes.contains(&agreement.purpose),
            "the purpose",
            || format!("{:?}", agreement.purpose),
            || match self.purposes.as_slice() {
                [] => one_of("purposes", &self.purposes),
                some => format!("{}, word for word", one_of("purposes", some)),
            },
        );
        let is_allowed = |name: &&String| {
            let mut patterns = self.columns.iter();
            !patterns.any(|pattern| matches(pattern, name))
        };
        let others: Vec<&String> = applicant.columns.iter().filter(is_allowed).collect();
        require(
            found,
            others.is_empty(),
            "a column",
            || {
                let shown: Vec<String> = others
                    .iter()
                    .take(SHOWN)
                    .map(|name| format!("{name:?}"))
                    .collect();
                match others.len().saturating_sub(SHOWN) {
                    0 => shown.join(", "),
                    more => format!("{} and {more} more", shown.join(", ")),
                }
            },
            || format!("only columns that are {}", one_of("columns", &self.columns)),
        );
    }

    fn check_cost(&self, agreed: &Agreed, spent: Cost, found: &mut Vec<Violation>) {
        let ceiling = agreed.ceiling().epsilon();
        require(
            found,
            ceiling <= self.largest_epsilon_per_study,
            "the most that the study can cost",
            || format!("epsilon = {}", ceiling.shown()),
            || format!("at most {}", self.largest_epsilon_per_study),
        );
        let total = spent.and(agreed.ceiling().into());
        require(
            found,
            total.epsilon <= self.largest_epsilon_in_total,
            "the cost of this and all earlier studies",
            || {
                let (total, before) = (total.epsilon.shown(), spent.epsilon.shown());
                format!("epsilon = {total}, of which {before} is reserved or spent")
            },
            || format!("at most {}", self.largest_epsilon_in_total),
        );
        let delta = agreed.ceiling().delta();
        require(
            found,
            delta.get() <= self.largest_delta,
            "delta",
            || delta.shown(),
            || format!("at most {}", written(&self.largest_delta)),
        );
        require(
            found,
            total.delta.get() <= self.largest_delta_in_total,
            "the delta of this and all earlier studies",
            || {
                let (total, before) = (total.delta.shown(), spent.delta.shown());
                format!("{total}, of which {before} is reserved or spent")
            },
            || format!("at most {}", written(&self.largest_delta_in_total)),
        );
    }

    fn check_protection(&self, agreed: &Agreed, found: &mut Vec<Violation>) {
        let agreement = agreed.agreement();
        require(
            found,
            agreement.noise == Provenance::Cryptographic || self.allow_simulated_noise,
            "the noise",
            || format!("{:?}", agreement.noise),
            || {
                "secret noise, or `allow-simulated-noise = true` for records that need no protection"
                    .to_owned()
            },
        );
        match agreed.participation() {
            Some(participation) => self.check_participation(participation, found),
            // No party's noise counts there: all other parties may collude.
            None => require(
                found,
                self.smallest_quorum <= 1,
                "the quorum",
                || "1, because trustees open sums of any number of parties".to_owned(),
                || format!("at least {}", self.smallest_quorum),
            ),
        }
        require(
            found,
            self.procedures.contains(&agreement.procedure),
            "the procedure",
            || written(&agreement.procedure),
            || one_of("procedures", &self.procedures),
        );
        require(
            found,
            self.units.contains(&agreement.plan.unit),
            "the unit of privacy",
            || written(&agreement.plan.unit),
            || one_of("units", &self.units),
        );
        require(
            found,
            self.neighbours.contains(&agreement.plan.relation),
            "the relation of neighbours",
            || written(&agreement.plan.relation),
            || one_of("neighbours", &self.neighbours),
        );
    }

    fn check_participation(&self, participation: Participation, found: &mut Vec<Violation>) {
        require(
            found,
            participation.quorum() >= self.smallest_quorum,
            "the quorum",
            || participation.quorum().to_string(),
            || format!("at least {}", self.smallest_quorum),
        );
        let share = f64::from(participation.colluders()) / f64::from(participation.clients());
        require(
            found,
            share >= self.largest_colluder_share,
            "the share of colluders against whom the noise is made",
            || format!("{share:.3}"),
            || format!("at least {}", self.largest_colluder_share),
        );
    }
}

/// Collects the requirements that are not met.
pub(super) fn require(
    violations: &mut Vec<Violation>,
    is_allowed: bool,
    what: &'static str,
    found: impl FnOnce() -> String,
    required: impl FnOnce() -> String,
) {
    if !is_allowed {
        violations.push(Violation {
            role: PARTY,
            what,
            found: found(),
            required: required(),
        });
    }
}

/// Trustees that do not prove their gates need a policy that allows it.
pub(super) fn require_proof(found: &mut Vec<Violation>, agreed: &Agreed, is_allowed: bool) {
    let gates = agreed.trustees().map(AgreedTrustees::gates);
    require(
        found,
        gates != Some(Gates::Unproved) || is_allowed,
        "the trustees' proof of their gates",
        || "missing".to_owned(),
        || "it, or `allow-unproved-gates = true`".to_owned(),
    );
}

/// A value as the policy file spells it.
fn written(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// The values of the list `key` of a policy, which may be empty.
fn one_of<T: Serialize>(key: &str, allowed: &[T]) -> String {
    if allowed.is_empty() {
        return format!("one of its `{key}`, and that list is empty");
    }
    format!("one of {}", written(&allowed))
}
