//! A setting that no procedure can fit is refused with a message that names the number.

use super::*;
use crate::test_support::legal_setting;

fn assert_refused(setting: Setting, words: &str) {
    let refused = setting.check().unwrap_err().to_string();
    assert!(refused.contains(words), "{refused}");
}

#[test]
fn a_legal_setting_is_accepted() {
    assert_eq!(legal_setting().check(), Ok(()));
    assert_eq!(
        Setting {
            sparsity: 29,
            ..legal_setting()
        }
        .check(),
        Ok(())
    );
    assert_eq!(
        Setting {
            feature_scale: None,
            ..legal_setting()
        }
        .check(),
        Ok(())
    );
}

#[test]
fn a_sparsity_of_zero_or_of_all_features_is_refused() {
    let required = "it must be at least 1 and below the number of features";
    for (sparsity, words) in [
        (0, "a sparsity of 0 for 30 features"),
        (30, "a sparsity of 30 for 30 features"),
        (u32::MAX, "a sparsity of 4294967295 for 30 features"),
    ] {
        assert_refused(
            Setting {
                sparsity,
                ..legal_setting()
            },
            words,
        );
        assert_refused(
            Setting {
                sparsity,
                ..legal_setting()
            },
            required,
        );
    }
}

#[test]
fn fewer_than_two_records_are_refused() {
    for n_records in [0, 1] {
        let records = counted(n_records, "record", "records");
        let words = format!("{records}, but at least 2 are required");
        assert_refused(
            Setting {
                n_records,
                ..legal_setting()
            },
            &words,
        );
    }
}

#[test]
fn bounds_and_scales_that_are_not_positive_numbers_of_usual_size_are_refused() {
    for illegal in [0.0, -1.0, 1e-31, 1e31, 1e308, f64::NAN, f64::INFINITY] {
        let words = "bounds must be from 1e-30 to 1e30";
        assert_refused(
            Setting {
                response_bound: illegal,
                ..legal_setting()
            },
            words,
        );
        assert_refused(
            Setting {
                feature_bound: illegal,
                ..legal_setting()
            },
            words,
        );
        let words = "a feature scale of";
        assert_refused(
            Setting {
                feature_scale: Some(illegal),
                ..legal_setting()
            },
            words,
        );
    }
}

#[test]
fn shares_of_a_budget_add_up_to_it() {
    let total = legal_setting().total_mu().unwrap();
    let squares = |share: f64, times: u32| {
        f64::from(times) * share_of(total, share, times).unwrap().get().powi(2)
    };
    let sum = squares(0.25, 3) + squares(0.7, 1) + squares(0.05, 10);
    assert!((sum / total.get().powi(2) - 1.0).abs() < 1e-12);
    assert!(share_of(total, 0.0, 1).is_err());
}

#[test]
fn only_whole_counts_are_truncated() {
    let by_record = legal_setting();
    let by_client = Setting {
        unit: PrivacyUnit::Client,
        ..legal_setting()
    };
    assert_eq!(by_record.count_rounding(), Rounding::Truncated);
    assert_eq!(by_client.count_rounding(), Rounding::Dithered);
}

#[test]
fn a_setting_without_robust_intervals_is_written_as_before_there_were_any() {
    let plain = legal_setting();
    let text = serde_json::to_string(&plain).unwrap();
    assert!(!text.contains("robust"), "{text}");
    assert_eq!(serde_json::from_str::<Setting>(&text).unwrap(), plain);
    let robust = Setting {
        robust: true,
        ..plain
    };
    let text = serde_json::to_string(&robust).unwrap();
    assert!(text.contains("\"robust\":true"), "{text}");
    assert_eq!(serde_json::from_str::<Setting>(&text).unwrap(), robust);
}

#[test]
fn columns_of_every_model_that_are_too_many_are_refused_with_what_helps() {
    let setting = Setting {
        always: 1,
        n_records: 59,
        sparsity: 2,
        ..legal_setting()
    };
    let cost = Mu::try_from(0.5).unwrap();
    let refused = setting.check_always(cost).unwrap_err().to_string();
    for part in [
        "1 column in every model and up to 2 for 2 features that are sought, with 59 records",
        "at most 0 columns",
        "seek fewer features, keep fewer columns in every model, spend more, or have more records",
    ] {
        assert!(refused.contains(part), "{refused}");
    }
}
