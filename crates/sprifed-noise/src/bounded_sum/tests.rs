use proptest::prelude::*;
use sprifed_privacy::test_support::small_sum;
use sprifed_privacy::{Block, IntegerBounds, NoiseVariance, RecordPart, SumPlan};

use super::*;

fn plan_with(bounds: IntegerBounds) -> SumPlan {
    let share_variance = NoiseVariance::try_from("25".to_owned()).expect("a legal variance");
    let block = Block {
        name: "scores".to_owned(),
        coordinates: 4,
        bounds,
        share_variance,
    };
    SumPlan {
        blocks: vec![block],
        part: RecordPart::All,
    }
}

#[test]
fn a_contribution_beyond_the_box_is_refused_and_changes_nothing() {
    let mut sum = BoundedSum::zero(small_sum().plan);
    sum.add_unit(0, &[4, -4, 1]).expect("within bounds");
    let refused = sum.add_unit(0, &[0, 5, 0]);
    assert!(
        matches!(refused, Err(OutOfBounds::Block { .. })),
        "{refused:?}"
    );
    assert_eq!(sum.into_totals(), [4, -4, 1]);
}

#[test]
fn a_contribution_of_the_wrong_length_is_refused() {
    let mut sum = BoundedSum::zero(small_sum().plan);
    let refused = sum.add_unit(0, &[1, 1]);
    assert_eq!(
        refused,
        Err(OutOfBounds::Length {
            found: 2,
            required: 3
        })
    );
}

#[test]
fn the_most_negative_integer_is_not_taken_for_a_small_one() {
    let mut sum = BoundedSum::zero(small_sum().plan);
    assert!(sum.add_unit(0, &[i32::MIN, 0, 0]).is_err());
}

#[test]
fn a_negative_square_is_refused() {
    let mut sum = BoundedSum::zero(plan_with(IntegerBounds::Box {
        bound: 9,
        squares: 1,
    }));
    sum.add_unit(0, &[-9, 9, -1, 9])
        .expect("the last one is the square");
    assert!(sum.add_unit(0, &[0, 0, 0, -1]).is_err());
}

#[test]
fn an_error_never_shows_a_value() {
    let mut sum = BoundedSum::zero(small_sum().plan);
    let refused = sum.add_unit(0, &[0, 7777, 0]).expect_err("beyond the box");
    assert!(!refused.to_string().contains("7777"));
    assert!(!format!("{sum:?}").contains("7777"));
}

proptest! {
    #[test]
    fn only_vectors_inside_the_ball_enter(
        contribution in prop::collection::vec(-60i32..=60, 4),
        squared_norm in 0u64..8000,
    ) {
        let bound = 50;
        let mut sum = BoundedSum::zero(plan_with(IntegerBounds::Ball { bound, squared_norm }));
        let norm: i64 = contribution.iter().map(|v| i64::from(*v).pow(2)).sum();
        let inside = norm.unsigned_abs() <= squared_norm && contribution.iter().all(|v| v.abs() <= 50);
        prop_assert_eq!(sum.add_unit(0, &contribution).is_ok(), inside);
    }
}

proptest! {
    #[test]
    fn a_record_outside_the_part_of_a_sum_contributes_nothing(
        place in 0u64..100_000,
        contribution in prop::collection::vec(-4i32..=4, 3),
    ) {
        for part in [RecordPart::All, RecordPart::Selection, RecordPart::Estimation] {
            let plan = SumPlan { part, ..small_sum().plan };
            let mut sum = BoundedSum::zero(plan);
            let is_nothing = contribution.iter().all(|value| *value == 0);
            let added = sum.add_unit(place, &contribution);
            prop_assert_eq!(added.is_ok(), is_nothing || part.contains(place));
            let total = if part.contains(place) { contribution.clone() } else { vec![0; 3] };
            let total: Vec<i64> = total.into_iter().map(i64::from).collect();
            prop_assert_eq!(sum.into_totals(), total);
        }
    }
}
