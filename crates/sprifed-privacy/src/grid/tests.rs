use proptest::prelude::*;

use super::*;
use crate::participation::Participation;
use crate::rational::parse_exact;

fn request(coordinates: u32, relative_variance: BigRational) -> BoxRequest {
    BoxRequest {
        name: "tested".to_owned(),
        coordinates,
        squares: 0,
        relative_variance,
    }
}

fn shares(clients: u32, quorum: u32, colluders: u32) -> NoiseOrigin {
    NoiseOrigin::Shares(Participation::new(clients, quorum, colluders).unwrap())
}

fn bound_of(block: &Block) -> BigRational {
    BigRational::from(BigInt::from(block.bounds.coordinate_bound()))
}

fn any_double() -> impl Strategy<Value = f64> {
    prop_oneof![
        prop::num::f64::ANY,
        -2.0f64..2.0,
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(f64::NEG_INFINITY),
        Just(f64::MAX),
        Just(f64::MIN_POSITIVE),
        Just(0.0),
    ]
}

#[test]
fn the_plan_of_the_grid_is_met() {
    // p = 10⁴, μ_p = 0.4, h = 2000: ternary inputs suffice, with a share variance of 31.25.
    let tau = parse_exact("62500").unwrap();
    let block = request(10_000, tau).plan(shares(2000, 2000, 0)).unwrap();
    assert_eq!(
        block.bounds,
        IntegerBounds::Box {
            bound: 1,
            squares: 0
        }
    );
    assert_eq!(block.share_variance.to_string(), "125/4");
}

#[test]
fn a_wish_for_no_noise_is_refused() {
    for tau in ["0", "-1"] {
        let error = request(3, parse_exact(tau).unwrap())
            .plan(NoiseOrigin::Curator)
            .unwrap_err();
        assert_eq!(error.found, tau);
        assert_eq!(error.required, "a relative noise variance above zero");
    }
}

#[test]
fn a_grid_too_fine_for_integers_is_refused() {
    let error = request(3, parse_exact("1e-60").unwrap())
        .plan(NoiseOrigin::Curator)
        .unwrap_err();
    assert!(error.required.contains("ask for more noise"), "{error}");
    assert!(
        request(3, parse_exact("1e60").unwrap())
            .plan(NoiseOrigin::Curator)
            .is_err()
    );
}

#[test]
fn what_is_not_a_number_counts_as_zero() {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(round_to_box(value, 1.0, 10, 0.5), 0);
    }
}

#[test]
fn a_value_beyond_its_limit_is_clipped_to_the_bound() {
    assert_eq!(round_to_box(1e300, 1.0, 10, 0.999), 10);
    assert_eq!(round_to_box(-1e300, 1.0, 10, 0.0), -10);
    assert_eq!(round_to_box(1.0, 1.0, u64::MAX, 0.5), i64::MAX);
    assert_eq!(round_to_box(-0.3, 1.0, 10, 0.99), -3);
}

#[test]
fn rounding_is_unbiased_inside_the_box() {
    let steps = 10_000;
    for value in [-0.97, -0.3, 0.0, 0.123, 0.999] {
        let dithers = (0..steps).map(|step| (f64::from(step) + 0.5) / f64::from(steps));
        let sum: i64 = dithers
            .map(|dither| round_to_box(value, 1.0, 7, dither))
            .sum();
        let mean = f64::from(i32::try_from(sum).unwrap()) / f64::from(steps);
        assert!((mean - 7.0 * value).abs() < 1e-3, "{value}: {mean}");
    }
}

#[test]
fn conditional_rounding_accepts_the_norms_of_its_bound() {
    // c = 5, d = 10⁴, β = e^(−1/2): c² + d/4 + (c + √d/2) = 2580 exactly.
    assert_eq!(accepted_squared_norm(5.0, 10_000, -0.5), 2580);
    // Never more than rounding can reach at all: (c + √d)².
    assert_eq!(accepted_squared_norm(1.0, 1, -1000.0), 4);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_input_is_rounded_into_the_box(
        value in any_double(),
        limit in any_double(),
        bound in prop_oneof![any::<u64>(), 0u64..100],
        dither in any_double(),
    ) {
        prop_assert!(round_to_box(value, limit, bound, dither).unsigned_abs() <= bound);
    }

    #[test]
    fn rounding_moves_a_value_by_less_than_one_grid_unit(
        share in -1.0f64..=1.0,
        limit in 0.01f64..100.0,
        bound in 1u32..100_000,
        dither in 0.0f64..1.0,
    ) {
        let rounded = round_to_box(share * limit, limit, u64::from(bound), dither);
        let rounded = f64::from(i32::try_from(rounded).unwrap());
        prop_assert!((rounded - share * f64::from(bound)).abs() < 1.0 + 1e-9);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_plan_holds_at_least_the_wanted_noise_and_hardly_more(
        numerator in 1u64..1_000_000_000,
        denominator in 1u64..1_000_000,
        honest in 2u32..5000,
        colluders in 0u32..100,
    ) {
        let tau = BigRational::new(BigInt::from(numerator), BigInt::from(denominator));
        let origin = shares(honest + colluders + 7, honest + colluders, colluders);
        let block = request(3, tau.clone()).plan(origin).unwrap();
        let wanted = &tau * bound_of(&block) * bound_of(&block);
        let certain = block.share_variance.to_exact() * whole(honest);
        prop_assert!(certain >= wanted);
        prop_assert!(certain <= wanted + whole(honest) / whole(SHARE_STEPS));
        prop_assert!(block.share_variance.to_exact() >= whole(LEAST_SHARE));
    }

    #[test]
    fn the_grid_is_no_finer_than_the_noise_requires(
        numerator in 1u64..1_000_000,
        denominator in 1u64..1_000_000,
        honest in 2u32..5000,
    ) {
        let tau = BigRational::new(BigInt::from(numerator), BigInt::from(denominator));
        let block = request(3, tau.clone()).plan(shares(honest, honest, 0)).unwrap();
        let coarser = bound_of(&block) - whole(1);
        let share = tau * &coarser * &coarser / whole(honest);
        prop_assert!(coarser < whole(1) || share < whole(LEAST_SHARE));
    }

    #[test]
    fn a_longer_vector_or_a_rarer_repeat_accepts_at_least_the_same_norm(
        clip in 0.1f64..1000.0,
        coordinates in 1u32..100_000,
        log_repeat in -30.0f64..-0.1,
        more in 1.0f64..2.0,
    ) {
        let here = conditional_rounding_bound(clip, coordinates, log_repeat);
        prop_assert!(conditional_rounding_bound(clip * more, coordinates, log_repeat) >= here);
        prop_assert!(conditional_rounding_bound(clip, coordinates + 1, log_repeat) >= here);
        prop_assert!(conditional_rounding_bound(clip, coordinates, log_repeat * more) >= here);
        prop_assert!(here >= clip * clip);
    }
}
