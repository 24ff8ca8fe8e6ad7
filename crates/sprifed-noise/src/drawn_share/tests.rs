use sprifed_privacy::test_support::{generous_ledger, small_choice_of_trustees, small_sum};

use super::*;

fn choice(law: SelectionLaw, trustee: Trustee, seed: u64) -> Vec<i64> {
    let purchase = SelectionPurchase {
        law,
        candidates: 2_000,
        ..small_choice_of_trustees()
    };
    let permit = generous_ledger().spend("a choice", purchase).unwrap();
    let mut generator = NoiseGenerator::simulated(seed);
    let share = DrawnShare::for_choice(permit, trustee, &mut generator).unwrap();
    assert_eq!(share.provenance(), Provenance::Simulated);
    assert_eq!(format!("{share:?}"), "DrawnShare(2000 integers)");
    share.into_dealt()
}

#[test]
fn every_trustee_deals_euler_noise_and_two_deal_gumbel_noise() {
    for (seed, trustee) in (1..).zip(Trustee::ALL) {
        assert!(
            choice(SelectionLaw::Euler, trustee, seed)
                .iter()
                .any(|noise| *noise > 0)
        );
        let deals = choice(SelectionLaw::FloorGumbel, trustee, seed)
            .iter()
            .any(|noise| *noise > 0);
        assert_eq!(deals, trustee != Trustee::Third);
    }
}

#[test]
fn shares_of_a_choice_fit_their_bits() {
    for law in [SelectionLaw::Euler, SelectionLaw::FloorGumbel] {
        let (numerator, denominator) = small_choice_of_trustees().noise_rate;
        let bits = law.share_bits(Ratio::new(numerator, denominator)).unwrap();
        let dealt = choice(law, Trustee::First, 5);
        assert!(dealt.iter().all(|noise| (0..1 << bits).contains(noise)));
    }
}

#[test]
fn a_curator_and_a_trustee_cannot_draw_each_others_noise() {
    let curator = SelectionPurchase {
        law: SelectionLaw::Curator,
        ..small_choice_of_trustees()
    };
    let permit = |purchase| generous_ledger().spend("a choice", purchase).unwrap();
    let mut generator = NoiseGenerator::simulated(1);
    let refused = DrawnShare::for_choice(permit(curator), Trustee::First, &mut generator);
    assert!(matches!(
        refused,
        Err(NoiseParameterError::OtherDealer { .. })
    ));
    let refused = crate::DrawnSelection::draw(permit(small_choice_of_trustees()), &mut generator);
    assert!(matches!(
        refused,
        Err(NoiseParameterError::OtherDealer { .. })
    ));
    let sum = generous_ledger().spend("a sum", small_sum()).unwrap();
    let refused = DrawnShare::for_sum(sum, &mut generator);
    assert!(matches!(
        refused,
        Err(NoiseParameterError::OtherDealer { .. })
    ));
}

#[test]
fn three_shares_of_a_sum_have_three_times_the_variance_of_one() {
    let mut purchase = small_sum();
    purchase.origin = NoiseOrigin::Trustees;
    let variance = purchase.plan.blocks[0].share_variance.to_f64();
    let mut total = 0.0;
    let n_draws = 6_000;
    for seed in 0..n_draws {
        let shares = (0..3u64).map(|trustee| {
            let permit = generous_ledger().spend("a sum", purchase.clone()).unwrap();
            let mut generator = NoiseGenerator::simulated(3 * seed + trustee);
            let share = DrawnShare::for_sum(permit, &mut generator)
                .unwrap()
                .into_dealt();
            assert_eq!(share.len() as u64, purchase.plan.coordinates());
            share[0]
        });
        #[expect(clippy::cast_precision_loss, reason = "small integers")]
        let sum = shares.sum::<i64>() as f64;
        total += sum * sum;
    }
    // The mean of n squares has a relative deviation of √(2/n) = 1.8 %; five of them is a false alarm
    // of 6e-7, and the seeds are fixed.
    #[expect(clippy::cast_precision_loss, reason = "a small count")]
    let ratio = total / n_draws as f64 / (3.0 * variance);
    assert!((ratio - 1.0).abs() < 0.09, "{ratio}");
}
