//! A coordinator that says different things to different clients learns nothing.

use std::sync::Arc;

use sprifed_secure_sum::*;

use crate::world::{CONTEXT, World, noised, participation, seed, study};

pub(crate) const N: u32 = 6;

/// All clients have uploaded to sum 0.
pub(crate) fn uploaded() -> World {
    uploaded_with(seed)
}

/// The same, with clients of these seeds.
pub(crate) fn uploaded_with(seeds: impl Fn(u32) -> ClientSeed) -> World {
    uploaded_in(seeds, |_| CONTEXT)
}

/// The same, each in the context that it got.
pub(crate) fn uploaded_in(
    seeds: impl Fn(u32) -> ClientSeed,
    context: impl Fn(u32) -> [u8; 32],
) -> World {
    let participation = participation(N, 4, 0);
    let (study, identities) = study(participation, 3, 16, 2);
    let mut world = World::of_seeds(study, identities, seeds);
    world.exchange_keys(&[], &[]);
    for id in 0..N {
        let part = noised(participation, 3, u64::from(id));
        world.clients[id as usize]
            .upload(0, &context(id), &part)
            .expect("uploads");
    }
    world
}

pub(crate) fn without(gone: &[u32]) -> Notice {
    let mut survivors = ClientSet::empty(N);
    survivors.extend((0..N).filter(|id| !gone.contains(id)).map(ClientId));
    Notice::Survivors {
        sum: 0,
        survivors: Arc::new(survivors),
    }
}

pub(crate) fn sent(client: &mut Client, journal: &mut Vec<JournalEntry>) -> Vec<SignedMessage> {
    let mut messages = Vec::new();
    while let Some(output) = client.poll_output() {
        match output {
            ClientOutput::Persist(entry) => journal.push(entry),
            ClientOutput::Send(message) => messages.push(message),
        }
    }
    messages
}

/// The tags that every neighbour of `to` sent with its upload.
pub(crate) fn tags(uploads: &[SignedMessage], world: &World, to: u32) -> Vec<(ClientId, [u8; 16])> {
    let tags = uploads
        .iter()
        .filter(|upload| upload.sender.0 != to)
        .map(|message| {
            let Ok(Body::Upload(upload)) = Body::decode(Phase::Upload, &message.body) else {
                panic!("not an upload")
            };
            let slot = world
                .study
                .graph()
                .slot(message.sender, ClientId(to))
                .expect("neighbours");
            let tag = upload
                .tags
                .iter()
                .find(|(tagged, _)| *tagged == slot)
                .expect("a tag");
            (message.sender, tag.1)
        });
    tags.collect()
}

/// Uploads, and the confirmations of the set that each client got.
pub(crate) fn confirm(
    world: &mut World,
    told: impl Fn(u32) -> Notice,
) -> (Vec<SignedMessage>, Vec<SignedMessage>) {
    let (mut uploads, mut confirmations) = (Vec::new(), Vec::new());
    for (id, told_id) in (0..N as usize).zip(0..) {
        uploads.extend(sent(&mut world.clients[id], &mut world.journals[id]));
        if world.clients[id].handle_message(&told(told_id)).is_ok() {
            confirmations.extend(sent(&mut world.clients[id], &mut world.journals[id]));
        }
    }
    uploads.retain(|message| message.phase == Phase::Upload);
    (uploads, confirmations)
}

pub(crate) fn certificate(
    confirmations: &[&SignedMessage],
    tags: Vec<(ClientId, [u8; 16])>,
) -> Notice {
    let signatures = confirmations
        .iter()
        .map(|c| (c.sender, c.signature))
        .collect();
    Notice::Certificate {
        sum: 0,
        certificate: Arc::new(Certificate { signatures }),
        tags,
    }
}

#[test]
fn two_survivor_sets_of_one_sum_open_neither() {
    let mut world = uploaded();
    let story = |id: u32| if id < 3 { without(&[4]) } else { without(&[1]) };
    let (uploads, confirmations) = confirm(&mut world, story);
    assert_eq!(
        confirmations.len(),
        6,
        "every client confirms the set that it got"
    );
    for id in 0..N {
        let tags = tags(&uploads, &world, id);
        let own_half = confirmations
            .iter()
            .filter(|c| (c.sender.0 < 3) == (id < 3));
        let own_half: Vec<_> = own_half.collect();
        let all: Vec<_> = confirmations.iter().collect();
        for shown in [own_half, all] {
            let refused =
                world.clients[id as usize].handle_message(&certificate(&shown, tags.clone()));
            let reason = refused.expect_err("too few agree").reason;
            assert!(
                matches!(reason, Reason::TooFewConfirmations { .. }),
                "{reason:?}"
            );
            assert!(world.clients[id as usize].poll_output().is_none());
        }
    }
}

#[test]
fn one_signature_shown_many_times_is_one_signature() {
    let mut world = uploaded();
    let (uploads, confirmations) = confirm(&mut world, |_| without(&[4]));
    let shown = vec![&confirmations[0]; 6];
    let tags = tags(&uploads, &world, 0);
    let refused = world.clients[0].handle_message(&certificate(&shown, tags));
    let reason = Reason::TooFewConfirmations {
        found: 1,
        required: 4,
    };
    assert_eq!(
        refused,
        Err(Rejected {
            sender: Sender::Coordinator,
            reason
        })
    );
}

