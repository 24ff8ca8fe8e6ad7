//! From packed codes to numbers, by a table of four.

use multiversion::multiversion;

use super::CODES;

/// Codes that are decoded together: those of four bytes.
pub(super) const TOGETHER: usize = 16;

/// Writes `values[code]` for each code. There are whole groups of [`TOGETHER`] codes, at least as many as places.
#[multiversion(
    targets("x86_64+avx512bw+avx512dq+avx512f+avx512vl", "x86_64+avx2"),
    dispatcher = "direct"
)]
pub(super) fn alike(codes: &[u8], values: &[f32; CODES], places: &mut [f32]) {
    let [zero, one, two, three] = *values;
    let (groups, _) = codes.as_chunks::<4>();
    let done = places.len() / TOGETHER;
    let mut whole = places.chunks_exact_mut(TOGETHER);
    for (bytes, places) in groups.iter().zip(&mut whole) {
        let word = u32::from_le_bytes(*bytes);
        for (lane, place) in (0u32..).zip(places) {
            let code = word >> (2 * lane);
            let even = if code & 2 == 0 { zero } else { two };
            let odd = if code & 2 == 0 { one } else { three };
            *place = if code & 1 == 0 { even } else { odd };
        }
    }
    let rest = whole.into_remainder();
    if let Some(bytes) = groups.get(done) {
        let word = u32::from_le_bytes(*bytes);
        for (lane, place) in (0u32..).zip(rest) {
            *place = values[(word >> (2 * lane)) as usize & 3];
        }
    }
}

/// The same with values of its own for each place.
pub(super) fn own(codes: &[u8], values: &[[f32; CODES]], places: &mut [f32]) {
    for ((place, values), at) in places.iter_mut().zip(values).zip(0..) {
        *place = values[super::code(codes, at)];
    }
}
