use sprifed_privacy::{Gates, SpentDelta};

use super::*;
use crate::agreement::tests::{TestStudy, agreed, agreement_of_trustees, trustees};

/// The policy of the first party.
fn generous() -> Policy {
    let study = agreed(TestStudy::default());
    let parties = study.agreement().parties.iter().skip(1);
    Policy {
        coordinators: vec![study.agreement().coordinator],
        purposes: vec!["care".to_owned(), "testing".to_owned()],
        columns: vec!["risk".to_owned(), "x*".to_owned()],
        expires: day("2027-12-31"),
        largest_epsilon_per_study: Epsilon::try_from(60.0).expect("legal"),
        largest_epsilon_in_total: Epsilon::try_from(100.0).expect("legal"),
        largest_delta: 1e-6,
        largest_delta_in_total: 3.5e-6,
        smallest_quorum: 3,
        largest_colluder_share: 0.3,
        procedures: vec![CertifiedProcedure::SIEVE],
        units: vec![PrivacyUnit::Record],
        neighbours: vec![Relation::ZeroOut],
        trustees: Vec::new(),
        largest_trustee_coalition: 1,
        allow_simulated_noise: true,
        allow_unproved_gates: false,
        parties: parties
            .map(|party| (party.name.clone(), party.identity))
            .collect(),
    }
}

fn day(text: &str) -> Day {
    Day::try_from(text.to_owned()).expect("a date")
}

/// The first party asks on the last day of its policy.
fn violations(policy: &Policy, study: &Agreed, spent: Cost) -> Vec<Violation> {
    let columns = ["risk", "x0", "x29"].map(str::to_owned);
    let applicant = Applicant {
        own: study.agreement().parties[0].identity,
        columns: &columns,
        today: day("2027-12-31"),
    };
    let violations = policy.violations(study, &applicant, spent);
    let checked = policy.check(study, &applicant, spent);
    assert_eq!(checked.is_ok(), violations.is_empty());
    violations
}

fn cost(epsilon: f64, delta: f64) -> Cost {
    Cost {
        epsilon: Epsilon::try_from(epsilon).expect("legal"),
        delta: SpentDelta::try_from(delta).expect("legal"),
    }
}

fn before() -> Cost {
    cost(40.0, 2e-6)
}

#[test]
fn what_is_allowed_is_allowed() {
    let study = agreed(TestStudy::default());
    assert_eq!(violations(&generous(), &study, before()), []);
}

#[test]
fn everything_else_is_refused_with_its_reason() {
    let study = agreed(TestStudy::default());
    type Change = fn(&mut Policy);
    let cases: [(&str, Change); 19] = [
        ("the coordinator", |p| p.coordinators.clear()),
        ("the noise", |p| p.allow_simulated_noise = false),
        ("the most that the study can cost", |p| {
            p.largest_epsilon_per_study = Epsilon::try_from(59.0).expect("legal");
        }),
        ("the cost of this and all earlier studies", |p| {
            p.largest_epsilon_in_total = Epsilon::try_from(99.0).expect("legal");
        }),
        ("delta", |p| p.largest_delta = 1e-7),
        ("the quorum", |p| p.smallest_quorum = 4),
        ("the share of colluders", |p| {
            p.largest_colluder_share = 0.34
        }),
        ("the procedure", |p| {
            p.procedures = vec![CertifiedProcedure::GRAD]
        }),
        ("the unit of privacy", |p| {
            p.units = vec![PrivacyUnit::Client]
        }),
        ("the delta of this and all earlier studies", |p| {
            p.largest_delta_in_total = 2.5e-6;
        }),
        ("the relation of neighbours", |p| {
            p.neighbours = vec![Relation::ReplaceOne];
        }),
        ("the purpose", |p| p.purposes.clear()),
        ("the purpose", |p| p.purposes = vec!["Testing".to_owned()]),
        ("a column is \"risk\", but", |p| drop(p.columns.remove(0))),
        ("a column is \"x0\", \"x29\", but", |p| {
            drop(p.columns.pop())
        }),
        ("today's date is 2027-12-31", |p| {
            p.expires = day("2027-12-30");
        }),
        ("a party is \"party 1\" with the key", |p| {
            p.parties.remove("party 1");
        }),
        // Names are what this party calls the others: the key decides.
        ("a party is \"party 2\" with the key", |p| {
            p.parties.insert("party 2".to_owned(), Digest([9; 32]));
        }),
        ("the noise", |p| {
            p.parties.insert("one more".to_owned(), Digest([9; 32]));
            p.allow_simulated_noise = false;
        }),
    ];
    for (what, change) in cases {
        let mut policy = generous();
        change(&mut policy);
        let violations = violations(&policy, &study, before());
        let [refused] = &violations[..] else {
            panic!("{what}: {violations:?}");
        };
        let refused = refused.to_string();
        assert!(refused.starts_with(what), "{refused}");
        // A study that is not over counts with its most, which is not spent.
        let is_total = what.ends_with("all earlier studies");
        assert_eq!(
            refused.contains("is reserved or spent"),
            is_total,
            "{refused}"
        );
    }
}

