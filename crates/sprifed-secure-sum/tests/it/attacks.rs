//! Attacks on the argument of docs/decisions/0007-survivor-sets.md: what fails, and what would
//! succeed if an assumption of THREAT_MODEL.md were dropped.

use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use sprifed_secure_sum::*;

use crate::equivocation::{
    N, certificate, confirm, kinds, sent, tags, uploaded, uploaded_with, without,
};
use crate::world::{CONTEXT, World, noised, participation, seed, study};

fn set(n_clients: u32, ids: impl Iterator<Item = u32>) -> ClientSet {
    let mut set = ClientSet::empty(n_clients);
    set.extend(ids.map(ClientId));
    set
}

/// What a client gets before the bundles.
struct KeyNotices {
    directory: Notice,
    ciphertexts: Notice,
}

impl KeyNotices {
    fn tell(&self, client: &mut Client) {
        client.handle_message(&self.directory).expect("keys");
        client
            .handle_message(&self.ciphertexts)
            .expect("ciphertexts");
    }
}

/// The notices that client `to` got in an honest exchange of keys.
fn directory_and_bundles(world: &mut World, to: u32) -> (KeyNotices, Notice) {
    world.coordinator.handle_return(ClientId(to));
    let mut told = Vec::new();
    while let Some(output) = world.coordinator.poll_output() {
        if let CoordinatorOutput::Send(_, notice) = output {
            told.push(notice);
        }
    }
    let bundles = told.pop().expect("bundles");
    let ciphertexts = told.pop().expect("ciphertexts");
    let directory = told.pop().expect("a directory");
    (
        KeyNotices {
            directory,
            ciphertexts,
        },
        bundles,
    )
}

/// The same notice as if only `sharers` had sent shares.
fn narrowed(bundles: &Notice, sharers: ClientSet) -> Notice {
    let Notice::Bundles { bundles, .. } = bundles else {
        panic!("not bundles")
    };
    let kept = bundles.iter().filter(|(from, _)| sharers.contains(*from));
    Notice::Bundles {
        bundles: kept.cloned().collect(),
        sharers,
    }
}

fn resumed(world: &World, id: u32, journal: &[JournalEntry]) -> Client {
    let identity = world.identities[id as usize].clone();
    let resumed = Client::resume(
        Arc::clone(&world.study),
        ClientId(id),
        identity,
        seed(id),
        journal,
    );
    resumed.expect("on the roster")
}

/// A restarted client that got directory and bundles again.
pub(crate) fn returned(world: &mut World, id: u32, journal: &[JournalEntry]) -> Client {
    let (keys, bundles) = directory_and_bundles(world, id);
    let mut client = resumed(world, id, journal);
    keys.tell(&mut client);
    client.handle_message(&bundles).expect("shares");
    sent(&mut client, &mut Vec::new());
    client
}

#[test]
fn messages_of_another_study_are_refused_by_both_roles() {
    let participation = participation(3, 3, 0);
    let (ours, identities) = study(participation, 2, 16, 1);
    let shape = SumShape::new(2, 16).expect("legal");
    let other_shape = SumShape::new(3, 16).expect("legal");
    let keys: Vec<_> = identities.iter().map(IdentityKey::public).collect();
    let roster = || Roster::new(&keys).expect("distinct keys");
    let sibling = |nonce, roster, graph_seed, shape| {
        Arc::new(Study::new(nonce, roster, participation, graph_seed, vec![shape]).expect("legal"))
    };
    let mut sybils = keys.clone();
    sybils[2] = IdentityKey::draw(&mut ChaCha20Rng::seed_from_u64(77)).public();
    let others = [
        sibling([9; 32], roster(), [2; 32], shape),
        // A coordinator that lies about the graph, the roster or the shape to one client.
        sibling([1; 32], roster(), [3; 32], shape),
        sibling(
            [1; 32],
            Roster::new(&sybils).expect("distinct keys"),
            [2; 32],
            shape,
        ),
        sibling([1; 32], roster(), [2; 32], other_shape),
    ];
    let mut world = World::of(Arc::clone(&ours), identities.clone());
    world.exchange_keys(&[], &[]);
    let (keys_told, _) = directory_and_bundles(&mut world, 0);
    for other in others {
        assert_ne!(other.id(), ours.id());
        let mut coordinator = Coordinator::open(Arc::clone(&other));
        let replayed = world
            .transcript
            .iter()
            .filter_map(|bytes| SignedMessage::decode(bytes).ok());
        for message in replayed.filter(|message| message.phase == Phase::Keys) {
            let refused = coordinator.handle_message(message.sender, &message);
            assert_eq!(
                refused.expect_err("another study").reason,
                Reason::BadSignature
            );
        }
        let client = Client::join(other, ClientId(0), identities[0].clone(), seed(0));
        let refused = client
            .expect("on the roster")
            .handle_message(&keys_told.directory);
        assert_eq!(
            refused.expect_err("another study").reason,
            Reason::BadSignature
        );
    }
}

