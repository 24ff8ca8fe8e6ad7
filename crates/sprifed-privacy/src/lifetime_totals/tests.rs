#![expect(clippy::float_cmp, reason = "these doubles are exact")]

use num_rational::BigRational;
use num_traits::One;
use proptest::prelude::*;

use super::*;

const RECORD_ZERO: CostKind = kind(PrivacyUnit::Record, Relation::ZeroOut);
const RECORD_REPLACED: CostKind = kind(PrivacyUnit::Record, Relation::ReplaceOne);
const CLIENT_ZERO: CostKind = kind(PrivacyUnit::Client, Relation::ZeroOut);
const CLIENT_REPLACED: CostKind = kind(PrivacyUnit::Client, Relation::ReplaceOne);
const ALL: [CostKind; 4] = [RECORD_ZERO, RECORD_REPLACED, CLIENT_ZERO, CLIENT_REPLACED];

const fn kind(unit: PrivacyUnit, neighbours: Relation) -> CostKind {
    CostKind { unit, neighbours }
}

fn cost(epsilon: f64, delta: f64) -> Cost {
    let epsilon = Epsilon::try_from(epsilon).expect("a legal epsilon");
    let delta = SpentDelta::try_from(delta).expect("a legal delta");
    Cost { epsilon, delta }
}

fn exact(number: f64) -> BigRational {
    BigRational::from_float(number).expect("a finite number")
}

fn changes(number: u8) -> NonZeroU8 {
    NonZeroU8::new(number).expect("at least one")
}

#[test]
fn each_kind_counts_for_the_changes_that_it_covers() {
    let counted = ALL.map(|found| ALL.map(|wanted| found.changes_per(wanted).map(NonZeroU8::get)));
    assert_eq!(
        counted,
        [
            [Some(1), Some(2), None, None],
            [Some(1), Some(1), None, None],
            [Some(2), Some(2), Some(1), Some(2)],
            [Some(1), Some(1), Some(1), Some(1)],
        ]
    );
}

#[test]
fn a_total_adds_what_says_something_about_its_kind() {
    let costs = [
        (RECORD_ZERO, cost(1.0, 0.25)),
        (RECORD_REPLACED, cost(0.5, 0.125)),
        (CLIENT_ZERO, cost(0.25, 0.0)),
    ];
    let total = |kind: CostKind| kind.total(costs);
    assert_eq!(total(RECORD_ZERO), cost(1.0 + 0.5 + 0.5, 0.375));
    assert_eq!(total(RECORD_REPLACED).epsilon.get(), 2.0 + 0.5 + 0.5);
    assert_eq!(total(CLIENT_ZERO), cost(0.25, 0.0));
    assert_eq!(total(CLIENT_REPLACED), cost(0.5, 0.0));
    assert_eq!(CLIENT_ZERO.total([]), Cost::NOTHING);
}

#[test]
fn what_leaves_the_doubles_is_no_bound_at_all() {
    let huge = cost(f64::MAX, 1e-6);
    for total in [huge.and(huge), huge.over_changes(changes(2))] {
        assert_eq!(total.delta.get(), 1.0);
        assert_eq!(total.epsilon.get(), f64::MAX);
    }
    assert_eq!(cost(1.0, 0.75).and(cost(1.0, 0.5)), cost(2.0, 1.0));
    assert_eq!(
        cost(800.0, 1e-6).over_changes(changes(2)),
        cost(1600.0, 1.0)
    );
    assert_eq!(cost(800.0, 0.0).over_changes(changes(2)), cost(1600.0, 0.0));
}

#[test]
fn nothing_is_within_every_limit_and_a_limit_is_within_itself() {
    let limit = cost(1.0, 1e-6);
    assert!(Cost::NOTHING.is_within(limit) && limit.is_within(limit));
    assert!(!cost(1.0, 1.1e-6).is_within(limit) && !cost(1.1, 0.0).is_within(limit));
    let delta = Delta::try_from(1e-6).expect("a legal delta");
    assert_eq!(Cost::charged(None, delta), Cost::NOTHING);
}

#[test]
fn a_stored_cost_is_checked() {
    let read = |text: &str| serde_json::from_str::<Cost>(text);
    let written = serde_json::to_string(&cost(1.0, 0.25)).expect("JSON");
    assert_eq!(written, r#"{"epsilon":1.0,"delta":0.25}"#);
    assert_eq!(read(&written).expect("a cost"), cost(1.0, 0.25));
    for wrong in [
        r#"{"epsilon":-1.0,"delta":0.25}"#,
        r#"{"epsilon":1.0,"delta":1.5}"#,
        r#"{"epsilon":1.0}"#,
        r#"{"epsilon":1.0,"delta":0.25,"mu":1.0}"#,
    ] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
    let kind: CostKind =
        serde_json::from_str(r#"{"unit":"client","neighbours":"replace-one"}"#).expect("a kind");
    assert_eq!(kind, CLIENT_REPLACED);
    assert!(
        serde_json::from_str::<CostKind>(r#"{"unit":"clients","neighbours":"zero-out"}"#).is_err()
    );
}

fn costs() -> impl Strategy<Value = Cost> {
    let delta = prop_oneof![
        Just(0.0),
        0.0..1.0,
        (-30i32..0).prop_map(|exponent| 10f64.powi(exponent)),
    ];
    (prop_oneof![Just(0.0), 0.0..1e-3, 0.0..10.0], delta)
        .prop_map(|(epsilon, delta): (f64, f64)| cost(epsilon, delta))
}

proptest! {
    /// Addition is exact, rounded up to the next double.
    #[test]
    fn a_composition_is_never_below_the_exact_sum(first in costs(), second in costs()) {
        let total = first.and(second);
        prop_assert_eq!(total, second.and(first));
        let epsilon = exact(first.epsilon.get()) + exact(second.epsilon.get());
        let delta = exact(first.delta.get()) + exact(second.delta.get());
        prop_assert!(exact(total.epsilon.get()) >= epsilon);
        prop_assert!(exact(total.delta.get()) >= delta.min(BigRational::one()));
        prop_assert!(total.epsilon.get() <= 0.0 || exact(total.epsilon.get().next_down()) < epsilon);
    }

    /// Against δ·(1 + e^ε + …) with e^ε from its Taylor series in exact fractions, which is below it.
    #[test]
    fn group_privacy_is_never_below_the_exact_value(one in costs(), n in 1u8..6) {
        let found = one.over_changes(changes(n));
        let epsilon = exact(one.epsilon.get());
        prop_assert!(exact(found.epsilon.get()) >= &epsilon * BigRational::from_integer(n.into()));
        let (mut power, mut term) = (BigRational::one(), BigRational::one());
        for order in 1..50u32 {
            term = term * &epsilon / BigRational::from_integer(order.into());
            power += &term;
        }
        let (mut factor, mut sum) = (BigRational::one(), BigRational::one());
        for _ in 1..n {
            factor *= &power;
            sum += &factor;
        }
        let delta = (exact(one.delta.get()) * sum).min(BigRational::one());
        prop_assert!(exact(found.delta.get()) >= delta);
        prop_assert!(exact(found.delta.get()) <= delta * exact(1.0 + 1e-12) + exact(5e-324));
    }

    /// More studies, and more changes, never cost less.
    #[test]
    fn totals_grow(first in costs(), second in costs(), n in 1u8..6) {
        prop_assert!(first.is_within(first.and(second)));
        prop_assert!(first.over_changes(changes(n)).is_within(first.over_changes(changes(n + 1))));
        prop_assert_eq!(first.over_changes(NonZeroU8::MIN), first);
    }
}
