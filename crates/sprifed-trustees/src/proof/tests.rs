//! Three trustees prove the gates of a whole circuit: honest ones are accepted, every changed bit is found.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::*;
use crate::build::add_up::add_up;
use crate::builder::Builder;
use crate::circuit::Circuit;
use crate::evaluate::{Evaluation, SharedPlane, Turn};
use crate::streams::{Pads, Purpose};

const SET: [u8; 32] = [9; 32];

fn step_keys() -> [StepKey; 3] {
    [1, 2, 3].map(|byte| StepKey::from_bytes([byte; 32]))
}

fn links(trustee: TrusteeId) -> [StepKey; 2] {
    let keys = step_keys();
    [trustee, trustee.next()].map(|link| keys[link.place()].clone())
}

fn circuit() -> Arc<Circuit> {
    let mut builder = Builder::new([70; 6]);
    let inputs: Vec<_> = builder.inputs().collect();
    let columns = inputs.chunks(2).map(<[_]>::to_vec).collect();
    let sum = add_up(&mut builder, 70, columns);
    Arc::new(builder.finish(sum))
}

/// A gate word that a trustee sends with one bit changed: who, which of all words, which bit.
#[derive(Clone, Copy)]
struct Flip {
    who: TrusteeId,
    word: usize,
    bit: u32,
    /// Whether it goes on with the changed bit itself.
    also_its_own: bool,
}

/// The logs of all three, from evaluations with at most one changed bit.
fn logs(flip: Option<Flip>) -> [Zeroizing<Vec<GateWord>>; 3] {
    let circuit = circuit();
    let mut evaluations = TrusteeId::ALL.map(|trustee| {
        let [previous, next] = links(trustee).map(|key| StreamKey::new(&key, Purpose::Gates, &SET));
        let pads = Pads::new(previous, next);
        let share = |plane: usize, share: usize| -> Vec<u64> {
            (0..2)
                .map(|at| {
                    (7 + plane as u64 * 31 + share as u64 * 5 + at)
                        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                })
                .collect()
        };
        let inputs = (0..circuit.n_inputs()).map(|plane| SharedPlane {
            own: share(plane, trustee.place()),
            next: share(plane, trustee.next().place()),
        });
        let inputs = inputs.collect();
        Evaluation::new(Arc::clone(&circuit), trustee, pads, inputs)
            .expect("fits")
            .with_log()
    });
    let mut sent = 0;
    loop {
        let turns = evaluations.each_mut().map(Evaluation::advance);
        let mut frames = turns.map(|turn| match turn {
            Turn::Exchange(frame) => frame,
            Turn::Done => Vec::new(),
        });
        let words = frames[0].len();
        if words == 0 {
            break;
        }
        if let Some(flip) = flip
            && (sent..sent + words).contains(&flip.word)
        {
            frames[flip.who.place()][flip.word - sent] ^= 1 << flip.bit;
            if flip.also_its_own {
                evaluations[flip.who.place()].change_own(flip.word - sent, flip.bit);
            }
        }
        sent += words;
        for (place, evaluation) in evaluations.iter_mut().enumerate() {
            evaluation.receive(&frames[(place + 1) % 3]).expect("fits");
        }
    }
    evaluations
        .each_mut()
        .map(|evaluation| evaluation.take_log(usize::MAX))
}

/// Which trustee refuses which prover's proof, with what was sent changed by `change`: exchange, sender,
/// whether to the next trustee, words.
fn refusals(
    logs: &[Zeroizing<Vec<GateWord>>; 3],
    change: impl Fn(usize, TrusteeId, bool, &mut Vec<u64>),
) -> Vec<(TrusteeId, TrusteeId)> {
    let words = logs[0].len();
    let mut proofs = TrusteeId::ALL.map(|trustee| {
        let statement = Statement {
            trustee,
            links: &links(trustee),
            set: &SET,
            batch: 0,
        };
        Some(Proof::new(&statement, &logs[trustee.place()]))
    });
    let mut refusals = Vec::new();
    for (exchange, lengths) in lengths(words).into_iter().enumerate() {
        let frames = proofs
            .each_mut()
            .map(|proof| proof.as_mut().map(Proof::frames));
        let sent = |from: TrusteeId, to_next: bool| -> Option<Zeroizing<Vec<u64>>> {
            let frames = frames[from.place()].as_ref()?;
            let frame = if to_next {
                &frames.next
            } else {
                &frames.previous
            };
            let required = if to_next {
                lengths.to_next
            } else {
                lengths.to_previous
            };
            assert_eq!(frame.len(), required, "as counted");
            let mut frame = frame.clone();
            change(exchange, from, to_next, &mut frame);
            Some(frame)
        };
        for trustee in TrusteeId::ALL {
            let received = sent(trustee.previous(), true).zip(sent(trustee.next(), false));
            let place = &mut proofs[trustee.place()];
            // A trustee that refused sends nothing more, and the others wait.
            let (Some(proof), Some((previous, next))) = (place.as_mut(), received) else {
                *place = None;
                continue;
            };
            if let Err(refused) = proof.receive(&Frames { previous, next }) {
                refusals.push((trustee, refused.prover));
                *place = None;
            }
        }
    }
    if refusals.is_empty() {
        assert!(
            proofs
                .iter()
                .all(|proof| proof.as_ref().is_some_and(Proof::is_over))
        );
    }
    refusals
}

