//! The key streams that hide a trustee's gates and deals.
//!
//! **Rule of the pad**: no word of a stream masks two values. A stream belongs to one purpose, one
//! pair of trustees and one signed set, whose digest contains fresh bytes of all three trustees. Within
//! it the layer is the upper half of the counter block, and the place in the layer the lower half.

use sha2::Digest as _;
use sprifed_crypto::derivation::derive;
use sprifed_crypto::secret;
use sprifed_crypto::stream::Stream;
use zeroize::{Zeroize as _, Zeroizing};

use crate::attempt_id::AttemptId;

secret! {
    /// A key that two trustees, or a trustee and a client, have for one step.
    pub struct StepKey([u8; 32])
}

secret! {
    /// The key of one stream.
    pub struct StreamKey([u8; 32])
}

impl StepKey {
    /// The key of a trustee's noise in one attempt, where this is the step's key of a chain that the
    /// trustee has alone. Another attempt or transcript has other noise.
    #[must_use]
    pub fn noise(&self, attempt: &AttemptId) -> Zeroizing<[u8; 32]> {
        let context: [u8; 32] = attempt.hash(b"noise").finalize().into();
        let mut key = Zeroizing::new([0; 32]);
        derive(self.expose(), &context, &[b"trustees: noise"], &mut *key);
        key
    }
}

/// What a stream is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// Masks of gates.
    Gates,
    /// Share d of what trustee d deals.
    Deals,
}

impl Purpose {
    const fn label(self) -> &'static [u8; 8] {
        match self {
            Self::Gates => b"gates   ",
            Self::Deals => b"deals   ",
        }
    }
}

impl StreamKey {
    /// The key for a purpose, under the digest of the set that three trustees signed.
    #[must_use]
    pub fn new(step: &StepKey, purpose: Purpose, set: &[u8; 32]) -> Self {
        let info: [&[u8]; 2] = [b"stream", purpose.label()];
        Self::filled(|key| derive(step.expose(), set, &info, key))
    }

    /// The stream with this number.
    #[must_use]
    pub fn stream(&self, number: u64) -> Stream {
        Stream::at(self.expose(), number)
    }
}

/// What masks the gates of an evaluation.
pub trait Masks {
    /// Starts the words of a layer.
    fn begin_layer(&mut self, layer: u64);
    /// Masks a gate with the next words of the layer.
    fn mask(&mut self, gate: &mut [u64]);
    /// As [`Self::mask`], and writes down the masks of the link to the previous trustee and of the link to
    /// the next one.
    fn mask_and_keep(&mut self, gate: &mut [u64], pads: [&mut [u64]; 2]);
}

/// The streams of a trustee's two links, together.
pub struct Pads {
    keys: [StreamKey; 2],
    streams: Option<[Stream; 2]>,
    buffer: Box<[u8; CHUNK]>,
}

/// Bytes of key stream made at a time: they stay in the first-level cache.
const CHUNK: usize = 8192;

impl Pads {
    /// The streams of the link to the previous trustee and of the link to the next one.
    #[must_use]
    pub fn new(previous: StreamKey, next: StreamKey) -> Self {
        Self {
            keys: [previous, next],
            streams: None,
            buffer: Box::new([0; CHUNK]),
        }
    }
}

impl Masks for Pads {
    fn begin_layer(&mut self, layer: u64) {
        let [previous, next] = &self.keys;
        self.streams = Some([previous.stream(layer), next.stream(layer)]);
    }

    fn mask(&mut self, gate: &mut [u64]) {
        for stream in self.streams.iter_mut().flatten() {
            add_stream(gate, stream, &mut self.buffer);
        }
    }

    fn mask_and_keep(&mut self, gate: &mut [u64], pads: [&mut [u64]; 2]) {
        for (stream, pad) in self.streams.iter_mut().flatten().zip(pads) {
            pad.fill(0);
            add_stream(pad, stream, &mut self.buffer);
            for (word, pad) in gate.iter_mut().zip(pad) {
                *word ^= *pad;
            }
        }
    }
}

impl Drop for Pads {
    fn drop(&mut self) {
        self.buffer.zeroize();
    }
}

impl core::fmt::Debug for Pads {
    /// Only the name: the keys are secret.
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.write_str("Pads(..)")
    }
}

/// Adds, by XOR, the next words of a stream.
fn add_stream(words: &mut [u64], stream: &mut Stream, buffer: &mut [u8; CHUNK]) {
    for part in words.chunks_mut(CHUNK / 8) {
        let (bytes, _) = buffer.split_at_mut(8 * part.len());
        stream.fill(bytes);
        let (pad, _) = bytes.as_chunks::<8>();
        for (word, pad) in part.iter_mut().zip(pad) {
            *word ^= u64::from_le_bytes(*pad);
        }
    }
}

/// The next `words` words of a stream.
pub(crate) fn stream_words(stream: &mut Stream, words: usize) -> Vec<u64> {
    let mut plane = vec![0; words];
    let mut buffer = Box::new([0; CHUNK]);
    add_stream(&mut plane, stream, &mut buffer);
    buffer.zeroize();
    plane
}
