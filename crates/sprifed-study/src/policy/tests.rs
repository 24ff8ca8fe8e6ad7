use super::*;
use crate::agreement::tests::{TestStudy, agreed};

fn generous() -> Policy {
    let study = agreed(TestStudy::default());
    Policy {
        coordinators: vec![study.agreement().coordinator],
        largest_epsilon_per_study: Epsilon::try_from(60.0).expect("legal"),
        largest_epsilon_in_total: Epsilon::try_from(100.0).expect("legal"),
        largest_delta: 1e-6,
        largest_delta_in_total: 3.5e-6,
        smallest_quorum: 3,
        largest_colluder_share: 0.3,
        procedures: vec![CertifiedProcedure::Sieve],
        units: vec![PrivacyUnit::Record],
        neighbours: vec![Relation::ZeroOut],
        allow_simulated_noise: true,
    }
}

const BEFORE: SpentBefore = SpentBefore {
    epsilon: 40.0,
    delta: 2e-6,
};

#[test]
fn what_is_allowed_is_allowed() {
    assert_eq!(
        generous().check(&agreed(TestStudy::default()), BEFORE),
        Ok(())
    );
}

#[test]
fn everything_else_is_refused_with_its_reason() {
    let study = agreed(TestStudy::default());
    type Change = fn(&mut Policy);
    let cases: [(&str, Change); 11] = [
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
            p.procedures = vec![CertifiedProcedure::Grad]
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
    ];
    for (what, change) in cases {
        let mut policy = generous();
        change(&mut policy);
        let refused = policy.check(&study, BEFORE).expect_err(what).to_string();
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
fn repetitions_count_before_they_are_needed() {
    let study = agreed(TestStudy {
        repeats: 2,
        ..TestStudy::default()
    });
    let refused = generous()
        .check(&study, SpentBefore::default())
        .expect_err("dearer than one run");
    assert_eq!(refused.what, "the most that the study can cost");
}
