//! Curves that were computed by hand.

use super::*;

#[test]
fn equal_probabilities_are_one_step_of_the_curve() {
    let pairs = [(0.9, 1.0), (0.5, 0.0), (0.5, 1.0), (0.2, 0.0)];
    let curves = BinaryCurves::of(&pairs);
    assert_eq!(curves.roc, [(0.0, 0.0), (0.0, 0.5), (0.5, 1.0), (1.0, 1.0)]);
}

#[test]
fn a_long_curve_is_thinned_and_keeps_its_ends() {
    let pairs: Vec<(f64, f64)> = (0..999u32)
        .map(|index| (f64::from(index), f64::from(index % 3 / 2)))
        .collect();
    let roc = BinaryCurves::of(&pairs).roc;
    assert!(roc.len() <= POINTS + 1, "{}", roc.len());
    assert_eq!((roc[0], roc[roc.len() - 1]), ((0.0, 0.0), (1.0, 1.0)));
    assert!(roc.is_sorted());
}

#[test]
fn one_kind_of_records_has_no_curve_but_a_calibration() {
    let curves = BinaryCurves::of(&[(0.3, 0.0), (0.4, 0.0)]);
    assert_eq!(curves.roc, []);
    assert_eq!(curves.calibration.len(), 2);
    assert_eq!(curves.to_charts().len(), 2);
}

#[test]
fn a_group_has_its_mean_its_share_and_wilsons_interval() {
    let pairs: Vec<(f64, f64)> = (0..100u32)
        .map(|index| (f64::from(index / 10) / 10.0, f64::from(index % 5 / 4)))
        .collect();
    let calibration = BinaryCurves::of(&pairs).calibration;
    assert_eq!(calibration.len(), GROUPS);
    let first = calibration[0];
    assert!((first.x - 0.9).abs() < 1e-12 && (first.y - 0.2).abs() < 1e-12);
    // Wilson's interval of 2 in 10, from tables.
    assert!((first.low - 0.0567).abs() < 1e-4 && (first.high - 0.5098).abs() < 1e-4);
}
