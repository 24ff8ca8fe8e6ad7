use super::{
    Inference, InferenceMethod, Inferred, NoInference, ReportedIntercept, ReportedTerm, Role,
};

fn term(feature: u32) -> ReportedTerm {
    ReportedTerm {
        feature,
        role: Role::Selected,
        group: None,
        estimate: 1.0,
        interval: None,
        level: 0.95,
        p_value: Some(0.01),
        privacy_share: Some(0.25),
    }
}

fn inference() -> Inference {
    Inference {
        method: 1,
        sought: 3,
        kept: 2,
        false_share: Some(0.1),
        clip_factor: 2.0,
        moment_noise: 5.0,
        residual_moment_noise: None,
        score: None,
        survival: None,
        records: 500,
        inference: InferenceMethod::Selective,
        estimated_by: None,
        no_intervals: None,
        intercept: Some(ReportedIntercept {
            estimate: 0.5,
            interval: None,
            level: 0.95,
            privacy_share: None,
        }),
        terms: vec![term(7), term(3)],
        covariance: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    }
}

#[test]
fn the_upper_triangle_is_read_by_rows_and_both_ways() {
    let inference = inference();
    let expected = [[1.0, 2.0, 3.0], [2.0, 4.0, 5.0], [3.0, 5.0, 6.0]];
    for (row, values) in expected.iter().enumerate() {
        for (column, value) in values.iter().enumerate() {
            assert_eq!(inference.covariance_of(row, column), Some(*value));
        }
    }
    assert_eq!(inference.covariance_of(0, 3), None);
}

#[test]
fn it_is_read_back_as_it_was_written_and_unknown_fields_are_refused() {
    let known = Inferred::Available(inference());
    let none = Inferred::NotAvailable {
        reason: NoInference::ClientUnit,
    };
    for inferred in [known, none] {
        let text = serde_json::to_string(&inferred).unwrap();
        let read: Inferred = serde_json::from_str(&text).unwrap();
        assert_eq!(read, inferred, "{text}");
        let more = text.replacen('{', r#"{"more":1,"#, 1);
        assert!(serde_json::from_str::<Inferred>(&more).is_err(), "{more}");
    }
}
