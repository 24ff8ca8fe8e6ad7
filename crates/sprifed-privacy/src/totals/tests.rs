use proptest::prelude::*;

use super::*;
use crate::sensitivity::{
    FeatureBound, NoiseStdDev, RecordBounds, Release, ResidualClip, ResponseBound,
};

const READINGS: [Reading; 4] = [
    Reading::Theorem,
    Reading::Needed,
    Reading::AllCoordinates,
    Reading::LiteralLoop,
];

fn shape(algorithm: Algorithm, features: u32, sparsity: u32, shares: (f64, f64)) -> RunShape {
    let (per_vector, per_support) = (
        Mu::try_from(shares.0).unwrap(),
        Mu::try_from(shares.1).unwrap(),
    );
    RunShape {
        algorithm,
        features,
        sparsity,
        per_vector,
        per_support,
    }
}

fn any_shape() -> impl Strategy<Value = RunShape> {
    let algorithm = prop_oneof![Just(Algorithm::Omp), Just(Algorithm::Grad)];
    (algorithm, 1u32..20, 1u32..200, 0.01f64..2.0, 0.01f64..2.0).prop_map(
        |(algorithm, sparsity, more, per_vector, per_support)| {
            shape(
                algorithm,
                sparsity + more,
                sparsity,
                (per_vector, per_support),
            )
        },
    )
}

/// Σ μ² over the releases of a run, each one priced by its own sensitivity and noise.
fn squared_by_release(shape: &RunShape, relation: Relation) -> f64 {
    let limits = RecordBounds {
        feature: FeatureBound::try_from(1.3).unwrap(),
        response: ResponseBound::try_from(0.7).unwrap(),
    };
    let (p, s) = (shape.features, shape.sparsity);
    let high = |bound: f64| bound * f64::from(p).sqrt() / shape.per_vector.get();
    let low = |bound: f64| bound * f64::from(s).sqrt() / shape.per_support.get();
    let cost = |release, noise: f64| {
        let noise = NoiseStdDev::try_from(noise).unwrap();
        (limits.sensitivity(release, relation).get() / noise.get()).powi(2)
    };
    let (product, square) = (1.3 * 0.7, 1.3 * 1.3);
    let clip = ResidualClip::try_from(0.4).unwrap();
    let vectors: f64 = (0..s)
        .map(|chosen| match (shape.algorithm, chosen) {
            (Algorithm::Grad, _) => cost(
                Release::ClippedGradient {
                    unselected: p - chosen,
                    clip,
                },
                high(1.3 * 0.4),
            ),
            (Algorithm::Omp, 0) => {
                cost(Release::ResponseCorrelation { features: p }, high(product))
            }
            (Algorithm::Omp, _) => cost(
                Release::UnselectedFeatureCorrelation {
                    unselected: p - chosen,
                },
                high(square),
            ),
        })
        .sum();
    let rows: f64 = (1..=s)
        .map(|support| {
            let message = crate::sensitivity::BatchedMessage {
                unselected: 0,
                support,
                unselected_noise: NoiseStdDev::try_from(1.0).unwrap(),
                response_noise: NoiseStdDev::try_from(low(product)).unwrap(),
                support_noise: NoiseStdDev::try_from(low(square)).unwrap(),
            };
            limits
                .batched_cost(message, relation)
                .unwrap()
                .get()
                .powi(2)
        })
        .sum();
    vectors + rows
}

#[test]
fn the_numbers_of_the_paper_are_recomputed() {
    let shape = shape(Algorithm::Omp, 10_000, 10, (0.4, 0.02));
    let total = |reading| shape.total(reading, Relation::ZeroOut).unwrap().get();
    assert!((total(Reading::Theorem) - 1.268_07).abs() < 1e-5);
    assert!((total(Reading::AllCoordinates).powi(2) - (11.0 * 0.16 + 6.5 * 0.0004)).abs() < 1e-12);
    assert!((total(Reading::LiteralLoop).powi(2) - (12.0 * 0.16 + 7.7 * 0.0004)).abs() < 1e-12);
}

