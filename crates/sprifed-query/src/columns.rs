//! Columns in units that were released: each minus its centre, over its scale, and cut.

use serde::{Deserialize, Serialize};

use crate::feature_set::FeatureSet;
use crate::limit::Limit;
use crate::work;

#[cfg(test)]
mod tests;

/// Standardised columns are cut at plus and minus so many of their scales.
pub const COLUMN_CUT: f64 = 5.0;

/// What some columns are measured from and in: private answers, and public once they are released.
///
/// # Why
/// Nothing has to be trusted for privacy: what a record becomes is a function of that record and of these numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "StatedColumns", into = "StatedColumns")]
pub struct ReleasedColumns {
    features: FeatureSet,
    units: Vec<ColumnUnit>,
}

/// What one column is measured from and in.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnUnit {
    /// The value that becomes zero.
    pub centre: f64,
    /// How far a value moves when its unit moves by one.
    pub scale: Limit,
}

/// Columns that no question may be about.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum IllegalColumns {
    /// There is not one unit for each column.
    #[error("{found} units are given for {required} columns")]
    Count {
        /// How many units there are.
        found: usize,
        /// How many columns there are.
        required: usize,
    },
    /// A centre is not finite.
    #[error("the centre of a column is {found}, but only finite ones are possible")]
    Centre {
        /// The centre.
        found: f64,
    },
}

/// Columns as they were written down, before they are checked.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StatedColumns {
    features: FeatureSet,
    units: Vec<ColumnUnit>,
}

impl TryFrom<StatedColumns> for ReleasedColumns {
    type Error = IllegalColumns;

    fn try_from(stated: StatedColumns) -> Result<Self, IllegalColumns> {
        let StatedColumns { features, units } = stated;
        let (found, required) = (units.len(), features.len());
        if found != required {
            return Err(IllegalColumns::Count { found, required });
        }
        match units.iter().find(|unit| !unit.centre.is_finite()) {
            Some(unit) => Err(IllegalColumns::Centre { found: unit.centre }),
            None => Ok(Self { features, units }),
        }
    }
}

impl From<ReleasedColumns> for StatedColumns {
    fn from(columns: ReleasedColumns) -> Self {
        let ReleasedColumns { features, units } = columns;
        Self { features, units }
    }
}

impl ReleasedColumns {
    /// `features` in the units of `unit_of`, which is given each of their places. A centre that is not finite becomes
    /// zero: whatever a procedure computed from earlier answers, there is a question to ask.
    #[must_use]
    pub fn new(features: FeatureSet, unit_of: impl Fn(usize) -> ColumnUnit) -> Self {
        let legal = |place: usize| {
            let ColumnUnit { centre, scale } = unit_of(place);
            let centre = if centre.is_finite() { centre } else { 0.0 };
            ColumnUnit { centre, scale }
        };
        let units = (0..features.len()).map(legal).collect();
        Self { features, units }
    }

    /// The columns.
    #[must_use]
    pub const fn features(&self) -> &FeatureSet {
        &self.features
    }

    /// Each column with its unit, in increasing order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, ColumnUnit)> + '_ {
        self.features.iter().zip(self.units.iter().copied())
    }

    /// The unit of a column, if it has one.
    #[must_use]
    pub fn unit_of(&self, feature: u32) -> Option<ColumnUnit> {
        let mut columns = self.iter();
        columns
            .find(|(known, _)| *known == feature)
            .map(|(_, unit)| unit)
    }

    /// A row in these units; other columns stay as they are.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "at most the cut in size, and single precision is enough"
    )]
    pub(crate) fn standardised(&self, row: &[f32]) -> Vec<f32> {
        work::touch(row.len());
        let mut values = row.to_vec();
        for (feature, ColumnUnit { centre, scale }) in self.iter() {
            if let Some(value) = values.get_mut(feature as usize) {
                let finite = if value.is_finite() { *value } else { 0.0 };
                let unit = (f64::from(finite) - centre) / scale.get();
                *value = unit.clamp(-COLUMN_CUT, COLUMN_CUT) as f32;
            }
        }
        values
    }
}
