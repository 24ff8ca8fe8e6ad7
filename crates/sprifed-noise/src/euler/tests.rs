use num_traits::ToPrimitive;

use super::*;
use crate::inversion::{Cumulative, RefinableLaw};

/// Rates from the steepest to a shallow one, proper fractions among them.
const RATES: [(u128, u128); 6] = [(1, 1), (3, 10), (1, 16), (1, 128), (7, 1_000), (1, 2_048)];

fn half(rate: (u128, u128)) -> (SmallJumps, LargeJumps) {
    laws(Ratio::new(rate.0, rate.1), Ratio::new(1, 2)).expect("in range")
}

fn to_float(rate: (u128, u128)) -> f64 {
    rate.0.to_f64().expect("small") / rate.1.to_f64().expect("small")
}

/// `ν_m` in floating point.
fn jump_mean(rate: f64, jump: f64) -> f64 {
    1.0 / (jump * (rate * jump).exp_m1())
}

/// The mean that the tables give to a jump, over the exact `r ν_m`, less one, by big integers.
///
/// The size of a jump is drawn exactly by its weight, so this is one number for all large jumps.
#[test]
fn the_mean_of_large_jumps_is_rounded_up_only_in_proportion() {
    for rate in RATES {
        let (small, large) = half(rate);
        let bits = 256;
        let weights = large.weights(bits);
        let total: BigUint = weights.iter().map(|weight| &weight.lower).sum();
        let most: BigUint = weights.iter().map(|weight| &weight.upper).sum();
        let first = decay(&large.rate, large.after + 1, bits);
        let drawn = large.rounded_mean(&small.share, &large.sums());
        // drawn / (r q^(m₀+1) Σ weights) between 1 and 1 + 2^-38, cross-multiplied.
        let drawn = (drawn.numerator << (2 * bits)) * 2u8 / drawn.denominator;
        assert!(drawn >= &most * &first.upper, "rate {rate:?}");
        let exact = total * &first.lower;
        assert!(drawn <= &exact + (&exact >> 38), "rate {rate:?}");
    }
}

/// Every jump up to `75/rate` is drawn, with a mean from `r ν_m` to `r ν_m (1 + 2^-38)`.
#[test]
fn every_jump_up_to_the_last_has_its_weight() {
    for rate in RATES {
        let (small, large) = half(rate);
        assert_eq!(small.largest, large.after);
        let last = (75.0 / to_float(rate)).ceil().to_u64().expect("positive");
        assert_eq!(large.largest, last);
        let weights = large.weights(192);
        assert_eq!(weights.len() as u64, last - small.largest);
        let relative = (to_float(rate) * (large.after + 1) as f64).exp();
        for (jump, weight) in (large.after + 1..).zip(&weights) {
            let width = &weight.upper - &weight.lower;
            assert!(width << 60 <= weight.lower, "jump {jump} of {rate:?}");
            let found = weight.lower.to_f64().expect("finite") / 2f64.powi(192);
            let exact = jump_mean(to_float(rate), jump as f64) * relative;
            assert!(
                (found / exact - 1.0).abs() < 1e-11,
                "{jump}: {found} {exact}"
            );
        }
    }
}

#[test]
fn machine_words_enclose_the_thresholds_of_large_jumps() {
    for rate in RATES {
        let (_, large) = half(rate);
        let words = large.prefix_cumulative(&large.sums());
        let exact = large.cumulative(128);
        assert_eq!(words.first, exact.first);
        assert_eq!(words.floors.len(), exact.thresholds.len());
        let mut widest = 0;
        for (index, threshold) in exact.thresholds.iter().enumerate() {
            let (floor, ceiling) = (words.floors[index], words.ceilings[index]);
            assert!(BigUint::from(floor) << 65 <= threshold.upper);
            assert!(BigUint::from(ceiling) << 65 >= threshold.lower);
            widest = widest.max(ceiling - floor);
        }
        assert!(widest < 1 << 14, "doubt {widest} at {rate:?}");
    }
}

