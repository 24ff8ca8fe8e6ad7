//! Parameters that no sampler serves, and what the refusal says.

use num_rational::Ratio;
use sprifed_noise::{
    DiscreteGaussian, DiscreteLaplace, FloorGumbel, Geometric, NoiseParameterError, Poisson,
    ReferenceDiscreteGaussian, Skellam,
};

type Refusal = Option<NoiseParameterError>;

fn refusals(parameter: Ratio<u128>) -> [Refusal; 7] {
    [
        DiscreteGaussian::new(parameter).err(),
        ReferenceDiscreteGaussian::new(parameter).err(),
        DiscreteLaplace::new(parameter).err(),
        Geometric::new(parameter).err(),
        Poisson::new(parameter).err(),
        Skellam::new(parameter).err(),
        FloorGumbel::new(parameter).err(),
    ]
}

#[test]
fn zero_is_refused_by_every_sampler() {
    for refusal in refusals(Ratio::from_integer(0)) {
        assert!(matches!(
            refusal,
            Some(NoiseParameterError::NotPositive { .. })
        ));
    }
}

#[test]
fn a_fraction_over_zero_is_refused_by_every_sampler() {
    for refusal in refusals(Ratio::new_raw(1, 0)) {
        assert!(matches!(
            refusal,
            Some(NoiseParameterError::NotPositive { .. })
        ));
    }
}

#[test]
fn a_parameter_whose_outcomes_might_not_fit_is_refused_by_every_sampler() {
    for refusal in refusals(Ratio::from_integer(1 << 100)) {
        assert!(matches!(
            refusal,
            Some(NoiseParameterError::OutOfRange { .. })
        ));
    }
}

#[test]
fn a_refusal_says_what_was_found_and_what_is_required() {
    let zero = DiscreteGaussian::new(Ratio::from_integer(0)).unwrap_err();
    assert_eq!(
        zero.to_string(),
        "the variance parameter is 0, but must be a fraction greater than 0"
    );
    let steep = FloorGumbel::new(Ratio::from_integer(17)).unwrap_err();
    assert_eq!(
        steep.to_string(),
        "the Gumbel rate is 17, but must be between 1/4294967296 and 16"
    );
}

#[test]
fn numerators_and_denominators_may_be_as_wide_as_the_type() {
    let wide = Ratio::new(u128::MAX, u128::MAX - 2);
    assert!(refusals(wide).iter().all(Option::is_none));
}
