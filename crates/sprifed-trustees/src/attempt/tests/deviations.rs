//! Gates that are proved: honest runs end as before, every deviation ends the run before anything is accepted.

use super::*;
use crate::count::{count, count_batches};
use crate::deviation::Deviation;
use crate::message::{Content, FrameKey};

/// The smallest choice with noise: two candidates.
fn small() -> Step {
    Step::Choice(ChoiceStep::new(2, vec![3], 2, Link::default()).expect("legal"))
}

fn small_world(step: Step) -> World {
    World::of(Arc::new(step), &[&[-3, 1]], [&[1, 0], &[0, 2], &[0, 1]])
}

/// A sealed frame on its way, opened.
pub(super) struct Sent {
    pub(super) content: Content,
    pub(super) number: u32,
    pub(super) words: Vec<u64>,
}

/// Opens what a trustee sends, as that trustee can.
pub(super) fn opened(
    world: &World,
    from: TrusteeId,
    to: TrusteeId,
    bytes: &[u8],
) -> Option<(FrameKey, Sent)> {
    let Body::Frame(frame) = Message::decode(bytes).expect("own").body else {
        return None;
    };
    let [previous, next] = world.parties.setting(world.id, &world.step, from).links;
    let link = if to == from.next() { next } else { previous };
    // The present set, or the first one of two.
    let signed = world.journals[from.place()]
        .iter()
        .find_map(|line| match line {
            JournalLine::SetSigned { digest } => Some(*digest),
            _ => None,
        });
    let present = world.attempts[from.place()]
        .as_ref()
        .and_then(|attempt| attempt.set);
    let words = (frame.sealed.len() - 16) / 8;
    let found = [present, signed].into_iter().flatten().find_map(|set| {
        let key = FrameKey::new(&link, &set, from, to);
        let words = key.open(&frame, words)?.to_vec();
        Some((key, words))
    });
    let (key, words) = found.expect("sealed by it");
    let (content, number) = (frame.content, frame.number);
    Some((
        key,
        Sent {
            content,
            number,
            words,
        },
    ))
}

/// Runs until nothing moves, with every message changed or dropped by `change`.
pub(super) fn run(
    world: &mut World,
    mut change: impl FnMut(&World, TrusteeId, TrusteeId, Vec<u8>) -> Option<Vec<u8>>,
) {
    loop {
        for trustee in TrusteeId::ALL {
            while let Some(effect) = world.attempts[trustee.place()]
                .as_mut()
                .and_then(Attempt::poll)
            {
                world.carry_out(trustee, effect);
            }
        }
        let Some((from, to, bytes)) = world.mail.pop_front() else {
            return;
        };
        if let Some(bytes) = change(world, from, to, bytes) {
            let attempt = world.attempts[to.place()].as_mut().expect("alive");
            let _ = attempt.receive(from, &bytes);
        }
    }
}

/// All frames of an honest run.
fn frames(step: Step) -> Vec<(TrusteeId, TrusteeId, Sent)> {
    let mut all = Vec::new();
    let mut world = small_world(step);
    run(&mut world, |world, from, to, bytes| {
        all.extend(opened(world, from, to, &bytes).map(|(_, sent)| (from, to, sent)));
        Some(bytes)
    });
    // Sums -3, 1 give scores 2, 1; with noise 3, 4.
    assert_eq!(world.outputs(), vec![&Output::Index(1); 3]);
    all
}

/// A run in which `who` changes one bit of one frame.
fn with_changed_bit(
    step: Step,
    who: TrusteeId,
    at: (TrusteeId, u32),
    word: usize,
    bit: u32,
) -> World {
    with_changed_bit_in(small_world(step), who, at, word, bit)
}

/// As above, in a world that has not run; the first frame with this number is changed.
pub(super) fn with_changed_bit_in(
    mut world: World,
    who: TrusteeId,
    at: (TrusteeId, u32),
    word: usize,
    bit: u32,
) -> World {
    let mut is_changed = false;
    run(&mut world, |world, from, to, bytes| {
        if is_changed || from != who || to != at.0 {
            return Some(bytes);
        }
        let sent = opened(world, from, to, &bytes).filter(|(_, sent)| sent.number == at.1);
        let Some((key, mut sent)) = sent else {
            return Some(bytes);
        };
        is_changed = true;
        sent.words[word] ^= 1 << bit;
        let body = Body::Frame(key.seal(sent.content, sent.number, &sent.words));
        let attempt = world.id;
        Some(Message { attempt, body }.encode())
    });
    world
}

