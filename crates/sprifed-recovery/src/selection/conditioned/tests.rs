use super::super::normal::cumulative;
use super::super::tests::Draws;
use super::*;

/// Nothing is selected: the law is normal.
struct Everything;

impl Selection for Everything {
    fn log_weight(&self, _coefficient: f64, _estimate: f64) -> f64 {
        0.0
    }
}

fn law<S: Selection>(selection: &S, std_error: f64) -> ConditionalLaw<'_, S> {
    ConditionalLaw {
        selection,
        std_error,
    }
}

fn estimate(value: f64) -> Estimate {
    Estimate {
        value,
        sampling_variance: 0.6,
        variance: 0.8,
    }
}

fn pooled(value: f64, ratio: f64, least: f64) -> PooledEstimate {
    PooledEstimate {
        value,
        variance: 1.0,
        largest_ratio_left_out: ratio,
        largest_estimate_left_out: least,
    }
}

#[test]
fn without_a_selection_the_law_is_normal() {
    let law = law(&Everything, 2.0);
    for (coefficient, value) in [(0.0, 1.0), (3.0, -2.0), (-1.0, -1.0), (0.0, 9.0)] {
        let expected = cumulative((value - coefficient) / 2.0);
        let shares = law.shares(coefficient, value);
        assert!((shares.below - expected).abs() < 1e-12);
        assert!((shares.below + shares.above - 1.0).abs() < 1e-15);
    }
    let interval = law.interval(1.0, 0.05);
    assert!((interval.low - (1.0 - 2.0 * 1.959_963_984_54)).abs() < 1e-6);
    assert!((interval.high - (1.0 + 2.0 * 1.959_963_984_54)).abs() < 1e-6);
}

#[test]
fn a_cut_estimate_has_the_law_of_a_cut_normal_variable() {
    // With U independent of T only the cut |T| ≥ t_T is left.
    let independent = Estimate {
        value: 2.4,
        sampling_variance: 0.0,
        variance: 1.0,
    };
    let selection = PooledSelection::new(&pooled(5.0, 3.0, 2.0), &independent);
    let tail = |x: f64| cumulative(-x);
    let expected = tail(2.4) / (2.0 * tail(2.0));
    let shares = law(&selection, 1.0).shares(0.0, 2.4);
    assert!((shares.above - expected).abs() < 1e-12, "{shares:?}");
    assert!((selection.p_value(&independent) - 2.0 * expected).abs() < 1e-12);
}

#[test]
fn p_values_fall_with_the_estimate_and_mirror_it() {
    let mut last = 1.0;
    for step in 1..40 {
        let value = f64::from(step) / 5.0;
        let positive = PooledSelection::new(&pooled(4.0, 3.2, 0.0), &estimate(value));
        let p = positive.p_value(&estimate(value));
        let negative = PooledSelection::new(&pooled(-4.0, 3.2, 0.0), &estimate(-value));
        let mirrored = negative.p_value(&estimate(-value));
        assert!((p - mirrored).abs() <= 1e-9 * p, "{value}: {p}, {mirrored}");
        assert!(
            (0.0..=1.0).contains(&p) && p < last,
            "{value}: {p} after {last}"
        );
        last = p;
    }
}

#[test]
fn a_higher_bar_makes_a_larger_p_value() {
    let mut last = 0.0;
    for bar in [0.0, 1.0, 2.0, 3.0, 3.9] {
        let p =
            PooledSelection::new(&pooled(4.0, bar, 0.0), &estimate(2.5)).p_value(&estimate(2.5));
        assert!(p > last, "{bar}: {p} after {last}");
        last = p;
    }
    let ordinary = 2.0 * cumulative(-2.5 / 0.8_f64.sqrt());
    let open = PooledSelection::new(&pooled(4.0, 0.0, 0.0), &estimate(2.5));
    assert!((open.p_value(&estimate(2.5)) - ordinary).abs() < 1e-10);
}

#[test]
fn a_bar_that_was_not_reached_is_lowered_to_what_was() {
    let missed = PooledSelection::new(&pooled(2.0, 3.0, 1.5), &estimate(1.0));
    let reached = PooledSelection::new(&pooled(2.0, 2.0, 1.0), &estimate(1.0));
    let (missed, reached) = (
        missed.p_value(&estimate(1.0)),
        reached.p_value(&estimate(1.0)),
    );
    assert!((missed - reached).abs() < 1e-6, "{missed}, {reached}");
}

