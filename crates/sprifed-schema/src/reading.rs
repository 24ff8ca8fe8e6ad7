//! How a feature of a finished model is read from a table: what a prediction needs to know of the schema.

use serde::{Deserialize, Serialize};

use crate::coding::{Coding, LevelCoding};
use crate::mapping::CodedColumn;
use crate::schema::Transform;

/// A column of a table, and what a feature of a model takes from it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum FeatureReading {
    /// The number, after its transform.
    Number {
        /// The column.
        column: String,
        /// Its change of scale.
        transform: Transform,
        /// What stands in for a missing number, after the transform.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        missing: Option<f64>,
    },
    /// One where the column has this level, and zero elsewhere.
    Level {
        /// The column.
        column: String,
        /// The level; absent for all values outside the levels.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        level: Option<String>,
        /// All levels.
        levels: LevelCoding,
    },
    /// One where the value is missing, and zero elsewhere.
    Missing {
        /// The column.
        column: String,
        /// All levels, if the column is a category: a level may be spelled like a missing value. Absent for a column of
        /// numbers, where an infinite number counts as missing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        levels: Option<LevelCoding>,
    },
}

impl FeatureReading {
    /// The reading of the feature at `place` among those of `column`.
    pub(crate) fn of(column: &CodedColumn, place: usize) -> Self {
        let name = column.name.clone();
        match &column.coding {
            Coding::Number(number) if place == 0 => Self::Number {
                column: name,
                transform: number.transform(),
                missing: number.stand_in(),
            },
            Coding::Number(_) => Self::Missing {
                column: name,
                levels: None,
            },
            Coding::Levels(levels) => {
                let coded = levels.coded().count();
                if place < coded || (place == coded && levels.has_other()) {
                    Self::Level {
                        column: name,
                        level: levels.coded().nth(place).cloned(),
                        levels: levels.clone(),
                    }
                } else {
                    Self::Missing {
                        column: name,
                        levels: Some(levels.clone()),
                    }
                }
            }
        }
    }

    /// The column that it reads.
    #[must_use]
    pub fn column(&self) -> &str {
        match self {
            Self::Number { column, .. }
            | Self::Level { column, .. }
            | Self::Missing { column, .. } => column,
        }
    }

    /// Whether it needs the number of a cell and not its text.
    #[must_use]
    pub const fn is_number(&self) -> bool {
        matches!(
            self,
            Self::Number { .. } | Self::Missing { levels: None, .. }
        )
    }

    /// Whether a schema can have made it: one that was read from a file may be anything.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        match self {
            Self::Number { missing, .. } => missing.is_none_or(f64::is_finite),
            Self::Level { level, levels, .. } => {
                let is_coded = |level: &String| levels.coded().any(|coded| coded == level);
                levels.is_usable() && level.as_ref().map_or(levels.has_other(), is_coded)
            }
            Self::Missing { levels, .. } => levels
                .as_ref()
                .is_none_or(|levels| levels.is_usable() && levels.has_indicator()),
        }
    }

    /// What the text of a cell says: zero or one, or nothing if the cell cannot be used. The text of a number is not
    /// read here.
    ///
    /// # Why
    /// The cell is coded as the fit coded it, and one entry of that is taken: there is no second rule that could differ.
    #[must_use]
    pub fn of_text(&self, text: &[u8]) -> Option<f64> {
        let (place, levels) = match self {
            Self::Number { .. } | Self::Missing { levels: None, .. } => return None,
            Self::Level { level, levels, .. } => {
                let names = levels.coded().map(Some).chain([None]);
                let place = names.take_while(|coded| *coded != level.as_ref()).count();
                (place, levels)
            }
            // The last, behind those of levels.
            Self::Missing {
                levels: Some(levels),
                ..
            } => (levels.width().checked_sub(1)?, levels),
        };
        let mut row = vec![0.0; levels.width()];
        levels.encode(text, &mut row).ok()?;
        row.get(place).map(|entry| f64::from(*entry))
    }

    /// What a number says: itself after its transform, or what stands in for it, or whether it is missing.
    #[must_use]
    pub fn of_number(&self, number: f64) -> Option<f64> {
        match self {
            Self::Number {
                transform, missing, ..
            } => match number.is_finite() {
                true => Some(transform.apply_signed(number)),
                false => *missing,
            },
            Self::Missing { levels: None, .. } => Some(f64::from(u8::from(!number.is_finite()))),
            // Coded already, zero or one.
            Self::Level { .. } | Self::Missing { .. } => number.is_finite().then_some(number),
        }
    }
}
