//! Every method runs, and a trial is a function of its seed.

use sprifed_privacy::{Delta, Epsilon};
use sprifed_simulate::{Correlation, Reading, Unexplained};

use super::*;
use crate::comparison::COMPARISONS;

pub(crate) fn budget(epsilon: f64) -> ApproxDp {
    let epsilon = Epsilon::try_from(epsilon).expect("a legal epsilon");
    ApproxDp::new(epsilon, Delta::try_from(1e-5).expect("a legal delta"))
}

pub(crate) fn request() -> WorldRequest {
    WorldRequest {
        records: 300,
        test_records: 100,
        features: 40,
        sparsity: 3,
        correlation: Correlation::None,
        unexplained: Unexplained::ErrorStdDev(0.1),
        reading: Reading::Clean,
    }
}

#[test]
fn a_trial_is_a_function_of_its_seed() {
    for procedure in COMPARISONS {
        let method =
            AnyMethod::certified(procedure, &request(), budget(50.0), Relation::ZeroOut).unwrap();
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
