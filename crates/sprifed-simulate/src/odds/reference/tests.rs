//! At the maximum of the likelihood the score is zero.

use super::*;

#[test]
fn the_score_is_zero_at_the_maximum() {
    let features = [
        0.5f32, 1.2, -0.3, 0.4, 1.1, -0.9, -1.4, 0.2, 0.0, 0.7, 2.1, 1.5, -0.8, -1.1, 0.9, 0.3,
        -0.2, -0.6, 1.6, 0.1,
    ];
    let responses = [1.0f32, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0];
    let records = Records::each_a_unit(&features, &responses, 2).unwrap();
    let model = most_likely_odds(&records, &[0, 1]);
    let mut score = [0.0; 3];
    for record in records.iter() {
        let left = f64::from(record.response) - logistic(model.predict(record.features));
        score[0] += left;
        score[1] += left * f64::from(record.features[0]);
        score[2] += left * f64::from(record.features[1]);
    }
    assert!(
        score.iter().all(|entry| entry.abs() < 1e-8),
        "{model:?} {score:?}"
    );
}

#[test]
fn singular_equations_have_no_solution() {
    assert_eq!(
        solved(vec![vec![2.0, 1.0, 3.0], vec![1.0, 2.0, 3.0]]),
        Some(vec![1.0, 1.0])
    );
    assert_eq!(solved(vec![vec![1.0, 1.0, 2.0], vec![1.0, 1.0, 2.0]]), None);
}
