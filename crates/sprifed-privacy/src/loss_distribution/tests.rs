use proptest::prelude::*;

use super::*;
use crate::quantity::{Delta, Epsilon, Rho};
use crate::{concentrated, gaussian};

fn range(value: f64) -> RangeBound {
    RangeBound::try_from(value).unwrap()
}

fn mu(value: f64) -> Mu {
    Mu::try_from(value).unwrap()
}

fn delta(value: f64) -> Delta {
    Delta::try_from(value).unwrap()
}

/// δ(ε) of one law, by its definition.
fn curve(law: &LossDistribution, epsilon: f64) -> f64 {
    let gain = |(loss, mass): (f64, f64)| mass * (-(epsilon - loss).exp_m1()).max(0.0);
    law.infinite + law.points().map(gain).sum::<f64>()
}

fn total_mass(law: &LossDistribution) -> f64 {
    law.infinite + law.points().map(|(_, mass)| mass).sum::<f64>()
}

fn composed(ranges: &[(f64, u32)], gaussian: Option<f64>, at: f64) -> f64 {
    let ranges: Vec<_> = ranges
        .iter()
        .map(|&(value, count)| (range(value), count))
        .collect();
    compose_selections(&ranges, gaussian.map(mu), delta(at))
        .epsilon()
        .get()
}

#[test]
fn a_selection_on_the_grid_meets_its_curve_at_the_dots_and_covers_it_between() {
    for (value, width) in [(0.5, 0.01), (3.0, 0.07), (0.01, 0.003)] {
        let law = LossDistribution::selection(range(value), width);
        assert!((total_mass(&law) - 1.0).abs() < 1e-12);
        for step in 0..integer_part(value / width) {
            let dot = step as f64 * width;
            for at in [dot, dot + width / 3.0] {
                let exact = range(value).delta(Epsilon::try_from(at).unwrap());
                assert!(curve(&law, at) >= exact * (1.0 - 1e-11));
            }
            let exact = range(value).delta(Epsilon::try_from(dot).unwrap());
            assert!((curve(&law, dot) / exact - 1.0).abs() < 1e-9);
        }
    }
}

#[test]
fn a_gaussian_on_the_grid_covers_its_curve() {
    for (value, width, tilt) in [(1.0, 0.01, 3.0), (0.05, 0.1, 100.0), (4.0, 0.02, 1.0)] {
        let law = LossDistribution::gaussian(mu(value), width, tilt);
        assert!((total_mass(&law) - 1.0).abs() < 1e-11);
        for std_devs in [0.0, 1.0, 4.0] {
            let at = value * value / 2.0 + std_devs * value;
            let exact = gaussian::log_delta(value, at).exp();
            assert!(curve(&law, at) >= exact * (1.0 - 1e-10), "{value} {at}");
        }
    }
}

#[test]
fn composed_gaussians_cost_hardly_more_than_the_exact_one() {
    for (each, count, at) in [
        (0.3, 10, 1e-6),
        (1.0, 1, 1e-12),
        (0.05, 400, 0.1),
        (2.0, 4, 1e-9),
    ] {
        let whole = each * f64::from(count).sqrt();
        let goal = f64::ln(at);
        let exact = gaussian::epsilon(whole, goal);
        let tilt = (exact / whole - whole / 2.0).max(0.1) / whole;
        let width = whole * (2.4e-4 / f64::from(count)).sqrt();
        let law = LossDistribution::gaussian(mu(each), width, tilt);
        let found = composition::epsilon(&[(law, count)], tilt, goal);
        assert!(found >= exact, "{each} {count} {at}: {found} < {exact}");
        assert!(found <= exact + 1e-4 * (1.0 + exact), "{found} > {exact}");
    }
}

#[test]
fn the_grid_agrees_with_the_exact_curve_of_one_selection() {
    for (value, at) in [(0.5, 1e-3), (2.0, 1e-5), (6.0, 1e-2)] {
        let exact = range(value).single_epsilon(delta(at));
        let law = LossDistribution::selection(range(value), value / 2000.0);
        let found = composition::epsilon(&[(law, 1)], 10.0 / value, f64::ln(at));
        assert!(found >= exact, "{found} < {exact}");
        assert!(found <= exact + 1e-3 * value, "{found} > {exact}");
    }
}

