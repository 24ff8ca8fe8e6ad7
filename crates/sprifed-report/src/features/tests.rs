use super::{Bar, FeatureTable, four, p_value_words};

fn bar(truth: Option<f64>, found: f64, reach: f64) -> Bar {
    Bar {
        truth,
        interval: Some((found - reach, found + reach)),
        p_value: Some(0.0123),
        privacy_share: Some(0.25),
        ..Bar::of_estimate("age", found)
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
    assert_eq!(table.rows[0].interval, "1.500 to 2.500");
    assert_eq!(table.rows[0].p_value, "0.012");
    assert_eq!(table.rows[0].privacy_share, "25 %");
    let intercept = table.intercept.clone().unwrap();
    assert_eq!(
        (intercept.estimate.as_str(), intercept.interval.as_str()),
        ("5.000", "")
    );
    let known = table.clone().with_intercept_interval(Some((4.0, 6.0)));
    assert_eq!(known.intercept.unwrap().interval, "4.000 to 6.000");
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
fn an_interval_that_is_not_there_has_no_whiskers() {
    let unknown = Bar {
        truth: Some(1.0),
        ..Bar::of_estimate("age", 1.0)
    };
    let table = FeatureTable::new(&[unknown], None);
    assert_eq!(table.rows[0].interval, "not available");
    assert_eq!(table.rows[0].p_value, "–");
    assert!(table.rows[0].bar.clone().unwrap().whisker.is_none());
    assert!(table.has_truth);
    assert!(
        FeatureTable::new(&[bar(None, 0.0, 0.0)], None).rows[0]
            .bar
            .is_none()
    );
}

#[test]
fn p_values_are_written_as_journals_do() {
    let written = [0.0, 0.000_99, 0.001, 0.049_9, 1.0].map(p_value_words);
    assert_eq!(written, ["< 0.001", "< 0.001", "0.001", "0.050", "1.000"]);
}