#[test]
fn messages_of_one_sum_are_refused_in_another() {
    let mut world = World::new(participation(4, 4, 0), 2, 16, 2);
    world.exchange_keys(&[], &[]);
    world.sum(0, &[], &[], &[]);
    let past: Vec<_> = world
        .transcript
        .iter()
        .filter_map(|bytes| SignedMessage::decode(bytes).ok())
        .collect();
    world.coordinator.open_sum(1, CONTEXT).expect("idle");
    for mut message in past
        .into_iter()
        .filter(|message| message.phase == Phase::Upload)
    {
        let before = world.coordinator.clone();
        let refused = world.coordinator.handle_message(message.sender, &message);
        assert_eq!(
            refused.expect_err("of sum 0").reason,
            Reason::WrongSum { found: 0 }
        );
        message.sum = 1;
        let refused = world.coordinator.handle_message(message.sender, &message);
        assert_eq!(
            refused.expect_err("signed for sum 0").reason,
            Reason::BadSignature
        );
        assert_eq!(before, world.coordinator);
    }
}

/// Seven clients, two of which sign whatever they are asked to.
#[test]
fn colluders_that_sign_twice_do_not_get_two_sets_confirmed() {
    let participation = participation(7, 5, 2);
    for n_first in 0..=5u32 {
        let mut world = World::new(participation, 2, 16, 1);
        world.exchange_keys(&[], &[]);
        let colluders = [5, 6];
        let stories = [
            set(7, (0..7).filter(|id| *id != 0)),
            set(7, (0..7).filter(|id| *id != 4)),
        ];
        let mut signed: [Vec<SignedMessage>; 2] = [Vec::new(), Vec::new()];
        for id in 0..7u32 {
            let told: Vec<usize> = match (colluders.contains(&id), id < n_first) {
                (true, _) => vec![0, 1],
                (false, first) => vec![usize::from(first)],
            };
            for story in told {
                // A colluder forgets what it has signed.
                let mut client = resumed(&world, id, &[]);
                let (keys, bundles) = directory_and_bundles(&mut world, id);
                keys.tell(&mut client);
                client.handle_message(&bundles).expect("shares");
                client
                    .upload(0, &CONTEXT, &noised(participation, 2, 1))
                    .expect("uploads");
                let notice = Notice::Survivors {
                    sum: 0,
                    survivors: Arc::new(stories[story].clone()),
                };
                if client.handle_message(&notice).is_ok() {
                    let said = sent(&mut client, &mut Vec::new());
                    signed[story].extend(said.into_iter().filter(|m| m.phase == Phase::Confirm));
                }
                world.clients[id as usize] = client;
            }
        }
        let required = world.study.parameters().confirmations() as usize;
        let open = signed
            .iter()
            .filter(|signed| signed.len() >= required)
            .count();
        assert!(
            open <= 1,
            "{n_first} honest clients got the second survivor set"
        );
        // One signature more for each would be two sets, so the bound is as low as it can be.
        let both = signed.iter().map(Vec::len).sum::<usize>();
        assert!(both >= 2 * required - 4, "{both} signatures in all");
    }
}