#[test]
fn proved_choices_and_sums_are_those_that_are_not_proved() {
    for batch in [1, 7, 1000] {
        let step = Step::clone(&choice()).proved_in_batches(batch);
        let mut world = World::new(Arc::new(step));
        world.run(None);
        assert_eq!(
            world.outputs(),
            vec![&Output::Index(0); 3],
            "batches of {batch}"
        );
        for journal in &world.journals {
            assert_eq!(journal.len(), 5);
        }
    }
    let step = Step::Sum(SumStep::new(5, vec![3; 3], 6).expect("legal")).proved();
    assert!(step.is_proved());
    let mut world = World::new(Arc::new(step));
    world.run(None);
    let expected = Output::Sums(vec![-9 + 4, 6 + 5, 1 + 4, 2 + 3, 4]);
    assert_eq!(world.outputs(), vec![&expected; 3]);
}

/// What a proof costs is counted as it is sent, byte for byte and round for round.
#[test]
fn count_says_what_a_proof_sends() {
    let circuit = small().circuit(&[ClientId(0)]).expect("planned");
    for batch in [1, 7, 1000] {
        let all = frames(small().proved_in_batches(batch));
        let cost = count_batches(&circuit, batch);
        for who in TrusteeId::ALL {
            let own = || all.iter().filter(|(from, ..)| *from == who);
            let added = own().filter(|(_, to, sent)| match sent.content {
                Content::Proof => true,
                Content::Opening => *to == who.next(),
                Content::Deal | Content::Layer => false,
            });
            let bytes: u64 = added.map(|(_, _, sent)| 8 * sent.words.len() as u64).sum();
            assert_eq!(bytes, cost.bytes, "batches of {batch}");
            let rounds =
                own().filter(|(_, to, sent)| sent.content == Content::Proof && *to == who.next());
            assert_eq!(rounds.count() + 1, cost.rounds as usize);
            let layers = own().filter(|(.., sent)| sent.content == Content::Layer);
            assert_eq!(layers.count(), count(&circuit).rounds as usize);
        }
        assert_eq!(cost.gates, 8 * count(&circuit).bytes);
        assert_eq!(
            u64::from(cost.batches),
            cost.gates.div_ceil(64 * batch as u64)
        );
    }
}

/// Every real lane and one lane of padding of every gate, bits of every word of every proof and challenge, every
/// bit of every opening, by each trustee.
#[test]
fn every_changed_bit_ends_the_run_before_anything_is_accepted() {
    let step = || small().proved_in_batches(20);
    let mut tried = BTreeMap::new();
    for (who, to, sent) in frames(step()) {
        let bits: &[u32] = match sent.content {
            Content::Deal => continue,
            Content::Layer => &[0, 1, 2],
            Content::Proof => &[0, 37, 61],
            Content::Opening => &[0],
        };
        // A longer frame of a proof: some words of it, others for each trustee. All of them are tried in
        // proof/tests.rs.
        let every = if sent.words.len() > 16 { 9 } else { 1 };
        for word in
            (0..sent.words.len()).filter(|word| word % every == usize::from(who.share()) % every)
        {
            for bit in bits {
                let world = with_changed_bit(step(), who, (to, sent.number), word, *bit);
                let place = format!("{:?} {} of {who}, word {word}", sent.content, sent.number);
                assert_eq!(world.outputs(), Vec::<&Output>::new(), "{place}");
                for honest in who.peers() {
                    let ending = &world.endings[honest.place()];
                    let Some(Ending::Refused(finding)) = ending else {
                        panic!("{place}: {ending:?}");
                    };
                    let has_opened = world.openings[honest.place()];
                    assert_eq!(has_opened, sent.content == Content::Opening, "{place}");
                    if sent.content == Content::Opening {
                        assert_eq!(finding.deviation, Deviation::Opening { receiver: to });
                    }
                    let book =
                        Book::from_stored(&world.journals[honest.place()]).expect("a journal");
                    let next = book.charge(0, 1, true);
                    assert_eq!(next, Err(OutOfOrder::Ended { finding: *finding }));
                }
                *tried.entry(sent.content).or_insert(0) += 1;
            }
        }
    }
    assert!(tried.values().sum::<u32>() > 500, "{tried:?}");
}

