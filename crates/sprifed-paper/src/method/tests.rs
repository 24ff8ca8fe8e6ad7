//! Every method runs, and a trial is a function of its seed.

use sprifed_simulate::Reading;
use sprifed_simulate::test_support::{budget, request};

use super::*;
use crate::comparison::COMPARISONS;

#[test]
fn a_trial_is_a_function_of_its_seed() {
    for procedure in COMPARISONS {
        let setting =
            certified_setting(procedure, &request(), budget(50.0), Relation::ZeroOut).unwrap();
        let method = AnyMethod::certified(procedure, setting).unwrap();
        let first = method.run(request(), 3).unwrap();
        assert_eq!(first, method.run(request(), 3).unwrap(), "{procedure}");
        let other = method.run(request(), 4).unwrap();
        assert_ne!(first.fit, other.fit, "{procedure}");
    }
}

#[test]
fn the_papers_algorithms_run_and_are_repeatable() {
    let world = WorldRequest {
        reading: Reading::Paper,
        ..request()
    };
    let mu = |value: f64| Mu::try_from(value).unwrap();
    for algorithm in [
        PaperAlgorithm::Omp,
        PaperAlgorithm::OmpReusing,
        PaperAlgorithm::Grad,
    ] {
        let method = AnyMethod::paper(algorithm, &world, mu(50.0), mu(50.0)).unwrap();
        let outcome = method.run(world, 1).unwrap();
        assert_eq!(outcome, method.run(world, 1).unwrap());
        assert!(outcome.recovered >= 2, "{algorithm:?}: {outcome:?}");
        assert!((outcome.null_mse - 1.0).abs() < 0.3, "{algorithm:?}");
    }
}
