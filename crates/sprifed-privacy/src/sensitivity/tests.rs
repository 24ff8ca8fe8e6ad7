use proptest::prelude::*;

use super::*;

fn bounds(feature: f64, response: f64) -> RecordBounds {
    RecordBounds {
        feature: FeatureBound::try_from(feature).unwrap(),
        response: ResponseBound::try_from(response).unwrap(),
    }
}

fn noise(value: f64) -> NoiseStdDev {
    NoiseStdDev::try_from(value).unwrap()
}

fn residual_clip(value: f64) -> ResidualClip {
    ResidualClip::try_from(value).unwrap()
}

/// A record within bounds: features in units of X_M, the response in units of y_M and the
/// residual in units of its clip. Feature 0 is the one just chosen.
#[derive(Clone, Debug)]
struct Record {
    features: Vec<f64>,
    response: f64,
    residual: f64,
}

impl Record {
    fn zero() -> Self {
        Self {
            features: vec![0.0; 6],
            response: 0.0,
            residual: 0.0,
        }
    }

    /// Its features and its response.
    fn bounded_by(&self, limits: RecordBounds) -> (Vec<f64>, f64) {
        let features = self.features.iter();
        let features = features.map(|share| share * limits.feature.get());
        (features.collect(), self.response * limits.response.get())
    }

    /// What this record adds to each coordinate of `release`.
    fn contribution(&self, release: Release, limits: RecordBounds) -> Vec<f64> {
        let (x, y) = self.bounded_by(limits);
        let take = |count: u32| x[..count as usize].iter();
        match release {
            Release::ResponseCorrelation { features } => take(features).map(|x| x * y).collect(),
            Release::FeatureCorrelation { features } => {
                take(features).map(|other| other * x[0]).collect()
            }
            Release::UnselectedFeatureCorrelation { unselected } => x[1..=unselected as usize]
                .iter()
                .map(|other| other * x[0])
                .collect(),
            Release::SupportRow { support } => {
                let row = take(support).map(|other| other * x[0]);
                core::iter::once(x[0] * y).chain(row).collect()
            }
            Release::ClippedGradient { unselected, clip } => take(unselected)
                .map(|x| x * self.residual * clip.get())
                .collect(),
        }
    }

    /// What this record adds to a batched message, every coordinate divided by its noise.
    fn whitened(&self, message: BatchedMessage, limits: RecordBounds) -> Vec<f64> {
        let (x, y) = self.bounded_by(limits);
        let (support, unselected) = (message.support as usize, message.unselected as usize);
        let row = x[..support]
            .iter()
            .map(|other| other * x[0] / message.support_noise.get());
        let column = x[support..support + unselected].iter();
        let column = column.map(|other| other * x[0] / message.unselected_noise.get());
        let response = core::iter::once(x[0] * y / message.response_noise.get());
        row.chain(column).chain(response).collect()
    }
}

/// What `first` says is no further from nothing, and from what `second` says, than the cost of each relation allows.
fn moves_at_most(
    (first, second): (&Record, &Record),
    said: impl Fn(&Record) -> Vec<f64>,
    cost: impl Fn(Relation) -> f64,
) -> Result<(), TestCaseError> {
    let [one, other, none] = [first, second, &Record::zero()].map(said);
    prop_assert!(distance(&one, &none) <= cost(Relation::ZeroOut) * (1.0 + 1e-13));
    prop_assert!(distance(&one, &other) <= cost(Relation::ReplaceOne) * (1.0 + 1e-13));
    Ok(())
}

fn distance(left: &[f64], right: &[f64]) -> f64 {
    left.iter()
        .zip(right)
        .map(|(l, r)| (l - r).powi(2))
        .sum::<f64>()
        .sqrt()
}

/// Values that include the corners, where the extremes are.
fn unit_value() -> impl Strategy<Value = f64> {
    prop_oneof![Just(1.0), Just(-1.0), -1.0f64..1.0]
}

fn record() -> impl Strategy<Value = Record> {
    (
        prop::collection::vec(unit_value(), 6),
        unit_value(),
        unit_value(),
    )
        .prop_map(|(features, response, residual)| Record {
            features,
            response,
            residual,
        })
}

fn release() -> impl Strategy<Value = Release> {
    prop_oneof![
        (1u32..6).prop_map(|features| Release::ResponseCorrelation { features }),
        (1u32..6).prop_map(|features| Release::FeatureCorrelation { features }),
        (1u32..6).prop_map(|unselected| Release::UnselectedFeatureCorrelation { unselected }),
        (1u32..6).prop_map(|support| Release::SupportRow { support }),
        (1u32..6, 0.1f64..5.0).prop_map(|(unselected, clip)| Release::ClippedGradient {
            unselected,
            clip: residual_clip(clip),
        }),
    ]
}