/// A trustee that deals other noise than it drew is not found, and changes nothing but its own noise.
#[test]
fn changed_deals_are_not_found_and_change_only_the_noise_of_their_dealer() {
    let step = || Step::Sum(SumStep::new(2, vec![3], 6).expect("legal")).proved();
    for who in TrusteeId::ALL {
        let mut world = small_world(step());
        run(&mut world, |world, from, to, bytes| {
            let deal =
                opened(world, from, to, &bytes).filter(|(_, sent)| sent.content == Content::Deal);
            let Some((key, mut sent)) = deal.filter(|_| from == who) else {
                return Some(bytes);
            };
            // 2^3 more or less noise for the second coordinate.
            sent.words[3] ^= 0b10;
            let body = Body::Frame(key.seal(sent.content, sent.number, &sent.words));
            Some(
                Message {
                    attempt: world.id,
                    body,
                }
                .encode(),
            )
        });
        // The dealer goes on with what it drew, so its own gates and those it verifies do not fit.
        assert_eq!(world.outputs(), Vec::<&Output>::new());
        // One that goes on with what it dealt.
        let noise: [&[i64]; 3] = core::array::from_fn(|place| {
            let drawn: [&[i64]; 3] = [&[1, 0], &[0, 2], &[0, 1]];
            if place == who.place() {
                &[1, 9][..]
            } else {
                drawn[place]
            }
        });
        let mut world = World::of(Arc::new(step()), &[&[-3, 1]], noise);
        world.run(None);
        let total = |at: usize| noise.iter().map(|share| share[at]).sum::<i64>();
        assert_eq!(
            world.outputs(),
            vec![&Output::Sums(vec![-3 + total(0), 1 + total(1)]); 3]
        );
    }
}

#[test]
fn nothing_is_opened_without_three_signatures_that_all_proofs_were_accepted() {
    for silent in TrusteeId::ALL {
        let mut world = small_world(small().proved());
        run(&mut world, |world, from, to, bytes| {
            let message = Message::decode(&bytes).expect("own");
            match message.body {
                Body::Checked(mut signature) if from == silent => {
                    // To one it says nothing, to the other one something that it did not sign.
                    signature[9] ^= 1;
                    let body = Body::Checked(signature);
                    (to == silent.next()).then(|| {
                        Message {
                            attempt: world.id,
                            body,
                        }
                        .encode()
                    })
                }
                _ => Some(bytes),
            }
        });
        assert_eq!(world.outputs(), Vec::<&Output>::new());
        for peer in silent.peers() {
            assert!(!world.openings[peer.place()], "{peer}");
            // It may be given up, and goes on the same charge if the third one agrees.
            let attempt = world.attempts[peer.place()].as_mut().expect("alive");
            assert_eq!(
                attempt.give_up().is_ok(),
                !attempt.run.as_ref().is_some_and(Run::has_opening)
            );
        }
    }
}

#[test]
fn trustees_that_do_not_all_prove_sign_different_sets() {
    let mut world = small_world(small());
    let proved = Arc::new(small().proved());
    let attempt = world.attempts[1].as_mut().expect("alive");
    // Before the lists are exchanged.
    attempt.setting.step = proved;
    run(&mut world, |_, _, _, bytes| Some(bytes));
    assert_eq!(world.outputs(), Vec::<&Output>::new());
    assert_eq!(world.openings, [false; 3]);
}

#[test]
fn a_refusal_must_be_signed_by_its_author_and_is_repeated_after_a_restart() {
    let honest = frames(small().proved());
    let (who, to, sent) = honest
        .iter()
        .find(|(.., sent)| sent.content == Content::Layer)
        .expect("gates");
    let mut world = with_changed_bit(small().proved(), *who, (*to, sent.number), 0, 0);
    let [signed, ..] = world.findings.as_slice() else {
        panic!("no finding reached the coordinator");
    };
    assert!(signed.holds(&world.parties.identities()));
    let mut other = signed.clone();
    other.finding.by = other.finding.by.next();
    assert!(!other.holds(&world.parties.identities()));
    let signed = signed.clone();
    let author = signed.finding.by;
    assert!(
        signed
            .finding
            .to_string()
            .contains("did not follow the protocol")
    );

    // A forged refusal changes nothing.
    let mut fresh = small_world(small().proved());
    let body = Body::Refusal(other.finding, other.signature);
    let forged = Message {
        attempt: fresh.id,
        body,
    }
    .encode();
    let reader = author.next().next();
    let attempt = fresh.attempts[reader.place()].as_mut().expect("alive");
    let from = other.finding.by;
    assert_eq!(
        attempt.receive(from, &forged),
        Err(Refused::Signature { from })
    );

    world.mail.clear();
    world.findings.clear();
    world.restart(author);
    assert_eq!(world.findings, [signed]);
    assert_eq!(world.mail.len(), 2, "both peers are told again");
}

#[test]
fn frames_of_both_directions_have_numbers_of_their_own() {
    let mut seen = std::collections::BTreeSet::new();
    for (from, to, sent) in frames(small().proved_in_batches(20)) {
        assert!(
            seen.insert((from, to, sent.number)),
            "one nonce for two frames"
        );
    }
}
