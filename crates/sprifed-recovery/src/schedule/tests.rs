//! A schedule spends its budget, keeps fewer candidates in each round, and plans all queries.

use proptest::prelude::*;

use super::*;
use crate::test_support::{budget, legal_setting};

fn squared_total(schedule: &Schedule, setting: &Setting) -> f64 {
    let rounds = schedule.rounds.len() as f64;
    let square = |cost: Mu| cost.get().powi(2);
    let mut total: f64 = schedule.rounds.iter().map(|round| square(round.cost)).sum();
    total += square(schedule.scale_cost) * (rounds + 1.0) + square(schedule.final_costs.moments);
    if schedule.working == Working::LeastSquares {
        total += square(schedule.working_cost) * (rounds - 1.0);
    }
    if setting.intercept == Intercept::Estimated {
        total += square(schedule.mean_cost);
    }
    if setting.feature_scale.is_none() {
        total += square(schedule.row_scale_cost);
    }
    total + schedule.robust_cost.map_or(0.0, square)
}

#[test]
fn the_shares_add_up_to_the_whole_budget() {
    for working in [Working::Pooled, Working::LeastSquares] {
        for intercept in [Intercept::Absent, Intercept::Estimated] {
            for (feature_scale, robust) in [(None, false), (Some(1.0), false), (Some(1.0), true)] {
                let setting = Setting {
                    intercept,
                    feature_scale,
                    robust,
                    ..legal_setting()
                };
                let schedule = Schedule::of(&setting, working).unwrap();
                let total = setting.total_mu().unwrap().get().powi(2);
                let share = schedule.robust_cost.map(|cost| cost.get().powi(2) / total);
                let expected = robust.then_some(0.05);
                assert!((share.unwrap_or(0.0) - expected.unwrap_or(0.0)).abs() < 1e-9);
                assert_eq!(share.is_some(), expected.is_some());
                let ratio = squared_total(&schedule, &setting) / total;
                assert!(
                    (ratio - 1.0).abs() < 1e-9,
                    "{working:?} {intercept:?}: {ratio}"
                );
            }
        }
    }
}

#[test]
fn a_plan_has_a_sum_for_each_round_and_each_working_model() {
    let setting = legal_setting();
    let steps = |working| {
        Schedule::of(&setting, working)
            .unwrap()
            .plan(&setting)
            .unwrap()
            .steps
    };
    assert_eq!(steps(Working::Pooled).len(), 1 + 10 + 1);
    assert_eq!(steps(Working::LeastSquares).len(), 1 + 7 + 6 + 1);
}

proptest! {
    #[test]
    fn candidates_only_get_fewer_and_always_hold_the_finalists(
        n_features in 2u32..50_000,
        sparsity in 1u32..60,
        n_records in 2u32..100_000,
        epsilon in 0.05f64..20.0,
        pooled in any::<bool>(),
    ) {
        let sparsity = sparsity.min(n_features - 1);
        let setting = Setting {
            n_features, sparsity, n_records, budget: budget(epsilon, 1e-5), ..legal_setting()
        };
        let working = if pooled { Working::Pooled } else { Working::LeastSquares };
        let schedule = Schedule::of(&setting, working).unwrap();
        let sizes: Vec<usize> = schedule.rounds.iter().map(|round| round.candidates).collect();
        prop_assert_eq!(sizes[0], n_features as usize);
        prop_assert!(sizes.is_sorted_by(|before, after| before >= after), "{sizes:?}");
        let fewest = *sizes.last().unwrap();
        prop_assert!(fewest > sparsity as usize || fewest == n_features as usize);
        prop_assert!((sparsity as usize..=fewest).contains(&schedule.final_features));
        prop_assert!(schedule.working_features >= sparsity as usize);
    }
}