#[test]
fn costs_are_short_and_rounded_up_and_limits_are_shown_as_written() {
    let study = agreed(TestStudy::default());
    let mut policy = generous();
    policy.largest_epsilon_per_study = Epsilon::try_from(2.5).expect("legal");
    policy.largest_epsilon_in_total = Epsilon::try_from(10.0).expect("legal");
    policy.largest_delta = 1e-7;
    policy.largest_delta_in_total = 2.5e-7;
    let spent = cost(0.1 + 0.2, 3e-7 / 1.1);
    let found = violations(&policy, &study, spent);
    let (most, delta) = (study.ceiling().epsilon(), study.ceiling().delta());
    let shown: Vec<(&str, &str)> = found
        .iter()
        .map(|violation| (violation.found.as_str(), violation.required.as_str()))
        .collect();
    let total = spent.and(study.ceiling().into());
    let (total, total_delta) = (total.epsilon.shown(), total.delta.shown());
    assert_eq!(
        (total.as_str(), total_delta.as_str()),
        ("60.3001", "1.273e-6")
    );
    assert_eq!(
        shown,
        [
            (
                format!("epsilon = {}", most.shown()).as_str(),
                "at most 2.5"
            ),
            (
                format!("epsilon = {total}, of which 0.3001 is reserved or spent").as_str(),
                "at most 10"
            ),
            (delta.shown().as_str(), "at most 1e-7"),
            (
                format!("{total_delta}, of which 2.728e-7 is reserved or spent").as_str(),
                "at most 2.5e-7"
            ),
        ]
    );
    // Nothing before is nothing, not a number with an exponent.
    let found = violations(&policy, &study, Cost::NOTHING);
    assert!(found[3].found.ends_with("of which 0 is reserved or spent"));
}

#[test]
fn repetitions_count_before_they_are_needed() {
    let study = agreed(TestStudy {
        repeats: 2,
        ..TestStudy::default()
    });
    let refused = violations(&generous(), &study, Cost::NOTHING);
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0].what, "the most that the study can cost");
}

#[test]
fn all_violations_are_reported_together() {
    let study = agreed(TestStudy::default());
    let mut policy = generous();
    policy.parties.clear();
    policy.purposes.clear();
    policy.smallest_quorum = 9;
    let found = violations(&policy, &study, before());
    let what: Vec<&str> = found.iter().map(|violation| violation.what).collect();
    assert_eq!(what, ["a party", "a party", "the purpose", "the quorum"]);
    let all = Forbidden { violations: found }.to_string();
    let empty = "one of its `purposes`, and that list is empty";
    for part in ["\"party 1\"", "\"party 2\"", "testing", empty, "at least 9"] {
        assert!(all.contains(part), "{all}");
    }
}

#[test]
fn a_list_of_many_columns_is_cut_short() {
    let study = agreed(TestStudy::default());
    let columns: Vec<String> = (0..500).map(|number| format!("c{number}")).collect();
    let applicant = Applicant {
        own: study.agreement().parties[0].identity,
        columns: &columns,
        today: day("2026-01-01"),
    };
    let found = generous().violations(&study, &applicant, before());
    assert_eq!(found.len(), 1);
    assert!(found[0].found.ends_with("\"c7\" and 492 more"), "{found:?}");
}

fn study_of_trustees() -> Agreed {
    let agreement = agreement_of_trustees(TestStudy {
        procedure: CertifiedProcedure::ARGMAX,
        ..TestStudy::default()
    });
    Agreed::new(agreement).expect("legal")
}

fn knows_trustees() -> Policy {
    Policy {
        procedures: vec![CertifiedProcedure::ARGMAX],
        smallest_quorum: 1,
        largest_colluder_share: 1.0,
        trustees: trustees().map(|entry| entry.identity).to_vec(),
        ..generous()
    }
}

#[test]
fn a_study_is_refused_unless_the_policy_names_all_three_trustees() {
    let study = study_of_trustees();
    assert_eq!(violations(&knows_trustees(), &study, before()), []);
    for missing in 0..3 {
        let mut policy = knows_trustees();
        policy.trustees.remove(missing);
        let found = violations(&policy, &study, before());
        let [only] = found.as_slice() else {
            panic!("{found:?}");
        };
        let name = format!("a trustee is \"trustee {missing}\" with the key");
        assert!(only.to_string().starts_with(&name), "{only}");
        assert!(only.to_string().contains("this party's policy"), "{only}");
    }
}

