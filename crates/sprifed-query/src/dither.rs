//! Rounding at random: values become integers without bias, at memory speed.
//!
//! The random bits of rounding are independent of the data and give no protection: the sensitivity
//! of a sum is enforced on the integers afterwards. So they come from a fast generator.

use crate::kernels::{self, LANES, TILE, limited};

/// Sixteen independent xorshift streams, as many as a vector unit processes at once.
#[derive(Clone, Debug)]
pub(crate) struct Dither {
    lanes: [u32; LANES],
}

impl Dither {
    /// The streams of one privacy unit. Its number is its public place, so that what another unit
    /// holds does not change how this one is rounded.
    pub(crate) fn of_unit(seed: u64, unit: u64) -> Self {
        let mut state = seed ^ unit.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let lanes = core::array::from_fn(|_| {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            ((mixed >> 32) as u32) | 1
        });
        Self { lanes }
    }

    /// Rounds `value·weight`, the value limited to ±`limit`, for each value: ⌊v + u⌋ with u uniform on [0, 1). Hands each
    /// part of the integers to `finish` while it is still in the first cache.
    ///
    /// Unbiased for results below 2²². The integers still have to be checked.
    pub(crate) fn round_scaled(
        &mut self,
        values: &[f32],
        limit: f32,
        weight: f32,
        out: &mut [i32],
        mut finish: impl FnMut(&mut [i32]),
    ) {
        let whole = values.len().min(out.len()) / LANES * LANES;
        let (groups, rest) = values.split_at(whole);
        let (rounded_groups, rounded_rest) = out.split_at_mut(whole);
        for (part, rounded) in groups.chunks(TILE).zip(rounded_groups.chunks_mut(TILE)) {
            kernels::round_groups(&mut self.lanes, part, limit, weight, rounded);
            finish(rounded);
        }
        kernels::step(&mut self.lanes);
        for ((value, rounded), word) in rest.iter().zip(rounded_rest.iter_mut()).zip(self.lanes) {
            *rounded = kernels::round(limited(*value, limit) * weight, word);
        }
        finish(rounded_rest);
    }
}

#[cfg(test)]
mod tests;
