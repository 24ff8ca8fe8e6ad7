//! Scores that were computed by hand or by another program.

use super::*;

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found} for {expected}");
}

#[test]
fn scores_of_four_records_by_hand() {
    let pairs = [(0.1, 0.0), (0.4, 1.0), (0.35, 0.0), (0.8, 1.0)];
    let fitness = BinaryFitness::of(&pairs);
    close(fitness.events, 0.5);
    let expected = -(0.9f64.ln() + 0.4f64.ln() + 0.65f64.ln() + 0.8f64.ln()) / 4.0;
    close(fitness.log_loss, expected);
    close(fitness.null_log_loss, 2f64.ln());
    close(fitness.auc.unwrap(), 1.0);
    // They are separated, so no finite slope is best.
    assert_eq!(fitness.calibration_slope, None);
}

#[test]
fn equal_predictions_count_as_half() {
    let pairs = [(0.2, 0.0), (0.5, 1.0), (0.5, 0.0), (0.7, 0.0), (0.9, 1.0)];
    // Of 2 x 3 pairs the event wins 4, loses 1, and one is equal.
    close(BinaryFitness::of(&pairs).auc.unwrap(), 4.5 / 6.0);
    let constant = BinaryFitness::of(&[(0.3, 0.0), (0.3, 1.0)]);
    close(constant.auc.unwrap(), 0.5);
    assert_eq!(constant.calibration_slope, None);
    assert_eq!(BinaryFitness::of(&[(0.3, 0.0), (0.4, 0.0)]).auc, None);
}

#[test]
fn predictions_that_are_twice_as_far_apart_have_half_the_slope() {
    // At log odds of plus and minus 2, three of four are right: the best log odds are ln 3.
    let at = |odds: f64| 1.0 / (1.0 + (-odds).exp());
    let pairs: Vec<(f64, f64)> = [(2.0, 1.0), (2.0, 1.0), (2.0, 1.0), (2.0, 0.0)]
        .iter()
        .flat_map(|(odds, actual)| [(at(*odds), *actual), (at(-odds), 1.0 - actual)])
        .collect();
    let slope = BinaryFitness::of(&pairs).calibration_slope.unwrap();
    assert!((slope - 3f64.ln() / 2.0).abs() < 1e-8, "{slope}");
}
