//! Rounding at random: values become integers without bias, at memory speed.
//!
//! The random bits of rounding are independent of the data and give no protection: the sensitivity
//! of a sum is enforced on the integers afterwards. So they come from a fast generator.

use crate::question::limited;

/// Sixteen independent xorshift streams, as many as a vector unit processes at once.
#[derive(Clone, Debug)]
pub struct Dither {
    lanes: [u32; LANES],
}

const LANES: usize = 16;

/// 1.5·2²³: adding it to a float below 2²² leaves the nearest integer in the low bits.
const SHIFT: f32 = 12_582_912.0;

impl Dither {
    /// The streams of one privacy unit. Its number is its public place, so that what another unit
    /// holds does not change how this one is rounded.
    #[must_use]
    pub fn of_unit(seed: u64, unit: u64) -> Self {
        let mut state = seed ^ unit.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let lanes = core::array::from_fn(|_| {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            ((mixed >> 32) as u32) | 1
        });
        Self { lanes }
    }

    /// Rounds `value·weight`, the value limited to ±`limit`, for each value: ⌊v + u⌋ with u uniform on [0, 1).
    ///
    /// Unbiased for results below 2²². The integers still have to be checked.
    pub fn round_scaled(&mut self, values: &[f32], limit: f32, weight: f32, out: &mut [i32]) {
        let mut groups = values.chunks_exact(LANES).zip(out.chunks_exact_mut(LANES));
        for (group, rounded) in &mut groups {
            self.step();
            for lane in 0..LANES {
                let scaled = limited(group[lane], limit) * weight;
                rounded[lane] = round(scaled, self.lanes[lane]);
            }
        }
        self.step();
        let done = values.len() / LANES * LANES;
        for ((value, rounded), lane) in values[done..].iter().zip(&mut out[done..]).zip(self.lanes)
        {
            *rounded = round(limited(*value, limit) * weight, lane);
        }
    }

    #[inline]
    fn step(&mut self) {
        for lane in &mut self.lanes {
            let mut word = *lane;
            word ^= word << 13;
            word ^= word >> 17;
            word ^= word << 5;
            *lane = word;
        }
    }
}

#[inline]
fn round(scaled: f32, word: u32) -> i32 {
    let centred = f32::from_bits((word >> 9) | 0x3F80_0000) - 1.5;
    let shifted = scaled + centred + SHIFT;
    shifted
        .to_bits()
        .cast_signed()
        .wrapping_sub(SHIFT.to_bits().cast_signed())
}

#[cfg(test)]
mod tests;
