//! Vectors modulo 2^b and the key streams that hide them.
//!
//! Arithmetic is done in machine words of 16, 32 or 64 bits, whichever is the least that holds b
//! bits: a sum modulo 2^16 reduced modulo 2^b is the sum modulo 2^b, so nothing is reduced before
//! the end. A mask is the AES-256-CTR key stream of its seed read as little-endian words; see
//! docs/decisions/0005-mask-cipher.md.

use sprifed_crypto::secret;
pub(crate) use sprifed_crypto::stream::Stream;

use crate::packing;
use crate::study::SumShape;

#[cfg(test)]
mod tests;

/// Runs the same body for words of any width.
macro_rules! each_width {
    ($words:expr, $name:ident => $body:expr) => {
        match $words {
            Words::Narrow($name) => $body,
            Words::Medium($name) => $body,
            Words::Wide($name) => $body,
        }
    };
}
secret! {
    /// The 256-bit seed of one mask of one sum.
    pub struct MaskSeed([u8; 32])
}

impl MaskSeed {
    /// A seed of the caller's, for measurements.
    #[must_use]
    pub const fn assume_secret(bytes: [u8; 32]) -> Self {
        Self::from_bytes(bytes)
    }
}

/// Whether a mask is added or removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// Added.
    Plus,
    /// Removed.
    Minus,
}

impl Sign {
    /// The other one.
    #[must_use]
    pub const fn reversed(self) -> Self {
        match self {
            Self::Plus => Self::Minus,
            Self::Minus => Self::Plus,
        }
    }
}

/// A vector of integers modulo 2^b.
#[derive(Clone, PartialEq, Eq)]
pub struct Residues {
    shape: SumShape,
    words: Words,
    scratch: Scratch,
}

#[derive(Clone, PartialEq, Eq)]
enum Words {
    Narrow(Vec<u16>),
    Medium(Vec<u32>),
    Wide(Vec<u64>),
}

impl Residues {
    /// The zero vector.
    #[must_use]
    pub fn zero(shape: SumShape) -> Self {
        let len = shape.coordinates() as usize;
        let words = match shape.bits() {
            0..=16 => Words::Narrow(vec![0; len]),
            17..=32 => Words::Medium(vec![0; len]),
            _ => Words::Wide(vec![0; len]),
        };
        Self {
            shape,
            words,
            scratch: Scratch::empty(),
        }
    }

    /// The residues of `values`, one for each coordinate.
    pub fn add_values(&mut self, values: &[i64]) {
        each_width!(&mut self.words, words => {
            for (word, value) in words.iter_mut().zip(values) {
                *word = word.plus(Word::truncate(value.cast_unsigned()));
            }
        });
    }

    /// Adds a packed vector; false, and nothing is changed, if it is none of this shape.
    #[must_use]
    pub fn add_packed(&mut self, packed: &[u8]) -> bool {
        if !packing::is_packed(packed, self.shape) {
            return false;
        }
        let bits = self.shape.bits();
        each_width!(&mut self.words, words => packing::add_unpacked(packed, bits, words));
        true
    }

    /// Adds the mask of `seed` to every coordinate, or removes it.
    pub fn add_mask(&mut self, seed: &MaskSeed, sign: Sign) {
        let Scratch(buffer) = &mut self.scratch;
        each_width!(&mut self.words, words => add_stream(words, seed, sign, buffer));
    }

    /// The vector on the wire: b bits for each coordinate.
    #[must_use]
    pub fn pack(&self) -> Vec<u8> {
        each_width!(&self.words, words => packing::pack(words, self.shape))
    }

    /// The integers nearest to zero that the residues represent.
    #[must_use]
    pub fn to_centred(&self) -> Vec<i64> {
        let spare = u64::BITS - self.shape.bits();
        each_width!(&self.words, words => {
            words.iter().map(|word| (word.to_wide() << spare).cast_signed() >> spare).collect()
        })
    }
}

impl Drop for Residues {
    /// A vector may be an exact sum with a part of its masks.
    fn drop(&mut self) {
        each_width!(&mut self.words, words => zeroize::Zeroize::zeroize(words));
    }
}

impl core::fmt::Debug for Residues {
    /// Entries are never shown.
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "Residues({:?})", self.shape)
    }
}

/// A machine word.
pub(crate) trait Word: Copy {
    const BYTES: usize;
    fn read(bytes: &[u8]) -> Self;
    fn truncate(value: u64) -> Self;
    fn to_wide(self) -> u64;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
}

macro_rules! word {
    ($type:ty) => {
        impl Word for $type {
            const BYTES: usize = size_of::<$type>();

            fn read(bytes: &[u8]) -> Self {
                bytes.try_into().map_or(0, Self::from_le_bytes)
            }

            #[expect(clippy::allow_attributes, reason = "the widest word is not truncated")]
            #[allow(clippy::cast_possible_truncation, reason = "modulo the word")]
            fn truncate(value: u64) -> Self {
                value as Self
            }

            fn to_wide(self) -> u64 {
                u64::from(self)
            }

            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
        }
    };
}

word!(u16);
word!(u32);
word!(u64);

/// Bytes of key stream made at a time: they stay in the first-level cache.
const STREAM_CHUNK: usize = 8192;

/// Where key stream is made, wiped once for all masks of a vector: wiping it costs half a mask.
struct Scratch(Box<[u8; STREAM_CHUNK]>);

impl Scratch {
    fn empty() -> Self {
        Self(Box::new([0; STREAM_CHUNK]))
    }
}

impl Clone for Scratch {
    /// What is left here is no part of the vector.
    fn clone(&self) -> Self {
        Self::empty()
    }
}

impl PartialEq for Scratch {
    /// What is left here is no part of the vector.
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Eq for Scratch {}

impl Drop for Scratch {
    fn drop(&mut self) {
        zeroize::Zeroize::zeroize(&mut *self.0);
    }
}

fn add_stream<W: Word>(
    words: &mut [W],
    seed: &MaskSeed,
    sign: Sign,
    buffer: &mut [u8; STREAM_CHUNK],
) {
    let mut stream = Stream::new(seed.expose());
    for part in words.chunks_mut(STREAM_CHUNK / W::BYTES) {
        let (key_stream, _) = buffer.split_at_mut(part.len() * W::BYTES);
        stream.fill(key_stream);
        let masks = key_stream.chunks_exact(W::BYTES).map(W::read);
        match sign {
            Sign::Plus => part
                .iter_mut()
                .zip(masks)
                .for_each(|(word, mask)| *word = word.plus(mask)),
            Sign::Minus => part
                .iter_mut()
                .zip(masks)
                .for_each(|(word, mask)| *word = word.minus(mask)),
        }
    }
}
