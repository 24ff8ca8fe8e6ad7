use sprifed_privacy::test_support::{choice_of_a_curator, generous_ledger, small_sum};
use sprifed_privacy::{
    Block, IntegerBounds, NoiseVariance, Participation, RecordPart, SelectionPurchase, SumPlan,
};

use super::*;

fn simulated(seed: u64) -> NoiseGenerator {
    NoiseGenerator::simulated(seed)
}

#[test]
fn a_curators_release_is_a_private_sum_and_a_share_is_not() {
    let mut ledger = generous_ledger();
    let curator = ledger.spend("curator", small_sum()).expect("affordable");
    let participation = Participation::new(10, 8, 1).expect("legal");
    let mut purchase = small_sum();
    purchase.origin = NoiseOrigin::Shares(participation);
    let share = ledger.spend("share", purchase.clone()).expect("affordable");
    for (permit, is_private) in [(curator, true), (share, false)] {
        let noise = DrawnNoise::draw(permit, &mut simulated(3)).expect("drawable");
        let noised = noise
            .release(BoundedSum::zero(purchase.plan.clone()))
            .expect("same plan");
        assert_eq!(noised.into_private_sum().is_some(), is_private);
    }
}

#[test]
fn a_secure_sum_is_private_only_with_its_quorum_and_its_length() {
    let participation = Participation::new(10, 8, 1).expect("legal");
    let unmasked = |survivors, values| {
        let plan = small_sum().plan;
        PrivateSum::assume_unmasked_from(
            survivors,
            participation,
            plan,
            values,
            Provenance::Simulated,
        )
    };
    assert!(unmasked(7, vec![1, 2, 3]).is_none());
    assert!(unmasked(11, vec![1, 2, 3]).is_none());
    assert!(unmasked(8, vec![1, 2]).is_none());
    assert_eq!(
        unmasked(8, vec![1, 2, 3]).expect("a quorum").values(),
        [1, 2, 3]
    );
}

#[test]
fn a_sum_of_another_plan_does_not_get_out() {
    let mut ledger = generous_ledger();
    let permit = ledger
        .spend("three numbers", small_sum())
        .expect("affordable");
    let noise = DrawnNoise::draw(permit, &mut simulated(3)).expect("drawable");
    let mut other = small_sum().plan;
    other.blocks[0].bounds = IntegerBounds::Box {
        bound: 5,
        squares: 0,
    };
    let refused = noise.release(BoundedSum::zero(other));
    assert!(matches!(refused, Err(ReleaseError::OtherPlan { .. })));
}

#[test]
fn a_simulated_seed_is_remembered_to_the_end() {
    let mut ledger = generous_ledger();
    for (mut generator, provenance) in [
        (simulated(1), Provenance::Simulated),
        (
            NoiseGenerator::assume_fresh_entropy([7; 32]),
            Provenance::Cryptographic,
        ),
    ] {
        let permit = ledger
            .spend("three numbers", small_sum())
            .expect("affordable");
        let noise = DrawnNoise::draw(permit, &mut generator).expect("drawable");
        let noised = noise
            .release(BoundedSum::zero(small_sum().plan))
            .expect("same plan");
        let answer = noised.into_private_sum().expect("a curator's");
        assert_eq!(answer.provenance(), provenance);
    }
}

#[test]
fn the_noise_of_a_release_has_the_variance_that_was_paid_for() {
    let mut ledger = generous_ledger();
    let mut purchase = small_sum();
    purchase.plan.blocks[0].coordinates = 20_000;
    purchase.plan.blocks[0].bounds = IntegerBounds::Ball {
        bound: 1,
        squared_norm: 1,
    };
    let permit = ledger
        .spend("many numbers", purchase.clone())
        .expect("affordable");
    let noise = DrawnNoise::draw(permit, &mut simulated(11)).expect("drawable");
    let noised = noise
        .release(BoundedSum::zero(purchase.plan))
        .expect("same plan");
    #[expect(clippy::cast_precision_loss, reason = "small integers")]
    let squares: f64 = noised
        .values()
        .iter()
        .map(|value| (*value as f64).powi(2))
        .sum();
    // The mean of 20,000 squares has a relative deviation of 1 %; five of them is a false alarm
    // of 6e-7, and the seed is fixed.
    assert!(
        (squares / 20_000.0 / 400.0 - 1.0).abs() < 0.05,
        "variance {}",
        squares / 20_000.0
    );
}

#[test]
fn a_clear_winner_is_chosen_and_ties_without_noise_go_to_the_first() {
    let mut ledger = generous_ledger();
    let share_variance = NoiseVariance::try_from("25".to_owned()).expect("a legal variance");
    let block = Block {
        name: "scores".to_owned(),
        coordinates: 3,
        bounds: IntegerBounds::Box {
            bound: 1000,
            squares: 0,
        },
        share_variance,
    };
    let plan = SumPlan {
        blocks: vec![block],
        part: RecordPart::All,
    };
    let purchase = choice_of_a_curator(3, 1000, (1, 2000));
    for seed in 0..20 {
        let permit = ledger.spend("a pick", purchase).expect("affordable");
        let mut scores = BoundedSum::zero(plan.clone());
        for _ in 0..200 {
            scores.add_unit(0, &[3, -1000, 10]).expect("within bounds");
        }
        let drawn = DrawnSelection::draw(permit, &mut simulated(seed)).expect("drawable");
        assert_eq!(drawn.choose(scores).expect("same plan").index, 1);
        ledger = generous_ledger();
    }
}

#[test]
fn scores_with_a_larger_bound_than_was_paid_for_are_refused() {
    let mut ledger = generous_ledger();
    let purchase = choice_of_a_curator(3, 3, (1, 20));
    let permit = ledger.spend("a pick", purchase).expect("affordable");
    let drawn = DrawnSelection::draw(permit, &mut simulated(1)).expect("drawable");
    assert!(drawn.choose(BoundedSum::zero(small_sum().plan)).is_err());
}

#[test]
fn what_was_paid_for_one_part_of_the_records_is_not_released_about_another() {
    const PARTS: [RecordPart; 3] = [
        RecordPart::All,
        RecordPart::Selection,
        RecordPart::Estimation,
    ];
    for paid in PARTS {
        for part in PARTS {
            let mut ledger = generous_ledger();
            let mut purchase = small_sum();
            purchase.plan.part = paid;
            let scores = SumPlan {
                part,
                ..purchase.plan.clone()
            };
            let permit = ledger.spend("a sum", purchase).expect("affordable");
            let noise = DrawnNoise::draw(permit, &mut simulated(1)).expect("drawable");
            let released = noise.release(BoundedSum::zero(scores.clone()));
            assert_eq!(released.is_ok(), paid == part, "{paid:?} {part:?}");
            let choice = SelectionPurchase {
                part: paid,
                ..choice_of_a_curator(3, 4, (1, 20))
            };
            let permit = ledger.spend("a pick", choice).expect("affordable");
            let drawn = DrawnSelection::draw(permit, &mut simulated(1)).expect("drawable");
            assert_eq!(drawn.choose(BoundedSum::zero(scores)).is_ok(), paid == part);
        }
    }
}
