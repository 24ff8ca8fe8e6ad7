use proptest::prelude::*;

use super::*;

const RELATIONS: [Relation; 2] = [Relation::ZeroOut, Relation::ReplaceOne];

fn block(coordinates: u32, bounds: IntegerBounds) -> Block {
    let share_variance = NoiseVariance::try_from("25".to_owned()).unwrap();
    Block {
        name: "tested".to_owned(),
        coordinates,
        bounds,
        share_variance,
    }
}

/// Every integer vector that `block` allows.
fn allowed_vectors(block: &Block) -> Vec<Vec<i64>> {
    let bound = i64::try_from(block.bounds.coordinate_bound()).unwrap();
    let squares = match block.bounds {
        IntegerBounds::Box { squares, .. } => squares,
        IntegerBounds::Ball { .. } => 0,
    };
    let mut vectors = vec![Vec::new()];
    for coordinate in 0..block.coordinates {
        let least = if coordinate < squares { 0 } else { -bound };
        let extend = |vector: &Vec<i64>| {
            let vector = vector.clone();
            (least..=bound).map(move |value| [vector.clone(), vec![value]].concat())
        };
        vectors = vectors.iter().flat_map(extend).collect();
    }
    if let IntegerBounds::Ball { squared_norm, .. } = block.bounds {
        let zero = vec![0; block.coordinates as usize];
        vectors.retain(|vector| squared_distance(vector, &zero) <= u128::from(squared_norm));
    }
    vectors
}

fn squared_distance(left: &[i64], right: &[i64]) -> u128 {
    left.iter()
        .zip(right)
        .map(|(l, r)| u128::from(l.abs_diff(*r)).pow(2))
        .sum()
}

/// The largest squared distance between what neighbours contribute.
fn largest_move(block: &Block, relation: Relation) -> u128 {
    let all = allowed_vectors(block);
    let others = match relation {
        Relation::ZeroOut => vec![vec![0; block.coordinates as usize]],
        Relation::ReplaceOne => all.clone(),
    };
    let pairs = all
        .iter()
        .flat_map(|one| others.iter().map(move |other| (one, other)));
    pairs
        .map(|(one, other)| squared_distance(one, other))
        .max()
        .unwrap_or(0)
}

#[test]
fn a_block_with_more_squares_than_coordinates_has_no_sensitivity() {
    let impossible = block(
        2,
        IntegerBounds::Box {
            bound: 3,
            squares: 3,
        },
    );
    for relation in RELATIONS {
        assert_eq!(impossible.squared_sensitivity(relation), None);
    }
}

#[test]
fn a_sensitivity_beyond_128_bits_is_refused_rather_than_wrapped() {
    let huge = block(
        u32::MAX,
        IntegerBounds::Box {
            bound: u64::MAX,
            squares: 0,
        },
    );
    let ball = IntegerBounds::Ball {
        bound: u64::MAX,
        squared_norm: u64::MAX,
    };
    assert_eq!(huge.squared_sensitivity(Relation::ZeroOut), None);
    let one = block(
        1,
        IntegerBounds::Box {
            bound: u64::MAX,
            squares: 0,
        },
    );
    assert_eq!(
        one.squared_sensitivity(Relation::ZeroOut),
        Some(u128::from(u64::MAX).pow(2))
    );
    assert_eq!(one.squared_sensitivity(Relation::ReplaceOne), None);
    assert_eq!(
        block(1, ball).squared_sensitivity(Relation::ReplaceOne),
        Some(4 * u128::from(u64::MAX))
    );
}

#[test]
fn an_unknown_field_of_a_stored_block_is_refused() {
    let stored = serde_json::to_value(block(
        3,
        IntegerBounds::Box {
            bound: 4,
            squares: 1,
        },
    ))
    .unwrap();
    assert!(serde_json::from_value::<Block>(stored.clone()).is_ok());
    let mut altered = stored.clone();
    altered["free"] = true.into();
    assert!(serde_json::from_value::<Block>(altered).is_err());
    let mut altered = stored;
    altered["bounds"]["box"]["free"] = true.into();
    assert!(serde_json::from_value::<Block>(altered).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_sensitivity_of_a_box_is_the_largest_move_of_any_contribution(
        coordinates in 1u32..=3,
        bound in 0u64..=3,
        squares in 0u32..=3,
    ) {
        prop_assume!(squares <= coordinates);
        let block = block(coordinates, IntegerBounds::Box { bound, squares });
        for relation in RELATIONS {
            prop_assert_eq!(block.squared_sensitivity(relation), Some(largest_move(&block, relation)));
        }
    }

    #[test]
    fn no_contribution_within_a_ball_moves_further_than_its_sensitivity(
        coordinates in 1u32..=3,
        bound in 0u64..=3,
        squared_norm in 0u64..=20,
    ) {
        let block = block(coordinates, IntegerBounds::Ball { bound, squared_norm });
        for relation in RELATIONS {
            let stated = block.squared_sensitivity(relation).unwrap();
            prop_assert!(largest_move(&block, relation) <= stated);
        }
    }

    #[test]
    fn replacing_moves_a_box_further_than_zeroing_unless_all_of_it_is_squares(
        coordinates in 1u32..100,
        bound in 1u64..1000,
        squares in 0u32..100,
    ) {
        prop_assume!(squares <= coordinates);
        let block = block(coordinates, IntegerBounds::Box { bound, squares });
        let [zero_out, replace_one] = RELATIONS.map(|r| block.squared_sensitivity(r).unwrap());
        prop_assert!(zero_out <= replace_one && replace_one <= 4 * zero_out);
        prop_assert_eq!(zero_out == replace_one, squares == coordinates);
    }
}
