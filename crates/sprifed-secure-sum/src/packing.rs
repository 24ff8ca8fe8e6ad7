//! Entries of b bits, one after another, least significant bit first.

use crate::mask::Word;
use crate::study::SumShape;

#[cfg(test)]
mod tests;

/// The low b bits of every word.
pub(crate) fn pack<W: Word>(words: &[W], shape: SumShape) -> Vec<u8> {
    let bits = shape.bits();
    let kept = u64::MAX >> (u64::BITS - bits);
    let mut packed = Vec::with_capacity(shape.packed_len() + 8);
    let (mut pending, mut filled) = (0u128, 0);
    for word in words {
        pending |= u128::from(word.to_wide() & kept) << filled;
        filled += bits;
        if filled >= u64::BITS {
            packed.extend_from_slice(&low_half(pending).to_le_bytes());
            pending >>= u64::BITS;
            filled -= u64::BITS;
        }
    }
    packed.extend_from_slice(&low_half(pending).to_le_bytes());
    packed.truncate(shape.packed_len());
    packed
}

/// Whether `packed` is what [`pack`] makes of some vector of this shape.
pub(crate) fn is_packed(packed: &[u8], shape: SumShape) -> bool {
    let used = u64::from(shape.coordinates()) * u64::from(shape.bits());
    let spare = u32::try_from((8 - used % 8) % 8).unwrap_or(0);
    packed.len() == shape.packed_len()
        && packed
            .last()
            .is_none_or(|last| last.leading_zeros() >= spare)
}

/// Adds the entries of `packed` to `words`, modulo the word.
pub(crate) fn add_unpacked<W: Word>(packed: &[u8], bits: u32, words: &mut [W]) {
    if bits as usize == 8 * W::BYTES {
        for (word, entry) in words.iter_mut().zip(packed.chunks_exact(W::BYTES)) {
            *word = word.plus(W::read(entry));
        }
        return;
    }
    let kept = u64::MAX >> (u64::BITS - bits);
    let (mut pending, mut filled) = (0u128, 0);
    let mut source = packed.chunks(8);
    for word in words {
        if filled < bits {
            let mut bytes = [0; 8];
            for (byte, given) in bytes.iter_mut().zip(source.next().unwrap_or_default()) {
                *byte = *given;
            }
            pending |= u128::from(u64::from_le_bytes(bytes)) << filled;
            filled += u64::BITS;
        }
        *word = word.plus(W::truncate(low_half(pending) & kept));
        pending >>= bits;
        filled -= bits;
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the low half is what is wanted"
)]
const fn low_half(pending: u128) -> u64 {
    pending as u64
}
