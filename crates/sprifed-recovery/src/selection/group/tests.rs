use super::super::tests::{Draws, estimate_of, pick_with};
use super::*;

fn group(columns: u32, squared_distance: f64) -> GroupPick {
    GroupPick {
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
            let alone = GroupPick {
                columns: 1,
                squared_distance: ratio * ratio,
                correlation: pick.covariance(estimate.sampling_variance) / spread,
                score_std_dev: pick.score_std_dev(),
                noise_scale: pick.noise_scale(),
                noise_rate: pick.noise_rate,
                candidates: 500.0,
            };
            let (found, expected) = (alone.p_value(), pick.p_value(&estimate));
            assert!(
                (found - expected).abs() < 2e-5 * expected + 2e-12,
                "{tilt}, {ratio}: {found} for {expected}"
            );
        }
    }
}

#[test]
fn a_larger_distance_has_a_smaller_p_value() {
    for columns in [1, 2, 3, 8, 30] {
        let mut last = 1.0;
        for step in 1..40 {
            let distance = f64::from(step * columns.min(5)) * 2.0;
            let p = group(columns, distance).p_value();
            assert!(
                (0.0..=last).contains(&p),
                "{columns}, {distance}: {p} after {last}"
            );
            last = p;
        }
        assert!(last < 1e-3, "{columns}: {last}");
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
            let (found, expected) = (noncentral_survival(freedom, 0.0, x), survival(freedom, x));
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
        let (mut low, mut high) = (0.0, 400.0);
        for _ in 0..30 {
            let middle = f64::midpoint(low, high);
            if drawn(middle).p_value() > 0.05 {
                low = middle;
            } else {
                high = middle;
            }
        }
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
