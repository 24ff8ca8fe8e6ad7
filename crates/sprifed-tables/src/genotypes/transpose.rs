//! From packed codes of markers, sample after sample, to packed codes of samples, marker after marker.

use super::IN_A_BYTE;

/// Markers that are turned at once: their codes are 64 bytes of each sample.
pub(crate) const MARKERS_AT_ONCE: usize = 256;

/// Bytes that the codes of so many markers have at one sample.
const BYTES: usize = MARKERS_AT_ONCE / IN_A_BYTE;

/// Samples that are turned at once, so that what is written stays in the second cache.
const SAMPLES: usize = 4096;

/// Hands over the codes of each sample at these markers, at most [`MARKERS_AT_ONCE`], in the order of the samples. Places
/// after the last marker hold zeros.
pub(crate) fn transpose(markers: &[&[u8]], n_samples: usize, mut take: impl FnMut(usize, &[u8])) {
    let width = markers.len().div_ceil(IN_A_BYTE);
    let mut turned = vec![0u8; SAMPLES * BYTES];
    for start in (0..n_samples).step_by(SAMPLES) {
        let end = n_samples.min(start + SAMPLES);
        let bytes = start / IN_A_BYTE..end.div_ceil(IN_A_BYTE);
        for (column, four) in markers.chunks(IN_A_BYTE).enumerate() {
            let of = |at: usize| four.get(at).map_or(&[][..], |codes| &codes[bytes.clone()]);
            let [a, b, c, d] = [of(0), of(1), of(2), of(3)];
            for at in 0..bytes.len() {
                let byte = |codes: &[u8]| codes.get(at).copied().unwrap_or(0);
                let samples = turn([byte(a), byte(b), byte(c), byte(d)]);
                for (sample, codes) in samples.into_iter().enumerate() {
                    turned[(at * IN_A_BYTE + sample) * BYTES + column] = codes;
                }
            }
        }
        for (sample, codes) in (start..end).zip(turned.chunks_exact(BYTES)) {
            take(sample, &codes[..width]);
        }
    }
}

/// Four samples of each of four markers become four markers of each of four samples.
const fn turn(markers: [u8; IN_A_BYTE]) -> [u8; IN_A_BYTE] {
    let [a, b, c, d] = markers;
    let all = u32::from_le_bytes([a, b, c, d]);
    // Exchanges the two middle codes of each pair of bytes, then the two middle pairs of all.
    let odd = (all ^ (all >> 6)) & 0x00CC_00CC;
    let all = all ^ odd ^ (odd << 6);
    let middle = (all ^ (all >> 12)) & 0x0000_F0F0;
    let all = all ^ middle ^ (middle << 12);
    all.to_le_bytes()
}
