use super::super::tests::{Draws, estimate_of, pick_with};
use super::*;

fn group(columns: u32, squared_distance: f64) -> GroupPick {
    GroupPick {
        by: GroupScore::Norm,
        columns,
        squared_distance,
        correlation: 0.7,
        score_std_dev: 12.0,
        noise_scale: 6.0,
        noise_rate: 1.0 / (512.0 * 6.0),
        candidates: 500.0,
    }
}

#[test]
fn a_group_of_one_column_has_the_p_value_of_a_pick() {
    for tilt in [0.3, 2.0, 8.0] {
        for ratio in [0.5, 2.0, 4.0, 6.0] {
            let pick = pick_with(tilt, 500.0);
            let estimate = estimate_of(&pick, 0.8, 0.3, ratio);
            let spread = pick.score_std_dev() * estimate.std_error();
            let alone = |by| GroupPick {
                by,
                columns: 1,
                squared_distance: ratio * ratio,
                correlation: pick.covariance(estimate.sampling_variance) / spread,
                score_std_dev: pick.score_std_dev(),
                noise_scale: pick.noise_scale(),
                noise_rate: pick.noise_rate,
                candidates: 500.0,
            };
            let expected = pick.p_value(&estimate);
            for by in [GroupScore::Norm, GroupScore::Column] {
                let found = alone(by).p_value();
                assert!(
                    (found - expected).abs() < 2e-5 * expected + 2e-12,
                    "{by:?}, {tilt}, {ratio}: {found} for {expected}"
                );
            }
        }
    }
}

#[test]
fn a_larger_distance_has_a_smaller_p_value() {
    for by in [GroupScore::Norm, GroupScore::Column] {
        for columns in [1, 2, 3, 8, 30] {
            let mut last = 1.0;
            for step in 1..40 {
                let distance = f64::from(step * columns.min(5)) * 2.0;
                let group = GroupPick {
                    by,
                    ..group(columns, distance)
                };
                let p = group.p_value();
                assert!(
                    (0.0..=last).contains(&p),
                    "{by:?}, {columns}, {distance}: {p} after {last}"
                );
                last = p;
            }
            assert!(last < 1e-3, "{by:?}, {columns}: {last}");
        }
    }
}

#[test]
fn more_correlated_scores_and_more_candidates_make_larger_p_values() {
    let column = |correlation, candidates| {
        let pick = GroupPick {
            by: GroupScore::Column,
            correlation,
            candidates,
            ..group(4, 30.0)
        };
        pick.p_value()
    };
    let mut last = 0.0;
    for correlation in [0.0, 0.3, 0.6, 0.9, 0.99, 0.999, 2.0] {
        let p = column(correlation, 500.0);
        assert!(p >= last, "{correlation}: {p} after {last}");
        last = p;
    }
    assert!(column(0.7, 500.0) > 1.1 * column(0.7, 20.0));
}

#[test]
fn a_group_that_nothing_selected_has_the_ordinary_p_value() {
    let estimate = |squared_distance| GroupEstimate {
        squared_distance,
        precisions: vec![(1.0, 1.0); 3],
    };
    for (distance, expected) in [(7.814_727_903_251_18, 0.05), (0.0, 1.0), (f64::NAN, 1.0)] {
        let found = estimate(distance).p_value();
        assert!((found - expected).abs() < 1e-10, "{distance}: {found}");
    }
}

/// The law that the integral states, drawn: 400,000 draws have a standard error of at most 0.0008.
#[test]
fn the_distribution_along_one_direction_is_that_of_draws() {
    let mut draws = Draws::of(9);
    for (freedom, shift, spread, x) in [(2, 1.5, 0.4, 4.0), (3, 2.0, 0.05, 6.0), (5, 0.0, 0.3, 4.0)]
    {
        let mut above = 0.0;
        for _ in 0..400_000 {
            let mut sum = square(shift + spread * draws.normal());
            for _ in 1..freedom {
                sum += square(draws.normal());
            }
            above += f64::from(u8::from(sum > x)) / 400_000.0;
        }
        let found = survival_along(freedom, (shift, spread), x);
        assert!((found - above).abs() < 0.004, "{freedom}: {found}, {above}");
    }
}

#[test]
fn the_score_of_a_level_has_the_law_of_zeros_and_ones() {
    let pick = pick_with(2.0, 500.0);
    let scale = 0.5;
    let pick = Pick {
        feature_variance: 0.2 / square(scale),
        ..pick
    };
    for clip in [0.7, 3.0] {
        let score = IndicatorScore::of(
            &Pick {
                feature_clip: clip,
                ..pick
            },
            scale,
        );
        // A fifth of the records has a one, clipped to min(1, clip/2) of clip/2.
        let size = smaller(clip * scale, 1.0) / (clip * scale);
        let residual = clipped_variance(pick.residual_clip);
        let variance = 0.2 * pick.n_records * size * size * residual;
        assert!((square(score.std_dev) / variance - 1.0).abs() < 1e-12);
        let kept = kept_signal(pick.residual_clip) / pick.residual_clip;
        let slope = 0.2 * pick.n_records * size / scale * kept / pick.residual_scale;
        assert!((score.slope / slope - 1.0).abs() < 1e-12);
    }
}

