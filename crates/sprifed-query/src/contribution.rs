//! From the records of one privacy unit to the integers it contributes.

use sprifed_noise::{BoundedSum, OutOfBounds};
use sprifed_privacy::{IntegerBounds, Rounding, SumPlan};

use crate::dither::Dither;
use crate::plan::PlannedBlock;
use crate::question::{Question, squared_norm};
use crate::records::RecordSource;

#[cfg(test)]
mod tests;

/// How often a vector is rounded again before it is left out.
const ATTEMPTS: u32 = 100;

/// One question and the block that answers it.
#[derive(Clone, Copy, Debug)]
pub struct AskedBlock<'a> {
    /// The question.
    pub question: &'a Question,
    /// Its grid and bounds.
    pub planned: &'a PlannedBlock,
}

/// Adds up, exactly, what units contribute.
#[derive(Debug)]
pub struct Contributor<'a> {
    blocks: Vec<AskedBlock<'a>>,
    plan: SumPlan,
    dither_seed: u64,
    first_unit: u64,
}

impl<'a> Contributor<'a> {
    /// For the questions of one sum.
    #[must_use]
    pub fn new(blocks: Vec<AskedBlock<'a>>, dither_seed: u64) -> Self {
        let plan = SumPlan {
            blocks: blocks
                .iter()
                .map(|asked| asked.planned.block.clone())
                .collect(),
        };
        Self {
            blocks,
            plan,
            dither_seed,
            first_unit: 0,
        }
    }

    /// The same for a part of all units, of which the first has this number among all: its values
    /// are then rounded as if one party held all of them.
    #[must_use]
    pub const fn starting_at(mut self, first_unit: u64) -> Self {
        self.first_unit = first_unit;
        self
    }

    /// The sum over the units of `range`.
    ///
    /// # Guarantee
    /// Each unit enters once, within the bounds of every block.
    ///
    /// # Errors
    /// When a unit's integers do not fit, which clamping and conditional rounding exclude.
    pub fn sum(
        &self,
        records: &impl RecordSource,
        range: core::ops::Range<usize>,
    ) -> Result<BoundedSum, OutOfBounds> {
        let mut sum = BoundedSum::zero(self.plan.clone());
        let coordinates = usize::try_from(self.plan.coordinates()).unwrap_or(usize::MAX);
        let mut values = vec![0f32; coordinates];
        let mut integers = vec![0i32; coordinates];
        for unit in range {
            self.contribute(records, unit, &mut values, &mut integers);
            sum.add_unit(&integers)?;
        }
        Ok(sum)
    }

    /// The integers of one unit: of the mean over its records, so that a client with many records
    /// is not clipped more than one with few.
    pub fn contribute(
        &self,
        records: &impl RecordSource,
        unit: usize,
        values: &mut [f32],
        integers: &mut [i32],
    ) {
        let mut dither = Dither::of_unit(self.dither_seed, self.first_unit + unit as u64);
        values.fill(0.0);
        let mut start = 0;
        for AskedBlock { question, planned } in &self.blocks {
            let end = start + planned.block.coordinates as usize;
            let (part, rounded) = (&mut values[start..end], &mut integers[start..end]);
            let mut n_records = 0u32;
            records.visit_unit(unit, &mut |record| {
                question.add_contribution(record, part);
                n_records = n_records.saturating_add(1);
            });
            if n_records > 1 {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "single precision is enough"
                )]
                let share = (1.0 / f64::from(n_records)) as f32;
                part.iter_mut().for_each(|value| *value *= share);
            }
            to_integers(planned, part, &mut dither, rounded);
            start = end;
        }
    }
}

/// Rounds normalised values into the bounds of their block.
#[expect(
    clippy::cast_possible_truncation,
    reason = "steps and bounds are far below 2^24"
)]
fn to_integers(planned: &PlannedBlock, values: &[f32], dither: &mut Dither, out: &mut [i32]) {
    let steps = planned.steps as f32;
    let most = i32::try_from(planned.block.bounds.coordinate_bound()).unwrap_or(i32::MAX);
    match planned.block.bounds {
        IntegerBounds::Box { squares, .. } => {
            dither.round_scaled(values, 1.0, steps, out);
            for value in out.iter_mut() {
                *value = (*value).clamp(-most, most);
            }
            let first_square = out.len().saturating_sub(squares as usize);
            for square in &mut out[first_square..] {
                *square = (*square).max(0);
            }
        }
        IntegerBounds::Ball {
            squared_norm: most_squared,
            ..
        } => {
            let norm = squared_norm(core::iter::once(values)).sqrt().max(1.0);
            let weight = (f64::from(steps) / norm) as f32;
            for _ in 0..ATTEMPTS {
                match planned.rounding {
                    Rounding::Dithered => dither.round_scaled(values, f32::MAX, weight, out),
                    Rounding::Truncated => truncate(values, weight, out),
                }
                if fits(out, most, most_squared) {
                    return;
                }
            }
            truncate(values, weight, out);
            if !fits(out, most, most_squared) {
                out.fill(0);
            }
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "truncation is meant")]
fn truncate(values: &[f32], weight: f32, out: &mut [i32]) {
    for (value, integer) in values.iter().zip(out) {
        *integer = (value * weight) as i32;
    }
}

fn fits(integers: &[i32], most: i32, most_squared: u64) -> bool {
    let mut squared = 0u64;
    let mut largest = 0u32;
    for value in integers {
        let size = value.unsigned_abs();
        largest = largest.max(size);
        squared = squared.saturating_add(u64::from(size) * u64::from(size));
    }
    i64::from(largest) <= i64::from(most) && squared <= most_squared
}
