use proptest::prelude::*;

use super::*;

fn rate(value: f64) -> SelectionRate {
    SelectionRate::try_from(value).unwrap()
}

#[test]
fn an_empty_list_has_no_winner() {
    assert!(rate(1.0).exponential(&[]).is_empty());
    assert!(rate(1.0).floor_gumbel(&[]).is_empty());
    assert!(
        rate(1.0)
            .noisy_maximum(&[], GeometricNoise::TwoSided)
            .is_empty()
    );
}

#[test]
fn two_coins_are_tossed_as_expected() {
    // Two rivals with one-sided noise and equal utility: the first wins ties.
    let decay = (-0.5_f64).exp();
    let tie = (1.0 - decay) / (1.0 + decay);
    let found = rate(0.5).noisy_maximum(&[3, 3], GeometricNoise::OneSided);
    assert!((found[0] - (1.0 + tie) / 2.0).abs() < 1e-14);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn probabilities_add_to_one(
        utilities in prop::collection::vec(-30..30_i64, 1..6),
        value in 0.02..3.0_f64,
    ) {
        let rate = rate(value);
        for law in [
            rate.exponential(&utilities),
            rate.floor_gumbel(&utilities),
            rate.noisy_maximum(&utilities, GeometricNoise::OneSided),
            rate.noisy_maximum(&utilities, GeometricNoise::TwoSided),
        ] {
            prop_assert!((law.iter().sum::<f64>() - 1.0).abs() < 1e-11);
        }
    }

    #[test]
    fn the_grid_costs_at_most_one_step_of_the_rate(
        utilities in prop::collection::vec(-30..30_i64, 1..6),
        value in 0.02..1.0_f64,
    ) {
        let (exact, grid) = (rate(value).exponential(&utilities), rate(value).floor_gumbel(&utilities));
        for (exact, grid) in exact.iter().zip(&grid) {
            prop_assert!((grid / exact).ln().abs() <= value * (1.0 + 1e-9));
        }
    }

    #[test]
    fn neighbours_select_alike(
        utilities in prop::collection::vec(-10..10_i64, 2..5),
        moves in prop::collection::vec(-1..=1_i64, 5),
        value in 0.05..1.0_f64,
    ) {
        let moved: Vec<i64> = utilities.iter().zip(&moves).map(|(u, m)| u + m).collect();
        let rate = rate(value);
        for select in [SelectionRate::exponential, |rate: SelectionRate, list: &[i64]| {
            rate.noisy_maximum(list, GeometricNoise::TwoSided)
        }] {
            let (before, after) = (select(rate, &utilities), select(rate, &moved));
            for (before, after) in before.iter().zip(&after) {
                prop_assert!((before / after).ln().abs() <= 2.0 * value * (1.0 + 1e-9));
            }
        }
    }
}
