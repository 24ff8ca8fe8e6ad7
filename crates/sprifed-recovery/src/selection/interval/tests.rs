use super::super::normal::cumulative;
use super::super::tests::{Draws, estimate_of, pick_with};
use super::*;

fn rival(coefficient: f64, is_picked_later: bool) -> Rival {
    Rival {
        transfer: 0.4,
        coefficient,
        is_picked_later,
    }
}

#[test]
fn the_level_is_shared_among_all_that_might_be_kept() {
    assert!((false_coverage_level(5, 10) - 0.025).abs() < 1e-15);
    assert!((false_coverage_level(10, 10) - 0.05).abs() < 1e-15);
    assert!((false_coverage_level(12, 10) - 0.05).abs() < 1e-15);
    assert!(false_coverage_level(0, 0) > 0.0);
}

#[test]
fn what_is_reported_contains_the_interval_of_wald() {
    for tilt in [0.2, 1.0, 4.0, 10.0] {
        for ratio in [-6.0, -2.0, 1.0, 3.0, 5.0] {
            let pick = pick_with(tilt, 1000.0);
            let estimate = estimate_of(&pick, 0.8, 0.3, ratio);
            let weight = log_rivals(&pick, &[rival(estimate.value, false)], 5);
            let selection = ArgmaxSelection::new(&pick, &estimate, weight);
            for level in [0.05, 0.005] {
                let (reported, plain) =
                    (hull(&selection, &estimate, level), wald(&estimate, level));
                assert!(reported.low <= plain.low && reported.high >= plain.high);
                assert!(reported.width().is_finite());
            }
        }
    }
}

#[test]
fn an_interval_shrinks_with_its_level_and_mirrors_its_estimate() {
    let pick = pick_with(2.0, 1000.0);
    let estimate = estimate_of(&pick, 0.8, 0.3, 4.0);
    let selection = ArgmaxSelection::new(&pick, &estimate, 9.0);
    let mirrored = Estimate {
        value: -estimate.value,
        ..estimate
    };
    let mut last = Interval::WHOLE;
    for level in [0.001, 0.01, 0.05, 0.2] {
        let found = hull(&selection, &estimate, level);
        let other = hull(&selection, &mirrored, level);
        assert!(found.low > last.low && found.high < last.high, "{level}");
        assert!((found.low + other.high).abs() < 1e-6 * estimate.std_error());
        assert!((found.high + other.low).abs() < 1e-6 * estimate.std_error());
        last = found;
    }
}

#[test]
fn a_certain_pick_needs_no_correction() {
    let pick = pick_with(2.0, 1000.0);
    let estimate = estimate_of(&pick, 0.8, 0.3, 4.0);
    let selection = ArgmaxSelection::new(&pick, &estimate, -60.0);
    let (reported, plain) = (hull(&selection, &estimate, 0.05), wald(&estimate, 0.05));
    assert!((reported.low - plain.low).abs() < 1e-6 * estimate.std_error());
    assert!((reported.high - plain.high).abs() < 1e-6 * estimate.std_error());
}

#[test]
fn stronger_rivals_pull_the_interval_towards_zero() {
    let pick = pick_with(2.0, 1000.0);
    let estimate = estimate_of(&pick, 0.8, 0.3, 4.0);
    let mut last = f64::INFINITY;
    for weight in [0.0, 4.0, 8.0, 12.0, 16.0] {
        let low = hull(
            &ArgmaxSelection::new(&pick, &estimate, weight),
            &estimate,
            0.05,
        )
        .low;
        assert!(low <= last + 1e-9, "{weight}: {low} after {last}");
        last = low;
    }
}

#[test]
fn the_share_below_falls_with_the_coefficient() {
    for tilt in [0.3, 2.0, 8.0] {
        for (correlation, privacy) in [(0.5, 0.5), (0.95, 0.05), (1.4, 0.2)] {
            let pick = pick_with(tilt, 1000.0);
            let estimate = estimate_of(&pick, correlation, privacy, 4.0);
            let weight = log_rivals(&pick, &[rival(estimate.value, false)], 5);
            let selection = ArgmaxSelection::new(&pick, &estimate, weight);
            let law = ConditionalLaw {
                selection: &selection,
                std_error: estimate.std_error(),
            };
            let mut last = 2.0;
            for step in -16..=10 {
                let coefficient = estimate.value + f64::from(step) * estimate.std_error() / 2.0;
                let below = law.shares(coefficient, estimate.value).below;
                assert!(
                    below <= last + 1e-12,
                    "{tilt}, {correlation}, {step}: {below}"
                );
                last = below;
            }
        }
    }
}

