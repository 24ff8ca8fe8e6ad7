use proptest::prelude::*;

use super::RecordPart::{All, Estimation, Selection};

#[test]
fn each_record_is_in_one_of_the_two_parts_and_in_all() {
    let mut sizes = [0; 3];
    for records in 1..=4000u64 {
        let place = records - 1;
        assert!(All.contains(place));
        assert_ne!(Selection.contains(place), Estimation.contains(place));
        for (part, size) in [All, Selection, Estimation].into_iter().zip(&mut sizes) {
            *size += u64::from(part.contains(place));
            assert_eq!(part.size(records), *size, "{records} records, {part:?}");
        }
    }
    assert_eq!(sizes, [4000, 3000, 1000]);
}

#[test]
fn the_fewest_records_for_a_size_are_enough_and_no_more() {
    for part in [All, Selection, Estimation] {
        for size in 1..=2000u64 {
            let records = part.least_records(size);
            assert_eq!(part.size(records), size, "{part:?}");
            assert_eq!(part.size(records - 1), size - 1, "{part:?}");
        }
        assert_eq!(part.least_records(0), 0);
    }
}

proptest! {
    #[test]
    fn of_four_consecutive_records_one_is_kept_for_the_estimates(block in 0..u64::MAX / 4) {
        let kept = (4 * block..4 * block + 4).filter(|place| Estimation.contains(*place));
        prop_assert_eq!(kept.count(), 1);
    }
}

#[test]
fn no_period_decides_who_is_kept() {
    // Each of the four places is kept in about a quarter of 10,000 blocks: a standard deviation is 43.
    for place in 0..4u64 {
        let kept = (0..10_000u64).filter(|block| Estimation.contains(4 * block + place));
        let kept = kept.count();
        assert!((2300..2700).contains(&kept), "place {place}: {kept}");
    }
}

#[test]
fn the_places_are_those_of_every_release() {
    // A receipt of today must mean the same records tomorrow.
    let kept: Vec<u64> = (0..40)
        .filter(|place| Estimation.contains(*place))
        .collect();
    assert_eq!(kept, [3, 6, 10, 12, 17, 21, 26, 29, 34, 38]);
}
