//! What a binary outcome costs, on generated records: long, so only with `SPRIFED_SLOW=1`.
//!
//! Seeds are those from one on, so none is chosen. How many trials and which limits: see each test.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a long test is asked for by the environment, and says what it measured"
)]

use sprifed_privacy::Relation;
use sprifed_recovery::test_support::budget;
use sprifed_recovery::{CertifiedProcedure, Keep, Setting};
use sprifed_simulate::{
    Absence, Certified, Method as _, Summary, TrialOutcome, WorldOutcome, WorldRequest, setting_of,
};

/// Log odds of standard deviation 2 and as many ones as zeros.
const MODERATE: WorldOutcome = WorldOutcome::Binary {
    spread: 2.0,
    prevalence: 0.5,
};

/// One in ten is a one.
const RARE: WorldOutcome = WorldOutcome::Binary {
    spread: 1.5,
    prevalence: 0.1,
};

fn is_long() -> bool {
    let is_asked = std::env::var_os("SPRIFED_SLOW").is_some_and(|value| value == "1");
    if !is_asked {
        eprintln!("SKIPPED: set SPRIFED_SLOW=1");
    }
    is_asked
}

/// Trials with 2,500 features, five of them true.
fn trials(
    procedure: CertifiedProcedure,
    (outcome, records, sparsity): (WorldOutcome, usize, usize),
    (choice, support): (Keep, usize),
    seeds: core::ops::Range<u64>,
) -> Vec<TrialOutcome> {
    let world = WorldRequest {
        support,
        outcome,
        ..WorldRequest::clean(records, 2500, sparsity)
    };
    let setting = Setting {
        choice,
        ..setting_of(&world, budget(5.34, 1e-4), Relation::ZeroOut).unwrap()
    };
    let method = Certified::planned(procedure, setting, Absence::NONE).unwrap();
    seeds.map(|seed| method.run(world, seed).unwrap()).collect()
}

/// 100 trials of each. The share that is found must not lie more than two standard errors below the one that was asked
/// for: 0.87 where a prototype found 0.90, and 0.90 where it found 0.93. A mean that is just as asked fails one time in forty.
#[test]
fn five_features_are_found_where_they_were_asked_to_be() {
    if !is_long() {
        return;
    }
    for (procedure, outcome, records, asked) in [
        (CertifiedProcedure::ARGMAX, MODERATE, 965, 0.87),
        (CertifiedProcedure::SIEVE, MODERATE, 1997, 0.87),
        (CertifiedProcedure::ARGMAX, RARE, 6000, 0.90),
    ] {
        let cell = (outcome, records, 5);
        let outcomes = trials(procedure, cell, (Keep::Exactly, 5), 1..101);
        let summary = Summary::of(&outcomes, 5);
        eprintln!("{procedure}, {records}: {summary:?}");
        let found = summary.recovered_share;
        assert!(
            found.mean >= asked - 2.0 * found.std_error,
            "{procedure}, {records}: {found:?}"
        );
    }
}

/// 60 trials of each. A prototype found 0.85 and 0.88; the limits leave three standard errors of 60 trials or more.
#[test]
fn a_whole_fit_keeps_few_false_features_and_its_intervals_cover() {
    if !is_long() {
        return;
    }
    for (outcome, records, least) in [(MODERATE, 1500, 0.78), (RARE, 8000, 0.82)] {
        let cell = (outcome, records, 10);
        let outcomes = trials(
            CertifiedProcedure::ARGMAX,
            cell,
            (Keep::Significant, 5),
            1..61,
        );
        let summary = Summary::of(&outcomes, 5);
        eprintln!("argmax, {records}: {summary:?}");
        assert!(summary.recovered_share.mean >= least);
        assert!(summary.false_share.mean <= 0.10);
        let coverage = summary.coverage.unwrap().mean;
        assert!((0.92..=0.99).contains(&coverage), "{coverage}");
        assert!(summary.deviance_share.unwrap().mean >= 0.93);
    }
}

/// Something may be kept in 0.10 of the runs; the limit leaves two standard errors of 100 runs.
#[test]
fn without_a_true_feature_little_is_kept() {
    if !is_long() {
        return;
    }
    let cell = (MODERATE, 1500, 10);
    let outcomes = trials(
        CertifiedProcedure::ARGMAX,
        cell,
        (Keep::Significant, 0),
        1..101,
    );
    let kept = outcomes
        .iter()
        .filter(|one| !one.kept.features.is_empty())
        .count();
    eprintln!("something was kept in {kept} of 100 runs");
    assert!(kept <= 16, "{kept}");
}