#[test]
fn nothing_costs_nothing_and_a_lone_part_costs_what_it_costs() {
    assert!(composed(&[], None, 1e-5) < 1e-11);
    assert!(composed(&[(0.5, 0)], None, 1e-5) < 1e-11);
    let alone = mu(0.7).to_approx_dp(delta(1e-5)).epsilon().get();
    assert!((composed(&[], Some(0.7), 1e-5) - alone).abs() < 1e-12);
    let root = f64::exp(0.25) - (1e-5 * 0.5_f64.exp_m1()).sqrt();
    assert!((composed(&[(0.5, 1)], None, 1e-5) - 2.0 * root.ln()).abs() < 1e-11);
}

#[test]
fn selections_may_be_listed_in_any_way() {
    let together = composed(&[(0.3, 5), (0.2, 2)], Some(0.4), 1e-6);
    let apart = composed(&[(0.2, 1), (0.3, 4), (0.2, 1), (0.3, 1)], Some(0.4), 1e-6);
    assert!((together - apart).abs() < 1e-12);
    let many: Vec<(f64, u32)> = (1..200).map(|i| (0.001 * f64::from(i), 1)).collect();
    let cost = composed(&many, None, 1e-6);
    assert!(cost >= composed(&many[..150], None, 1e-6));
}

#[test]
fn extreme_runs_have_finite_bounds() {
    for count in [1, 2, 30, 1000] {
        for value in [1e-3, 0.1, 10.0] {
            for gaussian in [None, Some(0.01), Some(10.0)] {
                for at in [1e-12, 0.1] {
                    let found = composed(&[(value, count)], gaussian, at);
                    let sum = f64::from(count) * value;
                    let alone = gaussian.map_or(0.0, |mu| gaussian::epsilon(mu, f64::ln(at)));
                    assert!(found <= sum + alone + 1e-9 * (1.0 + sum + alone));
                    assert!(found >= alone);
                }
            }
        }
    }
}

#[test]
fn the_grid_beats_the_other_routes_where_it_should() {
    let rho = Rho::try_from(10.0 * 0.25 / 8.0).unwrap().get();
    let concentrated = concentrated::epsilon(rho, f64::ln(1e-5));
    let found = composed(&[(0.5, 10)], None, 1e-5);
    assert!(found < concentrated - 0.09, "{found} {concentrated}");
    assert!(found > 3.2475, "an adaptive attack achieves that much");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn composing_with_anything_never_costs_less(
        first in 0.01..2.0_f64,
        second in 0.01..2.0_f64,
        count in 1..30_u32,
        noise in 0.05..2.0_f64,
        exponent in 2.0..11.0_f64,
    ) {
        let at = 10_f64.powf(-exponent);
        let less = composed(&[(first, count)], Some(noise), at);
        // Different grids, so the two bounds are loose by different amounts.
        let slack = 1e-4 * (1.0 + less);
        prop_assert!(composed(&[(first, count), (second, 1)], Some(noise), at) >= less - slack);
        prop_assert!(composed(&[(first, count + 1)], Some(noise), at) >= less - slack);
        prop_assert!(composed(&[(first, count)], Some(noise * 1.1), at) >= less - slack);
        prop_assert!(composed(&[(first, count)], None, at) <= less + slack);
        prop_assert!(composed(&[(first, count)], Some(noise), at * 2.0) <= less + slack);
    }

    #[test]
    fn a_selection_beside_a_gaussian_is_covered(
        value in 0.05..3.0_f64,
        noise in 0.05..2.0_f64,
        exponent in 2.0..9.0_f64,
    ) {
        // δ(ε) = E δ_μ(ε − L) over the loss L of the selection, by Simpson's rule on 2000 cells.
        let at = 10_f64.powf(-exponent);
        let claimed = composed(&[(value, 1)], Some(noise), at);
        let cells = 2000;
        let width = 2.0 * value / f64::from(cells);
        let density = |l: f64| ((l - value) / 2.0).exp() / (-2.0 * (-value).exp_m1());
        let exact: f64 = (0..=cells)
            .map(|index| {
                let loss = -value + width * f64::from(index);
                let weight = match index {
                    0 => 1.0,
                    _ if index == cells => 1.0,
                    _ if index % 2 == 1 => 4.0,
                    _ => 2.0,
                };
                weight * width / 3.0 * density(loss) * gaussian::log_delta(noise, claimed - loss).exp()
            })
            .sum();
        prop_assert!(exact <= at * (1.0 + 1e-9), "{exact:e} at {at:e}");
        prop_assert!(exact >= at * 0.95 || claimed <= 0.0, "loose: {exact:e} at {at:e}");
    }
}
