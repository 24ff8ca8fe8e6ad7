//! A world has the requested moments, and is a function of its seed.

use super::*;

fn request(correlation: Correlation, unexplained: Unexplained) -> WorldRequest {
    WorldRequest {
        records: 20_000,
        test_records: 5000,
        features: 12,
        sparsity: 4,
        support: 4,
        correlation,
        unexplained,
        reading: Reading::Clean,
        outcome: WorldOutcome::Linear,
        sites: WorldSites::NONE,
    }
}

fn column(world: &World, feature: usize) -> Vec<f64> {
    world
        .features()
        .chunks(12)
        .map(|row| f64::from(row[feature]))
        .collect()
}

/// Mean of the products of two lists.
fn mean_product(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(a, b)| a * b).sum::<f64>() / left.len() as f64
}

// Means of 20,000 numbers of unit variance have a standard error of 0.007, means of products one of
// at most 0.01: six of them is a false alarm of 2e-9.
const SIX_ERRORS: f64 = 0.06;

#[test]
fn features_have_mean_zero_unit_variance_and_the_requested_correlation() {
    for (correlation, expected) in [
        (Correlation::None, [0.0, 0.0, 0.0]),
        (Correlation::Autoregressive(0.7), [0.7, 0.49, 0.343]),
        (Correlation::Equal(0.3), [0.3, 0.3, 0.3]),
    ] {
        let world = World::generate(request(correlation, Unexplained::ErrorStdDev(0.1)), 5);
        for feature in [0, 5, 8] {
            let values = column(&world, feature);
            let ones = vec![1.0; values.len()];
            assert!(
                mean_product(&values, &ones).abs() < SIX_ERRORS,
                "{correlation:?}"
            );
            assert!(
                (mean_product(&values, &values) - 1.0).abs() < SIX_ERRORS,
                "{correlation:?}"
            );
            for (distance, expected) in (1..).zip(expected) {
                let found = mean_product(&values, &column(&world, feature + distance));
                assert!(
                    (found - expected).abs() < SIX_ERRORS,
                    "{correlation:?}: {found}"
                );
            }
        }
    }
}

#[test]
fn the_true_model_explains_the_requested_share() {
    for correlation in [
        Correlation::None,
        Correlation::Autoregressive(0.5),
        Correlation::Equal(0.4),
    ] {
        for share in [0.2, 0.5, 0.9] {
            let world = World::generate(request(correlation, Unexplained::PopulationR2(share)), 3);
            let (unexplained, all) = world.errors(world.truth());
            assert!(
                (1.0 - unexplained / all - share).abs() < 1e-9,
                "{correlation:?} {share}"
            );
            let rows = world.features().chunks(12).zip(world.responses());
            let (mut wrong, mut total) = (0.0, 0.0);
            for (row, response) in rows {
                let response = f64::from(*response);
                wrong += (response - world.truth().predict(row)).powi(2);
                total += response * response;
            }
            let found = 1.0 - wrong / total;
            assert!(
                (found - share).abs() < 0.03,
                "{correlation:?} {share}: {found}"
            );
        }
    }
}

#[test]
fn the_population_error_is_what_new_records_show() {
    let models = [
        LinearModel::default(),
        LinearModel {
            intercept: 0.7,
            terms: vec![(0, 1.0), (3, -2.0), (11, 0.5)],
        },
    ];
    for correlation in [
        Correlation::None,
        Correlation::Autoregressive(0.6),
        Correlation::Equal(0.3),
    ] {
        let world = World::generate(request(correlation, Unexplained::ErrorStdDev(0.5)), 8);
        let truth = world.truth().clone();
        for model in models.iter().chain([&truth]) {
            let (exact, null) = world.errors(model);
            let (sampled, sampled_null) = world.test_errors(model);
            // A mean square of 5,000 normal numbers has a relative standard error of 2 %.
            assert!(
                (sampled / exact - 1.0).abs() < 0.12,
                "{correlation:?}: {sampled} for {exact}"
            );
            assert!((sampled_null / null - 1.0).abs() < 0.12, "{correlation:?}");
        }
    }
}

#[test]
fn a_world_is_a_function_of_its_seed_whatever_the_number_of_threads() {
    let request = WorldRequest {
        records: 300,
        ..request(
            Correlation::Autoregressive(0.5),
            Unexplained::ErrorStdDev(0.1),
        )
    };
    let with = |threads: usize, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let world = pool.install(|| World::generate(request, seed));
        (
            world.features.clone(),
            world.responses.clone(),
            world.truth().clone(),
        )
    };
    assert_eq!(with(1, 4), with(2, 4));
    assert_ne!(with(1, 4), with(1, 5));
}

#[test]
fn a_row_does_not_depend_on_how_many_follow() {
    let long = request(Correlation::Equal(0.2), Unexplained::ErrorStdDev(0.1));
    let short = WorldRequest {
        records: 10,
        test_records: 0,
        ..long
    };
    let (long, short) = (World::generate(long, 6), World::generate(short, 6));
    assert_eq!(short.features(), &long.features()[..120]);
    assert_eq!(short.responses(), &long.responses()[..10]);
    assert_eq!(short.truth(), long.truth());
}

#[test]
fn the_true_model_has_different_features_and_is_recovered_by_itself() {
    let many = WorldRequest {
        records: 2,
        support: 11,
        ..request(Correlation::None, Unexplained::ErrorStdDev(0.1))
    };
    for seed in 0..20 {
        let world = World::generate(many, seed);
        let mut support = world.truth().support();
        support.sort_unstable();
        support.dedup();
        assert_eq!(support.len(), 11);
        assert_eq!(world.recovered(world.truth()), 11);
        assert_eq!(world.recovered(&LinearModel::default()), 0);
    }
}

#[test]
fn the_papers_reading_is_clipped_and_of_unit_variance() {
    let world = World::generate(
        WorldRequest {
            reading: Reading::Paper,
            ..request(Correlation::None, Unexplained::ErrorStdDev(0.001))
        },
        2,
    );
    let most = 1.0 / CLIPPED_VARIANCE.sqrt();
    let values = column(&world, 3);
    assert!(values.iter().all(|value| value.abs() <= most + 1e-6));
    assert!((mean_product(&values, &values) - 1.0).abs() < SIX_ERRORS);
    let responses: Vec<f64> = world.responses().iter().map(|y| f64::from(*y)).collect();
    assert!((mean_product(&responses, &responses) - 1.0).abs() < SIX_ERRORS);
    let (error, null) = world.errors(&LinearModel::default());
    assert!(
        (error - null).abs() < 1e-12,
        "predicting zero is the null model"
    );
}

#[test]
fn an_order_holds_every_number_once_and_follows_its_seed() {
    let order = shuffled(1000, 7);
    let mut sorted = order.clone();
    sorted.sort_unstable();
    assert!(sorted.into_iter().eq(0..1000));
    assert_eq!(order, shuffled(1000, 7));
    assert_ne!(order, shuffled(1000, 8));
}
