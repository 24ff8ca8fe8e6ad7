#![expect(clippy::float_cmp, reason = "powers of two and their sums are exact")]

use super::*;
use crate::participation::Participation;
use crate::shown::shown_delta;
use crate::test_support::small_sum;
use crate::{ApproxDp, Epsilon, Ledger, PrivacyUnit, Relation, Spending, SumPurchase};

fn shares(clients: u32, quorum: u32, colluders: u32) -> NoiseOrigin {
    NoiseOrigin::Shares(Participation::new(clients, quorum, colluders).unwrap())
}

fn delta(value: f64) -> Delta {
    Delta::try_from(value).unwrap()
}

fn purchase(origin: NoiseOrigin) -> SumPurchase {
    SumPurchase {
        origin,
        ..small_sum()
    }
}

#[test]
fn a_curator_runs_no_protocol() {
    assert_eq!(NoiseOrigin::Curator.protocol_failure(), 0.0);
    let smallest = delta(1e-300);
    assert_eq!(NoiseOrigin::Curator.noise_delta(smallest), Ok(smallest));
}

#[test]
fn a_random_graph_can_fail_and_a_complete_one_cannot() {
    let complete = 2f64.powi(-64);
    assert_eq!(shares(2, 2, 1).protocol_failure(), complete);
    assert_eq!(shares(40, 36, 2).protocol_failure(), complete);
    let random = 2f64.powi(-41) + complete;
    assert_eq!(shares(41, 37, 2).protocol_failure(), random);
    assert_eq!(shares(8000, 7200, 400).protocol_failure(), random);
    // 4096 attempts with 2^−53 each.
    let proofs = 4096.0 * 2f64.powi(-53);
    assert_eq!(NoiseOrigin::Trustees.protocol_failure(), proofs + complete);
    assert_eq!(
        LOG_GRAPH_FAILURE.exp2(),
        (-42.0 * core::f64::consts::LN_2).exp2()
    );
}

#[test]
fn a_delta_that_the_protocol_uses_up_is_refused_with_the_least() {
    for (origin, least) in [
        (shares(3, 3, 1), "above 5.422e-20"),
        (shares(50, 45, 2), "above 4.548e-13"),
        (NoiseOrigin::Trustees, "above 4.548e-13"),
    ] {
        let failure = origin.protocol_failure();
        assert_eq!(format!("above {}", shown_delta(failure)), least);
        for found in [1e-30, failure] {
            let refused = origin.noise_delta(delta(found)).unwrap_err().to_string();
            assert!(refused.contains(least), "{refused}");
        }
        let named = least.trim_start_matches("above ").parse::<f64>().unwrap();
        let left = origin.noise_delta(delta(named)).unwrap();
        assert!(left.get() + failure <= named);
    }
    let refused = shares(3, 3, 1).noise_delta(delta(1e-30)).unwrap_err();
    assert!(refused.to_string().starts_with("delta is 1e-30, but"));
}

#[test]
fn the_price_at_a_delta_is_that_of_the_noise_at_what_is_left_of_it() {
    for origin in [shares(3, 3, 1), shares(50, 45, 2)] {
        let expense = crate::Purchase::expense(&purchase(origin), Relation::ZeroOut).unwrap();
        let spending = Spending::default().and(expense).unwrap();
        let noise_alone = small_sum().plan.cost(origin, Relation::ZeroOut).unwrap();
        // So close to the failure probability that the difference is in the first digits.
        let total = delta(1.5 * origin.protocol_failure());
        let left = origin.noise_delta(total).unwrap();
        let stated = spending.to_approx_dp(total).unwrap();
        assert_eq!(stated.epsilon(), noise_alone.to_approx_dp(left).epsilon());
        assert!(stated.epsilon() > noise_alone.to_approx_dp(total).epsilon());
        assert_eq!(stated.delta(), total);
    }
}

#[test]
fn a_ledger_sells_nothing_at_a_delta_below_the_protocols() {
    let budget = ApproxDp::new(Epsilon::try_from(1e6).unwrap(), delta(1e-30));
    let open = || Ledger::open(budget, Relation::ZeroOut, PrivacyUnit::Record);
    let sold = open().spend("a sum", purchase(shares(3, 3, 1)));
    let refused = sold.unwrap_err().to_string();
    assert!(refused.contains("above 5.422e-20"), "{refused}");
    assert!(
        open()
            .spend("a sum", purchase(NoiseOrigin::Curator))
            .is_ok()
    );
}

#[test]
fn the_sums_of_one_study_fail_together_and_those_of_two_add_up() {
    let origin = shares(50, 45, 2);
    let expense = crate::Purchase::expense(&purchase(origin), Relation::ZeroOut).unwrap();
    let once = Spending::default().and(expense).unwrap();
    let twice = once.and(expense).unwrap();
    let failure = |spending: &Spending| spending.sums().unwrap().failure();
    assert_eq!(failure(&once), origin.protocol_failure());
    assert_eq!(failure(&twice), failure(&once));
    let two_studies = once.beside(&once).unwrap();
    assert_eq!(failure(&two_studies), 2.0 * failure(&once));
    let noise = |spending: &Spending| spending.sums().unwrap().squared_mu();
    assert_eq!(noise(&two_studies), noise(&twice));
}