fn limits() -> impl Strategy<Value = RecordBounds> {
    (0.1f64..10.0, 0.01f64..10.0).prop_map(|(feature, response)| bounds(feature, response))
}

fn message() -> impl Strategy<Value = BatchedMessage> {
    (1u32..4, 0u32..3, prop::array::uniform3(0.1f64..10.0)).prop_map(
        |(support, unselected, noises)| BatchedMessage {
            unselected,
            support,
            unselected_noise: noise(noises[0]),
            response_noise: noise(noises[1]),
            support_noise: noise(noises[2]),
        },
    )
}

/// sup (u+v)²(A + (u−v)²) over a grid of the unit square.
fn factor_by_search(others: f64) -> f64 {
    let steps = 400;
    let points = || (0..=steps).map(|step| f64::from(step) / f64::from(steps));
    let value = |u: f64, v: f64| (u + v).powi(2) * (others + (u - v).powi(2));
    points()
        .flat_map(|u| points().map(move |v| value(u, v)))
        .fold(0.0, f64::max)
}

#[test]
fn the_table_of_exact_sensitivities_holds() {
    let limits = bounds(2.0, 3.0);
    let clip = residual_clip(0.5);
    let cases = [
        (Release::ResponseCorrelation { features: 9 }, 18.0, 36.0),
        (
            Release::FeatureCorrelation { features: 9 },
            12.0,
            8.0 * 8f64.sqrt(),
        ),
        (
            Release::UnselectedFeatureCorrelation { unselected: 9 },
            12.0,
            24.0,
        ),
        (
            Release::ClippedGradient {
                unselected: 9,
                clip,
            },
            3.0,
            6.0,
        ),
        (
            Release::SupportRow { support: 4 },
            100f64.sqrt(),
            8.0 * 5.25f64.sqrt(),
        ),
    ];
    for (release, zero_out, replace_one) in cases {
        let found = limits.sensitivity(release, Relation::ZeroOut).get();
        assert!((found - zero_out).abs() < 1e-12, "{release:?}: {found}");
        let found = limits.sensitivity(release, Relation::ReplaceOne).get();
        assert!((found - replace_one).abs() < 1e-12, "{release:?}: {found}");
    }
}

#[test]
fn a_lone_square_does_not_double_under_replacement() {
    let limits = bounds(2.0, 1.0);
    let release = Release::FeatureCorrelation { features: 1 };
    assert!((limits.sensitivity(release, Relation::ReplaceOne).get() - 4.0).abs() < 1e-15);
}

#[test]
fn noise_is_sensitivity_over_mu_and_overflow_is_refused() {
    let clip = ClipNorm::try_from(3.0).unwrap();
    let mu = Mu::try_from(0.5).unwrap();
    let wanted = clip.sum_sensitivity(Relation::ReplaceOne).noise_for(mu);
    assert_eq!(wanted, Ok(noise(12.0)));
    let huge = ClipNorm::try_from(f64::MAX).unwrap();
    assert!(
        huge.sum_sensitivity(Relation::ZeroOut)
            .noise_for(mu)
            .is_err()
    );
}

#[test]
fn bounds_that_are_not_finite_and_positive_are_refused_with_the_value_found() {
    for value in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let messages = [
            ClipNorm::try_from(value).unwrap_err().to_string(),
            FeatureBound::try_from(value).unwrap_err().to_string(),
            ResponseBound::try_from(value).unwrap_err().to_string(),
            ResidualClip::try_from(value).unwrap_err().to_string(),
            NoiseStdDev::try_from(value).unwrap_err().to_string(),
        ];
        for message in messages {
            assert!(
                message.contains(&format!("is {value}, but it must be a finite")),
                "{message}"
            );
        }
    }
}

