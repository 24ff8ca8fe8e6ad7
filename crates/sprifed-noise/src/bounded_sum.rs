//! A sum that accepts only the contributions that its plan allows.
//!
//! The guarantee of a release rests on one sentence: no privacy unit moves the integer sum by more
//! than the plan says. Here that sentence is code. Each unit's contribution is compared with the
//! bounds of every block, as integers, when it is added; how it was computed and rounded before
//! does not matter.

use sprifed_privacy::{Block, IntegerBounds, SumPlan};

use crate::kernels;

#[cfg(test)]
mod tests;

/// A contribution that its plan does not allow; the sum is as it was.
///
/// It names the block and the rule, never a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OutOfBounds {
    /// The contribution has another length than the plan.
    #[error("a contribution has {found} integers, but the plan has {required}")]
    Length {
        /// Integers given.
        found: usize,
        /// Integers planned.
        required: usize,
    },
    /// A coordinate or the norm is too large.
    #[error("a contribution exceeds the {rule} of block {block:?}; clamp it before it is added")]
    Block {
        /// The block.
        block: String,
        /// Which bound it exceeds.
        rule: &'static str,
    },
    /// The sum is about records of another part.
    #[error("a sum about {required} was given a contribution of a record that is not one of them")]
    OtherPart {
        /// The records that it is about.
        required: &'static str,
    },
}

/// The exact sum of contributions that are all within their plan. Never printed.
pub struct BoundedSum {
    plan: SumPlan,
    totals: Vec<i64>,
}

impl BoundedSum {
    /// The empty sum of `plan`.
    #[must_use]
    pub fn zero(plan: SumPlan) -> Self {
        let coordinates = plan
            .blocks
            .iter()
            .map(|block| block.coordinates as usize)
            .sum();
        Self {
            plan,
            totals: vec![0; coordinates],
        }
    }

    /// The plan of the sum.
    #[must_use]
    pub const fn plan(&self) -> &SumPlan {
        &self.plan
    }

    /// Adds what the privacy unit at `place` contributes.
    ///
    /// # Guarantee
    /// The sum moves by a vector within the bounds of every block, or not at all. It does not move for a unit outside the
    /// part of the records that it is about.
    ///
    /// # Caller must
    /// pass the place of the unit among all units of the study, counted from zero by a public rule.
    ///
    /// # Errors
    /// When the contribution exceeds a bound, has the wrong length or is not zero for a unit outside the part; the sum is
    /// then unchanged.
    pub fn add_unit(&mut self, place: u64, contribution: &[i32]) -> Result<(), OutOfBounds> {
        if contribution.len() != self.totals.len() {
            let (found, required) = (contribution.len(), self.totals.len());
            return Err(OutOfBounds::Length { found, required });
        }
        let mut rest = contribution;
        for block in &self.plan.blocks {
            let (part, following) = rest.split_at(block.coordinates as usize);
            check(block, part)?;
            rest = following;
        }
        if !self.plan.part.contains(place) && contribution.iter().any(|value| *value != 0) {
            let required = self.plan.part.text();
            return Err(OutOfBounds::OtherPart { required });
        }
        kernels::add(&mut self.totals, contribution);
        Ok(())
    }

    /// Adds the sum of other units under the same plan.
    ///
    /// # Caller must
    /// pass a sum of *other* privacy units: one unit counted twice moves the sum twice.
    ///
    /// # Errors
    /// When the plans differ; both sums are then unchanged.
    pub fn merge(&mut self, other: &Self) -> Result<(), OutOfBounds> {
        if self.plan != other.plan {
            let (found, required) = (other.totals.len(), self.totals.len());
            return Err(OutOfBounds::Length { found, required });
        }
        for (total, more) in self.totals.iter_mut().zip(&other.totals) {
            *total += more;
        }
        Ok(())
    }

    /// The exact integers, to be hidden from each of three trustees.
    ///
    /// # Caller must
    /// send them as bits that are shared among the trustees, and in no other way.
    #[must_use]
    pub fn into_upload(self) -> Vec<i64> {
        self.totals
    }

    pub(crate) fn into_totals(self) -> Vec<i64> {
        self.totals
    }
}

impl core::fmt::Debug for BoundedSum {
    /// An exact sum is never shown.
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "BoundedSum({} integers)", self.totals.len())
    }
}

fn check(block: &Block, part: &[i32]) -> Result<(), OutOfBounds> {
    let exceeds = |rule| {
        Err(OutOfBounds::Block {
            block: block.name.clone(),
            rule,
        })
    };
    let most = u32::try_from(block.bounds.coordinate_bound()).unwrap_or(u32::MAX);
    if kernels::largest(part) > most {
        return exceeds("bound of a coordinate");
    }
    match block.bounds {
        IntegerBounds::Box { squares, .. } => {
            let first_square = part.len().saturating_sub(squares as usize);
            if part.iter().skip(first_square).any(|square| *square < 0) {
                return exceeds("sign of a square");
            }
        }
        IntegerBounds::Ball { squared_norm, .. } => {
            if kernels::squared_norm(part, most) > u128::from(squared_norm) {
                return exceeds("norm");
            }
        }
    }
    Ok(())
}
