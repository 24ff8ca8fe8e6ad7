//! One trustee's way through a circuit: it computes a layer, emits one frame and waits for one.
//!
//! A bit x is shared as x = x₀ ⊕ x₁ ⊕ x₂, and trustee i holds xᵢ and xᵢ₊₁ (indices modulo 3). XOR is
//! done on shares. For an AND of x and y [AFLNO16, Sec. 2] trustee i computes
//!
//! ```text
//! zᵢ = xᵢ yᵢ ⊕ xᵢ yᵢ₊₁ ⊕ xᵢ₊₁ yᵢ ⊕ ρᵢ ⊕ ρᵢ₊₁
//! ```
//!
//! with ρⱼ a fresh word of the stream that trustees j−1 and j have in common, sends zᵢ to trustee
//! i−1 and receives zᵢ₊₁. The three ρᵢ ⊕ ρᵢ₊₁ cancel. What trustee i receives contains ρᵢ₊₂, which it
//! does not know, so it is uniform given everything else that the trustee has.
//!
//! Which word masks which gate follows from the layer and the place in it, and each is used once.

use std::sync::Arc;

use zeroize::{Zeroize as _, Zeroizing};

use crate::circuit::{Circuit, Operation, Plane};
use crate::lanes::{last_word, n_words};
use crate::proof::LoggedGates;
use crate::store::Store;
use crate::streams::{Masks, Pads};
use crate::trustee_id::TrusteeId;

/// A plane as one trustee holds it: two of its three shares; zeroed on drop.
#[derive(Clone, PartialEq, Eq)]
pub struct SharedPlane {
    /// The share with the trustee's own number.
    pub own: Vec<u64>,
    /// The share with the next trustee's number.
    pub next: Vec<u64>,
}

impl Drop for SharedPlane {
    fn drop(&mut self) {
        self.own.zeroize();
        self.next.zeroize();
    }
}

impl core::fmt::Debug for SharedPlane {
    /// Only how long it is: shares are secret.
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "SharedPlane({} words)", self.own.len())
    }
}

/// What a trustee does next in a circuit.
#[derive(Debug)]
pub enum Turn {
    /// Send this frame to the previous trustee, and wait for one of the same length from the next.
    Exchange(Vec<u64>),
    /// The circuit is done. The shares that the previous trustee lacks are [`Evaluation::opening`].
    Done,
}

/// A frame that does not fit the circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a frame of {found} words came where {required} are required")]
pub struct WrongLength {
    /// Words that came.
    pub found: usize,
    /// Words that the circuit needs.
    pub required: usize,
}

/// One trustee's evaluation of a circuit.
pub struct Evaluation<P = Pads> {
    circuit: Arc<Circuit>,
    pads: P,
    own: Store,
    next: Store,
    at: usize,
    layer: u64,
    /// The gates of the layer whose frame was sent and not yet answered.
    waiting: Vec<Plane>,
    /// All gates that were not taken to be proved.
    log: Option<Zeroizing<Vec<LoggedGates>>>,
}

impl<P: Masks> Evaluation<P> {
    /// Begins with the trustee's shares of all inputs, each of the length that the circuit wants.
    ///
    /// # Errors
    /// When an input is missing or has another length.
    pub fn new(
        circuit: Arc<Circuit>,
        trustee: TrusteeId,
        pads: P,
        inputs: Vec<SharedPlane>,
    ) -> Result<Self, WrongLength> {
        let required: Vec<_> = circuit.lanes.iter().take(circuit.n_inputs).collect();
        if inputs.len() != required.len() {
            return Err(WrongLength {
                found: inputs.len(),
                required: required.len(),
            });
        }
        for (input, lanes) in inputs.iter().zip(required) {
            for share in [&input.own, &input.next] {
                if share.len() != n_words(*lanes) {
                    return Err(WrongLength {
                        found: share.len(),
                        required: n_words(*lanes),
                    });
                }
            }
        }
        let (own, next) = inputs
            .into_iter()
            .map(|mut input| {
                let (own, next) = (&mut input.own, &mut input.next);
                (core::mem::take(own), core::mem::take(next))
            })
            .unzip();
        Ok(Self {
            own: Store::new(&circuit, own, trustee.share() == 0),
            next: Store::new(&circuit, next, trustee.next().share() == 0),
            circuit,
            pads,
            at: 0,
            layer: 0,
            waiting: Vec::new(),
            log: None,
        })
    }

    /// Writes down all gates, to be proved.
    #[must_use]
    pub(crate) fn with_log(self) -> Self {
        Self {
            log: Some(Zeroizing::default()),
            ..self
        }
    }

    /// The first so many words of gates of the log, which loses them.
    pub(crate) fn take_log(&mut self, words: usize) -> Zeroizing<Vec<LoggedGates>> {
        let Some(log) = &mut self.log else {
            return Zeroizing::default();
        };
        let words = words.min(log.len());
        let (taken, _) = log.split_at_mut(words);
        let copy = Zeroizing::new(taken.to_vec());
        taken.zeroize();
        log.drain(..words);
        copy
    }

    /// Computes up to the next exchange, or to the end.
    pub fn advance(&mut self) -> Turn {
        let circuit = Arc::clone(&self.circuit);
        let mut frame = Vec::new();
        self.pads.begin_layer(self.layer);
        while let Some(operation) = circuit.operations.get(self.at) {
            self.at += 1;
            match *operation {
                Operation::And { to, left, right } => {
                    let product = self.gate(to, left, right);
                    frame.extend_from_slice(&product);
                    self.own.put(to, product);
                    self.waiting.push(to);
                }
                Operation::Exchange => {
                    self.layer += 1;
                    return Turn::Exchange(frame);
                }
                _ => {
                    self.own.apply(operation, &circuit);
                    self.next.apply(operation, &circuit);
                }
            }
        }
        Turn::Done
    }

