//! Any quorum of survivors gives the exact sum of what they sent.

use proptest::prelude::*;
use sprifed_secure_sum::{ClientId, ClientOutput, Phase};

use crate::world::{CONTEXT, World, noised, participation};

#[test]
fn dropouts_at_every_stage_leave_the_exact_sum_of_the_survivors() {
    let mut world = World::new(participation(20, 12, 2), 5, 16, 3);
    world.exchange_keys_of(&[3], &[12], &[7, 8]);
    let expected = world.sum(0, &[3, 7, 8, 11, 12], &[0], &[19]);
    assert_eq!(world.last_values(), expected);
    // A client that was away returns in the next sum, unless it has no keys.
    let expected = world.sum(1, &[3, 7, 8, 12], &[], &[]);
    assert_eq!(world.last_values(), expected);
}

#[test]
fn arrival_order_does_not_matter() {
    let participation = participation(6, 5, 1);
    let arrive = |order: [usize; 6]| {
        let mut world = World::new(participation, 4, 16, 1);
        world.exchange_keys(&[], &[]);
        world.coordinator.open_sum(0, CONTEXT).expect("idle");
        for id in order {
            let part = noised(participation, 4, id as u64);
            world.clients[id]
                .upload(0, &CONTEXT, &part)
                .expect("uploads");
            while let Some(output) = world.clients[id].poll_output() {
                if let ClientOutput::Send(message) = output {
                    assert_eq!(message.phase, Phase::Upload);
                    world
                        .coordinator
                        .handle_message(message.sender, &message)
                        .expect("taken");
                }
            }
        }
        world.coordinator
    };
    assert!(arrive([0, 1, 2, 3, 4, 5]) == arrive([4, 0, 5, 3, 1, 2]));
}

#[test]
fn a_client_that_missed_a_sum_is_in_the_next_one() {
    let mut world = World::new(participation(5, 4, 0), 3, 16, 2);
    world.exchange_keys(&[], &[]);
    let expected = world.sum(0, &[2], &[], &[]);
    assert_eq!(world.last_values(), expected);
    let expected = world.sum(1, &[], &[], &[]);
    assert_eq!(world.last_values(), expected);
    let sprifed_secure_sum::SumOutcome::Unmasked(last) = &world.outcomes[1] else {
        panic!("no sum")
    };
    assert!(last.survivors().contains(ClientId(2)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_survivor_set_above_the_quorum_gives_the_exact_sum(
        clients in 4..14u32,
        bits in 9..60u32,
        fates in prop::collection::vec(0..36u8, 14),
    ) {
        let colluders = clients / 6;
        let quorum = ((clients + colluders) / 2 + 1).max(colluders + 2);
        let mut world = World::new(participation(clients, quorum, colluders), 3, bits, 1);
        let of = |fate: u8| -> Vec<u32> {
            (0..clients).filter(|id| fates[*id as usize] == fate).collect()
        };
        let (keys, ciphertexts, shares) = (of(0), of(5), of(1));
        let (upload, confirm, unmask) = (of(2), of(3), of(4));
        let stayed = (0..clients).filter(|id| fates[*id as usize] > 5).count();
        // Even those that leave last count here, so that every phase has its quorum.
        prop_assume!(stayed >= quorum as usize);
        world.exchange_keys_of(&keys, &ciphertexts, &shares);
        let gone = [keys, ciphertexts, shares, upload].concat();
        let expected = world.sum(0, &gone, &confirm, &unmask);
        prop_assert_eq!(world.last_values(), expected);
    }
}