#[test]
fn a_client_that_got_another_directory_is_not_opened() {
    let mut world = uploaded();
    let (keys, bundles) = directory_and_bundles(&mut world, 0);
    // Client 0 gets a directory without client 5, before it uploads.
    let mut victim = resumed(&world, 0, &[]);
    keys.tell(&mut victim);
    victim
        .handle_message(&narrowed(&bundles, set(N, 0..5)))
        .expect("a quorum");
    victim
        .upload(0, &CONTEXT, &noised(world.study.participation(), 3, 0))
        .expect("uploads");
    world.clients[0] = victim;
    let (uploads, confirmations) = confirm(&mut world, |_| without(&[4]));
    let victims = confirmations.iter().find(|c| c.sender == ClientId(0));
    assert!(
        victims.is_none_or(|own| own.body != confirmations[2].body),
        "it signs another digest"
    );
    let shown: Vec<_> = confirmations.iter().filter(|c| c.sender.0 > 0).collect();
    assert_eq!(shown.len(), 4, "enough for the others");
    for id in [1u32, 2, 3, 5] {
        // Its tag for client 5 does not exist; those for the others do not fit.
        let known: Vec<SignedMessage> = uploads
            .iter()
            .filter(|u| u.sender.0 > 0 || id != 5)
            .cloned()
            .collect();
        let tags = tags(&known, &world, id);
        let client = &mut world.clients[id as usize];
        client
            .handle_message(&certificate(&shown, tags))
            .expect("enough signatures");
        let revealed = kinds(&sent(client, &mut Vec::new()));
        let slot = world
            .study
            .graph()
            .slot(ClientId(id), ClientId(0))
            .expect("neighbours");
        assert!(!revealed.is_empty(), "others are opened");
        assert!(
            revealed.iter().all(|(shown, _)| *shown != slot),
            "client 0 is not"
        );
    }
}

#[test]
fn a_client_that_restarts_into_another_directory_signs_nothing_that_others_sign() {
    let mut world = uploaded();
    let (keys, bundles) = directory_and_bundles(&mut world, 0);
    let (uploads, _) = {
        let mut journal = Vec::new();
        let uploads = sent(&mut world.clients[0], &mut journal);
        world.journals[0] = journal;
        (uploads, ())
    };
    assert!(uploads.iter().any(|message| message.phase == Phase::Upload));
    let mut victim = resumed(&world, 0, &world.journals[0]);
    keys.tell(&mut victim);
    victim
        .handle_message(&narrowed(&bundles, set(N, 0..5)))
        .expect("a quorum");
    world.clients[0] = victim;
    let (_, confirmations) = confirm(&mut world, |id| {
        if id == 0 {
            without(&[4, 5])
        } else {
            without(&[4])
        }
    });
    let shown: Vec<_> = confirmations.iter().collect();
    assert_eq!(shown.len(), 5);
    let refused = world.clients[0].handle_message(&certificate(&shown, Vec::new()));
    assert_eq!(
        refused.expect_err("others signed another digest").reason,
        Reason::TooFewConfirmations {
            found: 1,
            required: 4
        }
    );
    assert_eq!(kinds(&sent(&mut world.clients[0], &mut Vec::new())), []);
}

