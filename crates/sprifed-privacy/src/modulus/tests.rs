use proptest::prelude::*;

use super::*;

const SIZE: SumSize = SumSize {
    largest_sum: 4800,
    shares: 300,
    share_variance: 100.0,
    coordinates: 501 * 15,
    log_wrap_probability: -27.631_021_115_928_547,
};

#[test]
fn a_published_plan_is_met() {
    let plan = SIZE.plan().unwrap();
    assert_eq!(
        plan,
        ModulusPlan {
            noise_bound: 1495,
            least: 12_591,
            bits: 14
        }
    );
}

#[test]
fn a_sum_too_large_for_any_modulus_is_refused_rather_than_wrapped() {
    for largest_sum in [1 << 61, u128::MAX / 2, u128::MAX - 1494, u128::MAX] {
        let error = SumSize {
            largest_sum,
            ..SIZE
        }
        .plan()
        .unwrap_err();
        assert!(
            error.to_string().contains(&largest_sum.to_string()),
            "{error}"
        );
        assert!(
            error
                .to_string()
                .contains("use a coarser grid or fewer clients"),
            "{error}"
        );
    }
}

#[test]
fn noise_that_is_not_a_number_or_too_wide_is_refused() {
    for share_variance in [f64::NAN, f64::INFINITY, 1e40, -1.0] {
        assert!(
            SumSize {
                share_variance,
                ..SIZE
            }
            .plan()
            .is_err(),
            "{share_variance}"
        );
    }
    assert!(
        SumSize {
            coordinates: 0,
            ..SIZE
        }
        .plan()
        .is_err()
    );
}

#[test]
fn a_modulus_below_two_or_above_two_to_the_62_is_refused() {
    for modulus in [0, 1, (1 << 62) + 1, u64::MAX] {
        let text = Modulus::new(modulus).unwrap_err().to_string();
        assert!(
            text.contains(&modulus.to_string()) && text.contains("between 2 and 2^62"),
            "{text}"
        );
    }
    assert!(Modulus::new(2).is_ok() && Modulus::new(1 << 62).is_ok());
}

#[test]
fn decoding_covers_the_whole_range() {
    for modulus in 2u64..20 {
        let q = Modulus::new(modulus).unwrap();
        let mut decoded: Vec<i64> = (0..modulus).map(|value| q.decode(value)).collect();
        decoded.sort_unstable();
        let half = i64::try_from(modulus / 2).unwrap();
        let expected: Vec<i64> = (-half..=i64::try_from((modulus - 1) / 2).unwrap()).collect();
        assert_eq!(decoded, expected);
    }
}

fn any_modulus() -> impl Strategy<Value = Modulus> {
    prop_oneof![2u64..1000, 2u64..=(1 << 62)].prop_map(|modulus| Modulus::new(modulus).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn what_is_encoded_within_half_the_modulus_is_decoded_unchanged(
        modulus in any_modulus(),
        draw in any::<u64>(),
    ) {
        let value = modulus.decode(draw);
        prop_assert_eq!(modulus.decode(modulus.encode(value)), value);
        prop_assert_eq!(modulus.encode(value), draw % modulus.0);
    }

    #[test]
    fn every_integer_is_encoded_below_the_modulus(modulus in any_modulus(), value in any::<i64>()) {
        prop_assert!(modulus.encode(value) < modulus.0);
        let difference = i128::from(value) - i128::from(modulus.encode(value));
        prop_assert_eq!(difference % i128::from(modulus.0), 0);
    }

    #[test]
    fn no_two_representatives_overflow_when_added(
        modulus in any_modulus(),
        left in any::<u64>(),
        right in any::<u64>(),
    ) {
        let expected = (u128::from(left) + u128::from(right)) % u128::from(modulus.0);
        prop_assert_eq!(u128::from(modulus.add(left, right)), expected);
    }

    #[test]
    fn a_sum_within_the_planned_bounds_does_not_wrap(
        values in prop::collection::vec(-50i64..=50, 1..40),
        noise_share in -1.0f64..=1.0,
    ) {
        let largest_sum = 50 * values.len() as u128;
        let plan = SumSize { largest_sum, ..SIZE }.plan().unwrap();
        let modulus = Modulus::new(plan.least).unwrap();
        #[expect(clippy::cast_possible_truncation, reason = "the noise bound is small")]
        let noise = (noise_share * 1495.0).round() as i64;
        let encoded = values.iter().chain([&noise]).map(|value| modulus.encode(*value));
        let total = encoded.reduce(|left, right| modulus.add(left, right)).unwrap();
        prop_assert_eq!(modulus.decode(total), values.iter().sum::<i64>() + noise);
    }

    #[test]
    fn larger_sums_more_noise_and_more_coordinates_never_need_a_smaller_modulus(
        largest_sum in 0u128..1_000_000,
        shares in 1u32..10_000,
        share_variance in 4.0f64..10_000.0,
        coordinates in 1u64..1_000_000,
        more in 1u32..5,
    ) {
        let size = SumSize { largest_sum, shares, share_variance, coordinates, ..SIZE };
        let least = size.plan().unwrap().least;
        let larger = [
            SumSize { largest_sum: largest_sum * u128::from(more), ..size },
            SumSize { shares: shares * more, ..size },
            SumSize { share_variance: share_variance * f64::from(more), ..size },
            SumSize { coordinates: coordinates * u64::from(more), ..size },
            SumSize { log_wrap_probability: size.log_wrap_probability * f64::from(more), ..size },
        ];
        for size in larger {
            prop_assert!(size.plan().unwrap().least >= least);
        }
    }

    #[test]
    fn the_bits_of_a_plan_hold_every_representative_and_no_fewer_would(
        largest_sum in 0u128..1_000_000_000_000,
    ) {
        let plan = SumSize { largest_sum, ..SIZE }.plan().unwrap();
        prop_assert!(plan.least <= 1 << plan.bits && plan.least > 1 << (plan.bits - 1));
    }
}
