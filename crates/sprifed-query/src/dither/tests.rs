use super::*;

fn mean_of_rounded(value: f32) -> f64 {
    let values = vec![value; 100_000];
    let mut out = vec![0; values.len()];
    Dither::of_unit(1, 2).round_scaled(&values, 1e6, 1.0, &mut out, |_| ());
    out.iter().map(|rounded| f64::from(*rounded)).sum::<f64>() / 100_000.0
}

#[test]
fn rounding_is_unbiased() {
    // 100,000 roundings have a standard error below 0.0016; six of them is a false alarm of 2e-9.
    for value in [-3.7, -0.5, -0.01, 0.0, 0.25, 0.99, 17.3, 1000.6] {
        let mean = mean_of_rounded(value);
        assert!(
            (mean - f64::from(value)).abs() < 0.01,
            "{value} became {mean}"
        );
    }
}

#[test]
fn a_whole_number_stays_or_moves_by_less_than_one() {
    let values: Vec<f32> = (0..1000u16).map(|k| f32::from(k) - 500.0).collect();
    let mut out = vec![0; values.len()];
    Dither::of_unit(3, 4).round_scaled(&values, 1e6, 1.0, &mut out, |_| ());
    for (value, rounded) in values.iter().zip(&out) {
        assert!((f64::from(*value) - f64::from(*rounded)).abs() <= 1.0);
    }
}

#[test]
fn units_and_seeds_have_their_own_streams() {
    let values = [0.5; 64];
    let rounded = |seed, unit| {
        let mut out = [0; 64];
        Dither::of_unit(seed, unit).round_scaled(&values, 1.0, 1.0, &mut out, |_| ());
        out
    };
    assert_eq!(rounded(1, 1), rounded(1, 1));
    assert_ne!(rounded(1, 1), rounded(1, 2));
    assert_ne!(rounded(1, 1), rounded(2, 1));
}

#[test]
fn the_tail_that_fills_no_group_is_rounded_too() {
    let values = [2.0; 19];
    let mut out = [7; 19];
    Dither::of_unit(5, 6).round_scaled(&values, 10.0, 3.0, &mut out, |_| ());
    assert!(
        out.iter().all(|rounded| (5..=7).contains(rounded)),
        "{out:?}"
    );
}
