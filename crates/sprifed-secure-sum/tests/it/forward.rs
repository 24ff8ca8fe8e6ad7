//! Erased secrets stay erased, and a client continues without them.

use std::sync::Arc;

use sprifed_secure_sum::*;

use crate::equivocation::sent;
use crate::world::{CONTEXT, World, noised, participation, seed, study};

const N_GROUPS: usize = 2;

/// Secrets without those of some groups and of the exchange of keys.
fn secrets(client: u32, is_set_up: bool, kept: [bool; N_GROUPS]) -> ClientSecrets {
    let part = |number: u32| seed(1000 * (number + 1) + client);
    let groups = (0..)
        .zip(kept)
        .map(|(group, kept)| kept.then(|| part(group + 2)));
    let setup = (!is_set_up).then(|| part(1));
    ClientSecrets::new(part(0), setup, groups.collect())
}

fn resumed(world: &World, id: u32, secrets: ClientSecrets) -> Option<Client> {
    let (study, identity) = (Arc::clone(&world.study), &world.identities[id as usize]);
    let journal = &world.journals[id as usize];
    Client::resume(study, ClientId(id), identity.clone(), secrets, journal)
}

fn world() -> World {
    let (study, identities) = study(participation(5, 4, 1), 3, 16, 4);
    let mut world = World::of_seeds(study, identities, seed);
    for id in 0..5 {
        world.clients[id as usize] =
            resumed(&world, id, secrets(id, false, [true; 2])).expect("on the roster");
    }
    world
}

fn restart(world: &mut World, id: u32, secrets: ClientSecrets) {
    world.clients[id as usize] = resumed(world, id, secrets).expect("its journal is complete");
    world.coordinator.handle_return(ClientId(id));
    world.deliver(&[]);
    assert!(world.clients[id as usize].is_ready());
}

#[test]
fn a_client_whose_earlier_sums_are_erased_takes_part_in_later_ones_after_a_restart() {
    let mut world = world();
    world.exchange_keys(&[], &[]);
    let expected = world.sum(0, &[4], &[], &[]);
    assert_eq!(world.last_values(), expected);
    for id in 0..5 {
        restart(&mut world, id, secrets(id, true, [false, true]));
    }
    // Sum 1 is of the other group, with a dropout whose mask secret is rebuilt from the old shares.
    let expected = world.sum(1, &[2], &[], &[]);
    assert_eq!(world.last_values(), expected);
    let part = noised(world.study.participation(), 3, 1);
    let refused = world.clients[0].upload(2, &CONTEXT, &part);
    assert_eq!(refused, Err(UploadRefused::Erased { sum: 2 }));
}

#[test]
fn a_client_that_forgets_continues_with_the_other_groups() {
    let mut world = world();
    world.exchange_keys(&[], &[]);
    world.sum(0, &[], &[], &[]);
    for client in &mut world.clients {
        client.prepare(2, &CONTEXT);
        client.forget(0);
    }
    let part = noised(world.study.participation(), 3, 1);
    let refused = world.clients[0].upload(2, &CONTEXT, &part);
    assert_eq!(refused, Err(UploadRefused::Erased { sum: 2 }));
    let expected = world.sum(1, &[3], &[], &[]);
    assert_eq!(world.last_values(), expected);
}

#[test]
fn what_was_published_is_stored_first_and_sent_again_as_it_was() {
    let mut world = world();
    world.exchange_keys(&[], &[]);
    let published: Vec<_> = world.journals[1]
        .iter()
        .filter_map(|entry| match entry {
            JournalEntry::Published { message, .. } => SignedMessage::decode(message).ok(),
            _ => None,
        })
        .collect();
    let phases: Vec<_> = published.iter().map(|message| message.phase).collect();
    assert_eq!(phases, [Phase::Keys, Phase::Agree, Phase::Shares]);
    let mut again = resumed(&world, 1, secrets(1, true, [false; 2])).expect("a journal");
    world.coordinator.handle_return(ClientId(1));
    while let Some(CoordinatorOutput::Send(_, notice)) = world.coordinator.poll_output() {
        again.handle_message(&notice).expect("as before");
    }
    let mut journal = Vec::new();
    assert_eq!(sent(&mut again, &mut journal), published);
    assert_eq!(journal, [], "nothing is stored twice");
    // Without its journal a client whose secrets are gone does not join.
    world.journals[1].clear();
    assert!(resumed(&world, 1, secrets(1, true, [true; 2])).is_none());
    assert!(resumed(&world, 1, secrets(1, false, [false, true])).is_none());
}

#[test]
fn a_restarted_client_takes_no_other_directory() {
    let mut world = world();
    world.exchange_keys(&[], &[]);
    world.coordinator.handle_return(ClientId(1));
    let mut told = Vec::new();
    while let Some(CoordinatorOutput::Send(_, notice)) = world.coordinator.poll_output() {
        told.push(notice);
    }
    let Some(Notice::Directory { keys }) = told.first() else {
        panic!("no directory")
    };
    let mut client = resumed(&world, 1, secrets(1, true, [true; 2])).expect("a journal");
    sent(&mut client, &mut Vec::new());
    let fewer = Notice::Directory {
        keys: keys.iter().take(3).cloned().collect(),
    };
    let refused = client.handle_message(&fewer).expect_err("another one");
    assert_eq!(refused.reason, Reason::OtherNotice);
    assert_eq!(sent(&mut client, &mut Vec::new()), []);
    client.handle_message(&told[0]).expect("the same one");
    let Notice::Ciphertexts { neighbours } = &told[1] else {
        panic!("no ciphertexts")
    };
    let fewer = Notice::Ciphertexts {
        neighbours: neighbours.iter().take(3).cloned().collect(),
    };
    let refused = client.handle_message(&fewer).expect_err("another one");
    assert_eq!(refused.reason, Reason::OtherNotice);
}

#[test]
fn two_messages_of_one_phase_are_two_copies_of_a_client() {
    let mut world = world();
    world.exchange_keys(&[], &[]);
    let other = world.journals[2].clone();
    let JournalEntry::Published { told, message } = world.journals[1][0].clone() else {
        panic!("keys come first")
    };
    for entry in [
        // Of another client, and of no client.
        other[0].clone(),
        JournalEntry::Published {
            told,
            message: vec![1, 2, 3],
        },
        JournalEntry::Published {
            told: [1; 32],
            message,
        },
    ] {
        assert_eq!(JournalEntry::decode(&entry.encode()), Ok(entry.clone()));
        world.journals[1].push(entry);
        assert!(resumed(&world, 1, secrets(1, true, [true; 2])).is_none());
        world.journals[1].pop();
    }
    assert!(resumed(&world, 1, secrets(1, true, [true; 2])).is_some());
}
