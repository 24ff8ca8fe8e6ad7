//! A forecast brackets the records at which most features are found.

use sprifed_privacy::Relation;

use super::*;
use crate::test_support::{budget, request};
use crate::trial::setting_of;
use crate::world::Unexplained;

/// What worlds like `world` are planned for, at this epsilon.
fn setting(world: &WorldRequest, epsilon: f64) -> Setting {
    setting_of(world, budget(epsilon), Relation::ZeroOut).unwrap()
}

fn forecast(records: usize, procedure: CertifiedProcedure) -> (Forecast, usize) {
    let mut n_calls = 0;
    let world = WorldRequest {
        records,
        test_records: 0,
        ..request()
    };
    let forecast = forecast_records(procedure, setting(&world, 5.0), world, 4, |_| {
        n_calls += 1;
        ControlFlow::Continue(())
    });
    (forecast.unwrap(), n_calls)
}

#[test]
fn the_search_brackets_ninety_percent_to_a_tenth_from_both_sides() {
    for planned in [60, 600] {
        let (forecast, n_calls) = forecast(planned, CertifiedProcedure::ARGMAX);
        let needed = forecast
            .records_for_90_percent
            .expect("within thirty-two times the plan");
        assert!((20..2000).contains(&needed), "{forecast:?}");
        let tried = |records: usize| forecast.tried.iter().find(|(tried, _)| *tried == records);
        assert!(tried(needed).unwrap().1 >= 0.9, "{forecast:?}");
        assert!(tried(planned).is_some());
        let below = forecast
            .tried
            .iter()
            .filter(|(records, share)| *records < needed && *share < 0.9);
        let fails = below.map(|(records, _)| *records).max();
        assert!(
            fails.is_none_or(|fails| needed * 10 <= fails * 11),
            "{forecast:?}"
        );
        assert_eq!(n_calls, 4 * forecast.tried.len());
        assert!(forecast.tried.is_sorted_by_key(|(records, _)| *records));
    }
}

#[test]
fn a_plan_of_very_few_records_is_searched_upwards() {
    let (forecast, _) = forecast(9, CertifiedProcedure::ARGMAX);
    assert!(forecast.tried.len() > 1, "{forecast:?}");
}

#[test]
fn a_world_that_cannot_be_planned_is_an_error() {
    let world = WorldRequest {
        sparsity: 0,
        ..request()
    };
    let refused = forecast_records(
        CertifiedProcedure::SIEVE,
        setting(&world, 1.0),
        world,
        1,
        |_| ControlFlow::Continue(()),
    );
    assert!(refused.is_err());
}

#[test]
fn an_interrupted_forecast_runs_no_further_trial() {
    let mut n_calls = 0;
    let ended = forecast_records(
        CertifiedProcedure::ARGMAX,
        setting(&request(), 5.0),
        request(),
        4,
        |_| {
            n_calls += 1;
            ControlFlow::Break(())
        },
    );
    assert_eq!((ended, n_calls), (Err(TrialError::Interrupted), 1));
}

fn compared(population_r2: f64) -> Vec<Compared> {
    let world = WorldRequest {
        records: 400,
        test_records: 0,
        unexplained: Unexplained::PopulationR2(population_r2),
        ..request()
    };
    let planned = |procedure| Certified::planned(procedure, setting(&world, 5.0), Absence::NONE);
    let methods = [CertifiedProcedure::ARGMAX, CertifiedProcedure::SIEVE].map(planned);
    let methods = methods.map(Result::unwrap);
    compare(&methods, world, 6, |_| ControlFlow::Continue(())).unwrap()
}

#[test]
fn no_forecast_is_better_than_the_best_model() {
    for population_r2 in [0.1, 0.5] {
        let rows = compared(population_r2);
        let names: Vec<&str> = rows.iter().map(|row| row.method).collect();
        assert_eq!(names, ["argmax", "sieve", "non-private-omp"]);
        for row in rows {
            assert!(row.test_r2.mean <= population_r2, "{row:?}");
            let shares = [row.recovered_share.mean, row.false_share.mean];
            assert!(
                shares.iter().all(|share| (0.0..=1.0).contains(share)),
                "{row:?}"
            );
        }
    }
}

#[test]
fn more_noise_in_the_response_leaves_less_to_be_found() {
    let (low, high) = (compared(0.1), compared(0.9));
    for (low, high) in low.iter().zip(&high) {
        assert!(
            low.recovered_share.mean < high.recovered_share.mean,
            "{low:?} {high:?}"
        );
        assert!(
            low.false_share.mean > high.false_share.mean,
            "{low:?} {high:?}"
        );
        assert!(low.test_r2.mean < high.test_r2.mean, "{low:?} {high:?}");
    }
}
