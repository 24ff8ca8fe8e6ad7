//! The approximation rises with what helps, and agrees with trials on generated records.

use core::ops::ControlFlow;

use sprifed_privacy::{ApproxDp, Delta, Epsilon, Relation};

use super::*;
use crate::absence::Absence;
use crate::forecast::compare;
use crate::sites::WorldSites;
use crate::trial::{Certified, setting_of};
use crate::world::{Reading, Unexplained, WorldOutcome, WorldRequest};

fn world(records: usize, features: usize, population_r2: f64) -> WorldRequest {
    WorldRequest {
        records,
        test_records: 0,
        features,
        sparsity: 5,
        support: 5,
        correlation: Correlation::None,
        unexplained: Unexplained::PopulationR2(population_r2),
        reading: Reading::Clean,
        outcome: WorldOutcome::Linear,
        sites: WorldSites::NONE,
    }
}

fn setting(world: &WorldRequest, epsilon: f64) -> Setting {
    let epsilon = Epsilon::try_from(epsilon).unwrap();
    let budget = ApproxDp::new(epsilon, Delta::try_from(1e-5).unwrap());
    setting_of(world, budget, Relation::ZeroOut).unwrap()
}

fn expected(procedure: CertifiedProcedure, world: &WorldRequest, epsilon: f64) -> Expected {
    let Unexplained::PopulationR2(population_r2) = world.unexplained else {
        unreachable!("worlds here state a share")
    };
    let assumed = Assumed {
        population_r2,
        correlation: world.correlation,
    };
    Expected::of(procedure, &setting(world, epsilon), assumed).unwrap()
}

#[test]
fn more_records_more_budget_and_a_better_model_help_every_procedure() {
    for procedure in CertifiedProcedure::all() {
        let base = expected(procedure, &world(800, 1000, 0.25), 2.0);
        let better = [
            expected(procedure, &world(8000, 1000, 0.25), 2.0),
            expected(procedure, &world(800, 1000, 0.25), 20.0),
            expected(procedure, &world(800, 1000, 0.8), 2.0),
        ];
        for better in better {
            assert!(
                better.recovered_share > base.recovered_share,
                "{procedure}: {base:?} {better:?}"
            );
            assert!(
                better.test_r2 > base.test_r2,
                "{procedure}: {base:?} {better:?}"
            );
        }
    }
}

#[test]
fn the_same_facts_give_the_same_answer_and_none_exceeds_the_best_model() {
    for procedure in CertifiedProcedure::all() {
        for population_r2 in [0.1, 0.5] {
            let world = world(3000, 200, population_r2);
            let found = expected(procedure, &world, 3.0);
            assert_eq!(found, expected(procedure, &world, 3.0));
            assert!(
                found.test_r2 <= population_r2 && found.recovered_share <= 1.0,
                "{found:?}"
            );
        }
    }
}

#[test]
fn correlation_hurts_the_sieve_most() {
    let share = |procedure, correlation| {
        let world = WorldRequest {
            correlation,
            ..world(3000, 500, 0.5)
        };
        expected(procedure, &world, 5.0).recovered_share
    };
    let loss = |procedure| {
        share(procedure, Correlation::None) - share(procedure, Correlation::Autoregressive(0.9))
    };
    assert!(loss(CertifiedProcedure::SIEVE) > loss(CertifiedProcedure::GRAD));
    assert!(loss(CertifiedProcedure::GRAD) > loss(CertifiedProcedure::ARGMAX));
}

/// With `SPRIFED_SLOW` set, on designs that were not used to choose a constant of this module.
#[expect(clippy::disallowed_methods, reason = "the switch of slow tests")]
#[test]
fn the_approximation_agrees_with_trials_on_records() {
    let is_slow = std::env::var_os("SPRIFED_SLOW").is_some_and(|value| value == "1");
    let (trials, designs) = if is_slow {
        (
            24,
            vec![
                (300, 400, 0.5, 3.0),
                (1200, 400, 0.25, 3.0),
                (900, 1500, 0.8, 6.0),
                (4000, 300, 0.1, 2.0),
            ],
        )
    } else {
        (6, vec![(300, 400, 0.5, 3.0)])
    };
    for (records, features, population_r2, epsilon) in designs {
        let world = world(records, features, population_r2);
        let planned =
            |procedure| Certified::planned(procedure, setting(&world, epsilon), Absence::NONE);
        let methods: Vec<Certified> = CertifiedProcedure::all()
            .map(|one| planned(one).unwrap())
            .collect();
        let rows = compare(&methods, world, trials, |_| ControlFlow::Continue(())).unwrap();
        for (method, row) in methods.iter().zip(&rows) {
            let found = expected(method.procedure, &world, epsilon);
            let share = row.recovered_share;
            let allowed = 0.15 + 3.0 * share.std_error;
            assert!(
                (found.recovered_share - share.mean).abs() <= allowed,
                "{world:?} {found:?} {row:?}"
            );
        }
    }
}
