use proptest::prelude::*;

use super::*;

#[test]
fn one_is_not_several() {
    let shown = [0, 1, 2].map(|number: u32| counted(number, "feature", "features"));
    assert_eq!(shown, ["0 features", "1 feature", "2 features"]);
}

#[test]
fn costs_are_short_and_rounded_up() {
    for (cost, shown) in [
        (0.0, "0"),
        (3.0, "3"),
        (0.1, "0.1"),
        (1.0001, "1.0001"),
        (1.000_000_001, "1.0001"),
        (2.99991, "3"),
        (9.99999, "10"),
        (0.999_99, "1"),
        (0.647_812_3, "0.6479"),
        (0.012_345_67, "0.01235"),
        (0.000_999_99, "0.001"),
        (1.234_5e-7, "1.235e-7"),
        (9.999_9e-7, "1e-6"),
        (12_345.678_91, "12345.679"),
        (1e15, "1000000000000000"),
    ] {
        assert_eq!(shown_cost(cost), shown, "{cost}");
    }
    assert_eq!(shown_cost(f64::INFINITY), "inf");
}

#[test]
fn deltas_are_short_and_rounded_up() {
    for (delta, shown) in [
        (1e-6, "1e-6"),
        (1.000_000_1e-6, "1.001e-6"),
        (0.5, "5e-1"),
        (4.547_474e-13, "4.548e-13"),
        (5e-324, "4.941e-324"),
    ] {
        assert_eq!(shown_delta(delta), shown, "{delta}");
    }
    assert_eq!(shown_delta(9.999_9e-7), "1e-6");
    assert_eq!(shown_delta(9.999_1e-7), "1e-6");
}

#[test]
fn quantities_show_themselves() {
    assert_eq!(Epsilon::try_from(0.300_01).unwrap().shown(), "0.3001");
    assert_eq!(Mu::try_from(0.300_01).unwrap().shown(), "0.3001");
    assert_eq!(Rho::try_from(0.300_01).unwrap().shown(), "0.3001");
    assert_eq!(Delta::try_from(1.000_01e-6).unwrap().shown(), "1.001e-6");
}

proptest! {
    #[test]
    fn what_is_shown_is_never_below_and_hardly_above(exponent in -300i32..14, mantissa in 1.0..10.0) {
        let value = mantissa * 10f64.powi(exponent);
        for text in [shown_cost(value), shown_delta(value)] {
            let shown: f64 = text.parse().unwrap();
            prop_assert!(shown >= value, "{value} is shown as {text}");
            prop_assert!(shown <= value * 1.0011 + 1e-300, "{value} is shown as {text}");
        }
    }
}