#[test]
fn rivals_weigh_what_their_scores_do() {
    let pick = pick_with(1.0, 1000.0);
    let unit = pick.n_records / pick.noise_scale();
    let alone = log_rivals(&pick, &[], 5);
    let expected = 2.0 * 1000.0 * exp(0.5) * cumulative(1.0);
    assert!((alone - expected.ln()).abs() < 1e-12);
    let strong = 30.0 / (unit * 0.4);
    let later = log_rivals(&pick, &[rival(strong, true), rival(0.0, false)], 1);
    let sum = expected + 30f64.exp() + 1.0;
    assert!((later - sum.ln()).abs() < 1e-12);
    let earlier = log_rivals(&pick, &[rival(strong, false)], 4);
    assert!((earlier - (expected + 4.0 * 30f64.exp()).ln()).abs() < 1e-12);
    let huge = log_rivals(&pick, &[rival(1e9 * strong, true)], 5);
    assert!(huge.is_finite());
}

#[test]
fn beside_many_exact_scores_the_largest_one_counts() {
    let pick = pick_with(20.0, 1000.0);
    let expected = 20.0 * upper_quantile(0.0005);
    assert!((log_rivals(&pick, &[], 5) - expected).abs() < 1e-9);
}

#[test]
fn what_is_no_estimate_has_no_interval() {
    let pick = pick_with(2.0, 1000.0);
    let estimate = estimate_of(&pick, 0.8, 0.3, 4.0);
    let illegal = Estimate {
        variance: 0.0,
        ..estimate
    };
    let selection = ArgmaxSelection::new(&pick, &estimate, 5.0);
    assert_eq!(hull(&selection, &illegal, 0.05), Interval::WHOLE);
    assert_eq!(wald(&illegal, 0.05), Interval::WHOLE);
    let unknown = ArgmaxSelection::new(&pick, &estimate, f64::NAN);
    assert_eq!(hull(&unknown, &estimate, 0.05), Interval::WHOLE);
}

/// Estimates of features that were picked against rivals of a known weight: 95 % of the conditional
/// intervals cover. 4,000 picks a cell, five standard errors of 0.0035.
#[test]
fn conditional_intervals_of_picked_features_cover() {
    for (seed, tilt, weight, ratio) in [(1, 1.0, 4.0, 0.0), (2, 2.0, 8.0, 1.0), (3, 4.0, 12.0, 2.5)]
    {
        let pick = pick_with(tilt, 1000.0);
        let at = estimate_of(&pick, 0.8, 0.3, ratio);
        let (coefficient, std_error) = (at.value, at.std_error());
        let selection = ArgmaxSelection::new(&pick, &at, weight);
        let table = WeightTable::new(&selection);
        let covariance = pick.covariance(at.sampling_variance);
        let along = covariance / (pick.score_std_dev() * std_error);
        let (mut draws, mut covered, mut picked) = (Draws::of(seed), 0.0, 0.0);
        while picked < 4000.0 {
            let (first, second) = (draws.normal(), draws.normal());
            let score = pick.score_slope() * coefficient + pick.score_std_dev() * first;
            let chance = 1.0 / (1.0 + (weight - score.abs() / pick.noise_scale()).exp());
            if draws.uniform() > chance {
                continue;
            }
            picked += 1.0;
            let normal = along * first + (1.0 - along * along).sqrt() * second;
            let law = ConditionalLaw {
                selection: &table,
                std_error,
            };
            let shares = law.shares(coefficient, coefficient + std_error * normal);
            covered += f64::from(u8::from(shares.below > 0.025 && shares.above > 0.025));
        }
        let share = covered / picked;
        assert!(
            (share - 0.95).abs() < 0.0173,
            "{tilt}, {weight}, {ratio}: {share}"
        );
    }
}

#[test]
fn scores_far_beyond_any_plan_have_no_interval_instead_of_endless_work() {
    let pick = pick_with(1e6, 1000.0);
    let estimate = estimate_of(&pick, 0.8, 0.3, 4.0);
    let selection = ArgmaxSelection::new(&pick, &estimate, 1e13);
    assert_eq!(hull(&selection, &estimate, 0.05), Interval::WHOLE);
    let usual = ArgmaxSelection::new(&pick_with(50.0, 1000.0), &estimate, 600.0);
    assert!(hull(&usual, &estimate, 0.05).low.is_finite());
}
