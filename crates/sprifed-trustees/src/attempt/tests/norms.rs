//! Sums whose norms are verified: clients outside their balls are left out within the attempt.

use super::deviations::{opened, run, with_changed_bit_in};
use super::*;
use crate::message::Content;
use crate::norms::NormBlock;

const NOISE: [&[i64]; 3] = [&[1, 0, 2], &[0, 2, 0], &[-3, 1, 0]];

/// Three coordinates; the norm of the last two is at most 5 (squared 25) for each client.
fn sum(clients: usize) -> Step {
    let step = SumStep::new(3, vec![4; clients], 8).expect("legal");
    let norms = vec![NormBlock {
        coordinates: 1..3,
        squares: vec![25; clients],
    }];
    Step::Sum(step.with_norms(norms).expect("legal"))
}

fn world(sent: &[&[i64]]) -> World {
    World::of(Arc::new(sum(sent.len())), sent, NOISE)
}

fn total(sent: &[&[i64]]) -> Output {
    let all = |at: usize| sent.iter().chain(&NOISE).map(|numbers| numbers[at]).sum();
    Output::Sums((0..3).map(all).collect())
}

#[test]
fn a_client_one_unit_outside_is_named_and_the_sum_of_the_others_is_exact() {
    let inside: [&[i64]; 2] = [&[7, -3, 4], &[-7, 0, -5]];
    let sent: [&[i64]; 3] = [inside[0], &[1, 5, 1], inside[1]];
    let mut world = world(&sent);
    world.run(None);
    assert_eq!(world.outputs(), vec![&total(&inside); 3]);
    for (place, ending) in world.endings.iter().enumerate() {
        let Some(Ending::Opened { clients, set, .. }) = ending else {
            panic!("{ending:?}");
        };
        assert_eq!(clients.inside, [ClientId(0), ClientId(2)]);
        assert_eq!(clients.outside, [ClientId(1)]);
        let journal = &world.journals[place];
        assert!(
            !journal.contains(&JournalLine::SetSigned { digest: *set }),
            "a second set"
        );
        assert_eq!(journal.len(), 5);
        assert_eq!(Book::from_stored(journal).expect("a journal").charges(), 1);
    }
}

#[test]
fn honest_clients_are_never_outside_and_a_sum_without_clients_is_not_opened() {
    let inside: [&[i64]; 3] = [&[7, -3, 4], &[-7, 0, -5], &[0, 0, 0]];
    let mut all = world(&inside);
    all.run(None);
    assert_eq!(all.outputs(), vec![&total(&inside); 3]);
    let mut none = world(&[&[1, 5, 1], &[0, 4, -4]]);
    none.run(None);
    // Noise alone is not opened.
    assert!(none.outputs().is_empty());
    for (ending, journal) in none.endings.iter().zip(&none.journals) {
        assert!(matches!(ending, Some(Ending::Unopened)), "{ending:?}");
        assert!(!journal.contains(&JournalLine::Opening));
    }
}

#[test]
fn the_second_circuit_has_other_streams_and_frame_keys() {
    let mut world = world(&[&[7, -3, 4], &[1, 5, 1]]);
    let mut openings = BTreeMap::new();
    run(&mut world, |world, from, to, bytes| {
        if let Some((key, sent)) = opened(world, from, to, &bytes)
            && sent.content == Content::Opening
        {
            let keys = openings.entry((from, to)).or_insert_with(Vec::new);
            keys.push(*key.expose());
        }
        Some(bytes)
    });
    assert_eq!(world.outputs().len(), 3);
    assert_eq!(openings.len(), 6);
    for keys in openings.values() {
        assert!(keys.len() == 2 && keys[0] != keys[1]);
    }
}

/// Changed bits of the first circuit end the study, and no charge was spent.
#[test]
fn a_changed_bit_in_the_first_circuit_ends_the_study_before_anything_is_spent() {
    let sent: [&[i64]; 1] = [&[7, -3, 4]];
    let mut frames = Vec::new();
    let mut honest = world(&sent);
    run(&mut honest, |world, from, to, bytes| {
        let is_first = |world: &World| {
            !world.attempts[from.place()]
                .as_ref()
                .is_some_and(|one| one.is_second_set)
        };
        if is_first(world) {
            frames.extend(opened(world, from, to, &bytes).map(|(_, sent)| (from, to, sent)));
        }
        Some(bytes)
    });
    assert_eq!(honest.outputs(), vec![&total(&sent); 3]);
    let mut tried = BTreeMap::new();
    for (who, to, frame) in frames {
        // Lane 0 is the only client; the last word of a frame, and another one for each trustee.
        let words = frame.words.len();
        for word in [usize::from(who.share()) % words, words - 1] {
            let world = with_changed_bit_in(world(&sent), who, (to, frame.number), word, 0);
            let place = format!("{:?} {} of {who}, word {word}", frame.content, frame.number);
            assert_eq!(world.outputs(), Vec::<&Output>::new(), "{place}");
            for honest in who.peers() {
                let ending = &world.endings[honest.place()];
                assert!(
                    matches!(ending, Some(Ending::Refused(_))),
                    "{place}: {ending:?}"
                );
                assert!(
                    !world.journals[honest.place()].contains(&JournalLine::Opening),
                    "{place}"
                );
            }
            *tried.entry(frame.content).or_insert(0) += 1;
        }
    }
    assert_eq!(tried.len(), 3, "{tried:?}");
}

/// A crash anywhere: the same sums, or a clean end; on the same charge only if no share of the sums left.
#[test]
fn a_crash_anywhere_ends_the_attempt_or_changes_nothing() {
    let sent: [&[i64]; 2] = [&[7, -3, 4], &[1, 5, 1]];
    let mut whole = world(&sent);
    whole.run(None);
    let all = whole.effects;
    let (mut carried, mut spent) = (0, 0);
    for (at, victim) in (0..all).step_by(5).zip(TrusteeId::ALL.into_iter().cycle()) {
        let mut world = world(&sent);
        world.run(Some((victim, at)));
        for output in world.outputs() {
            assert_eq!(output, &total(&sent[..1]), "{victim} at {at}");
        }
        let Some(proof) = world.proof() else {
            spent += 1;
            continue;
        };
        carried += 1;
        for journal in &world.journals {
            assert!(!journal.contains(&JournalLine::Opening));
        }
        world.begin(1, Some(&proof));
        world.run(None);
        assert_eq!(world.outputs(), vec![&total(&sent[..1]); 3]);
    }
    assert!(
        carried > 20 && spent > 0,
        "{carried} carried, {spent} spent of {all} effects"
    );
}