/// Assumption A11 is needed: nothing in the protocol makes up for a journal that is rewound.
#[test]
fn a_rewound_journal_would_show_the_difference_of_two_uploads() {
    let mut world = uploaded();
    let (keys, bundles) = directory_and_bundles(&mut world, 0);
    let vector = |messages: &[SignedMessage]| {
        let mut residues = Residues::zero(SumShape::new(3, 16).expect("legal"));
        for message in messages {
            if let Ok(Body::Upload(upload)) = Body::decode(message.phase, &message.body) {
                assert!(residues.add_packed(&upload.packed));
            }
        }
        residues.to_centred()
    };
    let first = vector(&sent(&mut world.clients[0], &mut Vec::new()));
    let participation = world.study.participation();
    let (before, after) = (noised(participation, 3, 0), noised(participation, 3, 50));
    let mut rewound = resumed(&world, 0, &[]);
    keys.tell(&mut rewound);
    rewound.handle_message(&bundles).expect("shares");
    rewound
        .upload(0, &CONTEXT, &after)
        .expect("it has forgotten");
    let second = vector(&sent(&mut rewound, &mut Vec::new()));
    for (place, (old, new)) in before.values().iter().zip(after.values()).enumerate() {
        let shown = (second[place] - first[place]).rem_euclid(1 << 16);
        assert_eq!(shown, (new - old).rem_euclid(1 << 16));
    }
    // With its journal it refuses.
    let mut restarted = resumed(
        &world,
        0,
        &[JournalEntry::Uploaded {
            sum: 0,
            context: CONTEXT,
        }],
    );
    keys.tell(&mut restarted);
    restarted.handle_message(&bundles).expect("shares");
    assert_eq!(
        restarted.upload(0, &CONTEXT, &after),
        Err(UploadRefused::Repeated { sum: 0 })
    );
}

/// Assumption A12 is needed: signatures name the study, not the time.
#[test]
fn a_second_study_with_the_same_identifier_would_count_old_signatures() {
    let mut first = uploaded();
    let (_, confirmations) = confirm(&mut first, |_| without(&[4]));
    let shown: Vec<_> = confirmations.iter().collect();
    // The same roster, plan and nonce again, with new seeds.
    let mut second = uploaded_with(|id| seed(500 + id));
    assert_eq!(first.study.id(), second.study.id());
    let (_, told) = confirm(&mut second, |id| {
        if id == 0 {
            without(&[4])
        } else {
            without(&[1])
        }
    });
    let agree = told.iter().filter(|c| c.body == confirmations[0].body);
    assert_eq!(agree.count(), 1, "client 0 is alone this time");
    let notice = certificate(&shown, Vec::new());
    second.clients[0]
        .handle_message(&notice)
        .expect("signatures of the first time");
    // With another nonce they do not count; see messages_of_another_study_are_refused_by_both_roles.
}

#[test]
fn two_copies_of_a_client_leave_a_journal_that_is_refused() {
    let world = uploaded();
    let confirmed = |byte| JournalEntry::Confirmed {
        sum: 0,
        digest: [byte; 32],
    };
    let resume = |journal: &[JournalEntry]| {
        let identity = world.identities[0].clone();
        Client::resume(
            Arc::clone(&world.study),
            ClientId(0),
            identity,
            seed(0),
            journal,
        )
    };
    assert!(
        resume(&[
            confirmed(1),
            JournalEntry::Uploaded {
                sum: 0,
                context: CONTEXT
            },
            confirmed(1)
        ])
        .is_some()
    );
    assert!(resume(&[confirmed(1), confirmed(2)]).is_none());
}

/// Coordinates of small order, as in the list of `small_order.rs`.
fn weak_keys() -> [[u8; 32]; 3] {
    let (mut one, mut prime) = ([0; 32], [0xff; 32]);
    one[0] = 1;
    (prime[0], prime[31]) = (0xed, 0x7f);
    [[0; 32], one, prime]
}

