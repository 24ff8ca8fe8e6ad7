//! The keys of the proofs of one batch: a stream of its own for each prover, batch and role, under the signed set.

use sha2::{Digest as _, Sha256};
use sprifed_crypto::derivation::derive;
use sprifed_crypto::stream::Stream;

use crate::proof::Statement;
use crate::proof::fold::Fold;
use crate::proof::residue::{Number, PRIME};
use crate::streams::{StepKey, StreamKey};
use crate::trustee_id::TrusteeId;

/// What a stream of a proof is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// The random number of the left side, known to the prover and its left verifier.
    LeftMask,
    /// The random number of the right side, known to the prover and its right verifier.
    RightMask,
    /// The right verifier's shares of the polynomials' values.
    Pad,
    /// The key of the tags, known to the prover and its left verifier.
    Tag,
    /// The challenges, known to both verifiers.
    Challenge,
}

impl Role {
    const fn byte(self) -> u8 {
        match self {
            Self::LeftMask => 1,
            Self::RightMask => 2,
            Self::Pad => 3,
            Self::Tag => 4,
            Self::Challenge => 5,
        }
    }
}

/// What a trustee has of the keys of the three proofs of one batch. Link j is that of trustees j − 1 and j.
#[derive(Debug)]
pub(crate) struct BatchKeys {
    /// Of its own proof.
    pub(crate) own: ProverKeys,
    /// Of the next trustee's proof, as left verifier.
    pub(crate) left: LeftKeys,
    /// Of the previous trustee's proof, as right verifier.
    pub(crate) right: RightKeys,
}

#[derive(Debug)]
pub(crate) struct ProverKeys {
    pub(crate) left_mask: StreamKey,
    pub(crate) right_mask: StreamKey,
    pub(crate) pad: StreamKey,
    pub(crate) tag: StreamKey,
}

#[derive(Debug)]
pub(crate) struct LeftKeys {
    pub(crate) mask: StreamKey,
    pub(crate) tag: StreamKey,
    pub(crate) challenge: StreamKey,
}

#[derive(Debug)]
pub(crate) struct RightKeys {
    pub(crate) mask: StreamKey,
    pub(crate) pad: StreamKey,
    pub(crate) challenge: StreamKey,
}

impl BatchKeys {
    pub(crate) fn new(statement: &Statement<'_>) -> Self {
        let key = |link: &StepKey, role: Role, prover: TrusteeId| {
            let info: [&[u8]; 4] = [
                b"stream",
                b"proof   ",
                &[role.byte(), prover.share()],
                &statement.batch.to_le_bytes(),
            ];
            StreamKey::filled(|key| derive(link.expose(), statement.set, &info, key))
        };
        // The links of this trustee's own number, and of the next one's.
        let [own, next] = statement.links;
        let prover = statement.trustee;
        Self {
            own: ProverKeys {
                left_mask: key(own, Role::LeftMask, prover),
                right_mask: key(next, Role::RightMask, prover),
                pad: key(next, Role::Pad, prover),
                tag: key(own, Role::Tag, prover),
            },
            left: LeftKeys {
                mask: key(next, Role::LeftMask, prover.next()),
                tag: key(next, Role::Tag, prover.next()),
                challenge: key(own, Role::Challenge, prover.next()),
            },
            right: RightKeys {
                mask: key(own, Role::RightMask, prover.previous()),
                pad: key(own, Role::Pad, prover.previous()),
                challenge: key(next, Role::Challenge, prover.previous()),
            },
        }
    }
}

/// The random number of a side.
pub(crate) fn mask(key: &StreamKey) -> Number {
    uniform(&mut key.stream(0))
}

/// The right verifier's share of the values of the polynomial of fold number `place`.
pub(crate) fn pad(key: &StreamKey, place: usize, fold: Fold) -> Vec<Number> {
    let mut stream = key.stream(place as u64);
    (0..fold.sent()).map(|_| uniform(&mut stream)).collect()
}

/// The tag of the values that the left verifier gets, and of all before them.
pub(crate) fn tag(key: &StreamKey, before: Tag, place: usize, share: &[Number]) -> Tag {
    let mut hash = Sha256::new_with_prefix(b"sprifed trustees: proof");
    hash.update(before.0);
    hash.update((place as u64).to_le_bytes());
    for number in share {
        hash.update(number.get().to_le_bytes());
    }
    let mut tag = Tag::default();
    derive(
        key.expose(),
        &hash.finalize().into(),
        &[b"proof tag"],
        &mut tag.0,
    );
    tag
}

/// The challenge of a fold, which depends on all that the prover sent: uniform among the numbers that are no point
/// whose value is added up.
pub(crate) fn challenge(key: &StreamKey, tag: Tag, fold: Fold) -> Number {
    let key = StreamKey::filled(|stream| {
        derive(key.expose(), &tag.0, &[b"proof challenge"], stream);
    });
    let least = fold.summed() as u64;
    Number::reduced(u128::from(least + key.stream(0).below(PRIME - least)))
}

/// A keyed digest of what a prover sent to its left verifier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tag(pub(crate) [u8; 32]);

impl Tag {
    pub(crate) const WORDS: usize = 4;

    pub(crate) fn to_words(self) -> impl Iterator<Item = u64> {
        let (words, _) = self.0.as_chunks::<8>();
        let words: [[u8; 8]; Self::WORDS] = core::array::from_fn(|place| words[place]);
        words.into_iter().map(u64::from_le_bytes)
    }

    pub(crate) fn from_words(words: &[u64]) -> Self {
        let mut tag = Self::default();
        for (bytes, word) in tag.0.as_chunks_mut::<8>().0.iter_mut().zip(words) {
            *bytes = word.to_le_bytes();
        }
        tag
    }
}

fn uniform(stream: &mut Stream) -> Number {
    Number::reduced(u128::from(stream.below(PRIME)))
}
