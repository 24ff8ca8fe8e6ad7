//! The chosen subset is the best one on small problems without noise.

use proptest::prelude::*;

use super::*;

fn equations(columns: &[Vec<f64>], response: &[f64]) -> NoisyNormalEquations {
    let gram = |row: usize, column: usize| dot(&columns[row], &columns[column]);
    NoisyNormalEquations {
        gram: SquareMatrix::from_fn(columns.len(), gram),
        cross: columns.iter().map(|column| dot(column, response)).collect(),
        gram_noise: 0.0,
        cross_noise: 0.0,
    }
}

fn explained(equations: &NoisyNormalEquations, chosen: &[usize]) -> f64 {
    let restricted = equations.restricted(chosen);
    let coefficients = restricted.solve().coefficients;
    restricted
        .cross
        .iter()
        .zip(coefficients)
        .map(|(cross, value)| cross * value)
        .sum()
}

/// The most that any `size` of `total` columns explain.
fn brute_force(equations: &NoisyNormalEquations, total: usize, size: u32) -> f64 {
    (0u32..1 << total)
        .filter(|set| set.count_ones() == size)
        .map(|set| {
            let chosen: Vec<usize> = (0..total).filter(|index| set >> index & 1 == 1).collect();
            explained(equations, &chosen)
        })
        .fold(0.0, f64::max)
}

proptest! {
    #[test]
    fn the_true_subset_of_a_noiseless_problem_equals_brute_force(
        entries in prop::collection::vec(-1.0f64..1.0, 7 * 20),
        coefficients in prop::collection::vec(prop_oneof![-3.0f64..-0.5, 0.5f64..3.0], 3),
        rotation in 0usize..7,
    ) {
        let columns: Vec<Vec<f64>> = entries.chunks(20).map(<[f64]>::to_vec).collect();
        let support: Vec<usize> = (0..3).map(|k| (rotation + 2 * k) % 7).collect();
        let response: Vec<f64> = (0..20)
            .map(|row| support.iter().zip(&coefficients).map(|(j, c)| c * columns[*j][row]).sum())
            .collect();
        let equations = equations(&columns, &response);
        let chosen = best_subset(&equations, 3);
        let best = brute_force(&equations, 7, 3);
        prop_assert!(explained(&equations, &chosen) >= best * (1.0 - 1e-6), "{chosen:?}");
    }

    #[test]
    fn a_subset_has_the_size_that_was_asked_and_names_nobody_twice(
        entries in prop::collection::vec(-1.0f64..1.0, 6 * 9),
        response in prop::collection::vec(-1.0f64..1.0, 9),
        size in 0usize..9,
    ) {
        let columns: Vec<Vec<f64>> = entries.chunks(9).map(<[f64]>::to_vec).collect();
        let mut chosen = best_subset(&equations(&columns, &response), size);
        chosen.sort_unstable();
        chosen.dedup();
        prop_assert_eq!(chosen.len(), size.min(6));
    }
}

#[test]
fn a_swap_repairs_what_the_pursuit_took_first() {
    // The third column looks best alone, but the first two together explain everything.
    let columns = [
        vec![1.0, 0.0, 0.0, 0.1],
        vec![0.0, 1.0, 0.0, -0.1],
        vec![0.8, 0.8, 0.3, 0.0],
    ];
    let equations = equations(&columns, &[1.0, 1.0, 0.0, 0.0]);
    assert_eq!(Repaired::new(&equations).pursue(1), [2]);
    let mut chosen = best_subset(&equations, 2);
    chosen.sort_unstable();
    assert_eq!(chosen, [0, 1]);
}

#[test]
fn two_equal_columns_do_not_stop_the_search() {
    let column = vec![1.0, 2.0, -1.0];
    let columns = [column.clone(), column.clone(), vec![0.0, 1.0, 5.0]];
    let chosen = best_subset(&equations(&columns, &column), 2);
    assert_eq!(chosen.len(), 2);
    assert!(chosen.contains(&0) || chosen.contains(&1), "{chosen:?}");
}
