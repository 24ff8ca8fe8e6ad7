//! The choice follows the backend, the size and what is stated.

use sprifed_privacy::{ApproxDp, Delta, Epsilon, Relation};
use sprifed_recovery::{Intercept, Keep};
use sprifed_simulate::{WorldRequest, setting_of};

use super::*;

fn chosen(
    records: usize,
    features: usize,
    stated: Stated,
    can_run: impl Fn(Needs) -> bool,
) -> ProcedureChoice {
    let budget = ApproxDp::new(
        Epsilon::try_from(3.0).unwrap(),
        Delta::try_from(1e-6).unwrap(),
    );
    let world = WorldRequest::clean(records, features, 5);
    let setting = setting_of(&world, budget, Relation::ZeroOut).unwrap();
    ProcedureRequest::Auto
        .choose(&setting, stated, can_run)
        .unwrap()
}

const fn sums_only(needs: Needs) -> bool {
    matches!(needs, Needs::Sums)
}

#[test]
fn a_curator_of_a_wide_table_runs_argmax() {
    let choice = chosen(1000, 5000, Stated::NOTHING, |_| true);
    assert_eq!(choice.procedure, CertifiedProcedure::ARGMAX);
    assert_eq!(choice.expected.len(), 3 * USUAL_R2.len());
    let reason = choice.reason();
    assert!(
        reason.starts_with("Procedure: argmax, chosen by auto"),
        "{reason}"
    );
}

/// What is chosen for a table whose columns have no public scale.
fn chosen_for_raw_table(
    records: usize,
    features: usize,
    epsilon: f64,
) -> (Setting, ProcedureChoice) {
    let budget = ApproxDp::new(
        Epsilon::try_from(epsilon).unwrap(),
        Delta::try_from(1e-6).unwrap(),
    );
    let world = WorldRequest::clean(records, features, 3);
    let setting = Setting {
        choice: Keep::Significant,
        feature_scale: None,
        intercept: Intercept::Estimated,
        ..setting_of(&world, budget, Relation::ZeroOut).unwrap()
    };
    let choice = ProcedureRequest::Auto.choose(&setting, Stated::NOTHING, |_| true);
    (setting, choice.unwrap())
}

#[test]
fn a_table_with_too_few_records_gets_the_mean_and_not_a_guess() {
    for (records, features) in [(57, 4088), (58, 700), (58, 7129)] {
        for epsilon in [1.0, 3.0] {
            let (setting, choice) = chosen_for_raw_table(records, features, epsilon);
            assert!(
                choice.procedure.seeks_nothing(&setting).unwrap(),
                "{records} records, {features} features, epsilon {epsilon}: {}",
                choice.reason()
            );
        }
    }
}

#[test]
fn a_table_with_enough_records_is_not_given_the_mean() {
    for (records, features, epsilon) in [(480, 1279, 1.0), (1353, 10_346, 1.0), (400, 4088, 8.0)] {
        let (setting, choice) = chosen_for_raw_table(records, features, epsilon);
        assert!(
            !choice.procedure.seeks_nothing(&setting).unwrap(),
            "{records} records, {features} features, epsilon {epsilon}: {}",
            choice.reason()
        );
    }
}

/// Trials of these find features where much can be explained, and keep none where little can.
#[test]
fn few_records_are_not_given_the_mean_if_no_significant_feature_costs_little() {
    for (records, features, epsilon) in [(154, 2500, 5.34), (235, 2000, 5.34), (96, 200, 8.0)] {
        let (_, choice) = chosen_for_raw_table(records, features, epsilon);
        assert_eq!(
            choice.procedure,
            CertifiedProcedure::ARGMAX,
            "{records} records, {features} features, epsilon {epsilon}: {}",
            choice.reason()
        );
    }
}

#[test]
fn a_backend_of_sums_never_gets_a_procedure_that_needs_choices() {
    for (records, features) in [(100, 5000), (1000, 5000), (20_000, 300)] {
        let choice = chosen(records, features, Stated::NOTHING, sums_only);
        assert_eq!(choice.procedure.needs(), Needs::Sums);
        assert!(
            choice
                .expected
                .iter()
                .all(|line| line.procedure.needs() == Needs::Sums)
        );
    }
}

#[test]
fn stated_correlation_turns_sums_from_the_sieve_to_grad() {
    let stated = |correlation| Stated {
        population_r2: Some(0.8),
        correlation,
    };
    let of = |correlation| chosen(6000, 2500, stated(correlation), sums_only).procedure;
    assert_eq!(of(Correlation::None), CertifiedProcedure::SIEVE);
    assert_eq!(
        of(Correlation::Autoregressive(0.9)),
        CertifiedProcedure::GRAD
    );
}

#[test]
fn a_named_procedure_is_not_replaced_and_says_so() {
    let budget = ApproxDp::new(
        Epsilon::try_from(3.0).unwrap(),
        Delta::try_from(1e-6).unwrap(),
    );
    let world = WorldRequest::clean(1000, 500, 5);
    let setting = setting_of(&world, budget, Relation::ZeroOut).unwrap();
    let request: ProcedureRequest = "grad".parse().unwrap();
    let choice = request.choose(&setting, Stated::NOTHING, |_| true).unwrap();
    assert_eq!(choice.procedure, CertifiedProcedure::GRAD);
    assert_eq!(choice.reason(), "Procedure: grad, as asked");
}

#[test]
fn a_request_has_the_name_that_it_is_read_from() {
    for name in ["auto", "grad", "sieve", "argmax"] {
        assert_eq!(name.parse::<ProcedureRequest>().unwrap().to_string(), name);
    }
    assert!("automatic".parse::<ProcedureRequest>().is_err());
}
