//! The tables of the two state machines: what each phase takes.

use sprifed_secure_sum::*;

use crate::world::{CONTEXT, World, noised, participation};

/// The good messages of every phase, from a run in which nothing goes wrong.
fn good_messages() -> (Vec<SignedMessage>, Vec<Notice>) {
    let mut world = World::new(participation(3, 3, 0), 2, 16, 1);
    world.exchange_keys(&[], &[]);
    world.sum(0, &[], &[], &[]);
    let messages = world
        .transcript
        .iter()
        .filter_map(|bytes| SignedMessage::decode(bytes).ok());
    let messages = messages
        .filter(|message| message.sender == ClientId(0))
        .collect();
    let mut notices: Vec<Notice> = Vec::new();
    for notice in world
        .transcript
        .iter()
        .filter_map(|bytes| Notice::decode(bytes).ok())
    {
        let known =
            |known: &&Notice| core::mem::discriminant(*known) == core::mem::discriminant(&notice);
        if notices.iter().find(known).is_none() {
            notices.push(notice);
        }
    }
    (messages, notices)
}

#[test]
fn the_coordinator_takes_in_each_phase_what_the_table_says() {
    let (messages, notices) = good_messages();
    assert_eq!((messages.len(), notices.len()), (6, 5));
    let mut world = World::new(participation(3, 3, 0), 2, 16, 1);
    for (stage, expected) in Phase::ALL.into_iter().enumerate() {
        if expected == Phase::Upload {
            for message in &messages {
                let before = world.coordinator.clone();
                let refused = world.coordinator.handle_message(ClientId(0), message);
                assert!(refused.is_err(), "nothing is taken between sums");
                assert_eq!(before, world.coordinator);
            }
            world.coordinator.open_sum(0, CONTEXT).expect("idle");
            for (id, client) in (0..).zip(&mut world.clients) {
                let part = noised(world.study.participation(), 2, id * 100);
                client.upload(0, &CONTEXT, &part).expect("uploads");
            }
        }
        for message in &messages {
            let mut coordinator = world.coordinator.clone();
            let taken = coordinator.handle_message(ClientId(0), message);
            assert_eq!(
                taken.is_ok(),
                message.phase == expected,
                "stage {stage}, {:?}",
                message.phase
            );
            assert_eq!(coordinator == world.coordinator, taken.is_err());
        }
        for message in messages.iter().filter(|message| message.phase == expected) {
            let bytes = message.encode();
            for bit in (0..8 * bytes.len()).step_by(8 * bytes.len() / 61) {
                let mut flipped = bytes.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                let Ok(decoded) = SignedMessage::decode(&flipped) else {
                    continue;
                };
                let before = world.coordinator.clone();
                let taken = world.coordinator.handle_message(ClientId(0), &decoded);
                assert!(taken.is_err(), "bit {bit} of {expected:?}");
                assert_eq!(before, world.coordinator);
            }
        }
        // Nothing is delivered after the end of a phase but what makes the clients ready.
        world.deliver(&[]);
        world.coordinator.close_phase();
        if expected == Phase::Shares {
            world.deliver(&[]);
        }
    }
    world.deliver(&[]);
    assert_eq!(world.outcomes.len(), 1);
}

#[test]
fn a_client_refuses_what_is_not_for_its_phase_and_stays_as_it_was() {
    let (_, notices) = good_messages();
    // Two equal worlds; the clients of one get every notice at the wrong time.
    let mut told = World::new(participation(3, 3, 0), 2, 16, 1);
    let mut left_alone = World::new(participation(3, 3, 0), 2, 16, 1);
    for world in [&mut told, &mut left_alone] {
        world.deliver(&[]);
    }
    for notice in notices.iter().skip(1) {
        assert!(told.clients[0].handle_message(notice).is_err());
        assert_eq!(told.clients[0], left_alone.clients[0]);
    }
    for world in [&mut told, &mut left_alone] {
        for _ in 0..3 {
            world.coordinator.close_phase();
            world.deliver(&[]);
        }
    }
    assert!(told.clients[0].is_ready());
    for notice in &notices {
        // Nothing was uploaded, so survivors and certificate come at the wrong time too.
        assert!(told.clients[0].handle_message(notice).is_err());
        assert_eq!(told.clients[0], left_alone.clients[0]);
    }
}
