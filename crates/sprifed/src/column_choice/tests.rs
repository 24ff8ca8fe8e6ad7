use sprifed_recovery::{Intercept, MOST_COLUMN_RUNS};

use super::*;

fn setting(n_records: u32) -> Setting {
    Setting {
        n_records,
        n_features: 280,
        feature_scale: None,
        intercept: Intercept::Estimated,
        ..sprifed_recovery::test_support::legal_setting()
    }
}

fn chosen(request: ColumnScalesRequest, n_records: u32, columns: u32) -> ColumnScalesChoice {
    let columns = FeatureSet::all(columns);
    request.choose(&setting(n_records), &columns, 1.0).unwrap()
}

#[test]
fn auto_asks_only_where_the_noise_is_small_and_says_why() {
    use ColumnScalesRequest::{Always, Auto, Never};
    for (request, n_records, columns, is_asked, words) in [
        (Never, 100_000, 280, false, None),
        (Auto, 100_000, 280, true, Some("280 columns standardised")),
        (Auto, 300, 280, false, Some("and at most 0.02 is accepted")),
        (Always, 300, 280, true, Some("auto accepts 0.02")),
        (Always, 300, 0, false, Some("all have public scales")),
    ] {
        let choice = chosen(request, n_records, columns);
        assert_eq!(choice.is_asked, is_asked, "{choice:?}");
        assert_eq!(choice.scales.is_empty(), !is_asked);
        let found = choice.text();
        assert_eq!(found.is_some(), words.is_some(), "{choice:?}");
        if let (Some(found), Some(words)) = (found, words) {
            assert!(found.contains(words), "{found}");
        }
    }
    let nothing = chosen(Auto, 100_000, 280).unless(true);
    assert!(nothing.scales.is_empty() && !nothing.is_asked);
    assert!(nothing.text().unwrap().contains("no feature is sought"));
}

#[test]
fn columns_in_too_many_runs_are_left_by_auto_and_refused_by_always() {
    let runs = u32::try_from(MOST_COLUMN_RUNS).unwrap() + 1;
    let columns: Vec<u32> = (0..runs).map(|place| 2 * place).collect();
    let columns = FeatureSet::only(&columns);
    let of = |request: ColumnScalesRequest| request.choose(&setting(100_000), &columns, 1.0);
    let choice = of(ColumnScalesRequest::Auto).unwrap();
    assert!(!choice.is_asked && choice.text().unwrap().contains("too many runs"));
    assert!(of(ColumnScalesRequest::Always).is_err());
    assert!(of(ColumnScalesRequest::Never).is_ok());
}
