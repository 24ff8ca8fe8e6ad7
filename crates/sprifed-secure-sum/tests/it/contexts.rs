//! A sum is made in one context: clients that are led along two never open each other's uploads.

use sprifed_secure_sum::*;

use crate::equivocation::{N, certificate, confirm, kinds, sent, tags, uploaded_in, without};
use crate::world::{CONTEXT, World, noised, participation, seed};

/// The context that the second group gets.
const OTHER: [u8; 32] = [8; 32];

/// All clients have uploaded to sum 0, the last `n_others` of six in another context.
fn two_contexts(n_others: u32) -> World {
    uploaded_in(seed, |id| if id < N - n_others { CONTEXT } else { OTHER })
}

#[test]
fn two_groups_in_two_contexts_open_neither() {
    let mut world = two_contexts(3);
    let (uploads, confirmations) = confirm(&mut world, |_| without(&[]));
    assert_eq!(confirmations.len(), 6, "all clients confirm the same set");
    let mut bodies: Vec<_> = confirmations.iter().map(|c| c.body.clone()).collect();
    bodies.sort_unstable();
    bodies.dedup();
    assert_eq!(bodies.len(), 2, "and signs its own context with it");
    let shown: Vec<_> = confirmations.iter().collect();
    for id in 0..N {
        let notice = certificate(&shown, tags(&uploads, &world, id));
        let client = &mut world.clients[id as usize];
        let reason = client.handle_message(&notice).expect_err("too few").reason;
        assert!(
            matches!(reason, Reason::TooFewConfirmations { .. }),
            "{reason:?}"
        );
        assert_eq!(kinds(&sent(client, &mut Vec::new())), []);
    }
}

#[test]
fn a_group_that_is_large_enough_does_not_open_the_others() {
    let mut world = two_contexts(2);
    let (uploads, confirmations) = confirm(&mut world, |_| without(&[]));
    let shown: Vec<_> = confirmations.iter().filter(|c| c.sender.0 < 4).collect();
    for id in 0..N {
        let notice = certificate(&shown, tags(&uploads, &world, id));
        let client = &mut world.clients[id as usize];
        let taken = client.handle_message(&notice);
        assert_eq!(taken.is_ok(), id < 4, "client {id}: {taken:?}");
        let revealed = kinds(&sent(client, &mut Vec::new()));
        for other in [4, 5] {
            let slot = world
                .study
                .graph()
                .slot(ClientId(id), ClientId(other))
                .unwrap_or(u8::MAX);
            assert!(
                revealed.iter().all(|(shown, _)| *shown != slot),
                "{id} opens {other}"
            );
        }
    }
}

#[test]
fn the_coordinator_refuses_an_upload_of_another_context_and_says_which() {
    let mut world = World::new(participation(4, 3, 0), 2, 16, 1);
    world.exchange_keys(&[], &[]);
    world.coordinator.open_sum(0, CONTEXT).expect("idle");
    let part = noised(world.study.participation(), 2, 0);
    world.clients[0].upload(0, &OTHER, &part).expect("uploads");
    let upload = sent(&mut world.clients[0], &mut Vec::new()).remove(0);
    let before = world.coordinator.clone();
    let refused = world.coordinator.handle_message(ClientId(0), &upload);
    let reason = refused.expect_err("another context").reason;
    let (found, required) = (OTHER, CONTEXT);
    assert_eq!(reason, Reason::OtherContext { found, required });
    let message = reason.to_string();
    assert!(
        message.contains(&"08".repeat(32)) && message.contains(&"07".repeat(32)),
        "{message}"
    );
    assert_eq!(before, world.coordinator);
}

#[test]
fn the_same_context_gives_the_same_bytes_and_another_one_others() {
    let upload = |context| {
        let mut world = uploaded_in(seed, |_| context);
        let said = sent(&mut world.clients[0], &mut Vec::new());
        said.last().expect("an upload").clone()
    };
    assert_eq!(upload(CONTEXT), upload(CONTEXT));
    let decoded = |context| match Body::decode(Phase::Upload, &upload(context).body) {
        Ok(Body::Upload(upload)) => upload,
        other => panic!("not an upload: {other:?}"),
    };
    let (one, other) = (decoded(CONTEXT), decoded(OTHER));
    assert_eq!((one.context, other.context), (CONTEXT, OTHER));
    assert_ne!(one.packed, other.packed);
    for ((slot, tag), (same_slot, other_tag)) in one.tags.iter().zip(&other.tags) {
        assert!(slot == same_slot && tag != other_tag, "slot {slot}");
    }
}

/// The context of before the restart is what the survivors are signed in.
#[test]
fn a_restarted_client_signs_in_the_context_of_its_upload() {
    for context in [CONTEXT, OTHER] {
        let mut world = uploaded_in(seed, |_| context);
        let (_, confirmations) = confirm(&mut world, |_| without(&[4]));
        let uploaded = JournalEntry::Uploaded { sum: 0, context };
        let mut restarted = crate::attacks::returned(&mut world, 0, &[uploaded]);
        restarted
            .handle_message(&without(&[4]))
            .expect("it uploaded");
        let again = sent(&mut restarted, &mut Vec::new()).pop().expect("signed");
        assert_eq!(again, confirmations[0]);
        // A client that does not know in which context it uploaded signs nothing.
        let digest = [1; 32];
        let confirmed = JournalEntry::Confirmed { sum: 0, digest };
        let mut lost = crate::attacks::returned(&mut world, 0, &[confirmed]);
        assert!(lost.handle_message(&without(&[4])).is_err());
    }
}

#[test]
fn two_contexts_in_one_journal_are_two_copies_of_a_client() {
    let world = World::new(participation(3, 3, 0), 2, 16, 1);
    let uploaded = |context| JournalEntry::Uploaded { sum: 0, context };
    let resume = |journal: &[JournalEntry]| {
        let (study, identity) = (world.study.clone(), world.identities[0].clone());
        Client::resume(study, ClientId(0), identity, seed(0), journal)
    };
    assert!(resume(&[uploaded(CONTEXT), uploaded(CONTEXT)]).is_some());
    assert!(resume(&[uploaded(CONTEXT), uploaded(OTHER)]).is_none());
    for entry in [uploaded(CONTEXT), uploaded(OTHER)] {
        assert_eq!(JournalEntry::decode(&entry.encode()), Ok(entry));
    }
}