/// The recursion against a product of Poisson laws, where there are two jumps.
#[test]
fn the_weights_of_small_jumps_are_those_of_their_poisson_draws() {
    let (mut small, _) = half((3, 10));
    small.largest = 2;
    let Cumulative { first, thresholds } = small.cumulative(128);
    assert_eq!(first, 0);
    let [single, double] = [1.0, 2.0].map(|jump| jump_mean(0.3, jump) / 2.0);
    let poisson = |mean: f64, count: u32| {
        (1..=count).fold((-mean).exp(), |mass, k| mass * mean / f64::from(k))
    };
    let mut cumulative = 0.0;
    for outcome in 0..30u32 {
        let masses = (0..=outcome / 2)
            .map(|pairs| poisson(double, pairs) * poisson(single, outcome - 2 * pairs));
        cumulative += masses.sum::<f64>();
        let found = thresholds[outcome as usize + 1]
            .lower
            .to_f64()
            .expect("finite");
        assert!((found / 2f64.powi(128) - cumulative).abs() < 1e-14);
    }
}

#[test]
fn thresholds_of_small_jumps_ascend_to_one_and_are_narrow() {
    for rate in RATES {
        let (small, _) = half(rate);
        for bits in [64, 128, 200] {
            let Cumulative { thresholds, .. } = small.cumulative(bits);
            assert!(thresholds.is_sorted_by_key(|threshold| &threshold.lower));
            let doubt = BigUint::from(16u8);
            let width = |threshold: &Enclosure| &threshold.upper - &threshold.lower;
            assert!(thresholds.iter().all(|threshold| width(threshold) <= doubt));
            assert!(&thresholds[thresholds.len() - 1].lower + doubt >= BigUint::one() << bits);
        }
    }
}

/// `P(share ≥ 2^bits)` from the means that the sampler uses, large jumps raised by 2^-38, by the
/// recursion of their generating function. At 3/10 and 1/100 the clamp is hardly above its bound.
#[test]
fn a_share_reaches_its_clamp_with_probability_below_e_to_the_minus_74() {
    for rate in [(1u32, 1u32), (3, 10), (1, 16), (1, 100)] {
        let law = sprifed_privacy::SelectionLaw::Euler;
        let bits = law
            .share_bits(Ratio::new(rate.0, rate.1))
            .expect("in range");
        let (small, large) = half((rate.0.into(), rate.1.into()));
        let rate = f64::from(rate.0) / f64::from(rate.1);
        let raised = |jump: u64| {
            if jump > small.largest {
                1.0 + 2f64.powi(-38)
            } else {
                1.0
            }
        };
        let odds: Vec<f64> = (1..=large.largest)
            .map(|jump| jump_mean(rate, jump as f64) / 2.0 * jump as f64 * raised(jump))
            .collect();
        let none: f64 = (1..)
            .zip(&odds)
            .map(|(jump, odds)| odds / f64::from(jump))
            .sum();
        let clamp = 1usize << bits;
        let mut masses = vec![(-none).exp()];
        for outcome in 1..clamp + 10 * clamp / 75 {
            let terms = odds.iter().zip(masses.iter().rev());
            let sum: f64 = terms.map(|(odds, mass)| odds * mass).sum();
            masses.push(sum / outcome as f64);
        }
        let log_tail = masses[clamp..].iter().sum::<f64>().ln();
        assert!(
            log_tail < -74.0 && log_tail > -200.0,
            "ln P = {log_tail} at {rate}"
        );
    }
}

#[test]
fn draws_repeat_with_their_seed_and_stay_below_the_clamp() {
    let sampler = EulerShare::new(Ratio::new(1, 128), Ratio::new(1, 2)).expect("in range");
    let draw = |sampler: &EulerShare, seed| {
        let mut out = [0; 500];
        sampler.fill(&mut out, &mut crate::NoiseGenerator::simulated(seed));
        out
    };
    assert_eq!(draw(&sampler, 1), draw(&sampler, 1));
    assert_ne!(draw(&sampler, 1), draw(&sampler, 2));
    let clamped = draw(&sampler.clone().clamped_at(255), 1);
    for (free, clamped) in draw(&sampler, 1).iter().zip(clamped) {
        assert_eq!(clamped, *free.min(&255));
    }
}
