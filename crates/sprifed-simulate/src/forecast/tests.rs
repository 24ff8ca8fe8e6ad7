//! A forecast brackets the records at which most features are found.

use super::*;
use crate::trial::tests::{budget, request};

fn forecast(records: usize, procedure: CertifiedProcedure) -> (Forecast, usize) {
    let mut n_calls = 0;
    let world = WorldRequest {
        records,
        test_records: 0,
        ..request()
    };
    let forecast = forecast_records(procedure, world, budget(5.0), Relation::ZeroOut, 4, |_| {
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
        world,
        budget(1.0),
        Relation::ZeroOut,
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
        request(),
        budget(5.0),
        Relation::ZeroOut,
        4,
        |_| {
            n_calls += 1;
            ControlFlow::Break(())
        },
    );
    assert_eq!((ended, n_calls), (Err(TrialError::Interrupted), 1));
}
