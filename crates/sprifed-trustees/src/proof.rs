//! The proof that a trustee computed its gates as agreed, before anything is opened.
//!
//! Each trustee proves its gates to the two others, all three at the same time and one batch of gates after the
//! other. Prover i knows both sides of an inner product (`gates.rs`); its *left* verifier, trustee i − 1, knows
//! one side, and its *right* verifier, trustee i + 1, the other. The statement and its proof are in
//! docs/proofs/trustees-gates.md.
//!
//! | round | prover i | left verifier | right verifier |
//! |---|---|---|---|
//! | polynomial | sends its values less a pad to the left, a tag of them to the right | computes the tag | has the pad |
//! | challenge | compares the two | sends r | sends r |
//! | … | | | |
//! | polynomial of the last fold | as before | as before | as before |
//! | closing | | sends its shares and its last number to the right | sends its own to the left |
//!
//! The pad comes from the link of prover and right verifier, the key of the tag from that of prover and left
//! verifier, and the challenge, which depends on the tag, from that of the two verifiers.

use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use crate::proof::fold::{Closing, Fold, Prover, Vector, Verifier};
use crate::proof::gates::{GateWord, Side};
use crate::proof::keys::{BatchKeys, Tag, challenge, mask, pad, tag};
use crate::proof::residue::{Number, PRIME};
use crate::streams::{StepKey, StreamKey};
use crate::trustee_id::TrusteeId;

pub(crate) mod batches;
mod fold;
mod gates;
mod interpolation;
mod keys;
mod residue;

#[cfg(test)]
mod tests;

pub(crate) use gates::GateWord as LoggedGates;
#[cfg(test)]
pub(crate) use keys::BatchKeys as ProofKeys;

/// Words of gates in a batch at most: 2^26 gates.
pub(crate) const MOST_WORDS: usize = 1 << 20;

/// Words in the log for each word of gates.
pub(crate) const WORDS_LOGGED: usize = size_of::<GateWord>() / 8;

/// Words that a proof holds for each word of gates: the bits of the four sides, and what they become in the first fold, a
/// number for each eight gates.
pub(crate) const WORDS_PROVED: usize = 4 * (size_of::<gates::Bits>() / 8 + 64 / 8);

/// One exchange of a proof: a frame to each neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Round {
    Polynomial(Fold),
    Challenge(Fold),
    Closing,
}

/// How many words each trustee sends in an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lengths {
    pub(crate) to_previous: usize,
    pub(crate) to_next: usize,
}

/// The exchanges of a proof of so many words of gates.
fn rounds(words: usize) -> Vec<Round> {
    let exchange = |fold: Fold| {
        let answer = match fold {
            Fold::First | Fold::Middle => Round::Challenge(fold),
            Fold::Last => Round::Closing,
        };
        [Round::Polynomial(fold), answer]
    };
    Fold::all(words).into_iter().flat_map(exchange).collect()
}

/// The lengths of all exchanges of a proof of so many words of gates.
pub(crate) fn lengths(words: usize) -> Vec<Lengths> {
    let closing = Fold::all(words).len() + 2 + Tag::WORDS;
    let length = |round: &Round| {
        let (to_previous, to_next) = match round {
            Round::Polynomial(fold) => (fold.sent(), Tag::WORDS),
            Round::Challenge(_) => (1, 1),
            Round::Closing => (closing, closing),
        };
        Lengths {
            to_previous,
            to_next,
        }
    };
    rounds(words).iter().map(length).collect()
}

/// The words for both neighbours, or from them.
pub(crate) struct Frames {
    pub(crate) previous: Zeroizing<Vec<u64>>,
    pub(crate) next: Zeroizing<Vec<u64>>,
}

/// A proof that was refused: its prover or one of its verifiers deviated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RefusedProof {
    pub(crate) prover: TrusteeId,
}

/// Who proves which gates, under which keys.
#[derive(Debug)]
pub(crate) struct Statement<'a> {
    /// Who proves its own gates here, and verifies those of its neighbours.
    pub(crate) trustee: TrusteeId,
    /// The step's key of the link to the previous trustee, and of the link to the next one.
    pub(crate) links: &'a [StepKey; 2],
    /// The digest of the set that three trustees signed.
    pub(crate) set: &'a [u8; 32],
    /// The number of the batch.
    pub(crate) batch: u32,
}

/// One trustee's part in the proofs of one batch: it proves its own gates and verifies those of both others.
pub(crate) struct Proof {
    trustee: TrusteeId,
    rounds: Vec<Round>,
    at: usize,
    prover: Prover<PRIME>,
    keys: BatchKeys,
    tag: Tag,
    /// As left verifier of the next trustee.
    left: Checking,
    /// As right verifier of the previous trustee.
    right: Checking,
}

impl Proof {
    pub(crate) fn new(statement: &Statement<'_>, gates: &[GateWord]) -> Self {
        let trustee = statement.trustee;
        let keys = BatchKeys::new(statement);
        let side = |side: Side, key: &StreamKey, bits: fn(GateWord) -> gates::Bits| {
            let bits = gates.iter().map(|gate| bits(*gate)).collect();
            Vector::new(side, bits, mask(key))
        };
        let prover = Prover::new(
            side(Side::Left, &keys.own.left_mask, GateWord::own_left),
            side(Side::Right, &keys.own.right_mask, GateWord::own_right),
        );
        let left = side(Side::Left, &keys.left.mask, GateWord::left_of_next);
        let right = side(Side::Right, &keys.right.mask, GateWord::right_of_previous);
        Self {
            trustee,
            rounds: rounds(gates.len()),
            at: 0,
            prover,
            keys,
            tag: Tag::default(),
            left: Checking::new(left),
            right: Checking::new(right),
        }
    }

