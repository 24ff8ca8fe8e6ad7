//! A swap is the best exchange of one feature; a subset has the requested size.

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

/// What the chosen columns explain, solved from the beginning.
fn explained(repaired: &Repaired, chosen: &[usize]) -> f64 {
    repaired.explained(
        chosen,
        &repaired.solve(chosen, repaired.factor(chosen).as_ref()),
    )
}

/// The most that the chosen columns explain after one of them is exchanged.
fn best_exchange(repaired: &Repaired, total: usize, chosen: &[usize]) -> f64 {
    let outside: Vec<usize> = (0..total).filter(|index| !chosen.contains(index)).collect();
    (0..chosen.len())
        .flat_map(|position| outside.iter().map(move |entering| (position, *entering)))
        .map(|(position, entering)| {
            let mut exchanged = chosen.to_vec();
            exchanged[position] = entering;
            explained(repaired, &exchanged)
        })
        .fold(0.0, f64::max)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// The search is local: it may stop at a subset that only two exchanges at once would improve.
    #[test]
    fn a_swap_is_the_best_exchange_of_one_feature(
        entries in prop::collection::vec(-1.0f64..1.0, 7 * 20),
        response in prop::collection::vec(-1.0f64..1.0, 20),
        first in 0usize..7,
    ) {
        let columns: Vec<Vec<f64>> = entries.chunks(20).map(<[f64]>::to_vec).collect();
        let repaired = Repaired::new(&equations(&columns, &response));
        let chosen: Vec<usize> = (0..3).map(|k| (first + 2 * k) % 7).collect();
        let best = best_exchange(&repaired, 7, &chosen);
        match repaired.best_swap(&chosen) {
            Some(better) => prop_assert!((explained(&repaired, &better) - best).abs() <= 1e-6 * best),
            None => prop_assert!(best <= explained(&repaired, &chosen) * (1.0 + 1e-6)),
        }
    }

    #[test]
    fn swaps_never_explain_less_than_the_pursuit(
        entries in prop::collection::vec(-1.0f64..1.0, 7 * 20),
        response in prop::collection::vec(-1.0f64..1.0, 20),
    ) {
        let columns: Vec<Vec<f64>> = entries.chunks(20).map(<[f64]>::to_vec).collect();
        let equations = equations(&columns, &response);
        let repaired = Repaired::new(&equations);
        let pursued = explained(&repaired, &repaired.pursue(3));
        let chosen = best_subset(&equations, 3);
        prop_assert!(explained(&repaired, &chosen) >= pursued * (1.0 - 1e-6), "{chosen:?}");
    }

    #[test]
    fn a_subset_has_the_requested_size_and_no_feature_twice(
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