#[test]
fn a_key_of_small_order_or_none_is_refused_and_its_sender_named() {
    let mut world = World::new(participation(4, 3, 1), 2, 16, 2);
    let good = sent(&mut world.clients[2], &mut Vec::new()).remove(0);
    let Ok(Body::Keys(keys)) = Body::decode(Phase::Keys, &good.body) else {
        panic!("no keys")
    };
    for weak in weak_keys() {
        let (mut channel, mut sealing) = (keys.clone(), keys.clone());
        let (mut mask, mut kem) = (keys.clone(), keys.clone());
        channel.channel = weak;
        sealing.sealing = weak;
        mask.sums[1].mask = weak;
        // The first coefficient is the modulus.
        kem.kem[0] = 0x01;
        kem.kem[1] = (kem.kem[1] & 0xf0) | 0x0d;
        for poisoned in [channel, sealing, mask, kem] {
            let reason = if poisoned.kem == keys.kem {
                Reason::WeakKey
            } else {
                Reason::NotAKemKey
            };
            let body = Body::Keys(poisoned).encode();
            let (identity, id) = (&world.identities[2], world.study.id());
            let message = SignedMessage::sign(identity, id, Phase::Keys, 0, ClientId(2), body);
            let before = world.coordinator.clone();
            let refused = world.coordinator.handle_message(ClientId(2), &message);
            let expected = Rejected {
                sender: Sender::Client(ClientId(2)),
                reason: reason.clone(),
            };
            assert_eq!(refused, Err(expected));
            assert_eq!(before, world.coordinator);
            // A coordinator that lets it pass gets no shares of any client.
            let others = [1, 2, 3].map(|id| match id {
                2 => Arc::new(message.clone()),
                _ => {
                    let mut client = resumed(&world, id, &[]);
                    Arc::new(sent(&mut client, &mut Vec::new()).remove(0))
                }
            });
            let mut client = resumed(&world, 0, &[]);
            let refused = client.handle_message(&Notice::Directory {
                keys: others.to_vec(),
            });
            assert_eq!(refused.expect_err("a bad key").reason, reason);
        }
    }
    // The same client with its own keys is welcome, and the sum is exact.
    world
        .coordinator
        .handle_message(ClientId(2), &good)
        .expect("good keys");
    world.exchange_keys(&[], &[]);
    let expected = world.sum(0, &[], &[], &[]);
    assert_eq!(world.last_values(), expected);
}

#[test]
fn a_client_cannot_be_cut_off_by_naming_its_neighbours_as_gone() {
    let participation = participation(30, 20, 1);
    let parameters = Parameters::assume_sufficient(participation, 12, 4).expect("a ring");
    let (_, identities) = study(participation, 2, 16, 1);
    let keys: Vec<_> = identities.iter().map(IdentityKey::public).collect();
    let (roster, shape) = (Roster::new(&keys), SumShape::new(2, 16));
    let (roster, sums) = (roster.expect("distinct"), vec![shape.expect("legal")]);
    let ring = Study::with_parameters([1; 32], roster, participation, parameters, [2; 32], sums);
    let mut world = World::of(Arc::new(ring.expect("legal")), identities);
    world.exchange_keys(&[], &[]);
    world.clients[7]
        .upload(0, &CONTEXT, &noised(participation, 2, 1))
        .expect("uploads");
    let neighbours: Vec<ClientId> = world.study.graph().neighbours(ClientId(7)).collect();
    let told = |gone: &[ClientId]| Notice::Survivors {
        sum: 0,
        survivors: Arc::new(set(30, (0..30).filter(|id| !gone.contains(&ClientId(*id))))),
    };
    // The first half of the slots are the places that follow: a gap, with more than the quorum left.
    let (ahead, behind) = neighbours.split_at(neighbours.len() / 2);
    assert_eq!(ahead.len(), 6, "the quorum stays");
    for gap in [ahead, behind] {
        let refused = world.clients[7]
            .handle_message(&told(gap))
            .expect_err("a gap");
        assert!(
            matches!(refused.reason, Reason::TooFewPresent { quorum: 20, .. }),
            "{refused}"
        );
    }
    // As many that are spread out are no gap.
    let spread: Vec<ClientId> = neighbours.iter().copied().step_by(4).collect();
    world.clients[7]
        .handle_message(&told(&spread))
        .expect("no gap");
}