/// Which kinds of share of which neighbours a client has ever revealed.
pub(crate) fn kinds(unmask: &[SignedMessage]) -> Vec<(u8, ShareKind)> {
    let mut kinds = Vec::new();
    for message in unmask
        .iter()
        .filter(|message| message.phase == Phase::Unmask)
    {
        let Ok(Body::Unmask(unmask)) = Body::decode(Phase::Unmask, &message.body) else {
            panic!("not shares")
        };
        kinds.extend(unmask.shares.iter().map(|share| (share.slot, share.kind)));
    }
    kinds
}

#[test]
fn no_client_reveals_both_kinds_of_share_over_retries_and_restarts() {
    let mut world = uploaded();
    let (uploads, confirmations) = confirm(&mut world, |_| without(&[4]));
    let shown: Vec<_> = confirmations.iter().collect();
    for id in [0u32, 1, 2, 3, 5] {
        let index = id as usize;
        let tags = tags(&uploads, &world, id);
        let mut revealed = Vec::new();
        for attempt in 0..3 {
            for notice in [
                without(&[1]),
                certificate(&shown, tags.clone()),
                without(&[4]),
                certificate(&shown, tags.clone()),
                without(&[]),
                certificate(&shown, tags.clone()),
            ] {
                let _may_be_refused = world.clients[index].handle_message(&notice);
                revealed.extend(sent(&mut world.clients[index], &mut world.journals[index]));
            }
            assert!(
                attempt > 0 || !kinds(&revealed).is_empty(),
                "it does reveal once"
            );
            // A restart, with the coordinator sending the list of clients again.
            let resumed = Client::resume(
                Arc::clone(&world.study),
                ClientId(id),
                world.identities[index].clone(),
                seed(id),
                &world.journals[index],
            );
            world.clients[index] = resumed.expect("on the roster");
            world.coordinator.handle_return(ClientId(id));
            while let Some(CoordinatorOutput::Send(to, notice)) = world.coordinator.poll_output() {
                world.clients[to.0 as usize]
                    .handle_message(&notice)
                    .expect("as before");
            }
            assert!(world.clients[index].is_ready());
            let again = noised(world.study.participation(), 3, 99);
            let refused = world.clients[index].upload(0, &CONTEXT, &again);
            assert_eq!(
                refused,
                Err(UploadRefused::Repeated { sum: 0 }),
                "one upload for each sum"
            );
        }
        let kinds = kinds(&revealed);
        for (slot, kind) in &kinds {
            let both = kinds.iter().any(|(other, of)| other == slot && of != kind);
            assert!(!both, "client {id} revealed both secrets of slot {slot}");
        }
    }
}

#[test]
fn a_neighbour_without_a_good_tag_keeps_its_own_mask() {
    let mut world = uploaded();
    let (uploads, confirmations) = confirm(&mut world, |_| without(&[4]));
    let shown: Vec<_> = confirmations.iter().collect();
    let mut tags = tags(&uploads, &world, 0);
    tags[1].1[0] ^= 1;
    world.clients[0]
        .handle_message(&certificate(&shown, tags))
        .expect("enough signatures");
    let unmask = sent(&mut world.clients[0], &mut world.journals[0]);
    let slot = world
        .study
        .graph()
        .slot(ClientId(0), ClientId(2))
        .expect("neighbours");
    let kinds = kinds(&unmask);
    assert_eq!(kinds.len(), 4);
    assert!(kinds.iter().all(|(revealed, _)| *revealed != slot));
}

#[test]
fn a_checked_certificate_opens_its_own_survivor_set_only() {
    let mut world = uploaded();
    let story = |id: u32| {
        if id == 5 {
            without(&[1])
        } else {
            without(&[4])
        }
    };
    let (uploads, confirmations) = confirm(&mut world, story);
    let shown: Vec<_> = confirmations.iter().filter(|c| c.sender.0 < 4).collect();
    let notice = |world: &World, id| certificate(&shown, tags(&uploads, world, id));
    let checked = world.clients[0]
        .check_certificate(&notice(&world, 0))
        .expect("four signatures");
    let for_one = notice(&world, 1);
    world.clients[1]
        .handle_checked(&for_one, &checked)
        .expect("the same set");
    assert_eq!(
        kinds(&sent(&mut world.clients[1], &mut world.journals[1])).len(),
        5
    );
    let for_five = notice(&world, 5);
    let refused = world.clients[5]
        .handle_checked(&for_five, &checked)
        .expect_err("another set");
    assert_eq!(refused.reason, Reason::OtherDigest);
}

#[test]
fn survivor_sets_below_the_quorum_or_without_the_client_are_refused() {
    let mut world = uploaded();
    let client = &mut world.clients[0];
    let few = client
        .handle_message(&without(&[1, 2, 3]))
        .expect_err("too few")
        .reason;
    assert_eq!(
        few,
        Reason::TooFewPresent {
            found: 3,
            quorum: 4
        }
    );
    let gone = client
        .handle_message(&without(&[0]))
        .expect_err("not in it")
        .reason;
    assert_eq!(gone, Reason::ContradictorySet);
    let mut strangers = ClientSet::empty(N + 1);
    strangers.extend((0..=N).map(ClientId));
    let strangers = Notice::Survivors {
        sum: 0,
        survivors: Arc::new(strangers),
    };
    let more = client
        .handle_message(&strangers)
        .expect_err("not of the roster")
        .reason;
    assert_eq!(more, Reason::ContradictorySet);
}
