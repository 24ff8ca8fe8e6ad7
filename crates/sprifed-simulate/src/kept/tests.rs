//! What is kept and covered, by hand.

use sprifed_recovery::{
    FitStatus, Inference, InferenceMethod, Inferred, Interval, NoInference, ReportedTerm, Role,
};

use super::*;
use crate::projection::projection;
use crate::world::Correlation;

fn truth() -> LinearModel {
    LinearModel {
        intercept: 0.0,
        terms: vec![(3, 2.0), (7, -1.0)],
    }
}

fn term(feature: u32, role: Role, low: f64, high: f64) -> ReportedTerm {
    ReportedTerm {
        feature,
        role,
        group: None,
        estimate: f64::midpoint(low, high),
        interval: Some(Interval { low, high }),
        level: 0.95,
        p_value: Some(0.01),
        privacy_share: Some(0.5),
    }
}

fn fit(inference: Inferred) -> Fit {
    Fit {
        sites: Vec::new(),
        model: LinearModel {
            intercept: 0.0,
            terms: vec![(3, 1.0), (5, 0.5), (9, 0.1)],
        },
        inference,
        status: FitStatus::Complete,
        residual_scale: None,
        baseline: None,
        cuts: Vec::new(),
        provenance: None,
    }
}

fn inferred(terms: Vec<ReportedTerm>) -> Inferred {
    Inferred::Available(Inference {
        method: 1,
        sought: 5,
        kept: 2,
        false_share: Some(0.1),
        clip_factor: 1.0,
        moment_noise: 1.0,
        residual_moment_noise: None,
        score: None,
        survival: None,
        records: 100,
        inference: InferenceMethod::Selective,
        estimated_by: None,
        no_intervals: None,
        intercept: None,
        terms,
        covariance: Vec::new(),
    })
}

#[test]
fn kept_features_count_and_others_of_the_model_do_not() {
    let terms = vec![
        term(7, Role::Always, -3.0, -2.0),
        term(3, Role::Selected, 1.5, 2.5),
        term(5, Role::Selected, 0.25, 0.75),
    ];
    let kept = Kept::of(&fit(inferred(terms)), &truth(), |features| {
        projection(&truth(), features, Correlation::None)
    });
    assert_eq!(kept.features, [3, 5]);
    assert_eq!((kept.true_ones(), kept.false_ones), (1, 1));
    assert!((kept.false_share() - 0.5).abs() < 1e-12);
    // The true one contains its coefficient, the false one misses zero; the one that is always there is not counted.
    let judged: Vec<(f64, bool)> = kept
        .intervals
        .iter()
        .map(|interval| (interval.width, interval.covers))
        .collect();
    assert_eq!(judged, [(1.0, true), (0.5, false)]);
}

#[test]
fn a_fit_that_does_not_say_what_it_kept_kept_all() {
    let reason = NoInference::Procedure;
    let kept = Kept::of(
        &fit(Inferred::NotAvailable { reason }),
        &truth(),
        |features| projection(&truth(), features, Correlation::None),
    );
    assert_eq!((kept.features.len(), kept.false_ones), (3, 2));
    assert!(kept.intervals.is_empty());
}

#[test]
fn intervals_are_not_judged_where_their_target_is_not_known() {
    let terms = vec![term(3, Role::Selected, 1.5, 2.5)];
    let kept = Kept::of(&fit(inferred(terms)), &truth(), |_| None);
    assert_eq!(kept.true_ones(), 1);
    assert!(kept.intervals.is_empty());
    assert!(Kept::default().false_share() < 1e-12);
}
