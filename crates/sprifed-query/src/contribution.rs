//! From the records of one privacy unit to the integers it contributes.

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use sprifed_noise::{BoundedSum, OutOfBounds};
use sprifed_privacy::{IntegerBounds, RecordPart, Rounding, SumPlan};

use crate::dither::Dither;
use crate::kernels::{self, WIDEST_COORDINATE};
use crate::plan::PlannedBlock;
use crate::question::Question;
use crate::records::RecordSource;
use crate::work;

#[cfg(test)]
mod tests;

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
            part: RecordPart::All,
        };
        Self {
            blocks,
            plan,
            dither_seed,
            first_unit: 0,
        }
    }

    /// The same for a sum about `part` of the records.
    #[must_use]
    pub fn about(mut self, part: RecordPart) -> Self {
        self.plan.part = part;
        self
    }

    /// The same for some of all units. `first_unit` is the place of its first unit among all units, so
    /// that values are rounded as if one party held all of them.
    #[must_use]
    pub const fn starting_at(mut self, first_unit: u64) -> Self {
        self.first_unit = first_unit;
        self
    }

    /// The sum over the units of `range`.
    ///
    /// # Guarantee
    /// Each unit enters once, within the bounds of every block; one outside the part that the sum is about enters with
    /// zero.
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
            sum.add_unit(self.place_of(unit), &integers)?;
        }
        Ok(sum)
    }

    /// The sum over all units, on all cores: integers add in any order.
    ///
    /// # Errors
    /// As [`Self::sum`].
    pub fn sum_of_all(&self, records: &impl RecordSource) -> Result<BoundedSum, OutOfBounds> {
        let units = records.n_units();
        let size = units.div_ceil(4 * rayon::current_num_threads()).max(1);
        let starts: Vec<usize> = (0..units).step_by(size).collect();
        let parts: Result<Vec<BoundedSum>, OutOfBounds> = starts
            .into_par_iter()
            .map(|start| self.sum(records, start..(start + size).min(units)))
            .collect();
        let mut parts = parts?.into_iter();
        let first = parts.next();
        let mut total = first.unwrap_or_else(|| BoundedSum::zero(self.plan.clone()));
        for part in parts {
            total.merge(&part)?;
        }
        Ok(total)
    }

    /// The place of a unit of these among all units.
    const fn place_of(&self, unit: usize) -> u64 {
        self.first_unit + unit as u64
    }

    /// The integers of one unit: zero if it is outside the part that the sum is about, and otherwise of the mean over its records, so that a client with many records
    /// is not clipped more than one with few. Records that do not count are not in the mean; a unit
    /// without any other contributes zero.
    ///
    /// # Guarantee
    /// The work depends on the question, the part and how many records the unit has, never on what they
    /// say; and the rounding on the place of the unit alone, never on what other units hold.
    pub fn contribute(
        &self,
        records: &impl RecordSource,
        unit: usize,
        values: &mut [f32],
        integers: &mut [i32],
    ) {
        // Which part a unit is in is public.
        if !self.plan.part.contains(self.place_of(unit)) {
            integers.fill(0);
            return;
        }
        let mut dither = Dither::of_unit(self.dither_seed, self.place_of(unit));
        values.fill(0.0);
        let mut start = 0;
        for AskedBlock { question, planned } in &self.blocks {
            let end = start + planned.block.coordinates as usize;
            let (part, rounded) = (&mut values[start..end], &mut integers[start..end]);
            let (mut n_records, mut n_counted) = (0u32, 0u32);
            records.visit_unit(unit, &mut |record| {
                question.add_contribution(record, part);
                n_records = n_records.saturating_add(1);
                n_counted = n_counted.saturating_add(u32::from(record.is_present));
            });
            if n_records > 1 {
                work::touch(part.len());
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "single precision is enough"
                )]
                let share = (1.0 / f64::from(n_counted.max(1))) as f32;
                part.iter_mut().for_each(|value| *value *= share);
            }
            to_integers(planned, part, &mut dither, rounded);
            start = end;
        }
    }
}

/// Rounds normalised values into the bounds of their block.
///
/// # Why
/// A vector is rounded once. Within a ball the rounded one is longer than its bound with a
/// probability below 10⁻⁶ [KLS21, Prop. 22]; it then contributes zero, which moves a mean by less
/// than that part of it. Rounding again until it fits would take a time that depends on the data.
#[expect(
    clippy::cast_possible_truncation,
    reason = "steps and bounds are far below 2^24"
)]
fn to_integers(planned: &PlannedBlock, values: &[f32], dither: &mut Dither, out: &mut [i32]) {
    let steps = planned.steps as f32;
    work::round();
    work::touch(out.len());
    match planned.block.bounds {
        IntegerBounds::Box { bound, squares } => {
            let most = i32::try_from(bound).unwrap_or(i32::MAX);
            dither.round_scaled(values, 1.0, steps, out, |part| kernels::clamp(part, most));
            let first_square = out.len().saturating_sub(squares as usize);
            for square in &mut out[first_square..] {
                *square = (*square).max(0);
            }
        }
        IntegerBounds::Ball {
            bound,
            squared_norm: most_squared,
        } => {
            work::touch(values.len());
            let norm = kernels::add_squares(0.0, values).sqrt().max(1.0);
            let weight = (f64::from(steps) / norm) as f32;
            work::touch(out.len());
            let mut size = Size::default();
            match planned.rounding {
                Rounding::Dithered => {
                    dither.round_scaled(values, f32::MAX, weight, out, |part| size.include(part));
                }
                Rounding::Truncated => {
                    truncate(values, weight, out);
                    size.include(out);
                }
            }
            let mask = if size.is_within(bound, most_squared) {
                -1
            } else {
                0
            };
            kernels::keep(out, mask);
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "truncation is meant")]
fn truncate(values: &[f32], weight: f32, out: &mut [i32]) {
    for (value, integer) in values.iter().zip(out) {
        *integer = (value * weight) as i32;
    }
}

/// How large integers are; all of them were looked at.
#[derive(Default)]
struct Size {
    largest: u32,
    squared: u64,
}

impl Size {
    fn include(&mut self, integers: &[i32]) {
        let (largest, squared) = kernels::measure(integers);
        self.largest = self.largest.max(largest);
        self.squared = self.squared.saturating_add(squared);
    }

    fn is_within(&self, most: u64, most_squared: u64) -> bool {
        let most = most.min(u64::from(WIDEST_COORDINATE));
        u64::from(self.largest) <= most && self.squared <= most_squared
    }
}