    /// Whether both neighbours' proofs were accepted.
    pub(crate) const fn is_over(&self) -> bool {
        self.at == self.rounds.len()
    }

    /// Which fold an exchange belongs to.
    const fn place(&self) -> usize {
        self.at / 2
    }

    /// What this trustee sends in the present exchange; asked for once.
    pub(crate) fn frames(&mut self) -> Frames {
        let place = self.place();
        let (previous, next) = match self.rounds.get(self.at) {
            Some(Round::Polynomial(fold)) => {
                let values = self.prover.polynomial(*fold);
                let pad = pad(&self.keys.own.pad, place, *fold);
                let share = values.iter().zip(pad).map(|(one, pad)| *one - pad);
                let share: Vec<_> = share.collect();
                self.tag = tag(&self.keys.own.tag, self.tag, place, &share);
                (to_words(&share), self.tag.to_words().collect())
            }
            Some(Round::Challenge(_)) => (
                vec![self.right.challenge.get()],
                vec![self.left.challenge.get()],
            ),
            Some(Round::Closing) => (self.left.closing(), self.right.closing()),
            None => (Vec::new(), Vec::new()),
        };
        Frames {
            previous: Zeroizing::new(previous),
            next: Zeroizing::new(next),
        }
    }

    /// Takes what both neighbours sent in the present exchange; the lengths were compared with [`lengths`].
    ///
    /// # Errors
    /// When a proof is refused. Nothing more may be sent then.
    pub(crate) fn receive(&mut self, frames: &Frames) -> Result<(), RefusedProof> {
        let place = self.place();
        let of = |prover: TrusteeId| RefusedProof { prover };
        let (own, next, previous) = (
            of(self.trustee),
            of(self.trustee.next()),
            of(self.trustee.previous()),
        );
        match self.rounds.get(self.at).copied() {
            Some(Round::Polynomial(fold)) => {
                let share = to_numbers(&frames.next).ok_or(next)?;
                let tag = tag(&self.keys.left.tag, self.left.tag, place, &share);
                self.left.take(fold, tag, &share, &self.keys.left.challenge);
                let (tag, keys) = (Tag::from_words(&frames.previous), &self.keys.right);
                let pad = pad(&keys.pad, place, fold);
                self.right.take(fold, tag, &pad, &keys.challenge);
            }
            Some(Round::Challenge(fold)) => {
                // Two different challenges would show a verifier the difference of two values of the
                // polynomial.
                let (one, other) = (to_numbers(&frames.previous), to_numbers(&frames.next));
                let challenge = one.filter(|one| other.as_ref() == Some(one));
                let challenge = challenge.as_deref().and_then(<[Number]>::first).copied();
                let is_legal = |challenge: &Number| challenge.get() >= fold.summed() as u64;
                self.prover
                    .fold(fold, challenge.filter(is_legal).ok_or(own)?);
            }
            Some(Round::Closing) => {
                // The right verifier of the next trustee is the previous one, and the left verifier of the
                // previous trustee is the next one.
                self.left.accept(&frames.previous).ok_or(next)?;
                self.right.accept(&frames.next).ok_or(previous)?;
            }
            None => {}
        }
        self.at += 1;
        Ok(())
    }
}

impl core::fmt::Debug for Proof {
    /// Only where it is: both sides are secret.
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "Proof({}, exchange {})", self.trustee, self.at)
    }
}

/// A verifier with what it has seen.
struct Checking {
    verifier: Verifier<PRIME>,
    tag: Tag,
    seen: Sha256,
    challenge: Number,
}

impl Checking {
    fn new(vector: Vector<PRIME>) -> Self {
        Self {
            verifier: Verifier::new(vector),
            tag: Tag::default(),
            seen: Sha256::new(),
            challenge: Number::ZERO,
        }
    }

    /// Takes the tag of a fold and this verifier's share of it.
    fn take(&mut self, fold: Fold, tag: Tag, share: &[Number], key: &StreamKey) {
        self.tag = tag;
        self.seen.update(tag.0);
        self.challenge = challenge(key, tag, fold);
        self.verifier.take(fold, share, self.challenge);
    }

    /// A digest of all tags, which both verifiers must have seen.
    fn seen(&self) -> Tag {
        Tag(self.seen.clone().finalize().into())
    }

    fn closing(&self) -> Vec<u64> {
        let Closing {
            mut checks,
            last,
            claim,
        } = self.verifier.closing();
        checks.extend([last, claim]);
        let mut words = to_words(&checks);
        words.extend(self.seen().to_words());
        words
    }

    /// Accepts with what the other verifier sent, or not.
    fn accept(&self, words: &[u64]) -> Option<()> {
        let (numbers, seen) = words.split_last_chunk::<{ Tag::WORDS }>()?;
        let numbers = to_numbers(numbers)?;
        let (checks, [last, claim]) = numbers.split_last_chunk()?;
        let other = Closing {
            checks: checks.to_vec(),
            last: *last,
            claim: *claim,
        };
        let holds = self.verifier.closing().holds(&other);
        (holds && Tag::from_words(seen) == self.seen()).then_some(())
    }
}

fn to_words(numbers: &[Number]) -> Vec<u64> {
    numbers.iter().map(|number| number.get()).collect()
}

/// The numbers of a frame, if all of them are below the prime.
fn to_numbers(words: &[u64]) -> Option<Vec<Number>> {
    words.iter().map(|word| Number::new(*word)).collect()
}
