use proptest::prelude::*;

use super::*;
use crate::block::IntegerBounds;
use crate::rational::NoiseVariance;
use crate::test_support::small_sum;

fn block(coordinates: u32, bound: u64, share_variance: &str) -> Block {
    Block {
        name: "tested".to_owned(),
        coordinates,
        bounds: IntegerBounds::Box { bound, squares: 0 },
        share_variance: NoiseVariance::try_from(share_variance.to_owned()).unwrap(),
    }
}

fn one(block: Block) -> SumPlan {
    SumPlan {
        blocks: vec![block],
        part: RecordPart::All,
    }
}

fn shares(clients: u32, quorum: u32, colluders: u32) -> NoiseOrigin {
    NoiseOrigin::Shares(Participation::new(clients, quorum, colluders).unwrap())
}

fn delta(value: f64) -> Delta {
    Delta::try_from(value).unwrap()
}

fn any_plan() -> impl Strategy<Value = SumPlan> {
    let any_block =
        (1u32..500, 1u64..50, 16u32..10_000).prop_map(|(coordinates, bound, quarters)| {
            block(coordinates, bound, &format!("{quarters}/4"))
        });
    prop::collection::vec(any_block, 1..4).prop_map(|blocks| SumPlan {
        blocks,
        part: RecordPart::All,
    })
}

fn any_origin() -> impl Strategy<Value = NoiseOrigin> {
    prop_oneof![
        Just(NoiseOrigin::Curator),
        (1u32..200, 1u32..20, 0u32..20).prop_map(|(honest, colluders, spare)| {
            shares(honest + colluders + spare, honest + colluders, colluders)
        }),
    ]
}

fn any_relation() -> impl Strategy<Value = Relation> {
    prop_oneof![Just(Relation::ZeroOut), Just(Relation::ReplaceOne)]
}

#[test]
fn the_cost_is_that_of_a_gaussian_with_the_smoothing_variance_taken_off() {
    // Δ² = 3·4², h σ² − 3 = 9·25 − 3.
    let cost = one(block(3, 4, "25"))
        .cost(shares(12, 10, 1), Relation::ZeroOut)
        .unwrap();
    assert!((cost.squared_mu() - 48.0 / 222.0).abs() < 1e-15);
    let cost = one(block(3, 4, "25"))
        .cost(shares(12, 10, 1), Relation::ReplaceOne)
        .unwrap();
    assert!((cost.squared_mu() - 192.0 / 222.0).abs() < 1e-15);
    assert!(
        cost.slack() > 0.0 && cost.slack() < 1e-20,
        "{}",
        cost.slack()
    );
}

#[test]
fn one_honest_share_costs_exactly_what_a_curators_noise_costs() {
    // One share is no sum: nothing is merged, however many others add theirs.
    let plan = one(block(3, 4, "25"));
    for relation in [Relation::ZeroOut, Relation::ReplaceOne] {
        let curator = plan.cost(NoiseOrigin::Curator, relation).unwrap();
        for (clients, quorum, colluders) in [(2, 2, 1), (3, 3, 2), (255, 255, 254)] {
            let cost = plan.cost(shares(clients, quorum, colluders), relation);
            assert_eq!(cost.unwrap(), curator);
        }
        let smoothing = 3.0 * share_sum::smoothing_slack(3.0);
        assert!((curator.slack() - smoothing).abs() <= 1e-15 * smoothing);
    }
}

#[test]
fn the_cost_of_one_share_is_between_the_exact_one_and_that_of_concentrated_privacy() {
    // One integer, moved by 10, under one share of parameter 100. With 40 digits of mpmath: exactly by
    // summation, by section 3 of docs/proofs/discrete_noise.md, and by zCDP with rho = 1/2.
    let plan = one(block(1, 10, "100"));
    let cost = plan.cost(shares(2, 2, 1), Relation::ZeroOut).unwrap();
    for (at, exact, sandwich, concentrated) in [
        (
            1e-6,
            4.885_739_309_321_385,
            4.972_031_138_532_28,
            5.221_534_444_530_169,
        ),
        (
            1e-9,
            6.175_242_515_559_034,
            6.278_692_428_076_388,
            6.474_070_020_726_486,
        ),
    ] {
        let certified = cost.to_approx_dp(delta(at)).epsilon().get();
        assert!(exact < certified && certified < concentrated, "{certified}");
        assert!(
            certified >= sandwich && certified < sandwich + 1e-10,
            "{certified}"
        );
    }
}

#[test]
fn shares_beyond_the_certain_ones_are_post_processing() {
    // The slack is that of the shares that are certain: 4 is so little that merging shows.
    let plan = one(block(1, 1, "4"));
    let few = plan.cost(shares(3, 3, 1), Relation::ZeroOut).unwrap();
    let many = plan.cost(shares(300, 3, 1), Relation::ZeroOut).unwrap();
    assert_eq!(few, many);
    let smoothing = share_sum::smoothing_slack(3.0);
    let merging = share_sum::merging_slack(4.0, 2);
    assert!(merging > 0.0);
    assert!((few.slack() / (merging + smoothing) - 1.0).abs() <= 1e-15);
}

