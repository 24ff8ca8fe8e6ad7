use num_traits::ToPrimitive;
use proptest::prelude::*;

use super::*;

fn thresholds(numerator: u64, denominator: u64, bits: u32) -> Cumulative {
    PoissonPiece {
        mean: Fraction {
            numerator: numerator.into(),
            denominator: denominator.into(),
        },
    }
    .cumulative(bits)
}

/// `P(X = 0) = exp(-mean)`, which the weights never mention.
#[test]
fn normalising_the_weights_recovers_the_exponential() {
    for (numerator, denominator) in [(1, 1_000), (1, 2), (4, 1), (71, 3)] {
        let bits = 128;
        let Cumulative { first, thresholds } = thresholds(numerator, denominator, bits);
        assert_eq!(first, 0);
        let exact = Enclosure::exp_negative(&numerator.into(), &denominator.into(), bits);
        assert!(thresholds[1].lower <= exact.upper && exact.lower <= thresholds[1].upper);
    }
}

#[test]
fn a_large_mean_lists_only_the_neighbourhood_of_its_mode() {
    let Cumulative { first, thresholds } = thresholds(1 << 18, 1, 128);
    assert!(first > 250_000 && thresholds.len() < 20_000);
    // The median of a Poisson law with an integer mean is the mean.
    let median = usize::try_from((1i64 << 18) - first).unwrap();
    let [before, after] =
        [median, median + 1].map(|i| thresholds[i].lower.to_f64().unwrap() / 2f64.powi(128));
    assert!(before < 0.5 && after > 0.5);
}

#[test]
fn a_mean_is_split_into_as_few_pieces_as_the_table_allows() {
    let pieces = |mean| Poisson::new(Ratio::from_integer(mean)).unwrap().n_pieces;
    assert_eq!(
        [
            pieces(1),
            pieces(1 << 18),
            pieces((1 << 18) + 1),
            pieces(1 << 20)
        ],
        [1, 1, 2, 4]
    );
}

proptest! {
    #[test]
    fn thresholds_ascend_to_one_and_are_narrow(
        numerator in 1u64..5_000, denominator in 1u64..50, bits in 64u32..140,
    ) {
        let Cumulative { thresholds, .. } = thresholds(numerator, denominator, bits);
        prop_assert!(thresholds.is_sorted_by_key(|threshold| &threshold.lower));
        let doubt = BigUint::from(16u8);
        prop_assert!(thresholds.iter().all(|threshold| &threshold.upper - &threshold.lower <= doubt));
        prop_assert!(&thresholds[thresholds.len() - 1].lower + doubt >= BigUint::one() << bits);
    }
}
