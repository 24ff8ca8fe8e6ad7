use super::*;

/// Every pair by hand.
fn slowly(pairs: &[(f64, f64)]) -> (f64, f64) {
    let (mut wins, mut compared) = (0.0, 0.0);
    let read = |response: f64| FollowUp::of(response as f32);
    for (risk, response) in pairs {
        for (other_risk, other) in pairs {
            let (first, second) = (read(*response), read(*other));
            let is_first = first.is_event
                && (first.time < second.time || (first.time == second.time && !second.is_event));
            if is_first {
                compared += 1.0;
                wins += match risk.total_cmp(other_risk) {
                    core::cmp::Ordering::Greater => 1.0,
                    core::cmp::Ordering::Equal => 0.5,
                    core::cmp::Ordering::Less => 0.0,
                };
            }
        }
    }
    (wins / compared, compared)
}

#[test]
fn concordance_is_that_of_all_comparable_pairs() {
    // Few different times and risks, so that many are equal.
    let pairs: Vec<(f64, f64)> = (1..=200u32)
        .map(|index| {
            let time = f64::from(index * 7 % 19 + 1) / 20.0;
            let sign = if index % 3 == 0 { -1.0 } else { 1.0 };
            (f64::from(index * 5 % 11), sign * time)
        })
        .collect();
    let found = SurvivalFitness::of(&pairs);
    let (concordance, compared) = slowly(&pairs);
    assert!((found.concordance.unwrap() - concordance).abs() < 1e-12);
    assert!((found.pairs - compared).abs() < 1e-12);
    assert!((found.events - 134.0 / 200.0).abs() < 1e-12);
}

#[test]
fn perfect_constant_and_censored_predictions() {
    let ordered = [(3.0, 0.1), (2.0, 0.2), (1.0, -0.3)];
    assert_eq!(SurvivalFitness::of(&ordered).concordance, Some(1.0));
    let constant = [(1.0, 0.1), (1.0, 0.2), (1.0, -0.3)];
    assert_eq!(SurvivalFitness::of(&constant).concordance, Some(0.5));
    let censored = [(1.0, -0.1), (2.0, -0.2)];
    assert_eq!(SurvivalFitness::of(&censored).concordance, None);
}