#[test]
fn bounds_outside_the_range_of_doubles_yield_no_cost() {
    let message = BatchedMessage {
        unselected: 1,
        support: 1,
        unselected_noise: noise(1.0),
        response_noise: noise(1.0),
        support_noise: noise(1.0),
    };
    assert!(
        bounds(1e200, 1.0)
            .batched_cost(message, Relation::ZeroOut)
            .is_err()
    );
    assert!(
        bounds(1e-200, 1e200)
            .batched_cost(message, Relation::ReplaceOne)
            .is_err()
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_record_moves_a_release_further_than_its_sensitivity(
        release in release(),
        limits in limits(),
        (first, second) in (record(), record()),
    ) {
        let said = |record: &Record| record.contribution(release, limits);
        let cost = |relation| limits.sensitivity(release, relation).get();
        moves_at_most((&first, &second), said, cost)?;
    }

    #[test]
    fn a_record_at_its_bounds_attains_the_zero_out_sensitivity(
        release in release(),
        limits in limits(),
    ) {
        let extreme = Record { features: vec![1.0; 6], response: 1.0, residual: 1.0 };
        let moved = distance(
            &extreme.contribution(release, limits),
            &Record::zero().contribution(release, limits),
        );
        let stated = limits.sensitivity(release, Relation::ZeroOut).get();
        prop_assert!((moved / stated - 1.0).abs() < 1e-12);
    }

    #[test]
    fn replacing_costs_at_least_zeroing_and_at_most_twice_as_much(
        release in release(),
        limits in limits(),
    ) {
        let zero_out = limits.sensitivity(release, Relation::ZeroOut).get();
        let replace_one = limits.sensitivity(release, Relation::ReplaceOne).get();
        prop_assert!(replace_one <= 2.0 * zero_out * (1.0 + 1e-15));
        prop_assert!(replace_one >= zero_out * (1.0 - 1e-15));
    }

    #[test]
    fn wider_bounds_and_more_coordinates_never_lower_a_sensitivity(
        feature in 0.1f64..5.0,
        response in 0.1f64..5.0,
        more in 1.0f64..2.0,
        count in 1u32..1000,
    ) {
        let both = |limits: RecordBounds, release| {
            let replace_one = limits.sensitivity(release, Relation::ReplaceOne).get();
            (limits.sensitivity(release, Relation::ZeroOut).get(), replace_one)
        };
        let releases = |count: u32| [
            Release::ResponseCorrelation { features: count },
            Release::FeatureCorrelation { features: count },
            Release::UnselectedFeatureCorrelation { unselected: count },
            Release::SupportRow { support: count },
            Release::ClippedGradient { unselected: count, clip: residual_clip(0.7) },
        ];
        for (release, longer) in releases(count).into_iter().zip(releases(count + 1)) {
            let here = both(bounds(feature, response), release);
            let wider = [
                both(bounds(feature, response), longer),
                both(bounds(feature * more, response), release),
                both(bounds(feature, response * more), release),
            ];
            for there in wider {
                prop_assert!(there.0 >= here.0 * (1.0 - 1e-14), "{release:?}");
                prop_assert!(there.1 >= here.1 * (1.0 - 1e-14), "{release:?}");
            }
        }
    }

    #[test]
    fn no_record_moves_a_batched_message_further_than_its_cost(
        message in message(),
        limits in limits(),
        (first, second) in (record(), record()),
    ) {
        let cost = |relation| limits.batched_cost(message, relation).unwrap().get();
        moves_at_most((&first, &second), |record| record.whitened(message, limits), cost)?;
        let [zero_out, replace_one] = [Relation::ZeroOut, Relation::ReplaceOne].map(cost);
        prop_assert!(replace_one <= 2.0 * zero_out * (1.0 + 1e-15) && replace_one >= zero_out * 0.999_999);
    }

    #[test]
    fn a_batched_message_costs_at_most_its_parts_composed_and_at_least_each(
        message in message(),
        limits in limits(),
    ) {
        let column = Release::UnselectedFeatureCorrelation { unselected: message.unselected };
        let product = limits.feature.get() * limits.response.get();
        let square = limits.feature.get().powi(2);
        let parts = [
            limits.sensitivity(column, Relation::ZeroOut).get() / message.unselected_noise.get(),
            product / message.response_noise.get(),
            square * f64::from(message.support).sqrt() / message.support_noise.get(),
        ];
        let composed = parts.iter().map(|part| part * part).sum::<f64>().sqrt();
        let batched = limits.batched_cost(message, Relation::ZeroOut).unwrap().get();
        prop_assert!((batched / composed - 1.0).abs() < 1e-12);
        prop_assert!(parts.iter().all(|part| batched >= part * (1.0 - 1e-12)));
    }

    #[test]
    fn more_noise_on_any_part_of_a_message_never_costs_more(
        message in message(),
        limits in limits(),
        more in 1.0f64..3.0,
    ) {
        let louder = |value: NoiseStdDev| noise(value.get() * more);
        let variants = [
            BatchedMessage { unselected_noise: louder(message.unselected_noise), ..message },
            BatchedMessage { response_noise: louder(message.response_noise), ..message },
            BatchedMessage { support_noise: louder(message.support_noise), ..message },
        ];
        let cost = |message| {
            let replace_one = limits.batched_cost(message, Relation::ReplaceOne).unwrap().get();
            (limits.batched_cost(message, Relation::ZeroOut).unwrap().get(), replace_one)
        };
        let before = cost(message);
        for after in variants.map(cost) {
            prop_assert!(after.0 <= before.0 * (1.0 + 1e-13));
            prop_assert!(after.1 <= before.1 * (1.0 + 1e-13));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_factor_of_a_square_is_the_supremum_that_a_search_finds(
        others in prop_oneof![0.0f64..0.7, 0.7f64..5.0],
    ) {
        let (stated, found) = (square_aware_factor(others), factor_by_search(others));
        prop_assert!(stated >= found * (1.0 - 1e-14), "{stated} below {found}");
        prop_assert!(stated <= found * (1.0 + 1e-4), "{stated} far above {found}");
    }
}
