//! Pooled estimates are inverse-variance means, ranked by their distance from their noise.

use super::*;

#[test]
fn estimates_are_pooled_with_inverse_variance_weights() {
    let mut pool = Pool::new(3);
    pool.add(1, 2.0, 1.0);
    pool.add(1, 5.0, 2.0);
    pool.add(0, -4.0, 1.0);
    pool.add(2, 0.5, 0.01);
    let ranking = pool.rank(&[0, 1, 2], false);
    let order: Vec<u32> = ranking
        .ranked
        .iter()
        .map(|candidate| candidate.feature)
        .collect();
    assert_eq!(order, [2, 0, 1]);
    let pooled = ranking.ranked[2];
    assert!((pooled.estimate - 3.0).abs() < 1e-12);
    // The variance of the pooled estimate is 1/(1 + 1/2).
    assert!((pooled.ratio - 3.0 * 1.5f64.sqrt()).abs() < 1e-12);
}

#[test]
fn the_background_is_measured_only_where_most_features_are_inactive() {
    let mut pool = Pool::new(101);
    for feature in 0..101u32 {
        pool.add(feature, f64::from(feature) - 50.0, 1.0);
    }
    let all: Vec<u32> = (0..101).collect();
    let background = pool.rank(&all, true).background;
    assert!((background - 1.4826 * 25.0).abs() < 1e-9, "{background}");
    assert!((pool.rank(&all, false).background - 1.0).abs() < 1e-12);
    let quiet: Vec<u32> = (49..52).collect();
    assert!(
        pool.rank(&quiet, true).background >= 1.0,
        "it never makes noise look smaller"
    );
}

#[test]
fn only_candidates_are_ranked() {
    let mut pool = Pool::new(4);
    for feature in 0..4 {
        pool.add(feature, 1.0, 1.0);
    }
    assert_eq!(pool.rank(&[3, 1], false).ranked.len(), 2);
    assert!(pool.rank(&[], true).ranked.is_empty());
}

#[test]
fn the_median_is_the_middle_value() {
    assert!((median(&[3.0, -1.0, 2.0]) - 2.0).abs() < 1e-12);
    assert!(median(&[]).abs() < 1e-12);
}