#[test]
fn an_interval_shrinks_with_its_level_and_mirrors_its_estimate() {
    let selection = PooledSelection::new(&pooled(3.5, 3.2, 0.0), &estimate(2.5));
    let law = law(&selection, 0.8_f64.sqrt());
    let mut last = Interval::WHOLE;
    for level in [0.001, 0.01, 0.05, 0.2, 0.5] {
        let (found, mirrored) = (law.interval(2.5, level), law.interval(-2.5, level));
        assert!(found.low > last.low && found.high < last.high, "{level}");
        assert!((found.low + mirrored.high).abs() < 1e-6);
        assert!((found.high + mirrored.low).abs() < 1e-6);
        last = found;
    }
}

#[test]
fn the_share_below_falls_with_the_coefficient() {
    for bar in [0.0, 2.0, 5.0] {
        let selection = PooledSelection::new(&pooled(5.5, bar, 1.0), &estimate(2.5));
        let law = law(&selection, 0.8_f64.sqrt());
        let mut last = 2.0;
        for step in -40..=30 {
            let below = law.shares(f64::from(step) / 4.0, 2.5).below;
            assert!(below <= last, "{bar}, {step}: {below} after {last}");
            last = below;
        }
    }
}

/// A preference that moves the mean of an estimate up by 20 standard errors.
struct Preference;

impl Selection for Preference {
    fn log_weight(&self, _coefficient: f64, estimate: f64) -> f64 {
        20.0 * estimate - 2000.0
    }
}

#[test]
fn an_end_that_is_not_met_is_the_limit_of_the_search() {
    let law = law(&Preference, 1.0);
    let met = law.interval(5.0, 1e-12);
    assert!((met.low + 7.0).abs() < 1e-12, "{met:?}");
    let beyond = law.interval(5.0, 0.05);
    assert!((beyond.low + 7.0).abs() < 1e-12 && (beyond.high + 7.0).abs() < 1e-12);
    assert!((law.shares(-15.0, 5.0).below - 0.5).abs() < 1e-9);
}

#[test]
fn an_estimate_at_its_bar_says_nothing_against_zero() {
    // Both signs are equally likely beyond the bar.
    let value = 4.000_01;
    let selection = PooledSelection::new(&pooled(9.0, 0.0, 4.0), &estimate(value));
    assert!(selection.p_value(&estimate(value)) > 0.999);
    assert!(
        law(&selection, 0.8_f64.sqrt())
            .interval(value, 0.05)
            .contains(0.0)
    );
}

#[test]
fn what_is_no_estimate_has_the_p_value_one() {
    for (pooled, estimate) in [
        (pooled(f64::NAN, 3.0, 0.0), estimate(9.0)),
        (
            pooled(4.0, f64::NAN, 0.0),
            Estimate {
                variance: f64::NAN,
                ..estimate(9.0)
            },
        ),
        (
            PooledEstimate {
                variance: 0.0,
                ..pooled(4.0, 3.0, 0.0)
            },
            estimate(9.0),
        ),
    ] {
        let p = PooledSelection::new(&pooled, &estimate).p_value(&estimate);
        assert!(p >= 1.0, "{pooled:?}: {p}");
    }
}

/// 10,000 selected pairs (U, T): p is uniform, and the interval covers in 95 %. Each limit is five
/// standard errors of 0.0022, so the test fails by chance with probability below 1e-5.
#[test]
fn selected_estimates_have_uniform_p_values_and_covering_intervals() {
    for (seed, coefficient, least) in [(5, 0.0, 0.0), (6, 0.0, 1.5), (7, 1.2, 0.0)] {
        let (mut small, mut covered, mut selected) = (0.0, 0.0, 0.0);
        let mut draws = Draws::of(seed);
        // cov(U, T) = V_s = 0.6, V_U = 1, V = 0.8.
        let rest = (1.0 - 0.36 / 0.8_f64).sqrt();
        while selected < 10_000.0 {
            let value = coefficient + 0.8_f64.sqrt() * draws.normal();
            let mean = coefficient + 0.75 * (value - coefficient);
            let score = mean + rest * draws.normal();
            if score.abs() <= 1.8 || value.abs() <= least {
                continue;
            }
            selected += 1.0;
            let selection = PooledSelection::new(&pooled(score, 1.8, least), &estimate(value));
            let shares = law(&selection, 0.8_f64.sqrt()).shares(coefficient, value);
            let p = 2.0 * smaller(shares.below, shares.above);
            small += f64::from(u8::from(p < 0.05));
            covered += f64::from(u8::from(shares.below > 0.025 && shares.above > 0.025));
        }
        let share = small / selected;
        assert!(
            (share - 0.05).abs() < 0.0109,
            "{coefficient}, {least}: {share}"
        );
        assert!((covered / selected - 0.95).abs() < 0.0109);
    }
}
