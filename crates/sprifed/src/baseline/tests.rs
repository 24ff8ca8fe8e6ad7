//! Curves by hand.

use sprifed_recovery::Outcome;
use sprifed_schema::Transform;

use super::*;

fn response() -> Response {
    Response {
        name: "months".to_owned(),
        transform: Transform::Identity,
        lower: -4.0,
        upper: 4.0,
        outcome: Outcome::Survival,
        event: None,
        horizon: Some(60.0),
    }
}

fn baseline() -> ModelBaseline {
    ModelBaseline {
        hazard: (0..20)
            .map(|bin| if bin == 0 { 0.0 } else { 0.1 })
            .collect(),
        std_errors: vec![0.05; 20],
        event_share: 0.5,
        centre: 2f64.ln(),
    }
}

#[test]
fn a_curve_falls_from_one_and_lies_within_its_band() {
    let curve = baseline().curve(&response());
    assert_eq!(curve.len(), 20);
    // Nothing is known of the first bin, in which no event was counted.
    assert_eq!(
        (curve[0].survival, curve[0].low, curve[0].high),
        (1.0, 0.0, 1.0)
    );
    assert!((curve[9].time - 30.0).abs() < 1e-9);
    assert!((curve[9].survival - (-1.8f64).exp()).abs() < 1e-12);
    let reach = (REACH * 0.05 / 0.9).exp();
    assert!((curve[9].low - (-1.8 * reach).exp()).abs() < 1e-12);
    assert!((curve[9].high - (-1.8 / reach).exp()).abs() < 1e-12);
    for points in curve.windows(2) {
        assert!(points[1].survival <= points[0].survival);
        assert!(points[1].low <= points[1].survival && points[1].survival <= points[1].high);
    }
    assert!((baseline().event_probability(0.0) - (1.0 - (-1.9f64).exp())).abs() < 1e-12);
}

#[test]
fn a_hazard_that_is_none_is_not_used() {
    assert!(baseline().is_usable());
    for broken in [
        ModelBaseline {
            hazard: vec![0.1; 19],
            ..baseline()
        },
        ModelBaseline {
            hazard: vec![-0.1; 20],
            ..baseline()
        },
        ModelBaseline {
            std_errors: vec![f64::NAN; 20],
            ..baseline()
        },
        ModelBaseline {
            event_share: 1.5,
            ..baseline()
        },
        ModelBaseline {
            centre: f64::INFINITY,
            ..baseline()
        },
    ] {
        assert!(!broken.is_usable(), "{broken:?}");
    }
}
