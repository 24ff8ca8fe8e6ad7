//! With a generous budget every procedure finds the true model.

use sprifed_noise::Provenance;
use sprifed_recovery::{CertifiedProcedure, FitStatus};
use sprifed_simulate::{Correlation, Unexplained};

use crate::study::{Study, world};

/// The procedures that ask for what they do not know, with the largest error of a coefficient, as a
/// share of the largest coefficient. Argmax clips its updates and is less exact.
const ADAPTIVE: [(CertifiedProcedure, f64); 3] = [
    (CertifiedProcedure::GRAD, 0.01),
    (CertifiedProcedure::SIEVE, 0.01),
    (CertifiedProcedure::ARGMAX, 0.15),
];

const SEEDS: core::ops::Range<u64> = 0..4;
const GENEROUS: f64 = 200.0;

fn study(correlation: Correlation, seed: u64) -> Study {
    Study::of(
        world(correlation, Unexplained::ErrorStdDev(0.1)),
        seed,
        GENEROUS,
    )
}

fn assert_found(study: &Study, procedure: CertifiedProcedure, seed: u64, tolerance: f64) {
    let fit = study.fit(procedure, seed);
    assert!(
        study.has_found_the_support(&fit),
        "{procedure}, seed {seed}: {fit:?}"
    );
    let error = study.error(&fit);
    assert!(error < tolerance, "{procedure}, seed {seed}: {error}");
    assert_eq!(fit.status, FitStatus::Complete, "{procedure}, seed {seed}");
    assert_eq!(fit.provenance, Some(Provenance::Simulated));
}

#[test]
fn independent_and_weakly_correlated_features_are_found() {
    for correlation in [Correlation::None, Correlation::Autoregressive(0.5)] {
        for (procedure, tolerance) in ADAPTIVE {
            for seed in SEEDS {
                assert_found(&study(correlation, seed), procedure, seed, tolerance);
            }
        }
    }
}

#[test]
fn features_in_unknown_units_are_found() {
    for (procedure, tolerance) in ADAPTIVE {
        for seed in SEEDS {
            let study = study(Correlation::None, seed).scaled(0.3);
            assert_found(&study, procedure, seed, tolerance);
        }
    }
}

#[test]
fn an_offset_of_the_response_goes_to_the_intercept() {
    for (procedure, tolerance) in ADAPTIVE {
        for seed in SEEDS {
            let study = study(Correlation::None, seed).moved(0.0, 2.0);
            assert_found(&study, procedure, seed, tolerance);
            let intercept = study.fit(procedure, seed).model.intercept;
            assert!(
                (intercept - 2.0).abs() < 0.05,
                "{procedure}, seed {seed}: {intercept}"
            );
        }
    }
}

#[test]
fn certified_grad_finds_features_that_are_not_centred() {
    for offset in [0.3, 1.0] {
        for seed in SEEDS {
            let study = study(Correlation::None, seed)
                .moved(offset, 2.0)
                .scaled(0.3);
            assert_found(&study, CertifiedProcedure::GRAD, seed, 0.02);
            let intercept = study.fit(CertifiedProcedure::GRAD, seed).model.intercept;
            let error = intercept - study.truth.intercept;
            assert!(error.abs() < 0.1, "seed {seed}: {error}");
        }
    }
}

#[test]
fn argmax_finds_features_that_are_slightly_off_centre() {
    for seed in SEEDS {
        let study = study(Correlation::None, seed).moved(0.3, 2.0);
        assert_found(&study, CertifiedProcedure::ARGMAX, seed, 0.1);
    }
}

#[test]
fn the_papers_algorithms_find_the_support_when_they_can_pay_for_their_bounds() {
    for procedure in [sprifed_paper::HONEST_OMP, sprifed_paper::HONEST_GRAD] {
        for correlation in [Correlation::None, Correlation::Autoregressive(0.5)] {
            for seed in SEEDS {
                let request = world(correlation, Unexplained::ErrorStdDev(0.1));
                let mut study = Study::of(request, seed, 2000.0);
                study.setting.feature_bound = 4.0;
                study.setting.response_bound = 16.0;
                let fit = study.fit(procedure, seed);
                assert!(
                    study.has_found_the_support(&fit),
                    "{procedure}, seed {seed}: {fit:?}"
                );
                assert!(study.error(&fit) < 0.1, "{procedure}, seed {seed}: {fit:?}");
            }
        }
    }
}

#[test]
fn clients_of_several_records_are_protected_and_the_support_is_still_found() {
    for (procedure, _) in ADAPTIVE {
        for (rows, epsilon) in [(2, GENEROUS), (5, GENEROUS), (4, 20.0)] {
            let request = world(Correlation::None, Unexplained::ErrorStdDev(0.1));
            let study = Study::of(request, 1, epsilon);
            let fit = study.fit_by_client(procedure, rows);
            assert!(
                study.has_found_the_support(&fit),
                "{procedure}, {rows} rows: {fit:?}"
            );
        }
    }
}
