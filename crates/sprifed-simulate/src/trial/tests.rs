//! A trial is a function of its seed, and every method runs.

use sprifed_noise::Provenance;

use super::*;
use crate::test_support::{budget, request};

fn certified(procedure: CertifiedProcedure) -> Certified {
    Certified::on_curator(procedure, &request(), budget(50.0), Relation::ZeroOut).unwrap()
}

#[test]
fn a_trial_is_a_function_of_its_seed() {
    for procedure in CertifiedProcedure::all() {
        let method = certified(procedure);
        let first = method.run(request(), 3).unwrap();
        assert_eq!(first, method.run(request(), 3).unwrap(), "{procedure}");
        assert_ne!(
            first.fit,
            method.run(request(), 4).unwrap().fit,
            "{procedure}"
        );
        assert_eq!(
            first.fit.provenance,
            Some(Provenance::Simulated),
            "{procedure}"
        );
    }
}

#[test]
fn a_good_fit_predicts_better_than_the_null_model() {
    for procedure in [
        CertifiedProcedure::GRAD,
        CertifiedProcedure::SIEVE,
        CertifiedProcedure::ARGMAX,
    ] {
        let outcome = certified(procedure).run(request(), 3).unwrap();
        assert_eq!(outcome.recovered, 3, "{procedure}");
        assert!(
            outcome.test_mse < 0.1 * outcome.null_mse,
            "{procedure}: {outcome:?}"
        );
    }
    for method in Reference::ALL {
        let outcome = method.run(request(), 3).unwrap();
        assert_eq!(outcome.recovered, 3);
        assert!(
            outcome.test_mse < 0.02,
            "the error has variance 0.01: {outcome:?}"
        );
        assert_eq!(outcome.fit.provenance, None);
    }
}

#[test]
fn a_world_that_no_procedure_can_fit_is_refused_with_a_clear_message() {
    for (world, words) in [
        (
            WorldRequest {
                sparsity: 40,
                ..request()
            },
            "a sparsity of 40 for 40 features",
        ),
        (
            WorldRequest {
                sparsity: 0,
                ..request()
            },
            "a sparsity of 0 for 40 features",
        ),
        (
            WorldRequest {
                records: 1,
                ..request()
            },
            "1 record, but at least 2 are required",
        ),
    ] {
        for procedure in CertifiedProcedure::all() {
            let refused = Certified::on_curator(procedure, &world, budget(1.0), Relation::ZeroOut);
            let refused = refused.unwrap_err().to_string();
            assert!(refused.contains(words), "{procedure}: {refused}");
        }
    }
}

#[test]
fn the_response_bound_covers_eight_standard_deviations() {
    for (sparsity, expected) in [(1, 32.0), (3, 32.0), (5, 64.0), (10, 64.0)] {
        let found = default_response_bound(sparsity);
        assert!((found - expected).abs() < 1e-12, "{sparsity}: {found}");
    }
}