/// The squared distance from which on the p-value is at most 0.05.
fn five_percent_distance(drawn: impl Fn(f64) -> GroupPick) -> f64 {
    let (mut low, mut high) = (0.0, 400.0);
    for _ in 0..30 {
        let middle = f64::midpoint(low, high);
        if drawn(middle).p_value() > 0.05 {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// 20,000 picks among 60 categories of three levels without effect, whose estimates are correlated as those against a
/// reference level are. Choices compare single columns. At most 5 % have p ≤ 0.05, and five standard errors of 0.0016.
#[test]
fn at_most_five_percent_of_false_categories_that_a_column_brought_have_a_p_value_of_five_percent() {
    for (seed, scale) in [(1, 24.0), (2, 6.0), (3, 2.0)] {
        // T = 0.7·U + noise has the covariance V = I + J, J all ones, as against a reference level: (V⁻¹)_jj = 3/4.
        let drawn = |distance: f64| GroupPick {
            by: GroupScore::Column,
            correlation: 0.7 * 0.75_f64.sqrt(),
            noise_scale: scale,
            noise_rate: 1.0 / (512.0 * scale),
            candidates: 180.0,
            ..group(3, distance)
        };
        let high = five_percent_distance(drawn);
        let (mut draws, mut alarms) = (Draws::of(seed), 0.0);
        for _ in 0..20_000 {
            let mut best = (f64::NEG_INFINITY, [0.0; 3]);
            for _ in 0..60 {
                let score = [draws.normal(), draws.normal(), draws.normal()];
                for column in score {
                    let noisy = 12.0 / scale * column.abs() + draws.gumbel();
                    if noisy > best.0 {
                        best = (noisy, score);
                    }
                }
            }
            let common = draws.normal();
            let estimate = best
                .1
                .map(|x| 0.7 * x + 0.51_f64.sqrt() * draws.normal() + common);
            let mean = estimate.iter().sum::<f64>() / 3.0;
            let across: f64 = estimate.iter().map(|x| square(x - mean)).sum();
            let distance = across + 3.0 * mean * mean / 4.0;
            alarms += f64::from(u8::from(distance > high));
        }
        assert!(alarms / 20_000.0 < 0.058, "{scale}: {}", alarms / 20_000.0);
    }
}

#[test]
fn without_a_pull_of_the_choice_it_is_the_ordinary_p_value() {
    for (columns, distance) in [(2, 5.991_464_547_107_98), (5, 11.070_497_693_516_35)] {
        let free = GroupPick {
            correlation: 0.0,
            ..group(columns, distance)
        };
        let p = free.p_value() / exp(2.0 * free.noise_rate);
        assert!((p - 0.05).abs() < 1e-10, "{columns}: {p}");
    }
}

#[test]
fn the_distribution_without_a_shift_is_the_central_one() {
    for freedom in [1, 2, 3, 6, 13] {
        for x in [0.1, 3.0, 20.0, 150.0] {
            let (found, expected) = (survival_along(freedom, (0.0, 1.0), x), survival(freedom, x));
            assert!(
                (found - expected).abs() < 1e-12,
                "{freedom}, {x}: {found}, {expected}"
            );
        }
    }
}

#[test]
fn what_is_no_pick_has_the_p_value_one() {
    for illegal in [
        group(0, 90.0),
        group(3, f64::NAN),
        GroupPick {
            noise_scale: 0.0,
            ..group(3, 90.0)
        },
        GroupPick {
            correlation: f64::NAN,
            ..group(3, 90.0)
        },
        GroupPick {
            candidates: 0.5,
            ..group(3, 90.0)
        },
    ] {
        assert!(illegal.p_value() >= 1.0, "{illegal:?}");
    }
    assert!(group(3, 90.0).p_value() < 1e-6);
}

/// 20,000 picks among 60 groups of three columns without effect: at most 5 % have p ≤ 0.05, and five
/// standard errors of 0.0016.
#[test]
fn at_most_five_percent_of_false_groups_have_a_p_value_of_five_percent() {
    for (seed, scale) in [(1, 24.0), (2, 6.0), (3, 2.0)] {
        let drawn = |distance: f64| GroupPick {
            noise_scale: scale,
            noise_rate: 1.0 / (512.0 * scale),
            candidates: 60.0,
            ..group(3, distance)
        };
        let high = five_percent_distance(drawn);
        let (mut draws, mut alarms) = (Draws::of(seed), 0.0);
        for _ in 0..20_000 {
            let mut best = (f64::NEG_INFINITY, [0.0; 3]);
            for _ in 0..60 {
                let score = [draws.normal(), draws.normal(), draws.normal()];
                let norm = score.iter().map(|x| x * x).sum::<f64>().sqrt();
                let noisy = 12.0 / scale * norm + draws.gumbel();
                if noisy > best.0 {
                    best = (noisy, score);
                }
            }
            let estimate = best.1.map(|x| 0.7 * x + 0.51_f64.sqrt() * draws.normal());
            let distance = estimate.iter().map(|x| x * x).sum::<f64>();
            alarms += f64::from(u8::from(distance > high));
        }
        assert!(alarms / 20_000.0 < 0.058, "{scale}: {}", alarms / 20_000.0);
    }
}
