//! Checks that accept a correct sampler with probability `1 - FALSE_ALARM`.
//!
//! They return a result instead of panicking, so that `impostors` can assert that they refuse.

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

/// The chance that one check refuses a sampler that is right.
pub(crate) const FALSE_ALARM: f64 = 1e-6;

/// Draws per check, unless a tail needs more.
pub(crate) const N_DRAWS: usize = 200_000;

/// Why a check refused.
#[derive(Debug)]
pub(crate) struct Misfit {
    #[expect(dead_code, reason = "read by the assertion that prints it")]
    pub(crate) reason: String,
}

pub(crate) fn generator(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

/// A run of outcomes and the probability the law gives it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bin {
    pub(crate) from: i64,
    pub(crate) to: i64,
    pub(crate) probability: f64,
}

/// Pearson's test of the draws against bins that cover the integers.
pub(crate) fn check_bins(draws: &[i64], bins: &[Bin]) -> Result<(), Misfit> {
    let mut counts = vec![0u32; bins.len()];
    for draw in draws {
        let bin = bins.partition_point(|bin| bin.to < *draw);
        assert!(bins[bin].from <= *draw, "the bins do not cover {draw}");
        counts[bin] += 1;
    }
    let statistic: f64 = counts
        .iter()
        .zip(bins)
        .map(|(&count, bin)| {
            let expected = bin.probability * draws.len() as f64;
            (f64::from(count) - expected).powi(2) / expected
        })
        .sum();
    refuse_if_unlikely(chi_square_tail(statistic, bins.len() - 1), || {
        format!("chi-square {statistic} over {} bins", bins.len())
    })
}

/// Pearson's test that two samplers have one law, over the same bins.
pub(crate) fn check_agreement(left: &[i64], right: &[i64], bins: &[Bin]) -> Result<(), Misfit> {
    assert_eq!(left.len(), right.len());
    let count = |draws: &[i64], bin: &Bin| {
        draws
            .iter()
            .filter(|draw| (bin.from..=bin.to).contains(draw))
            .count() as f64
    };
    let statistic: f64 = bins
        .iter()
        .map(|bin| {
            let (left, right) = (count(left, bin), count(right, bin));
            (left - right).powi(2) / (left + right)
        })
        .sum();
    refuse_if_unlikely(chi_square_tail(statistic, bins.len() - 1), || {
        format!("two-sample chi-square {statistic} over {} bins", bins.len())
    })
}

/// Mean and variance of a symmetric law, against their own sampling deviations.
pub(crate) fn check_moments(draws: &[i64], variance: f64, kurtosis: f64) -> Result<(), Misfit> {
    let n_draws = draws.len() as f64;
    let mean = draws.iter().map(|&draw| draw as f64).sum::<f64>() / n_draws;
    let second = draws.iter().map(|&draw| (draw as f64).powi(2)).sum::<f64>() / n_draws;
    let mean_score = mean / (variance / n_draws).sqrt();
    let second_score = (second / variance - 1.0) / ((kurtosis - 1.0) / n_draws).sqrt();
    for (name, score) in [("mean", mean_score), ("variance", second_score)] {
        refuse_if_unlikely(puruspe::erfc(score.abs() / 2f64.sqrt()), || {
            format!("the {name} is {score} deviations off")
        })?;
    }
    Ok(())
}

/// The number of draws beyond a point, against the Poisson law of a rare count.
pub(crate) fn check_rare(count: usize, expected: f64) -> Result<(), Misfit> {
    let at_least = if count == 0 {
        1.0
    } else {
        puruspe::gammp(count as f64, expected)
    };
    let at_most = puruspe::gammq(count as f64 + 1.0, expected);
    refuse_if_unlikely(2.0 * at_least.min(at_most), || {
        format!("{count} of {expected} expected")
    })
}

/// The rule of `vectors/samplers.json` for a single probability.
pub(crate) fn check_frequency(
    count: usize,
    n_draws: usize,
    probability: f64,
) -> Result<(), Misfit> {
    let deviation = (probability * (1.0 - probability) / n_draws as f64).sqrt();
    let frequency = count as f64 / n_draws as f64;
    if (frequency - probability).abs() > 6.0 * deviation {
        let reason = format!("frequency {frequency}, probability {probability}");
        return Err(Misfit { reason });
    }
    Ok(())
}

/// Neighbouring outcomes merged until each bin expects a two-hundredth of the draws.
pub(crate) fn bins_of(
    outcomes: std::ops::RangeInclusive<i64>,
    mass: impl Fn(i64) -> f64,
) -> Vec<Bin> {
    let mut bins = Vec::new();
    let (mut from, mut probability) = (i64::MIN, 0.0);
    for outcome in outcomes {
        probability += mass(outcome);
        if probability >= 0.005 {
            bins.push(Bin {
                from,
                to: outcome,
                probability,
            });
            (from, probability) = (outcome + 1, 0.0);
        }
    }
    let last = bins.last_mut().expect("a law has mass");
    last.to = i64::MAX;
    last.probability += probability;
    bins
}

/// `P(X = x)` of the discrete Gaussian; the total in closed form where that is exact to a float.
pub(crate) fn gaussian_mass(variance_parameter: f64) -> impl Fn(i64) -> f64 {
    let weight = move |x: i64| (-(x as f64).powi(2) / (2.0 * variance_parameter)).exp();
    let total = if variance_parameter > 30.0 {
        (std::f64::consts::TAU * variance_parameter).sqrt()
    } else {
        (-200..=200).map(weight).sum()
    };
    move |x| weight(x) / total
}

/// Bins of the discrete Gaussian with 12 deviations listed on either side.
pub(crate) fn gaussian_bins(variance_parameter: f64) -> Vec<Bin> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "twelve deviations are far below 2^63"
    )]
    let reach = (12.0 * variance_parameter.sqrt()).ceil() as i64 + 2;
    bins_of(-reach..=reach, gaussian_mass(variance_parameter))
}

fn chi_square_tail(statistic: f64, degrees_of_freedom: usize) -> f64 {
    puruspe::gammq(degrees_of_freedom as f64 / 2.0, statistic / 2.0)
}

fn refuse_if_unlikely(p_value: f64, reason: impl Fn() -> String) -> Result<(), Misfit> {
    if p_value < FALSE_ALARM {
        return Err(Misfit {
            reason: format!("{} (p = {p_value:e})", reason()),
        });
    }
    Ok(())
}

/// With `2m` degrees of freedom the tail is `exp(-x/2) · Σ_{i<m} (x/2)^i / i!`.
#[test]
fn the_p_value_of_chi_square_matches_its_closed_form() {
    assert!((chi_square_tail(2.0 * 1e6f64.ln(), 2) / 1e-6 - 1.0).abs() < 1e-9);
    for (half_degrees, statistic) in [(5u32, 47.0), (20, 110.0), (100, 320.0)] {
        let mut term = (-statistic / 2.0f64).exp();
        let mut tail = term;
        for i in 1..half_degrees {
            term *= statistic / 2.0 / f64::from(i);
            tail += term;
        }
        let computed = chi_square_tail(statistic, 2 * half_degrees as usize);
        assert!(
            (computed / tail - 1.0).abs() < 1e-6,
            "{computed:e} for {tail:e}"
        );
    }
}
