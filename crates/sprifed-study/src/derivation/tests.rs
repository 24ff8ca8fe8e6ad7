use proptest::prelude::*;

use super::*;
use crate::agreement::tests::{TestStudy, agreed, agreement};

fn sum_of(study: &Agreed, step: usize, value: impl Fn(usize) -> i64) -> Released {
    let sum = study.sum_number(step, 0).expect("a step");
    let coordinates = study
        .study()
        .expect("masks")
        .sum(sum)
        .expect("a sum")
        .coordinates();
    Released {
        trustees: None,
        outside: Vec::new(),
        sum,
        survivors: (0..study.roster().n_clients()).collect(),
        values: (0..coordinates as usize).map(value).collect(),
    }
}

#[test]
fn the_same_sums_give_the_same_questions_and_the_same_model() {
    let study = agreed(TestStudy::default());
    let mut one = Derivation::begin(Arc::clone(&study)).expect("a procedure");
    let mut other = Derivation::begin(Arc::clone(&study)).expect("a procedure");
    for step in 0..study.n_steps() {
        assert_eq!(one.question(), other.question());
        let released = sum_of(&study, step, |place| (place as i64 * 7919) % 101 - 50);
        one.take(released.clone()).expect("the next one");
        assert_ne!(one.transcript().head(), other.transcript().head());
        other.take(released).expect("the next one");
    }
    assert_eq!(one.transcript().head(), other.transcript().head());
    assert!(one.fit().is_some() && one.fit() == other.fit());
    let more = one.take(sum_of(&study, 0, |_| 0));
    assert!(more.is_err(), "nothing follows the last sum");
}

/// A change that makes a good sum a wrong one.
type Spoil<'a> = &'a dyn Fn(&mut Released);

#[test]
fn what_is_not_the_next_sum_changes_nothing() {
    let study = agreed(TestStudy {
        parties: 5,
        quorum: 4,
        ..TestStudy::default()
    });
    let mut derivation = Derivation::begin(Arc::clone(&study)).expect("a procedure");
    let good = sum_of(&study, 0, |_| 1);
    let before = derivation.transcript().clone();
    let wrong: [(&str, Spoil<'_>); 8] = [
        ("step", &|sum| sum.sum += 1),
        ("no sum", &|sum| sum.sum = u32::MAX),
        ("few survivors", &|sum| sum.survivors.truncate(3)),
        ("order", &|sum| sum.survivors.swap(0, 1)),
        ("twice", &|sum| sum.survivors[1] = 0),
        ("stranger", &|sum| sum.survivors[4] = 5),
        ("length", &|sum| sum.values.push(0)),
        ("size", &|sum| sum.values[0] = i64::MIN),
    ];
    for (what, spoil) in wrong {
        let mut released = good.clone();
        spoil(&mut released);
        let refused = derivation.take(released);
        assert!(refused.is_err(), "{what}");
        assert_eq!(derivation.transcript(), &before, "{what}");
    }
    derivation.take(good).expect("the next one");
}

#[test]
fn a_procedure_that_needs_choices_and_a_plan_of_another_procedure_are_refused() {
    let mut other = agreement(TestStudy::default());
    other.plan = CertifiedProcedure::GRAD
        .plan(&other.setting)
        .expect("a plan");
    let study = Agreed::new(other).expect("adds up");
    let refused = Derivation::begin(Arc::new(study));
    if let Ok(mut derivation) = refused {
        // The first questions may look the same; the study ends where they differ.
        let study = Arc::clone(&derivation.agreed);
        for step in 0..study.n_steps() {
            if derivation.take(sum_of(&study, step, |_| 0)).is_err() {
                break;
            }
        }
        assert!(derivation.problem().is_some() || derivation.fit().is_none());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn no_integers_make_a_procedure_panic(
        procedure in prop::sample::select(CertifiedProcedure::on_sums().collect::<Vec<_>>()),
        seed in any::<u64>(),
        shift in 0u32..64,
    ) {
        let study = agreed(TestStudy { procedure, ..TestStudy::default() });
        let mut derivation = Derivation::begin(Arc::clone(&study)).expect("a procedure");
        for step in 0..study.n_steps() {
            let sum = study.sum_number(step, 0).expect("a step");
            let most = 1i64 << (study.study().expect("masks").sum(sum).expect("a sum").bits() - 1);
            let released = sum_of(&study, step, |place| {
                let mixed = (seed ^ (place as u64 + 1)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                (mixed.cast_signed() >> shift).clamp(-most, most)
            });
            prop_assert_eq!(derivation.take(released), Ok(()));
            prop_assert_eq!(derivation.problem(), None);
        }
        prop_assert!(derivation.fit().is_some());
    }
}