#[test]
fn a_share_below_two_grid_units_of_noise_is_refused_with_what_to_do() {
    for variance in ["399/100", "1", "1e-9"] {
        let error = one(block(3, 1, variance))
            .cost(shares(10, 10, 1), Relation::ZeroOut)
            .unwrap_err();
        assert!(matches!(error, Uncertifiable::ShareTooSmall { .. }));
        let text = error.to_string();
        assert!(
            text.contains("\"tested\"") && text.contains("at least 4"),
            "{text}"
        );
        assert!(text.ends_with("use a finer grid"), "{text}");
    }
    assert!(
        one(block(3, 1, "4"))
            .cost(shares(10, 10, 1), Relation::ZeroOut)
            .is_ok()
    );
    assert!(
        one(block(3, 1, "4"))
            .cost(NoiseOrigin::Curator, Relation::ZeroOut)
            .is_ok()
    );
}

#[test]
fn a_discretisation_that_costs_too_much_is_refused_with_what_to_do() {
    let wide = SumPlan {
        blocks: vec![block(u32::MAX, 1, "4"), block(u32::MAX, 1, "4")],
        part: RecordPart::All,
    };
    let error = wide.cost(shares(3, 3, 0), Relation::ZeroOut).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("but at most 1e-9 is certified; use a finer grid"),
        "{text}"
    );
}

#[test]
fn a_sum_without_coordinates_is_refused() {
    for plan in [
        SumPlan {
            blocks: Vec::new(),
            part: RecordPart::All,
        },
        one(block(0, 1, "25")),
    ] {
        let error = plan
            .cost(NoiseOrigin::Curator, Relation::ZeroOut)
            .unwrap_err();
        assert!(matches!(error, Uncertifiable::Empty { .. }), "{error}");
    }
}

#[test]
fn a_sum_that_cannot_move_or_has_impossible_squares_is_refused() {
    assert!(
        one(block(3, 0, "25"))
            .cost(NoiseOrigin::Curator, Relation::ZeroOut)
            .is_err()
    );
    let mut impossible = block(3, 1, "25");
    impossible.bounds = IntegerBounds::Box {
        bound: 1,
        squares: 4,
    };
    assert!(
        one(impossible)
            .cost(NoiseOrigin::Curator, Relation::ZeroOut)
            .is_err()
    );
    let huge = block(u32::MAX, u64::MAX, "25");
    let error = one(huge)
        .cost(NoiseOrigin::Curator, Relation::ZeroOut)
        .unwrap_err();
    assert!(matches!(error, Uncertifiable::TooLarge { .. }), "{error}");
}

