//! The estimate is a lower bound, and finds what is easy to find.

use sprifed_query::Records;

use super::{Draws, estimate_isometry};
use sprifed_recovery::test_support::small_world;

#[test]
fn orthonormal_columns_are_at_no_distance() {
    // Rows of 2·I, so that XᵀX/n = I for n = 4.
    let features: Vec<f32> = (0..16)
        .map(|i| if i % 5 == 0 { 2.0 } else { 0.0 })
        .collect();
    let records = Records::each_a_unit(&features, &[0.0; 4], 4).unwrap();
    let found = estimate_isometry(&records, 3, 10, 1);
    assert!(found.at_least.abs() < 1e-12);
    assert_eq!(found.order, 3);
}

#[test]
fn equal_columns_are_found_by_the_search() {
    let mut world = small_world(500, 400, &[1], 5);
    for row in world.features.chunks_exact_mut(400) {
        row.iter_mut().for_each(|value| *value *= 3f32.sqrt());
        for copy in [100, 200, 300, 399] {
            row[copy] = row[7];
        }
    }
    let records = Records::each_a_unit(&world.features, &world.responses, 400).unwrap();
    let found = estimate_isometry(&records, 5, 200, 2);
    assert!(found.at_least >= found.at_random);
    assert!(found.at_least > 3.0, "{found:?}");
}

#[test]
fn all_supports_together_are_no_less_than_the_estimate() {
    let mut world = small_world(60, 6, &[1], 6);
    world
        .features
        .iter_mut()
        .for_each(|value| *value *= 3f32.sqrt());
    let records = Records::each_a_unit(&world.features, &world.responses, 6).unwrap();
    let exhaustive = estimate_isometry(&records, 2, 2000, 3).at_least;
    for seed in 0..20 {
        let found = estimate_isometry(&records, 2, 1, seed);
        assert!(found.at_least <= exhaustive + 1e-12);
        assert!(found.at_random <= found.at_least);
    }
}

#[test]
fn a_larger_order_is_no_nearer_to_orthonormal() {
    let world = small_world(60, 6, &[1], 7);
    let records = Records::each_a_unit(&world.features, &world.responses, 6).unwrap();
    let of = |order| estimate_isometry(&records, order, 2000, 3).at_least;
    assert!(of(2) <= of(3) + 1e-12 && of(3) <= of(6) + 1e-12);
}

#[test]
fn subsets_have_distinct_elements_below_the_bound() {
    let mut draws = Draws { state: 1 };
    for size in 1..=20 {
        let mut subset = draws.subset(20, size);
        subset.dedup();
        assert_eq!(subset.len(), size);
        assert!(subset.iter().all(|element| *element < 20));
    }
}
