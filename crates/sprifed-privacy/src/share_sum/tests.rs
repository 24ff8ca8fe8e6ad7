use proptest::prelude::*;

use super::*;

fn shares(parameter: f64, count: u32) -> ShareSum {
    let share = DiscreteGaussian::with_parameter(parameter);
    ShareSum {
        share,
        count: NonZeroU32::new(count).unwrap(),
    }
}

fn epsilon(value: f64) -> Epsilon {
    Epsilon::try_from(value).unwrap()
}

#[test]
fn one_share_is_already_merged() {
    let one = shares(0.3, 1);
    assert!(one.merging_slack() <= 0.0);
    assert!(one.published_slack() <= 0.0);
    assert!(one.exact_log_ratio() <= 0.0);
}

#[test]
fn a_slack_of_wide_shares_is_small_but_not_lost() {
    // 4 exp(−π² σ²) for two shares; the ratio to more shares is nearly 1.
    for parameter in [25.0, 50.0, 64.0] {
        let leading = 4.0 * (-PI * PI * parameter).exp();
        for count in [2, 8000] {
            let ratio = shares(parameter, count).merging_slack() / leading;
            assert!((1.0 - 1e-11..1.0 + 1e-9).contains(&ratio), "{ratio}");
        }
    }
}

#[test]
fn a_bound_that_says_nothing_is_infinite() {
    assert!(shares(0.01, 2).merging_slack().is_infinite());
    assert!(shares(0.01, 2).lattice_bound().is_infinite());
    assert!(shares(0.01, 2).exact_log_ratio().is_finite());
}

#[test]
fn the_exact_ratio_is_the_same_from_either_description() {
    // Θ crosses 1/2 between these two, where the table takes over.
    let (below, above) = (shares(0.1421, 2), shares(0.1418, 2));
    assert!(below.exact_log_ratio() < above.exact_log_ratio());
    assert!(above.exact_log_ratio() < 1.02 * below.exact_log_ratio());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn every_bound_covers_the_exact_ratio(parameter in 0.2..6.0_f64, count in 2..20_u32) {
        let sum = shares(parameter, count);
        let exact = sum.exact_log_ratio();
        prop_assert!(exact <= sum.lattice_bound() * (1.0 + 1e-9));
        prop_assert!(exact <= sum.merging_slack() * (1.0 + 1e-9));
        if parameter >= 0.5 {
            prop_assert!(2.0 * sum.merging_slack() <= sum.published_slack());
        }
    }

    #[test]
    fn more_shares_never_have_less_slack(parameter in 0.5..6.0_f64, count in 2..50_u32) {
        let here = shares(parameter, count).merging_slack();
        prop_assert!(shares(parameter, count + 1).merging_slack() >= here);
    }

    #[test]
    fn the_sandwich_covers_the_exact_delta(
        parameter in 0.8..10.0_f64,
        count in 1..30_u32,
        shift in 1..10_u32,
        at in 0.0..3.0_f64,
    ) {
        let sum = shares(parameter, count);
        let total = parameter * f64::from(count);
        let smoothing = (total / 4.0).min(3.0);
        let mu = Mu::try_from(f64::from(shift) / (total - smoothing).sqrt()).unwrap();
        let slack = sum.merging_slack() + smoothing_slack(smoothing);
        let exact = sum.delta_of_shift(shift, epsilon(at));
        let bound = sandwich_delta(mu, slack, epsilon(at));
        prop_assert!(exact <= bound * (1.0 + 1e-10));
        // And so does its inverse: at the ε claimed for a δ, the exact δ is no larger.
        let delta = Delta::try_from(1e-5).unwrap();
        let claimed = sandwich_epsilon(mu, slack, delta);
        prop_assert!(sum.delta_of_shift(shift, epsilon(claimed)) <= 1e-5);
    }
}