#[test]
fn honest_proofs_are_accepted() {
    assert_eq!(refusals(&logs(None), |_, _, _, _| ()), []);
}

/// Every bit of every gate, changed by each trustee. Both verifiers refuse exactly its proof if it goes on with what it
/// sent. If it goes on with what it should have sent, it verifies with other shares than its neighbour has, so
/// that another proof may be refused instead: both honest trustees refuse all the same.
#[test]
fn every_changed_bit_of_every_gate_is_found() {
    let words = logs(None)[0].len();
    assert!(words > 3, "{words}");
    for who in TrusteeId::ALL {
        for word in 0..words {
            for bit in 0..64 {
                for also_its_own in [true, false] {
                    let flip = Flip {
                        who,
                        word,
                        bit,
                        also_its_own,
                    };
                    let found = refusals(&logs(Some(flip)), |_, _, _, _| ());
                    let found: BTreeSet<_> = found.into_iter().collect();
                    let honest = |trustee: TrusteeId| found.iter().any(|one| one.0 == trustee);
                    assert!(honest(who.next()) && honest(who.previous()));
                    if also_its_own {
                        assert_eq!(found, [(who.previous(), who), (who.next(), who)].into());
                    }
                }
            }
        }
    }
}

/// Every bit of every message of the proofs: the run ends, and the prover or a verifier is the one that changed it. Without
/// `SPRIFED_SLOW` every seventh bit of messages of more than four words.
#[test]
fn every_changed_bit_of_a_proof_or_challenge_ends_the_run() {
    let logs = logs(None);
    let is_slow = std::env::var_os("SPRIFED_SLOW").is_some_and(|value| value == "1");
    for (exchange, lengths) in lengths(logs[0].len()).into_iter().enumerate() {
        for who in TrusteeId::ALL {
            for to_next in [false, true] {
                let length = if to_next {
                    lengths.to_next
                } else {
                    lengths.to_previous
                };
                for word in 0..length {
                    let step = if length > 4 && !is_slow { 7 } else { 1 };
                    for bit in (0..64).step_by(step) {
                        let found = refusals(&logs, |at, from, next, words| {
                            if (at, from, next) == (exchange, who, to_next) {
                                words[word] ^= 1 << bit;
                            }
                        });
                        assert!(
                            !found.is_empty(),
                            "exchange {exchange} of {who}, word {word}"
                        );
                    }
                }
            }
        }
    }
}

/// A prover that tells its verifiers two different things gets two challenges, and is refused.
#[test]
fn two_tags_are_found_even_where_the_challenges_are_not_compared() {
    let logs = logs(None);
    let last = lengths(logs[0].len()).len() - 2;
    for who in TrusteeId::ALL {
        let found = refusals(&logs, |at, from, next, words| {
            if (at, from, next) == (last, who, true) {
                words[0] ^= 1;
            }
        });
        assert!(found.iter().all(|(_, prover)| *prover == who) && found.len() == 2);
    }
}

#[test]
fn both_holders_of_a_key_have_the_same_and_no_two_purposes_share_one() {
    let keys = |trustee: TrusteeId, batch: u32, set: &[u8; 32]| {
        let links = &links(trustee);
        BatchKeys::new(&Statement {
            trustee,
            links,
            set,
            batch,
        })
    };
    let mut all = BTreeSet::new();
    for batch in [0, 1] {
        for set in [[1; 32], [2; 32]] {
            for prover in TrusteeId::ALL {
                let own = keys(prover, batch, &set).own;
                let left = keys(prover.previous(), batch, &set).left;
                let right = keys(prover.next(), batch, &set).right;
                assert!(own.left_mask == left.mask && own.tag == left.tag);
                assert!(own.right_mask == right.mask && own.pad == right.pad);
                assert!(left.challenge == right.challenge);
                for key in [
                    own.left_mask,
                    own.right_mask,
                    own.pad,
                    own.tag,
                    left.challenge,
                ] {
                    assert!(all.insert(*key.expose()));
                }
            }
        }
    }
    let gates = StreamKey::new(&step_keys()[0], Purpose::Gates, &[1; 32]);
    assert!(all.insert(*gates.expose()));
    assert_eq!(all.len(), 2 * 2 * 3 * 5 + 1);
}

#[test]
fn another_share_gives_another_challenge() {
    let key = StreamKey::from_bytes([4; 32]);
    let share = vec![Number::ONE; 15];
    let mut other = share.clone();
    other[14] = Number::ZERO;
    let tags = [
        tag(&key, Tag::default(), 0, &share),
        tag(&key, Tag::default(), 0, &other),
        tag(&key, Tag::default(), 1, &share),
        tag(&key, Tag([1; 32]), 0, &share),
        tag(&StreamKey::from_bytes([5; 32]), Tag::default(), 0, &share),
    ];
    let challenges: BTreeSet<_> = tags.map(|tag| challenge(&key, tag, Fold::Middle)).into();
    assert_eq!(challenges.len(), tags.len());
    assert!(challenges.iter().all(|one| one.get() >= 8));
    assert_eq!(
        Tag::from_words(&tags[0].to_words().collect::<Vec<_>>()),
        tags[0]
    );
}
