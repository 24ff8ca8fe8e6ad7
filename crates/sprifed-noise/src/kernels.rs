//! The loops over the integers of a contribution, compiled for several instruction sets.
//!
//! What the processor offers decides at run time which version runs. They compute with integers, so all give the same.

use multiversion::multiversion;

/// Squares of integers up to this size can be added up in 64 bits, a thousand at a time.
const SMALL: u32 = 1 << 26;

/// Squares that are added up in 64 bits: a thousand of [`SMALL`] stay below 2^63.
const SUMMED: usize = 1024;

/// The largest size of an integer.
#[multiversion(
    targets("x86_64+avx512bw+avx512dq+avx512f+avx512vl", "x86_64+avx2"),
    dispatcher = "direct"
)]
pub(crate) fn largest(integers: &[i32]) -> u32 {
    let sizes = integers.iter().map(|value| value.unsigned_abs());
    sizes.fold(0, u32::max)
}

/// The exact squared norm of integers whose size is at most `largest`.
pub(crate) fn squared_norm(integers: &[i32], largest: u32) -> u128 {
    if largest <= SMALL {
        let parts = integers.chunks(SUMMED).map(small_squared_norm);
        return parts.map(u128::from).sum();
    }
    // Two squares fit 64 bits.
    let parts = integers.chunks(2).map(|pair| {
        let squares = pair
            .iter()
            .map(|value| u64::from(value.unsigned_abs()).pow(2));
        u128::from(squares.sum::<u64>())
    });
    parts.sum()
}

#[multiversion(
    targets("x86_64+avx512bw+avx512dq+avx512f+avx512vl", "x86_64+avx2"),
    dispatcher = "direct"
)]
fn small_squared_norm(integers: &[i32]) -> u64 {
    let mut squared = 0u64;
    for value in integers {
        let size = u64::from(value.unsigned_abs());
        squared += size * size;
    }
    squared
}

/// Adds to each total its integer.
#[multiversion(
    targets("x86_64+avx512bw+avx512dq+avx512f+avx512vl", "x86_64+avx2"),
    dispatcher = "direct"
)]
pub(crate) fn add(totals: &mut [i64], integers: &[i32]) {
    for (total, value) in totals.iter_mut().zip(integers) {
        *total += i64::from(*value);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn integers_are_measured_and_added_one_by_one(
            some in prop::collection::vec(
                prop_oneof![4 => -5000i32..5000, 1 => any::<i32>(), 1 => Just(i32::MIN), 1 => Just(1 << 26)],
                1..100,
            ),
            length in 0usize..3000,
            total in -1_000_000i64..1_000_000,
        ) {
            let integers: Vec<i32> = some.into_iter().cycle().take(length).collect();
            let sizes = integers.iter().map(|value| u128::from(value.unsigned_abs()));
            let expected = sizes.clone().max().unwrap_or(0);
            let found = largest(&integers);
            prop_assert_eq!(u128::from(found), expected);
            prop_assert_eq!(squared_norm(&integers, found), sizes.map(|size| size * size).sum::<u128>());
            let mut totals = vec![total; length];
            add(&mut totals, &integers);
            let expected: Vec<i64> = integers.iter().map(|value| total + i64::from(*value)).collect();
            prop_assert_eq!(totals, expected);
        }
    }
}
