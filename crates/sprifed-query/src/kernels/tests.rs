//! Every version gives the bits of the plainest loops.

use proptest::prelude::*;

use super::*;

/// What a record or a rounded vector may hold.
fn value() -> impl Strategy<Value = f32> {
    prop_oneof![
        6 => -3.0f32..3.0,
        2 => any::<f32>(),
        1 => prop::sample::select(vec![
            f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, 1e-45, -0.0, 2e19,
        ]),
    ]
}

/// Lengths around groups, summed blocks and tiles.
fn length() -> impl Strategy<Value = usize> {
    prop_oneof![
        4 => 0usize..70,
        2 => 1000usize..1060,
        2 => TILE - 20..TILE + 20,
        1 => 2 * TILE - 20..2 * TILE + 40,
    ]
}

fn values() -> impl Strategy<Value = Vec<f32>> {
    let some = prop::collection::vec(value(), 1..200);
    (some, length()).prop_map(|(some, length)| some.into_iter().cycle().take(length).collect())
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// The squares of values, one after the other in the order that is promised.
fn squares_by_hand(start: f64, values: &[f32]) -> f64 {
    let mut total = start;
    for block in values.chunks(1024) {
        let whole = block.len() / 16 * 16;
        let mut lanes = [0f32; 16];
        for (place, value) in block[..whole].iter().enumerate() {
            lanes[place % 16] += value * value;
        }
        let mut tail = 0f32;
        for value in &block[whole..] {
            tail += value * value;
        }
        let mut sum = 0f32;
        for lane in lanes {
            sum += lane;
        }
        total += f64::from(sum + tail);
    }
    total
}

fn tamed(value: f32) -> f32 {
    match value {
        value if !value.is_finite() => 0.0,
        value => value.max(-WIDEST).min(WIDEST),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn products_are_those_of_a_plain_loop(
        values in values(),
        limit in prop_oneof![0.1f32..4.0, Just(WIDEST), Just(1e-30)],
        weight in prop_oneof![-2.0f32..2.0, Just(0.0), Just(1e30)],
        before in -1.0f32..1.0,
    ) {
        let mut found = vec![before; values.len()];
        add_products(&values, limit, weight, &mut found);
        let expected: Vec<f32> = values
            .iter()
            .map(|value| {
                let value = if value.is_finite() { *value } else { 0.0 };
                before + value.max(-limit).min(limit) * weight
            })
            .collect();
        prop_assert_eq!(bits(&found), bits(&expected));
    }

    #[test]
    fn squares_are_added_in_the_promised_order(values in values(), total in 0.0f64..1e6) {
        let tamed: Vec<f32> = values.iter().map(|value| tamed(*value)).collect();
        let expected = squares_by_hand(total, &tamed).to_bits();
        prop_assert_eq!(add_tamed_squares(total, &values).to_bits(), expected);
        prop_assert_eq!(add_squares(total, &tamed).to_bits(), expected);
    }

    #[test]
    fn rounding_is_that_of_one_value_after_the_other(
        values in values(),
        limit in prop_oneof![Just(1.0f32), Just(f32::MAX)],
        weight in prop_oneof![0.0f32..4000.0, Just(1e-20)],
        seed in any::<[u32; LANES]>(),
    ) {
        let (mut lanes, mut found) = (seed, vec![7; values.len()]);
        round_groups(&mut lanes, &values, limit, weight, &mut found);
        let (mut words, mut expected) = (seed, vec![7; values.len()]);
        for group in 0..values.len() / LANES {
            for lane in 0..LANES {
                words[lane] ^= words[lane] << 13;
                words[lane] ^= words[lane] >> 17;
                words[lane] ^= words[lane] << 5;
                let place = group * LANES + lane;
                let scaled = limited(values[place], limit) * weight;
                let centred = f32::from_bits((words[lane] >> 9) | 0x3F80_0000) - 1.5;
                let shifted = scaled + centred + 12_582_912.0;
                let shift = 12_582_912f32.to_bits().cast_signed();
                expected[place] = shifted.to_bits().cast_signed().wrapping_sub(shift);
            }
        }
        // A sum that is not a number has bits that no rule fixes; its integer is out of every bound.
        let numbers = values.iter().map(|value| !value.is_nan());
        for ((found, expected), is_number) in found.iter().zip(&expected).zip(numbers) {
            prop_assert!(found == expected || !is_number);
        }
        prop_assert_eq!(lanes, words);
    }

    #[test]
    fn integers_are_measured_limited_and_kept_one_by_one(
        some in prop::collection::vec(
            prop_oneof![-5000i32..5000, any::<i32>(), Just(i32::MIN), Just(i32::MAX)],
            1..200,
        ),
        length in length(),
        most in 0i32..10_000,
        mask in prop::sample::select(vec![0, -1]),
    ) {
        let integers: Vec<i32> = some.into_iter().cycle().take(length).collect();
        let sizes = integers.iter().map(|value| value.unsigned_abs());
        let squares = sizes.clone().map(|size| u128::from(size.min(WIDEST_COORDINATE)).pow(2));
        let squared = u64::try_from(squares.sum::<u128>()).unwrap_or(u64::MAX);
        prop_assert_eq!(measure(&integers), (sizes.max().unwrap_or(0), squared));
        let mut found = integers.clone();
        clamp(&mut found, most);
        let expected: Vec<i32> = integers.iter().map(|value| (*value).min(most).max(-most)).collect();
        prop_assert_eq!(found, expected);
        let mut found = integers.clone();
        keep(&mut found, mask);
        prop_assert_eq!(found, integers.iter().map(|value| value & mask).collect::<Vec<_>>());
    }

    #[test]
    fn the_version_of_this_processor_gives_the_bits_of_the_plain_one(
        values in values(),
        seed in any::<[u32; LANES]>(),
    ) {
        let mut found = vec![0.5; values.len()];
        let mut expected = found.clone();
        add_products(&values, 1.5, 0.3, &mut found);
        plain::add_products(&values, 1.5, 0.3, &mut expected);
        prop_assert_eq!(bits(&found), bits(&expected));
        let (found, expected) = (add_tamed_squares(0.1, &values), plain::add_tamed_squares(0.1, &values));
        prop_assert_eq!(found.to_bits(), expected.to_bits());
        let tamed: Vec<f32> = values.iter().map(|value| tamed(*value)).collect();
        let mut found = (seed, vec![0; tamed.len()]);
        let mut expected = found.clone();
        round_groups(&mut found.0, &tamed, f32::MAX, 900.0, &mut found.1);
        plain::round_groups(&mut expected.0, &tamed, f32::MAX, 900.0, &mut expected.1);
        prop_assert_eq!(&found, &expected);
        prop_assert_eq!(measure(&found.1), plain::measure(&found.1));
    }
}
