//! The error bounds by hand, and against a simulated solve.

use sprifed_query::{Records, run};

use super::super::Situation;
use super::super::recovery::tests::situation;
use super::{estimation_error, risk};
use crate::algorithm::{PaperGradient, SupportNoise};
use crate::{PaperBackend, PaperNoise, PaperOmp};
use sprifed_recovery::test_support::small_world;

#[test]
fn the_stated_bound_is_the_formula_of_the_theorem() {
    let (n, mu) = (2000.0, 0.1);
    let support = (2.0 * 8000f64.ln()).sqrt();
    let entries = (2.0 * 32_000f64.ln()).sqrt();
    let error = 0.001 * (2.0 * (4e6f64).ln()).sqrt();
    let bracket = 1.05 * 4.0 + 1.05f64.sqrt() * error + 2.0 * support / (mu * n);
    let expected = 0.95 * (4.0 / n).sqrt() * support * 0.001
        + 4.0 * support / (n * mu * 0.95)
        + 8.0 * entries / (mu * n * 0.95 * 0.95) * bracket;
    assert!((estimation_error(&situation()).stated - expected).abs() < 1e-12);
    let first = 1.05 * 4.0 * support / (mu * n * 0.95);
    let second = 1.05 * (4.0 / n).sqrt() * support * 0.001 / 0.95;
    let third = 8.0 * entries / (mu * n * 0.95 * 0.95) * bracket;
    let expected = 2.0 * (first * first + second * second + third * third);
    assert!((risk(&situation()).stated - expected).abs() < 1e-12);
}

#[test]
fn repaired_bounds_are_never_below_stated_ones_on_the_error() {
    for n_records in [2000, 20_000, 200_000] {
        let found = estimation_error(&Situation {
            n_records,
            ..situation()
        });
        assert!(
            found
                .repaired
                .is_none_or(|repaired| repaired >= found.stated)
        );
    }
}

#[test]
fn too_much_noise_has_no_repaired_bound() {
    let few = Situation {
        n_records: 100,
        ..situation()
    };
    assert_eq!(estimation_error(&few).repaired, None);
    assert_eq!(risk(&few).repaired, None);
}

#[test]
fn both_vanish_with_many_records() {
    let many = Situation {
        n_records: u32::MAX,
        ..situation()
    };
    assert!(
        estimation_error(&many)
            .repaired
            .is_some_and(|error| error < 1e-3)
    );
    assert!(risk(&many).repaired.is_some_and(|excess| excess < 1e-6));
}

#[test]
fn a_simulated_solve_stays_within_the_repaired_bound() {
    // Uniform features on [−1, 1], so that a column of XᵀX/n has length 1/3; √3 makes it one.
    let mut world = small_world(4000, 30, &[2, 9], 4);
    world
        .features
        .iter_mut()
        .for_each(|value| *value *= 3f32.sqrt());
    let (per_vector, per_support) = (1.0, 0.2);
    let situation = Situation {
        n_records: 4000,
        n_features: 30,
        sparsity: 2,
        isometry_constant: 0.1,
        residual_std_dev: 0.0,
        model_norm: 1.9 / 3f64.sqrt(),
        feature_bound: 3f64.sqrt(),
        per_vector: per_vector.try_into().unwrap(),
        per_support: per_support.try_into().unwrap(),
        ..situation()
    };
    let bound = estimation_error(&situation).repaired.unwrap();
    let noise = PaperNoise::of(30, 2, situation.per_vector, situation.per_support);
    let records = Records::each_a_unit(&world.features, &world.responses, 30).unwrap();
    for seed in 0..20 {
        let mut backend = PaperBackend::open(&records, noise, seed);
        let fit = if seed % 2 == 0 {
            run(
                PaperOmp::as_published(30, 2, SupportNoise::Fresh),
                &mut backend,
                |_| (),
            )
        } else {
            run(PaperGradient::as_published(30, 2), &mut backend, |_| ())
        };
        let mut fit = fit.unwrap();
        fit.model
            .terms
            .iter_mut()
            .for_each(|(_, value)| *value *= 3f64.sqrt());
        let error = (world.error(&fit) / 3.0).sqrt();
        assert!(error <= bound, "{error} above {bound}");
    }
}
