//! Which frames a trustee waits for, one round after the other: all of it is public.

use crate::circuit::Circuit;
use crate::lanes::n_words;
use crate::message::Content;
use crate::proof::batches::{Part, opened_words, parts};
use crate::proof::lengths;
use crate::step::Step;

/// One round: at most one frame to and from each neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Round {
    pub(super) content: Content,
    /// Words of the batch of gates that is proved.
    pub(super) batch: usize,
    /// Words of the frame that comes from the previous trustee, if one comes.
    pub(super) from_previous: Option<usize>,
    /// Words of the frame that comes from the next trustee, if one comes.
    pub(super) from_next: Option<usize>,
}

/// The rounds of a circuit: the deal if noise is added, the layers with the proofs of their gates, the opening. The number of a
/// frame is that of its round.
pub(super) fn rounds(circuit: &Circuit, step: &Step, has_deal: bool) -> Vec<Round> {
    let deal = Round {
        content: Content::Deal,
        batch: 0,
        from_previous: Some(step.noise_bits() as usize * n_words(step.lanes())),
        from_next: None,
    };
    let mut rounds: Vec<_> = has_deal.then_some(deal).into_iter().collect();
    for part in parts(circuit, step.batch_words()) {
        match part {
            Part::Layer(words) => rounds.push(Round {
                content: Content::Layer,
                batch: 0,
                from_previous: None,
                from_next: Some(words),
            }),
            Part::Proof(words) => rounds.extend(lengths(words).into_iter().map(|length| Round {
                content: Content::Proof,
                batch: words,
                from_previous: Some(length.to_next),
                from_next: Some(length.to_previous),
            })),
        }
    }
    let opened = opened_words(circuit);
    rounds.push(Round {
        content: Content::Opening,
        batch: 0,
        from_previous: step.is_proved().then_some(opened),
        from_next: Some(opened),
    });
    rounds
}
