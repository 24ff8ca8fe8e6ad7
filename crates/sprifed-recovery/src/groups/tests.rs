use super::*;
use crate::test_support::legal_setting;

#[test]
fn columns_are_picked_with_those_of_their_group() {
    let groups = Groups::of([2..5, 5..8, 8..9, 11..13]).unwrap();
    assert_eq!(
        (groups.count(), groups.columns(), groups.widest()),
        (3, 8, 3)
    );
    let expected = [
        (0, 0..1),
        (2, 2..5),
        (4, 2..5),
        (5, 5..8),
        (7, 5..8),
        (8, 8..9),
        (10, 10..11),
        (11, 11..13),
        (12, 11..13),
        (13, 13..14),
    ];
    for (feature, unit) in expected {
        assert_eq!(groups.of_feature(feature), unit, "{feature}");
    }
}

#[test]
fn the_most_columns_are_those_of_the_widest_groups() {
    let groups = Groups::of([2..5, 5..8, 11..13]).unwrap();
    let most: Vec<u32> = (0..6).map(|picks| groups.most_columns(picks)).collect();
    assert_eq!(most, [0, 3, 6, 8, 9, 10]);
    assert_eq!(Groups::NONE.most_columns(7), 7);
    assert_eq!(Groups::NONE.widest(), 1);
}

#[test]
fn what_is_written_down_is_read_again_and_checked() {
    let thousands = Groups::of((0..5000).map(|group| 7 + 2 * group..9 + 2 * group)).unwrap();
    assert_eq!(Vec::from(thousands), [[7, 2, 5000]]);
    for groups in [Groups::NONE, thousands, Groups::of([2..5, 6..8]).unwrap()] {
        let stored = serde_json::to_string(&groups).unwrap();
        assert_eq!(serde_json::from_str::<Groups>(&stored).unwrap(), groups);
    }
    let illegal = [
        "[[2,1,1]]",
        "[[2,0,1]]",
        "[[2,3,0]]",
        "[[5,2,1],[2,2,1]]",
        "[[2,3,2],[7,2,1]]",
        "[[0,65536,65536]]",
        "[[4294967290,4,2]]",
    ];
    for stored in illegal {
        assert!(serde_json::from_str::<Groups>(stored).is_err(), "{stored}");
    }
    let apart = |count: u32| Groups::of((0..count).map(|group| 3 * group..3 * group + 2));
    assert_eq!(apart(100).unwrap().count(), 100);
    assert!(apart(101).unwrap_err().to_string().contains("in 101 runs"));
}

#[test]
fn only_candidates_can_be_in_groups_and_a_group_is_one_pick() {
    let legal = Setting {
        n_features: 10,
        always: 2,
        sparsity: 4,
        ..legal_setting()
    };
    let with = |groups: &[Range<u32>]| Setting {
        groups: Groups::of(groups.iter().cloned()).unwrap(),
        ..legal
    };
    let two = [2..5, 7..10];
    assert_eq!(with(&two).n_picks_possible(), 4);
    assert_eq!(legal.n_picks_possible(), 8);
    for (groups, words) in [
        ([1..3, 4..4], "columns from 2 to below 10"),
        ([4..4, 8..11], "columns from 2 to below 10"),
        (two.clone(), "a sparsity of 4 for 4 candidates"),
    ] {
        let error = with(&groups).check().unwrap_err().to_string();
        assert!(error.contains(words), "{groups:?}: {error}");
    }
    let fewer = Setting {
        sparsity: 3,
        ..with(&two)
    };
    fewer.check().unwrap();
    assert_eq!(fewer.most_features(2), 8);
}
