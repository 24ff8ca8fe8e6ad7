use proptest::prelude::*;

use super::*;

#[test]
fn bounds_become_minus_one_and_one() {
    let age = Units::new("feature.age", 0.0, 120.0, None, None).expect("an interval");
    assert_eq!(
        [0.0, 60.0, 120.0].map(|value| age.to_unit(value).to_bits()),
        [-1.0f32, 0.0, 1.0].map(f32::to_bits)
    );
    assert!((age.bound() - 1.0).abs() < 1e-12);
}

#[test]
fn a_public_center_and_scale_replace_the_middle_and_the_half_width() {
    let expression = Units::new("features", 0.0, 10.0, Some(2.0), Some(4.0)).expect("an interval");
    assert_eq!(
        [-5.0, 10.0].map(|value| expression.to_unit(value).to_bits()),
        [-0.5f32, 2.0].map(f32::to_bits)
    );
    assert!((expression.bound() - 2.0).abs() < 1e-12);
    assert!(
        (expression.midpoint() - 0.75).abs() < 1e-6,
        "the middle of the bounds, not the centre"
    );
}

#[test]
fn what_is_not_an_interval_is_refused_by_name() {
    let refused = |lower, upper, center, scale| {
        Units::new("response", lower, upper, center, scale)
            .expect_err("refused")
            .to_string()
    };
    assert!(refused(f64::NAN, 1.0, None, None).contains("`response.lower` is NaN"));
    assert!(refused(0.0, f64::INFINITY, None, None).contains("`response.upper` is inf"));
    assert!(refused(1.0, 1.0, None, None).contains("required: lower < upper"));
    assert!(refused(0.0, 1.0, Some(2.0), None).contains("`response.center` is 2"));
    assert!(refused(0.0, 1.0, None, Some(0.0)).contains("`response.scale` is 0"));
    assert!(refused(0.0, 1.0, None, Some(-1.0)).contains("`response.scale` is -1"));
    assert!(refused(0.0, 1.0, None, Some(1e-300)).contains("`response.scale`"));
    assert!(refused(0.0, f64::from_bits(1), None, None).contains("`response.scale` is 0"));
}

/// Such numbers give infinite coefficients, which a fit would find only after the budget is spent.
#[test]
fn numbers_that_no_model_can_be_written_in_are_refused() {
    let refused = |lower, upper, center, scale| {
        Units::new("response", lower, upper, center, scale)
            .expect_err("refused")
            .to_string()
    };
    assert!(refused(-1e308, 1e308, None, None).contains("`response.lower` is -1"));
    assert!(refused(0.0, 1.1e30, None, None).contains("required: at most 1e30 in size"));
    assert!(refused(-1e-310, 1e-310, None, None).contains("at least 1e-30"));
    assert!(refused(-1e-31, 1e-31, None, Some(1e-31)).contains("`response.scale`"));
    assert!(Units::new("response", -1e30, 1e30, None, None).is_ok());
    assert!(Units::new("response", -1e-30, 1e-30, None, None).is_ok());
}

proptest! {
    #[test]
    fn no_value_leaves_the_bound(
        lower in -1e30f64..1e30,
        upper in -1e30f64..1e30,
        value in any::<f64>(),
    ) {
        if let Ok(units) = Units::new("features", lower, upper, None, None) {
            let unit = units.to_unit(value);
            prop_assert!(f64::from(unit).abs() <= units.bound());
            prop_assert!(unit.is_finite());
        }
    }

    #[test]
    fn a_value_inside_the_bounds_comes_back(
        lower in -1e3f64..0.0,
        width in 1e-3f64..1e3,
        share in 0.0f64..1.0,
    ) {
        let units = Units::new("features", lower, lower + width, None, None).expect("an interval");
        let value = lower + share * width;
        let back = units.from_unit(f64::from(units.to_unit(value)));
        prop_assert!((back - value).abs() <= 1e-6 * width);
    }
}
