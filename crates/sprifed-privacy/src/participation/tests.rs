use proptest::prelude::*;

use super::*;

fn fraction(numerator: u32, denominator: u32) -> BigRational {
    BigRational::new(BigInt::from(numerator), BigInt::from(denominator))
}

fn legal() -> impl Strategy<Value = Participation> {
    (0u32..50, 0u32..50, 1u32..50).prop_map(|(colluders, tolerated, honest)| {
        let quorum = (honest + colluders).max(2);
        Participation::new(quorum + tolerated, quorum, colluders).unwrap()
    })
}

#[test]
fn one_certain_honest_client_is_enough() {
    for (clients, quorum, colluders) in [(2, 2, 1), (3, 3, 2), (10, 5, 4)] {
        let participation = Participation::new(clients, quorum, colluders).unwrap();
        assert_eq!(participation.honest(), 1);
        let total = fraction(100, 7);
        assert_eq!(participation.share_variance(&total), total);
    }
}

#[test]
fn a_quorum_without_an_honest_client_is_refused_with_what_to_do() {
    for (quorum, colluders) in [(0, 0), (1, 0), (2, 2), (5, 5), (5, 9), (2, u32::MAX)] {
        let error = Participation::new(10, quorum, colluders).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains(&format!("a quorum of {quorum} with {colluders} colluders")),
            "{text}"
        );
        assert!(
            text.contains(
                "at least 1 honest client in a quorum of at least 2 is required; raise the quorum"
            ),
            "{text}"
        );
    }
}

#[test]
fn a_quorum_above_the_roster_is_refused_with_what_to_do() {
    let text = Participation::new(10, 11, 1).unwrap_err().to_string();
    assert!(
        text.contains("the quorum is 11, but only 10 clients are invited; invite more"),
        "{text}"
    );
}

#[test]
fn a_stored_participation_is_checked_when_it_is_read() {
    let read = |text: &str| serde_json::from_str::<Participation>(text);
    assert!(read(r#"{"clients":10,"quorum":8,"colluders":1}"#).is_ok());
    assert!(read(r#"{"clients":10,"quorum":2,"colluders":2}"#).is_err());
    assert!(read(r#"{"clients":10,"quorum":11,"colluders":1}"#).is_err());
    assert!(read(r#"{"clients":10,"quorum":8,"colluders":1,"honest":9}"#).is_err());
    assert!(read(r#"{"clients":10,"quorum":8}"#).is_err());
}

#[test]
fn a_shortfall_without_clients_has_no_price() {
    let planned = Mu::try_from(1.0).unwrap();
    assert!(shortfall_cost(planned, 10, 0).is_err());
    assert!(shortfall_cost(planned, 0, 10).is_err());
    assert_eq!(shortfall_cost(planned, 9, 9), Ok(planned));
}

#[test]
fn removable_noise_for_more_dropouts_than_clients_is_refused() {
    let total = fraction(100, 1);
    assert!(RemovableNoise::plan(10, 11, 0, &total).is_err());
    assert!(RemovableNoise::plan(10, 8, 2, &total).is_err());
    assert!(RemovableNoise::plan(10, 8, 1, &total).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_sum_is_released_exactly_when_the_quorum_stayed(
        participation in legal(),
        survivors in 0u32..200,
    ) {
        let expected = if survivors > participation.clients() {
            None
        } else if survivors >= participation.quorum() {
            Some(Decision::Release)
        } else {
            Some(Decision::Abort)
        };
        prop_assert_eq!(participation.decide(survivors).ok(), expected);
    }

    #[test]
    fn the_honest_survivors_of_any_release_hold_at_least_the_planned_noise(
        participation in legal(),
        total in 1u32..10_000,
        draw in any::<u32>(),
    ) {
        let total = fraction(total, 7);
        let share = participation.share_variance(&total);
        let spare = participation.clients() - participation.quorum();
        let survivors = participation.quorum() + draw % (spare + 1);
        prop_assert_eq!(participation.decide(survivors), Ok(Decision::Release));
        let honest = survivors - participation.colluders();
        prop_assert!(share * BigRational::from(BigInt::from(honest)) >= total);
        prop_assert!(participation.honest() >= 1);
    }

    #[test]
    fn fewer_honest_clients_cost_more(planned in 2u32..100, present in 1u32..100) {
        let cost = Mu::try_from(0.7).unwrap();
        let shortfall = shortfall_cost(cost, planned, present).unwrap();
        prop_assert_eq!(shortfall > cost, present < planned);
    }

    #[test]
    fn removing_the_unneeded_components_leaves_exactly_the_planned_noise(
        participation in legal(),
        total in 1u32..10_000,
    ) {
        let total = fraction(total, 3);
        let tolerated = participation.clients() - participation.quorum();
        let colluders = participation.colluders();
        let noise = RemovableNoise::plan(participation.clients(), tolerated, colluders, &total);
        let noise = noise.unwrap();
        prop_assert_eq!(noise.components().len(), tolerated as usize + 1);
        for dropped in 0..=tolerated {
            prop_assert_eq!(noise.honest_total(dropped), total.clone());
        }
        prop_assert!(noise.honest_total(tolerated + 1) < total);
    }

    #[test]
    fn a_participation_survives_being_stored(participation in legal()) {
        let text = serde_json::to_string(&participation).unwrap();
        prop_assert_eq!(serde_json::from_str::<Participation>(&text).unwrap(), participation);
    }
}
