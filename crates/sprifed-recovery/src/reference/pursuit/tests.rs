//! The pursuit finds what is there and agrees with least squares on it.

use sprifed_query::Records;

use super::non_private_omp;
use crate::test_support::small_world;

#[test]
fn the_true_support_is_found_without_noise() {
    let world = small_world(120, 60, &[3, 17, 40], 5);
    let records = Records::each_a_unit(&world.features, &world.responses, 60).unwrap();
    let fit = non_private_omp(&records, 3);
    let mut support = fit.model.support();
    support.sort_unstable();
    assert_eq!(support, [3, 17, 40]);
    for (feature, coefficient) in &fit.model.terms {
        let expected = world.coefficient(*feature);
        assert!(
            (coefficient - expected).abs() < 1e-4,
            "{feature}: {coefficient} for {expected}"
        );
    }
}

#[test]
fn it_ends_early_when_a_pick_adds_nothing() {
    // The second column is twice the first, so it explains nothing more.
    let features: Vec<f32> = (0..8)
        .flat_map(|row| [row as f32, 2.0 * row as f32])
        .collect();
    let responses: Vec<f32> = (0..8)
        .map(|row| 3.0 * row as f32 + (row % 2) as f32)
        .collect();
    let records = Records::each_a_unit(&features, &responses, 2).unwrap();
    assert_eq!(non_private_omp(&records, 2).model.terms.len(), 1);
}

#[test]
fn nothing_is_picked_when_the_response_is_zero() {
    let features = [1.0, 2.0, 3.0, 4.0];
    let records = Records::each_a_unit(&features, &[0.0, 0.0], 2).unwrap();
    assert!(non_private_omp(&records, 1).model.terms.is_empty());
}
