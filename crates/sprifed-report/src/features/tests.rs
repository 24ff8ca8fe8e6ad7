use super::{Bar, FeatureTable, four};

fn bar(truth: Option<f64>, found: f64, noise: f64) -> Bar {
    Bar {
        name: "age".to_owned(),
        truth,
        found: Some(found),
        noise_std_dev: Some(noise),
    }
}

#[test]
fn four_digits_are_shown() {
    let written: Vec<String> = [1234.56, 0.012_345, -2.5, 1e-7, 0.0].map(four).into();
    assert_eq!(written, ["1235", "0.01235", "-2.500", "1.000e-7", "0"]);
}

#[test]
fn numbers_are_coefficients_and_bars_may_be_scaled() {
    let bars = [(bar(None, 2.0, 0.5), 3.0), (bar(None, -1.0, 0.5), 6.0)];
    let table = FeatureTable::over_bounds(&bars, Some(5.0));
    assert_eq!(table.rows[0].coefficient, "2.000");
    assert_eq!(table.rows[0].noise, "± 1.000");
    assert_eq!(table.intercept.as_deref(), Some("5.000"));
    // Both bars are six long, on either side of zero.
    let widths: Vec<String> = table
        .rows
        .iter()
        .map(|row| row.bar.clone().unwrap().found.unwrap().width)
        .collect();
    assert_eq!(widths[0], widths[1]);
    assert_eq!(table.rows[1].bar.clone().unwrap().sign, "minus");
}

#[test]
fn a_noise_that_is_unknown_has_no_whiskers() {
    let unknown = bar(Some(1.0), 1.0, f64::NAN);
    let table = FeatureTable::new(&[unknown], None);
    assert_eq!(table.rows[0].noise, "unknown");
    assert!(table.rows[0].bar.clone().unwrap().whisker.is_none());
    assert!(table.has_truth);
    assert!(
        FeatureTable::new(&[bar(None, 0.0, 0.0)], None).rows[0]
            .bar
            .is_none()
    );
}
