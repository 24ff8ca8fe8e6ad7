use sprifed_recovery::Outcome;
use sprifed_schema::Transform;

use super::*;

#[test]
fn residuals_larger_than_a_constant_leaves_are_a_warning() {
    let response = Response {
        name: "y".to_owned(),
        transform: Transform::Identity,
        lower: -10.0,
        upper: 30.0,
        outcome: Outcome::Linear,
        event: None,
        horizon: None,
    };
    assert_eq!(residual_warning(None, &response), None);
    assert_eq!(residual_warning(Some(19.0), &response), None);
    let warning = residual_warning(Some(25.0), &response).unwrap();
    assert!(
        warning.contains("25.000") && warning.contains("20.000"),
        "{warning}"
    );
}