#[test]
fn a_shape_without_a_total_is_refused() {
    assert!(
        shape(Algorithm::Omp, 0, 3, (0.4, 0.02))
            .total(Reading::Needed, Relation::ZeroOut)
            .is_err()
    );
    assert!(
        shape(Algorithm::Omp, 5, 0, (0.4, 0.02))
            .total(Reading::LiteralLoop, Relation::ZeroOut)
            .is_err()
    );
    assert!(
        shape(Algorithm::Omp, 5, 2, (1e200, 0.02))
            .total(Reading::Needed, Relation::ZeroOut)
            .is_err()
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn the_needed_total_is_the_sum_over_every_release_of_the_run(shape in any_shape()) {
        let zero_out = shape.total(Reading::Needed, Relation::ZeroOut).unwrap().get();
        let summed = squared_by_release(&shape, Relation::ZeroOut).sqrt();
        prop_assert!((zero_out / summed - 1.0).abs() < 1e-12, "{zero_out} against {summed}");
        let replace_one = shape.exact_replace_one().unwrap().get();
        let summed = squared_by_release(&shape, Relation::ReplaceOne).sqrt();
        prop_assert!((replace_one / summed - 1.0).abs() < 1e-12, "{replace_one} against {summed}");
    }

    #[test]
    fn replacing_costs_twice_as_much_as_zeroing_and_its_exact_total_no_more(shape in any_shape()) {
        for reading in READINGS {
            let zero_out = shape.total(reading, Relation::ZeroOut).unwrap().get();
            let replace_one = shape.total(reading, Relation::ReplaceOne).unwrap().get();
            prop_assert!((replace_one - 2.0 * zero_out).abs() <= 1e-14 * replace_one);
        }
        let exact = shape.exact_replace_one().unwrap();
        prop_assert!(exact <= shape.total(Reading::Needed, Relation::ReplaceOne).unwrap());
        prop_assert!(exact > shape.total(Reading::Needed, Relation::ZeroOut).unwrap());
    }

    #[test]
    fn releasing_more_than_is_needed_never_costs_less(shape in any_shape()) {
        let total = |reading| shape.total(reading, Relation::ZeroOut).unwrap();
        prop_assert!(total(Reading::Needed) <= total(Reading::AllCoordinates));
        prop_assert!(total(Reading::AllCoordinates) <= total(Reading::LiteralLoop));
    }

    #[test]
    fn a_larger_share_or_another_feature_never_costs_less(
        shape in any_shape(),
        more in 1.0f64..3.0,
    ) {
        let grow = |share: Mu| Mu::try_from(share.get() * more).unwrap();
        let larger = [
            RunShape { per_vector: grow(shape.per_vector), ..shape },
            RunShape { per_support: grow(shape.per_support), ..shape },
            RunShape { features: shape.features + 1, ..shape },
        ];
        for reading in READINGS {
            let before = shape.total(reading, Relation::ZeroOut).unwrap();
            for larger in larger {
                let after = larger.total(reading, Relation::ZeroOut).unwrap();
                prop_assert!(after.get() >= before.get() * (1.0 - 1e-14));
            }
        }
    }

    #[test]
    fn omp_releases_one_vector_more_than_its_gradient_variant_when_nothing_is_skipped(
        shape in any_shape(),
    ) {
        let squared = |algorithm, reading| {
            let shape = RunShape { algorithm, ..shape };
            shape.total(reading, Relation::ZeroOut).unwrap().get().powi(2)
        };
        for reading in [Reading::AllCoordinates, Reading::LiteralLoop] {
            let more = squared(Algorithm::Omp, reading) - squared(Algorithm::Grad, reading);
            prop_assert!((more / shape.per_vector.get().powi(2) - 1.0).abs() < 1e-8);
        }
    }
}