#[test]
fn a_stored_cost_cannot_be_less_than_nothing() {
    let read = |text: &str| serde_json::from_str::<SumCost>(text);
    assert!(read(r#"{"squared_mu":0.5,"slack":1e-20}"#).is_ok());
    for text in [
        r#"{"squared_mu":-0.5,"slack":0}"#,
        r#"{"squared_mu":0,"slack":0}"#,
        r#"{"squared_mu":0.5,"slack":-1e-20}"#,
        r#"{"squared_mu":0.5,"slack":1}"#,
        r#"{"squared_mu":null,"slack":0}"#,
        r#"{"squared_mu":0.5,"slack":0,"discount":1}"#,
    ] {
        assert!(read(text).is_err(), "{text}");
    }
}

#[test]
fn slack_adds_up_until_it_is_refused() {
    let nearly = SumCost {
        squared_mu: 1e-6,
        slack: 0.6 * LARGEST_SLACK,
        failure: 0.0,
    };
    assert!(nearly.compose(nearly).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn more_noise_or_more_certain_shares_never_costs_more(
        plan in any_plan(),
        origin in any_origin(),
        relation in any_relation(),
        more in 2u32..5,
    ) {
        let cost = plan.cost(origin, relation).unwrap();
        let mut louder = plan.clone();
        for block in &mut louder.blocks {
            block.share_variance = block.share_variance.times(more).unwrap();
        }
        let quieter = louder.cost(origin, relation).unwrap();
        prop_assert!(quieter.squared_mu() < cost.squared_mu() && quieter.slack() <= cost.slack());
        if let NoiseOrigin::Shares(planned) = origin {
            let longer = shares(planned.clients() + 1, planned.quorum() + 1, planned.colluders());
            prop_assert!(plan.cost(longer, relation).unwrap().squared_mu() < cost.squared_mu());
            let guarded = Participation::new(planned.clients(), planned.quorum(), planned.colluders() + 1);
            if let Ok(guarded) = guarded {
                let dearer = plan.cost(NoiseOrigin::Shares(guarded), relation).unwrap();
                prop_assert!(dearer.squared_mu() > cost.squared_mu());
            }
        }
    }

    #[test]
    fn the_discrete_noise_never_costs_less_than_the_continuous_one(
        plan in any_plan(),
        origin in any_origin(),
        relation in any_relation(),
        at in 1e-9f64..0.01,
    ) {
        let continuous: f64 = plan
            .blocks
            .iter()
            .map(|block| {
                let moved = nearest_double(&BigRational::from(BigInt::from(
                    block.squared_sensitivity(relation).unwrap(),
                )));
                moved / (block.share_variance.to_f64() * f64::from(origin.certain_shares()))
            })
            .sum();
        let cost = plan.cost(origin, relation).unwrap();
        prop_assert!(cost.squared_mu() > continuous);
        let gaussian = Mu::from_square(continuous).unwrap().to_approx_dp(delta(at)).epsilon();
        prop_assert!(cost.to_approx_dp(delta(at)).epsilon() >= gaussian);
        let promised = cost.to_approx_dp(delta(at)).epsilon().get();
        let mu = Mu::from_square(cost.squared_mu()).unwrap();
        // Two searches, each rounded outward: they may differ in the last bits.
        let bare = mu.to_approx_dp(delta(at)).epsilon().get();
        prop_assert!(promised >= bare * (1.0 - 1e-14), "{promised:e} is below {bare:e}");
    }

    #[test]
    fn one_batched_sum_costs_as_much_as_its_blocks_one_after_another(
        plan in any_plan(),
        origin in any_origin(),
        relation in any_relation(),
    ) {
        let together = plan.cost(origin, relation).unwrap();
        let apart = plan.blocks.iter().map(|b| one(b.clone()).cost(origin, relation).unwrap());
        let apart = apart.reduce(|total, cost| total.compose(cost).unwrap()).unwrap();
        prop_assert!((together.squared_mu() / apart.squared_mu() - 1.0).abs() < 1e-14);
        prop_assert!((together.slack() - apart.slack()).abs() <= 1e-12 * apart.slack());
    }

    #[test]
    fn composition_ignores_order_and_never_costs_less_than_a_part(
        plans in prop::array::uniform3(any_plan()),
        relation in any_relation(),
        at in 1e-9f64..0.01,
    ) {
        let [a, b, c] = plans.map(|plan| plan.cost(NoiseOrigin::Curator, relation).unwrap());
        prop_assert_eq!(a.compose(b).unwrap(), b.compose(a).unwrap());
        let left = a.compose(b).unwrap().compose(c).unwrap();
        let right = a.compose(b.compose(c).unwrap()).unwrap();
        prop_assert!((left.squared_mu() / right.squared_mu() - 1.0).abs() < 1e-14);
        for part in [a, b, c] {
            prop_assert!(left.squared_mu() > part.squared_mu() && left.slack() >= part.slack());
            let [whole, alone] = [left, part].map(|cost| cost.to_approx_dp(delta(at)).epsilon());
            prop_assert!(whole >= alone);
        }
    }

    #[test]
    fn replacing_costs_at_least_zeroing_and_at_most_twice_the_mu(
        plan in any_plan(),
        origin in any_origin(),
    ) {
        let zero_out = plan.cost(origin, Relation::ZeroOut).unwrap().squared_mu();
        let replace_one = plan.cost(origin, Relation::ReplaceOne).unwrap().squared_mu();
        prop_assert!(zero_out <= replace_one && replace_one <= 4.0 * zero_out * (1.0 + 1e-15));
    }

    #[test]
    fn a_smaller_delta_never_costs_less(at in 1e-12f64..0.1, less in 1.0f64..10.0) {
        let small = small_sum();
        let cost = small.plan.cost(small.origin, Relation::ZeroOut).unwrap();
        let [here, there] = [at, at / less].map(|at| cost.to_approx_dp(delta(at)).epsilon());
        prop_assert!(there >= here);
    }

    #[test]
    fn a_cost_survives_being_stored(plan in any_plan(), relation in any_relation()) {
        let cost = plan.cost(NoiseOrigin::Curator, relation).unwrap();
        let text = serde_json::to_string(&cost).unwrap();
        prop_assert_eq!(serde_json::from_str::<SumCost>(&text).unwrap(), cost);
    }
}

#[test]
fn trustees_cost_what_three_clients_of_whom_one_colludes_cost() {
    let (origin, clients) = (NoiseOrigin::Trustees, shares(3, 3, 1));
    assert_eq!((origin.certain_shares(), origin.most_shares()), (2, 3));
    let plan = small_sum().plan;
    for relation in [Relation::ZeroOut, Relation::ReplaceOne] {
        let [ours, theirs] = [origin, clients].map(|origin| {
            let cost = plan.cost(origin, relation).unwrap();
            cost.with_protocol_of(origin)
        });
        let bits = |cost: SumCost| (cost.squared_mu().to_bits(), cost.failure().to_bits());
        assert_eq!(bits(ours).0, bits(theirs).0);
        assert_eq!(bits(ours).1, origin.protocol_failure().to_bits());
    }
    // Their proofs of gates may fail too.
    assert!(origin.protocol_failure() > clients.protocol_failure());
}