    /// The trustee's share of a product, masked.
    fn gate(&mut self, to: Plane, left: Plane, right: Plane) -> Vec<u64> {
        let mut product = self.own.room(n_words(self.circuit.lanes(to)));
        let x = self.own.get(left).iter().zip(self.next.get(left));
        let y = self.own.get(right).iter().zip(self.next.get(right));
        for (word, ((x_own, x_next), (y_own, y_next))) in product.iter_mut().zip(x.zip(y)) {
            *word = (x_own & (y_own ^ y_next)) ^ (x_next & y_own);
        }
        let Some(log) = &mut self.log else {
            self.pads.mask(&mut product);
            return product;
        };
        let mut pads = [
            Zeroizing::new(vec![0; product.len()]),
            Zeroizing::new(vec![0; product.len()]),
        ];
        let [own_pad, next_pad] = &mut pads;
        self.pads.mask_and_keep(&mut product, [own_pad, next_pad]);
        let x = self.own.get(left).iter().zip(self.next.get(left));
        let y = self.own.get(right).iter().zip(self.next.get(right));
        let pads = own_pad.iter().zip(next_pad.iter());
        log.extend(x.zip(y).zip(pads).map(|((x, y), pads)| LoggedGates {
            x: [*x.0, *x.1],
            y: [*y.0, *y.1],
            pads: [*pads.0, *pads.1],
            received: 0,
        }));
        product
    }

    /// How many words the frame has that the evaluation waits for; zero if it waits for none.
    #[must_use]
    pub fn awaited_words(&self) -> usize {
        let lengths = self.waiting.iter().map(|plane| self.own.get(*plane).len());
        lengths.sum()
    }

    /// Takes the next trustee's frame of the layer whose own frame was sent.
    ///
    /// # Errors
    /// When it has another length; nothing is changed.
    pub fn receive(&mut self, frame: &[u64]) -> Result<(), WrongLength> {
        let required = self.awaited_words();
        if frame.len() != required {
            return Err(WrongLength {
                found: frame.len(),
                required,
            });
        }
        if let Some(log) = &mut self.log {
            // The gates of this layer are the last ones.
            let before = log.len().saturating_sub(frame.len());
            for (gates, word) in log.iter_mut().skip(before).zip(frame) {
                gates.received = *word;
            }
        }
        let mut rest = frame;
        for plane in core::mem::take(&mut self.waiting) {
            let (part, after) = rest.split_at(self.own.get(plane).len());
            let mut room = self.next.room(part.len());
            room.copy_from_slice(part);
            self.next.put(plane, room);
            rest = after;
        }
        Ok(())
    }

    /// The shares of the outputs that the previous trustee lacks: the lanes that are outputs, and
    /// no others.
    #[must_use]
    pub fn opening(&self) -> Vec<u64> {
        self.outputs_in(&self.next)
    }

    /// The shares of the outputs that the next trustee lacks. It gets them from their other holder as well.
    #[must_use]
    pub fn opening_to_next(&self) -> Vec<u64> {
        self.outputs_in(&self.own)
    }

    fn outputs_in(&self, share: &Store) -> Vec<u64> {
        let planes = self.circuit.outputs().iter();
        let share = |plane: &Plane| clean(share.get(*plane), self.circuit.lanes(*plane));
        planes.flat_map(share).collect()
    }

    /// The outputs, from the share that the next trustee sent.
    ///
    /// # Errors
    /// When it has another length.
    pub fn open(&self, share: &[u64]) -> Result<Vec<Vec<u64>>, WrongLength> {
        let outputs = self.circuit.outputs();
        let lengths = outputs
            .iter()
            .map(|plane| n_words(self.circuit.lanes(*plane)));
        let required = lengths.sum();
        if share.len() != required {
            return Err(WrongLength {
                found: share.len(),
                required,
            });
        }
        let mut rest = share;
        let mut opened = Vec::with_capacity(outputs.len());
        for plane in outputs {
            let (part, after) = rest.split_at(n_words(self.circuit.lanes(*plane)));
            let held = self.own.get(*plane).iter().zip(self.next.get(*plane));
            let value = part
                .iter()
                .zip(held)
                .map(|(part, (own, next))| part ^ own ^ next);
            let value: Vec<_> = value.collect();
            opened.push(clean(&value, self.circuit.lanes(*plane)));
            rest = after;
        }
        Ok(opened)
    }
}

#[cfg(test)]
impl<P> Evaluation<P> {
    /// Changes one bit of the trustee's own share of the gates whose frame was sent.
    pub(crate) fn change_own(&mut self, word: usize, bit: u32) {
        let mut before = 0;
        for plane in &self.waiting {
            let mut words = self.own.get(*plane).to_vec();
            if (before..before + words.len()).contains(&word) {
                words[word - before] ^= 1 << bit;
            }
            before += words.len();
            self.own.put(*plane, words);
        }
    }
}

impl<P> core::fmt::Debug for Evaluation<P> {
    /// Only where it is: shares are secret.
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "Evaluation(layer {})", self.layer)
    }
}

/// A plane without what stands after its last lane.
fn clean(plane: &[u64], lanes: u32) -> Vec<u64> {
    let mut plane = plane.to_vec();
    if let Some(last) = plane.last_mut() {
        *last &= last_word(lanes);
    }
    plane
}

#[cfg(test)]
mod tests;
