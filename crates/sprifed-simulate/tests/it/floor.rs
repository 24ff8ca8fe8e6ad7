//! The floor follows its formula, and trials on generated records find little below it and most above it.

use sprifed_privacy::{ApproxDp, Delta, Epsilon, Relation, Rho};
use sprifed_recovery::{CertifiedProcedure, Floor, Needs, Setting};
use sprifed_simulate::{Absence, Certified, Method as _, Unexplained, WorldRequest, setting_of};

fn setting(features: usize, epsilon: f64, relation: Relation) -> Setting {
    let epsilon = Epsilon::try_from(epsilon).unwrap();
    let budget = ApproxDp::new(epsilon, Delta::try_from(1e-6).unwrap());
    setting_of(&WorldRequest::clean(100, features, 1), budget, relation).unwrap()
}

fn floor(features: usize, epsilon: f64, needs: Needs, correlation: f64) -> f64 {
    let setting = setting(features, epsilon, Relation::ZeroOut);
    let floor = Floor::of(&setting, needs, correlation).unwrap();
    assert_eq!(floor.correlation.to_bits(), correlation.to_bits());
    #[expect(clippy::cast_precision_loss, reason = "small in these tests")]
    let records = floor.records as f64;
    records
}

#[test]
fn where_noise_rules_a_choice_needs_beta_ln_p_over_kappa_c() {
    for (features, epsilon, correlation) in [
        (4088, 1.0, 0.67),
        (700, 1.0, 0.67),
        (7129, 1.0, 0.8),
        (3833, 1.0, 0.31),
    ] {
        let budget = setting(features, epsilon, Relation::ZeroOut).budget;
        let beta = 1.0 / (2.0 * 0.57 * Rho::largest_within(budget).unwrap().get()).sqrt();
        #[expect(clippy::cast_precision_loss, reason = "few features")]
        let simple = beta * (features as f64).ln() / (0.4 * correlation);
        let found = floor(features, epsilon, Needs::Choices, correlation);
        assert!(
            (found / simple - 1.0).abs() < 0.2,
            "{features}: {found} {simple}"
        );
    }
}

#[test]
fn a_sum_needs_the_root_of_the_features_more() {
    let ratio = |needs| floor(40_000, 1.0, needs, 0.5) / floor(400, 1.0, needs, 0.5);
    assert!(ratio(Needs::Choices) < 2.5, "{}", ratio(Needs::Choices));
    assert!(ratio(Needs::Sums) > 8.0, "{}", ratio(Needs::Sums));
}

#[test]
fn a_weaker_feature_a_smaller_budget_and_replace_one_need_more_records() {
    for needs in [Needs::Choices, Needs::Sums] {
        let base = floor(1000, 3.0, needs, 0.5);
        assert!(floor(1000, 3.0, needs, 0.3) > base);
        assert!(floor(1000, 1.0, needs, 0.5) > base);
        let replaced = setting(1000, 3.0, Relation::ReplaceOne);
        let replaced = Floor::of(&replaced, needs, 0.5).unwrap().records;
        assert!(replaced as f64 > base);
    }
}

/// How often one feature of this correlation is found among 300 with `records` records.
fn found(procedure: CertifiedProcedure, records: usize, correlation: f64, trials: u64) -> f64 {
    let world = WorldRequest {
        unexplained: Unexplained::PopulationR2(correlation * correlation),
        ..WorldRequest::clean(records, 300, 1)
    };
    let setting = Setting {
        n_records: u32::try_from(records).unwrap(),
        ..setting(300, 1.0, Relation::ZeroOut)
    };
    let method = Certified::planned(procedure, setting, Absence::NONE).unwrap();
    let recovered = |seed| method.run(world, 500 + seed).unwrap().recovered;
    let recovered: usize = (0..trials).map(recovered).sum();
    #[expect(clippy::cast_precision_loss, reason = "few trials")]
    let share = recovered as f64 / trials as f64;
    share
}

#[test]
fn trials_find_little_at_half_of_the_floor_and_most_at_twice_of_it() {
    for (procedure, needs) in [
        (CertifiedProcedure::ARGMAX, Needs::Choices),
        (CertifiedProcedure::SIEVE, Needs::Sums),
    ] {
        for correlation in [0.5, 0.7] {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "small in these tests"
            )]
            let floor = floor(300, 1.0, needs, correlation) as usize;
            let (below, above) = (
                found(procedure, floor / 2, correlation, 24),
                found(procedure, floor * 2, correlation, 24),
            );
            assert!(below <= 0.45, "{procedure} at half of {floor}: {below}");
            assert!(above >= 0.75, "{procedure} at twice {floor}: {above}");
        }
    }
}
