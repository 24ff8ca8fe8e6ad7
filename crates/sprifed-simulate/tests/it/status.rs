//! A fit says how it ended, disappointing endings included.

use sprifed_recovery::{CertifiedProcedure, FitStatus};
use sprifed_simulate::{Correlation, Unexplained};

use crate::study::{Study, world};

fn study(seed: u64, epsilon: f64) -> Study {
    Study::of(
        world(Correlation::None, Unexplained::ErrorStdDev(0.1)),
        seed,
        epsilon,
    )
}

#[test]
fn a_response_without_any_signal_is_reported_as_such() {
    for procedure in CertifiedProcedure::all().chain(sprifed_paper::COMPARISONS) {
        for epsilon in [1.0, 5.34, 100.0] {
            let is_nothing = |seed: &u64| {
                let status = study(*seed, epsilon)
                    .shuffled()
                    .fit(procedure, *seed)
                    .status;
                matches!(status, FitStatus::NoFeatureAboveNoise { .. })
            };
            let found_nothing = (0..8).filter(is_nothing).count();
            assert!(
                found_nothing >= 5,
                "{procedure} at {epsilon}: {found_nothing} of 8"
            );
        }
    }
}

#[test]
fn a_strong_signal_is_not_reported_as_noise() {
    for procedure in [
        CertifiedProcedure::GRAD,
        CertifiedProcedure::SIEVE,
        CertifiedProcedure::ARGMAX,
    ] {
        for seed in 0..8 {
            let fit = study(seed, 5.34).fit(procedure, seed);
            let is_nothing = matches!(fit.status, FitStatus::NoFeatureAboveNoise { .. });
            assert!(!is_nothing, "{procedure}, seed {seed}: {fit:?}");
        }
    }
}

#[test]
fn equal_columns_in_the_support_are_reported_as_ill_conditioned() {
    for procedure in CertifiedProcedure::all().chain(sprifed_paper::COMPARISONS) {
        for seed in 0..4 {
            let original = study(seed, 100.0);
            let active = original.truth.terms[0].0 as usize;
            let fit = original.all_alike(active).fit(procedure, seed);
            assert_ne!(
                fit.status,
                FitStatus::Complete,
                "{procedure}, seed {seed}: {fit:?}"
            );
            let largest = fit
                .model
                .terms
                .iter()
                .fold(0.0f64, |most, term| most.max(term.1.abs()));
            assert!(largest < 20.0, "{procedure}, seed {seed}: {fit:?}");
        }
    }
}
