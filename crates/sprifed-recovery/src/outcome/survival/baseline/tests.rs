//! Hazards of counts by hand, and the standard errors of drawn noise.

use rand_core::Rng;
use sprifed_noise::NoiseGenerator;

use super::*;

fn block(values: impl Fn(usize) -> f64, noise_std_dev: f64) -> AnswerBlock {
    AnswerBlock {
        values: (0..TIME_BINS).map(values).collect(),
        noise_std_dev,
    }
}

#[test]
fn a_hazard_is_events_over_what_is_at_risk() {
    // 100 records leave in the first bin, 60 of them with the event, and 300 in the last.
    let left = |bin: usize| match bin {
        0 => 100.0,
        19 => 300.0,
        _ => 0.0,
    };
    let events = |bin: usize| match bin {
        0 => 60.0,
        19 => 30.0,
        _ => -2.0,
    };
    let found = Baseline::of(&block(events, 0.0), &block(left, 0.0), Counted::AsOne, 400);
    assert!((found.hazard[0] - 60.0 / 350.0).abs() < 1e-12);
    assert!((found.hazard[19] - 30.0 / 150.0).abs() < 1e-12);
    // Counts below zero are noise.
    assert!(found.hazard[1..19].iter().all(|hazard| *hazard == 0.0));
    assert!((found.event_share - (90.0 - 36.0) / 400.0).abs() < 1e-12);
    // The number of events alone makes the cumulative hazard uncertain.
    let first = 60.0 / 350.0f64.powi(2);
    assert!((found.std_errors[0] - first.sqrt()).abs() < 1e-12);
    let last = first + 30.0 / 150.0f64.powi(2);
    assert!((found.std_errors[19] - last.sqrt()).abs() < 1e-12);
}

#[test]
fn weights_are_in_units_of_the_largest_and_few_at_risk_are_five() {
    let third = |_| 1.0 / 3.0;
    let found = Baseline::of(
        &block(|_| 0.5, 0.0),
        &block(third, 0.0),
        Counted::ByRisk,
        20,
    );
    assert!((found.hazard[0] - 0.5 / 19.5).abs() < 1e-12);
    assert!((found.hazard[19] - 0.5 / 5.0).abs() < 1e-12);
    let nothing = Baseline::of(
        &block(|_| -1.0, 0.0),
        &block(third, 0.0),
        Counted::AsOne,
        20,
    );
    assert!((nothing.event_share - 0.05).abs() < 1e-12);
}

/// A sum of twelve uniform numbers, less six.
fn normal(generator: &mut NoiseGenerator) -> f64 {
    let uniform =
        |generator: &mut NoiseGenerator| f64::from(generator.next_u32()) / f64::from(u32::MAX);
    (0..12).map(|_| uniform(generator)).sum::<f64>() - 6.0
}

/// docs/proofs/event_times.md#4-what-follows-costs-nothing: the noise of 3,000 answers, without the part of the events.
#[test]
fn standard_errors_are_those_of_drawn_noise() {
    let events = |bin: usize| 40.0 - bin as f64;
    let left = |bin: usize| 60.0 + 5.0 * bin as f64;
    let (of_events, of_left) = (4.0, 9.0);
    let exact = Baseline::of(
        &block(events, of_events),
        &block(left, of_left),
        Counted::AsOne,
        3000,
    );
    let cumulative = |found: &Baseline, last: usize| found.hazard[..=last].iter().sum::<f64>();
    let mut generator = NoiseGenerator::simulated(5);
    let draws: Vec<Baseline> = (0..3000)
        .map(|_| {
            let mut noisy = |of: &dyn Fn(usize) -> f64, noise: f64| {
                let values: Vec<f64> = (0..TIME_BINS)
                    .map(|bin| of(bin) + noise * normal(&mut generator))
                    .collect();
                block(|bin| values[bin], noise)
            };
            let (events, left) = (noisy(&events, of_events), noisy(&left, of_left));
            Baseline::of(&events, &left, Counted::AsOne, 3000)
        })
        .collect();
    for last in [0, 5, 12, 17] {
        let spread = draws
            .iter()
            .map(|draw| (cumulative(draw, last) - cumulative(&exact, last)).powi(2));
        let spread = spread.sum::<f64>() / 3000.0;
        let mut counted = 0.0;
        let mut later: f64 = (0..TIME_BINS).map(left).sum();
        for bin in 0..=last {
            let risk = later - left(bin) / 2.0;
            counted += events(bin) / risk.powi(2);
            later -= left(bin);
        }
        let expected = exact.std_errors[last].powi(2) - counted;
        // A variance of 3,000 draws has a standard error of 2.6 %.
        assert!(
            (spread / expected - 1.0).abs() < 0.1,
            "{last}: {spread} for {expected}"
        );
    }
}
