use super::*;

fn choose(from: u128, chosen: u128) -> u128 {
    if chosen > from {
        return 0;
    }
    (0..chosen).fold(1, |product, step| product * (from - step) / (step + 1))
}

#[test]
#[expect(clippy::cast_precision_loss, reason = "a tolerance is allowed for")]
fn tails_agree_with_counting() {
    let factorials = LogFactorials::up_to(40);
    for (all, marked, drawn) in [
        (10, 3, 4),
        (40, 13, 21),
        (40, 39, 2),
        (30, 0, 5),
        (25, 25, 5),
        (1, 1, 1),
    ] {
        for least in 0..=drawn + 1 {
            let ways: u128 = (least..=drawn)
                .map(|count| {
                    choose(marked.into(), count.into())
                        * choose(u128::from(all - marked), u128::from(drawn - count))
                })
                .sum();
            let exact = ways as f64 / choose(all.into(), drawn.into()) as f64;
            let found = factorials.log_upper_tail(all, marked, drawn, least).exp();
            assert!(
                (found - exact).abs() <= 1e-12 * exact.max(1e-300),
                "{found} instead of {exact}"
            );
        }
    }
}
