//! What a verifier sees depends on nothing but its own side: exactly, by enumeration over a small field.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::proof::gates::GateWord;
use crate::proof::residue::Number;

/// A field that is large enough for 63 points, and small enough for all its numbers to be tried.
const SMALL: u64 = 127;
type Small = Residue<SMALL>;

fn word(seed: u64) -> u64 {
    let mut word = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    for _ in 0..3 {
        word = (word ^ (word >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }
    word ^ (word >> 32)
}

/// Right gates of a prover: random shares and masks.
fn gates(seed: u64, words: u64) -> Vec<GateWord> {
    let gate = |at: u64| {
        let word = |which: u64| word(1000 * seed + 10 * at + which);
        GateWord {
            x: [word(0), word(1)],
            y: [word(2), word(3)],
            pads: [word(4), word(5)],
            received: 0,
        }
    };
    (0..words).map(gate).collect()
}

/// Other right gates, in which the side of one verifier is the same.
fn with_other(gates: &[GateWord], kept: Side) -> Vec<GateWord> {
    let change = |gate: &GateWord| match kept {
        Side::Left => {
            let mut changed = GateWord {
                x: [gate.x[0], !gate.x[1]],
                y: [gate.y[0], gate.y[1].rotate_left(9)],
                ..*gate
            };
            changed.pads[1] ^= changed.own_left().sign() ^ gate.own_left().sign();
            changed
        }
        Side::Right => GateWord {
            x: [!gate.x[0], gate.x[1]],
            y: [gate.y[0].rotate_left(9), gate.y[1]],
            ..*gate
        },
    };
    gates.iter().map(change).collect()
}

fn vectors<const M: u64>(gates: &[GateWord], masks: [Residue<M>; 2]) -> [Vector<M>; 2] {
    let [left, right] = masks;
    [
        Vector::new(
            Side::Left,
            gates.iter().map(|one| one.own_left()).collect(),
            left,
        ),
        Vector::new(
            Side::Right,
            gates.iter().map(|one| one.own_right()).collect(),
            right,
        ),
    ]
}

/// A whole proof: the closings of both verifiers. One of them gets fixed shares, the other one the rest.
fn run<const M: u64>(
    gates: &[GateWord],
    masks: [Residue<M>; 2],
    fixed: Side,
    challenges: &[Residue<M>],
    planted: impl Fn(usize, &mut Vec<Residue<M>>),
) -> [Closing<M>; 2] {
    let [left, right] = vectors(gates, masks);
    let mut prover = Prover::new(left, right);
    let mut verifiers = vectors(gates, masks).map(Verifier::new);
    for (place, (fold, challenge)) in Fold::all(gates.len()).iter().zip(challenges).enumerate() {
        let mut values = prover.polynomial(*fold).to_vec();
        planted(place, &mut values);
        let pad: Vec<_> = (0..values.len())
            .map(|at| Residue::reduced(u128::from(word((100 * place + at) as u64))))
            .collect();
        let rest: Vec<_> = values
            .iter()
            .zip(&pad)
            .map(|(one, pad)| *one - *pad)
            .collect();
        let shares = match fixed {
            Side::Left => [&pad, &rest],
            Side::Right => [&rest, &pad],
        };
        for (verifier, share) in verifiers.iter_mut().zip(shares) {
            verifier.take(*fold, share, *challenge);
        }
        prover.fold(*fold, *challenge);
    }
    verifiers.map(|verifier| verifier.closing())
}

fn challenges<const M: u64>(words: usize, seed: u64) -> Vec<Residue<M>> {
    let challenge = |(place, fold): (usize, &Fold)| {
        let least = fold.summed() as u64;
        let number = least + word(seed + place as u64) % (M - least);
        Residue::new(number).expect("below")
    };
    Fold::all(words).iter().enumerate().map(challenge).collect()
}

#[test]
fn the_folds_end_with_one_number_and_their_roots_are_few() {
    let points = |fold: &Fold| fold.sent() as u64 - 1;
    for words in [1, 2, 7, 8, 9, 64, 1000, crate::proof::MOST_WORDS] {
        let folds = Fold::all(words);
        let left = folds
            .iter()
            .fold(256 * words, |left, fold| left.div_ceil(fold.summed()));
        assert_eq!(left, 1, "{words} words");
        assert_eq!(folds.iter().filter(|fold| **fold == Fold::Last).count(), 1);
        // The soundness error: the degrees of all folds, of the challenges that are possible.
        let roots: u64 = folds.iter().map(points).sum();
        assert!(roots <= 176, "{words} words: {roots} roots");
    }
    const { assert!(176 < (PRIME_LESS_POINTS >> 53)) };
}

const PRIME_LESS_POINTS: u64 = crate::proof::residue::PRIME - 32;

#[test]
fn right_gates_are_accepted_and_one_wrong_gate_or_value_is_not() {
    for words in [1, 3, 20, 70] {
        let challenges = challenges::<{ crate::proof::residue::PRIME }>(words, 5);
        let masks = [Number::small(11).inverse(), Number::small(12).inverse()];
        let gates = gates(1, words as u64);
        let accepts = |closings: [Closing<_>; 2]| closings[0].holds(&closings[1]);
        assert!(accepts(run(
            &gates,
            masks,
            Side::Left,
            &challenges,
            |_, _| ()
        )));
        for (place, fold) in Fold::all(words).iter().enumerate() {
            for value in 0..fold.sent() {
                let change = |at: usize, values: &mut Vec<Number>| {
                    if at == place {
                        values[value] = values[value] + Number::ONE;
                    }
                };
                assert!(!accepts(run(
                    &gates,
                    masks,
                    Side::Left,
                    &challenges,
                    change
                )));
            }
        }
    }
}

/// How often one verifier sees each closing of the other one, over all masks of the other one.
fn closings_seen(
    gates: &[GateWord],
    by: Side,
    challenges: &[Small],
    has_mask: bool,
) -> BTreeMap<Vec<u64>, u32> {
    let mut seen = BTreeMap::new();
    for mask in 0..SMALL {
        let mask = if has_mask { Small::new(mask) } else { None }.unwrap_or_default();
        let own = Small::small(5);
        let (masks, other) = match by {
            Side::Left => ([own, mask], 1),
            Side::Right => ([mask, own], 0),
        };
        let closing = &run(gates, masks, by, challenges, |_, _| ())[other];
        let numbers = closing.checks.iter().chain([&closing.last, &closing.claim]);
        *seen
            .entry(numbers.map(|one| one.get()).collect())
            .or_default() += 1;
    }
    seen
}

/// With its shares of the polynomials fixed, a verifier sees the same closings of the other one whatever that
/// one's bits are. Without the random numbers of the last fold it does not.
#[test]
fn the_last_numbers_are_masked() {
    let mut found = 0;
    for words in [1, 9] {
        for seed in 0..4 {
            let mut challenges = challenges::<SMALL>(words, 100 + seed);
            // At point 8 there is nothing but the mask.
            *challenges.last_mut().expect("folds") = Small::small(50 + 3 * words);
            let gates = gates(seed, words as u64);
            for by in [Side::Left, Side::Right] {
                let other = with_other(&gates, by);
                let seen = |gates, has_mask| closings_seen(gates, by, &challenges, has_mask);
                assert_eq!(seen(&gates, true).len() as u64, SMALL, "every number");
                assert_eq!(seen(&gates, true), seen(&other, true));
                // The planted bug; two numbers of so small a field may be the same by chance.
                found += u32::from(seen(&gates, false) != seen(&other, false));
            }
        }
    }
    assert!(found >= 15, "{found} of 16");
}

/// A trustee is right verifier of one proof and left verifier of another one. What it sees of both together is
/// independent of what it does not know, unless one stream gives the masks of both.
#[test]
fn masks_of_two_provers_must_be_two_streams() {
    let challenges = challenges::<SMALL>(1, 7);
    // The last number of the other verifier, for each mask.
    let last = |gates: &[GateWord], by: Side| -> Vec<u64> {
        let of_mask = |mask: u64| {
            let (mask, own) = (Small::new(mask).expect("small"), Small::small(5));
            let (masks, other) = match by {
                Side::Left => ([own, mask], 1),
                Side::Right => ([mask, own], 0),
            };
            run(gates, masks, by, &challenges, |_, _| ())[other]
                .last
                .get()
        };
        (0..SMALL).map(of_mask).collect()
    };
    let (one, other) = (gates(1, 1), gates(2, 1));
    let view = |gates: &[GateWord], is_one_stream: bool| -> BTreeSet<(u64, u64)> {
        let (first, second) = (last(gates, Side::Right), last(&other, Side::Left));
        match is_one_stream {
            true => first.iter().copied().zip(second).collect(),
            false => {
                let pairs = |first: &u64| {
                    let first = *first;
                    second
                        .iter()
                        .map(move |second| (first, *second))
                        .collect::<Vec<_>>()
                };
                first.iter().flat_map(pairs).collect()
            }
        }
    };
    let changed = with_other(&one, Side::Right);
    assert_eq!(view(&one, false), view(&changed, false));
    assert_ne!(view(&one, true), view(&changed, true), "the planted bug");
}

/// A verifier whose challenge differs from that of the other one would see a difference of two values of the
/// polynomial, which depends on the other side: why the prover compares both.
#[test]
fn two_different_challenges_would_show_something() {
    let gates = gates(3, 1);
    let other = with_other(&gates, Side::Left);
    let mut challenges = challenges::<SMALL>(1, 9);
    let checks = |gates: &[GateWord], challenges: &[Small], told: Small| {
        let masks = [Small::small(5), Small::small(6)];
        let [left, right] = vectors(gates, masks);
        let mut prover = Prover::new(left, right);
        let [_, right] = vectors(gates, masks);
        let mut verifier = Verifier::new(right);
        for (place, (fold, challenge)) in Fold::all(1).iter().zip(challenges).enumerate() {
            let values = prover.polynomial(*fold);
            // The left verifier has fixed shares.
            let share: Vec<_> = values
                .iter()
                .enumerate()
                .map(|(at, one)| *one - Small::small(at * place))
                .collect();
            verifier.take(*fold, &share, *challenge);
            prover.fold(*fold, if place == 0 { told } else { *challenge });
        }
        verifier.closing().checks
    };
    let honest = challenges[0];
    assert_eq!(
        checks(&gates, &challenges, honest),
        checks(&other, &challenges, honest)
    );
    challenges[0] = Small::small(40);
    let lie = Small::small(41);
    assert_ne!(
        checks(&gates, &challenges, lie),
        checks(&other, &challenges, lie)
    );
}
