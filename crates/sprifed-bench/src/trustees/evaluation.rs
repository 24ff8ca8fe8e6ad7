//! The three evaluations of one choice, from shared bits to the opening, on one thread.

use std::sync::Arc;
use std::time::Duration;

use sprifed_trustees::{
    Chain, Circuit, Evaluation, Pads, Purpose, SharedPlane, StreamKey, TrusteeId, Turn,
};

use super::setting::refuse;
use crate::cpu_clock;
use crate::error::Error;

/// CPU time of all three trustees together.
pub(super) fn evaluated(circuit: &Arc<Circuit>) -> Result<Duration, Error> {
    let keys = [1u8, 2, 3].map(|byte| Chain::new([byte; 32]));
    let mut evaluations = Vec::with_capacity(3);
    for trustee in TrusteeId::ALL {
        let key = |link: TrusteeId| {
            let key = keys.get(link.place()).and_then(|chain| chain.key(0));
            key.map(|key| StreamKey::new(&key, Purpose::Gates, &[0; 32]))
        };
        let (Some(previous), Some(next)) = (key(trustee), key(trustee.next())) else {
            return Err(refuse("no key"));
        };
        let inputs = inputs(circuit);
        let pads = Pads::new(previous, next);
        let evaluation = Evaluation::new(Arc::clone(circuit), trustee, pads, inputs);
        evaluations.push(evaluation.map_err(refuse)?);
    }
    let mut total = Duration::ZERO;
    loop {
        let turns: Vec<_> = cpu_clock::clocked(&mut total, || {
            evaluations.iter_mut().map(Evaluation::advance).collect()
        });
        let mut frames: Vec<_> = turns
            .into_iter()
            .filter_map(|turn| match turn {
                Turn::Exchange(frame) => Some(frame),
                Turn::Done => None,
            })
            .collect();
        if frames.len() < 3 {
            return Ok(total);
        }
        // Trustee i receives the frame of trustee i + 1.
        frames.rotate_left(1);
        cpu_clock::clocked(&mut total, || {
            for (evaluation, frame) in evaluations.iter_mut().zip(&frames) {
                evaluation.receive(frame).map_err(refuse)?;
            }
            Ok::<(), Error>(())
        })?;
    }
}

/// Shares of any content: time does not depend on it.
fn inputs(circuit: &Circuit) -> Vec<SharedPlane> {
    let plane = |input: usize| {
        let words = circuit.input_words(input);
        let share = |start: u64| -> Vec<u64> {
            let words = (start..).take(words);
            words
                .map(|word| word.wrapping_mul(0x9e37_79b9_7f4a_7c15))
                .collect()
        };
        SharedPlane {
            own: share(input as u64),
            next: share(!(input as u64) >> 1),
        }
    };
    (0..circuit.n_inputs()).map(plane).collect()
}