#[test]
fn trustees_promise_no_quorum_of_parties() {
    let policy = Policy {
        smallest_quorum: 2,
        ..knows_trustees()
    };
    let found = violations(&policy, &study_of_trustees(), before());
    let [only] = found.as_slice() else {
        panic!("{found:?}");
    };
    assert!(only.to_string().starts_with("the quorum is 1"), "{only}");
}

/// The policy of the first trustee.
fn of_trustee() -> TrusteePolicy {
    let study = study_of_trustees();
    let [_, second, third] = trustees().map(|entry| entry.identity);
    TrusteePolicy {
        coordinators: vec![study.agreement().coordinator],
        expires: day("2027-12-31"),
        most_steps: u32::try_from(study.n_steps()).expect("few"),
        most_clients: 3,
        most_candidates: 30,
        allow_simulated_noise: true,
        allow_unproved_gates: false,
        trustees: [("court", second), ("registry", third)]
            .map(|(name, key)| (name.to_owned(), key))
            .into(),
    }
}

#[test]
fn a_trustee_serves_what_its_policy_allows_and_nothing_else() {
    let study = study_of_trustees();
    let own = trustees()[0].identity;
    let found = |policy: &TrusteePolicy| policy.violations(&study, &own, day("2027-12-31"));
    assert_eq!(found(&of_trustee()), []);
    type Change = fn(&mut TrusteePolicy);
    let cases: [(&str, Change); 8] = [
        ("the coordinator", |p| p.coordinators.clear()),
        ("today's date", |p| p.expires = day("2027-12-30")),
        ("a trustee is \"trustee 1\"", |p| {
            p.trustees.remove("court");
        }),
        // Names are its own: the key decides.
        ("a trustee is \"trustee 2\"", |p| {
            p.trustees.insert("registry".to_owned(), Digest([9; 32]));
        }),
        ("the noise", |p| p.allow_simulated_noise = false),
        ("the number of choices and sums", |p| p.most_steps -= 1),
        ("the number of clients", |p| p.most_clients = 2),
        ("the number of candidates", |p| p.most_candidates = 29),
    ];
    for (what, change) in cases {
        let mut policy = of_trustee();
        change(&mut policy);
        let found = found(&policy);
        let [only] = found.as_slice() else {
            panic!("{what}: {found:?}");
        };
        assert!(only.to_string().starts_with(what), "{only}");
        assert!(only.to_string().contains("this trustee's policy"), "{only}");
        policy
            .check(&study, &own, day("2027-12-31"))
            .expect_err(what);
    }
}

#[test]
fn a_trustee_counts_every_attempt_at_every_step() {
    let agreement = agreement_of_trustees(TestStudy {
        procedure: CertifiedProcedure::ARGMAX,
        repeats: 2,
        ..TestStudy::default()
    });
    let study = Agreed::new(agreement).expect("legal");
    let own = trustees()[0].identity;
    let allowing = |most_steps| {
        let coordinators = vec![study.agreement().coordinator];
        let policy = TrusteePolicy {
            most_steps,
            coordinators,
            ..of_trustee()
        };
        policy.violations(&study, &own, day("2027-12-31"))
    };
    assert_eq!(allowing(study.n_sums()), []);
    assert_eq!(allowing(study.n_sums() - 1).len(), 1);
}

#[test]
fn unproved_gates_are_refused_unless_a_policy_allows_them() {
    let unproved = agreement_of_trustees(TestStudy {
        procedure: CertifiedProcedure::ARGMAX,
        gates: Gates::Unproved,
        ..TestStudy::default()
    });
    let unproved = Agreed::new(unproved).expect("legal");
    let (of_party, own) = (knows_trustees(), trustees()[0].identity);
    let of_party_allowing = Policy {
        allow_unproved_gates: true,
        ..of_party.clone()
    };
    let of_trustee_allowing = TrusteePolicy {
        allow_unproved_gates: true,
        ..of_trustee()
    };
    let today = day("2027-12-31");
    let refused = [
        violations(&of_party, &unproved, before()),
        of_trustee().violations(&unproved, &own, today),
    ];
    for found in refused {
        let [only] = found.as_slice() else {
            panic!("{found:?}");
        };
        let expected = "the trustees' proof of their gates is missing";
        assert!(only.to_string().starts_with(expected), "{only}");
    }
    assert_eq!(violations(&of_party_allowing, &unproved, before()), []);
    assert_eq!(of_trustee_allowing.violations(&unproved, &own, today), []);
    // A study of secure sums has no gates.
    let masked = agreed(TestStudy::default());
    assert_eq!(violations(&generous(), &masked, before()), []);
}
