//! The loops themselves, without choice of an instruction set.

/// Coordinates that are worked on while they are in the first cache; a multiple of [`LANES`].
pub(crate) const TILE: usize = 4096;

/// Streams of rounding: as many as the widest vectors have places.
pub(crate) const LANES: usize = 16;

/// 2⁵⁸: features beyond it count as this, so that a sum of a thousand squares stays a number of
/// single precision.
pub(crate) const WIDEST: f32 = 288_230_376_151_711_744.0;

/// No coordinate of a ball is larger, whatever its plan says, so that squares can be added up in
/// 64 bits: sixteen times what [`crate::Planner`] makes grids of.
pub(crate) const WIDEST_COORDINATE: u32 = 1 << 26;

/// Squares that are summed in single precision, or in 64 bits: a thousand of the widest coordinate stay below 2^63.
const SUMMED: usize = 1024;

/// 1.5·2²³: adding it to a float below 2²² leaves the nearest integer in the low bits.
const SHIFT: f32 = 12_582_912.0;

#[inline(always)]
pub(crate) const fn finite(value: f32) -> f32 {
    if value.is_finite() { value } else { 0.0 }
}

/// `value` within ±`limit`, without the panic that `clamp` has for limits that are none.
#[inline(always)]
pub(crate) const fn limited(value: f32, limit: f32) -> f32 {
    let value = if value < -limit { -limit } else { value };
    if value > limit { limit } else { value }
}

#[inline(always)]
pub(super) fn add_products(values: &[f32], limit: f32, weight: f32, out: &mut [f32]) {
    for (place, value) in out.iter_mut().zip(values) {
        *place += limited(finite(*value), limit) * weight;
    }
}

#[inline(always)]
pub(super) fn add_squares(total: f64, values: &[f32]) -> f64 {
    add_squares_of(total, values, |value| value)
}

#[inline(always)]
pub(super) fn add_tamed_squares(total: f64, values: &[f32]) -> f64 {
    add_squares_of(total, values, |value| limited(finite(value), WIDEST))
}

#[inline(always)]
fn add_squares_of(mut total: f64, values: &[f32], read: impl Fn(f32) -> f32 + Copy) -> f64 {
    let square = |value: &f32| read(*value) * read(*value);
    for block in values.chunks(SUMMED) {
        let mut lanes = [0f32; LANES];
        let groups = block.chunks_exact(LANES);
        let tail: f32 = groups.remainder().iter().map(square).sum();
        for group in groups {
            for (lane, value) in lanes.iter_mut().zip(group) {
                *lane += square(value);
            }
        }
        total += f64::from(lanes.iter().sum::<f32>() + tail);
    }
    total
}

#[inline(always)]
pub(super) fn round_groups(
    lanes: &mut [u32; LANES],
    values: &[f32],
    limit: f32,
    weight: f32,
    out: &mut [i32],
) {
    // In a register, not in memory.
    let mut words = *lanes;
    let groups = values.chunks_exact(LANES).zip(out.chunks_exact_mut(LANES));
    for (group, rounded) in groups {
        step(&mut words);
        for lane in 0..LANES {
            rounded[lane] = round(limited(group[lane], limit) * weight, words[lane]);
        }
    }
    *lanes = words;
}

/// The next word of every stream: xorshift.
#[inline(always)]
pub(crate) fn step(lanes: &mut [u32; LANES]) {
    for lane in lanes {
        let mut word = *lane;
        word ^= word << 13;
        word ^= word >> 17;
        word ^= word << 5;
        *lane = word;
    }
}

/// ⌊scaled + u⌋, u made of the word.
#[inline(always)]
pub(crate) const fn round(scaled: f32, word: u32) -> i32 {
    let centred = f32::from_bits((word >> 9) | 0x3F80_0000) - 1.5;
    let shifted = scaled + centred + SHIFT;
    shifted
        .to_bits()
        .cast_signed()
        .wrapping_sub(SHIFT.to_bits().cast_signed())
}

#[inline(always)]
pub(super) fn measure(integers: &[i32]) -> (u32, u64) {
    let (mut squared, mut largest) = (0u64, 0u32);
    for part in integers.chunks(SUMMED) {
        let mut part_squared = 0u64;
        for value in part {
            let size = value.unsigned_abs();
            largest = largest.max(size);
            let size = u64::from(size.min(WIDEST_COORDINATE));
            part_squared += size * size;
        }
        squared = squared.saturating_add(part_squared);
    }
    (largest, squared)
}

#[inline(always)]
pub(super) fn clamp(integers: &mut [i32], most: i32) {
    for integer in integers {
        *integer = (*integer).clamp(-most, most);
    }
}

#[inline(always)]
pub(super) fn keep(integers: &mut [i32], mask: i32) {
    for integer in integers {
        *integer &= mask;
    }
}
