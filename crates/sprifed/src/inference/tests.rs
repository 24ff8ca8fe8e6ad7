//! A report in the units of a table, by hand.

use sprifed_recovery::{
    Inference, InferenceMethod, Inferred, Interval, ReportedIntercept, ReportedTerm, Role,
};
use sprifed_schema::{Mapping, Schema};

use super::*;

fn mapping() -> Mapping {
    // The response has centre 10 and scale 20; `a` centre 3 and scale 2, `b` centre 0 and scale 5.
    let text = "[response]\nname = \"y\"\nlower = -10\nupper = 30\n[feature.a]\nlower = 1\nupper = 5\n\
                [feature.b]\nlower = -5\nupper = 5\n";
    let schema = Schema::parse(text).unwrap();
    Mapping::for_features(&schema, ["a", "b"]).unwrap()
}

fn term(feature: u32, role: Role, estimate: f64) -> ReportedTerm {
    ReportedTerm {
        feature,
        role,
        group: None,
        estimate,
        interval: Some(Interval {
            low: estimate - 0.5,
            high: estimate + 0.25,
        }),
        level: 0.97,
        p_value: Some(0.004),
        privacy_share: Some(0.3),
    }
}

fn inference() -> Inference {
    Inference {
        method: 1,
        sought: 5,
        kept: 1,
        false_share: Some(0.1),
        clip_factor: 2.0,
        moment_noise: 3.0,
        residual_moment_noise: None,
        score: None,
        survival: None,
        records: 600,
        inference: InferenceMethod::Selective,
        estimated_by: None,
        no_intervals: None,
        intercept: Some(ReportedIntercept {
            estimate: 0.1,
            interval: Some(Interval {
                low: 0.0,
                high: 0.2,
            }),
            level: 0.95,
            privacy_share: Some(0.2),
        }),
        terms: vec![term(1, Role::Always, 1.0), term(0, Role::Selected, -2.0)],
        // Of intercept, b and a.
        covariance: vec![0.04, 0.01, 0.02, 0.09, -0.03, 0.16],
    }
}

fn report(inference: Inference) -> CoefficientReport {
    let names = ["a".to_owned(), "b".to_owned()];
    let inferred = Inferred::Available(inference);
    let reported = ModelInference::of(&inferred, &mapping(), &names);
    reported.available().unwrap().clone()
}

fn assert_close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-12, "{found} for {expected}");
}

#[test]
fn estimates_and_intervals_are_in_the_units_of_the_columns_and_selected_features_come_first() {
    let report = report(inference());
    let names: Vec<&str> = report.terms.iter().map(|term| term.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    // One unit of a is 2, one of the response 20.
    let a = &report.terms[0];
    assert_close(a.estimate, -20.0);
    assert_close(a.interval.unwrap().low, -25.0);
    assert_close(a.interval.unwrap().high, -17.5);
    assert_close(a.std_error.unwrap(), 10.0 * 0.4);
    assert_eq!((a.role, a.p_value), (Role::Selected, Some(0.004)));
    let b = &report.terms[1];
    assert_close(b.estimate, 4.0);
    assert_close(b.std_error.unwrap(), 4.0 * 0.3);
}

#[test]
fn the_intercept_is_a_combination_of_all_estimates_with_their_covariances() {
    let report = report(inference());
    let intercept = report.intercept.unwrap();
    // 10 + 20 * 0.1 - (-20) * 3 - 4 * 0.
    assert_close(intercept.estimate, 72.0);
    // Weights 20 of the intercept and -30 of a: 400 * 0.04 - 2 * 600 * 0.02 + 900 * 0.16.
    let variance: f64 = 16.0 - 24.0 + 144.0;
    assert_close(intercept.std_error.unwrap(), variance.sqrt());
    let interval = intercept.interval.unwrap();
    assert_close(interval.high - interval.low, 2.0 * REACH * variance.sqrt());
    // Intercept, a, b: the order of the report.
    assert_close(report.covariance[1][1], 100.0 * 0.16);
    assert_close(report.covariance[1][2], 10.0 * 4.0 * -0.03);
    assert_close(
        report.covariance[0][1],
        20.0 * 10.0 * 0.02 - 30.0 * 10.0 * 0.16,
    );
    for (row, column) in [(0, 1), (0, 2), (1, 2)] {
        assert_close(
            report.covariance[row][column],
            report.covariance[column][row],
        );
    }
}

#[test]
fn equations_that_are_ill_conditioned_give_no_interval_anywhere() {
    let mut broken = inference();
    broken.no_intervals = Some(NoInterval::IllConditioned);
    broken.covariance = Vec::new();
    broken
        .terms
        .iter_mut()
        .for_each(|term| term.interval = None);
    broken.intercept.as_mut().unwrap().interval = None;
    let report = report(broken);
    let intercept = report.intercept.unwrap();
    assert_eq!((intercept.interval, intercept.std_error), (None, None));
    assert!(report.terms.iter().all(|term| term.interval.is_none()));
    assert!(report.covariance.is_empty());
    assert!(
        report
            .notes
            .iter()
            .any(|note| note.contains("not available"))
    );
}

#[test]
fn the_notes_say_what_is_claimed_and_what_is_assumed() {
    let loose = report(inference());
    let said = loose.notes.join("\n");
    for words in [
        "Up to 5 features were sought; 1 was kept.",
        "at most 10 % of the kept features are false on average",
        "95 % of the intervals of kept features do so on average",
        "independent records and errors of about equal variance.",
        "not causes",
    ] {
        assert!(said.contains(words), "no {words:?} in {said}");
    }
    assert!(!said.contains("symmetric"), "{said}");
    let mut tight = inference();
    tight.clip_factor = 1.0;
    assert!(report(tight).notes.join("\n").contains("symmetric errors"));
    // Rounded to the nearest tenth this would be 1.5, below 1.5.
    let mut just_below = inference();
    just_below.clip_factor = 1.46;
    let said = report(just_below).notes.join("\n");
    assert!(said.contains("factor is 1.4, below 1.5"), "{said}");
    let mut exact = inference();
    exact.false_share = None;
    let exact = report(exact);
    assert!(exact.notes[0].contains("Nothing limits the share of false ones"));
}

#[test]
fn a_client_unit_has_no_inference_and_says_why() {
    let inferred = Inferred::NotAvailable {
        reason: NoInference::ClientUnit,
    };
    let reported = ModelInference::of(&inferred, &mapping(), &[]);
    assert_eq!(reported.available(), None);
    assert_eq!(reported.kept_words(), None);
    let said = reported.notes().join("\n");
    assert!(
        said.contains("not available: the unit of privacy is a client"),
        "{said}"
    );
}
