//! The column to be explained: a number within public bounds, or one of two public levels.

use super::Transform;
use super::file::{Level, OutcomeKey, ResponseTable};
use crate::coding::{CellDefect, LevelCoding};
use crate::error::SchemaError;
use crate::reading::FeatureReading;
use crate::units::Units;

#[cfg(test)]
mod tests;

/// The column to be explained, its transform and its units.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    name: String,
    units: Units,
    transform: Transform,
    levels: Option<BinaryLevels>,
}

/// The two levels of a response: the first counts as zero, the second as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BinaryLevels(LevelCoding);

impl Response {
    pub(super) fn new(table: ResponseTable) -> Result<Self, SchemaError> {
        if table.name.is_empty() {
            return Err(SchemaError::EmptyName {
                key: "response.name".into(),
            });
        }
        match table.outcome {
            OutcomeKey::Linear => Self::of_number(table),
            OutcomeKey::Binary => Self::of_levels(table),
        }
    }

    /// Bounds are stated in the units of the column; centre and scale, where given, belong to the scale the model is
    /// fitted on.
    fn of_number(table: ResponseTable) -> Result<Self, SchemaError> {
        if table.levels.is_some() {
            return Err(refuse("has `levels`, which require outcome = \"binary\""));
        }
        let (Some(lower), Some(upper)) = (table.lower, table.upper) else {
            return Err(refuse(
                "has no `lower` or no `upper`; required: both, or outcome = \"binary\" and two `levels`",
            ));
        };
        let transform = table.transform;
        // The bounds alone first, so that a message shows them as they were written.
        Units::new("response", lower, upper, None, None)?;
        if transform == Transform::Log1p && lower <= -1.0 {
            return Err(SchemaError::LogOfNegative { lower });
        }
        let (lower, upper) = (transform.apply(lower), transform.apply(upper));
        let units = Units::new("response", lower, upper, table.center, table.scale)?;
        Ok(Self {
            name: table.name,
            units,
            transform,
            levels: None,
        })
    }

    fn of_levels(table: ResponseTable) -> Result<Self, SchemaError> {
        let has_numbers = [table.lower, table.upper, table.center, table.scale]
            .iter()
            .any(Option::is_some);
        if has_numbers || table.transform != Transform::Identity {
            return Err(refuse(
                "has outcome = \"binary\" and a key for numbers; required: `levels` only",
            ));
        }
        let levels = table.levels.unwrap_or_default();
        if levels.len() != 2 {
            return Err(refuse(
                "has outcome = \"binary\"; required: exactly two `levels`, the one that counts as the event last",
            ));
        }
        let levels = levels.into_iter().map(Level::into_text).collect();
        let coding = LevelCoding::new(levels, None, false, false);
        Ok(Self {
            name: table.name,
            units: Units::zero_one(),
            transform: Transform::Identity,
            levels: Some(BinaryLevels(coding.map_err(|problem| refuse(&problem))?)),
        })
    }

    /// The name of the column.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The units of the response, on the scale after the transform.
    pub const fn units(&self) -> &Units {
        &self.units
    }

    /// The change of scale made before bounding.
    pub const fn transform(&self) -> Transform {
        self.transform
    }

    /// Its two levels, if it is not a number.
    pub const fn levels(&self) -> Option<&BinaryLevels> {
        self.levels.as_ref()
    }

    /// How it is read from a table where a model is scored, if it is not a number.
    #[must_use]
    pub fn reading(&self) -> Option<FeatureReading> {
        let BinaryLevels(levels) = self.levels.as_ref()?;
        Some(FeatureReading::Level {
            column: self.name.clone(),
            level: levels.coded().next().cloned(),
            levels: levels.clone(),
        })
    }
}

impl BinaryLevels {
    /// The level that counts as zero, then the one that counts as one.
    #[must_use]
    pub fn names(&self) -> &[String] {
        self.0.levels()
    }

    /// Zero or one for the text of a cell; not a number if it is missing.
    ///
    /// # Errors
    /// If it is none of the two levels.
    pub fn of_text(&self, text: &[u8]) -> Result<f64, CellDefect> {
        let mut place = [0.0];
        match self.0.encode(text, &mut place) {
            Ok(_) => Ok(f64::from(place[0])),
            Err(CellDefect::Missing) => Ok(f64::NAN),
            Err(defect) => Err(defect),
        }
    }
}

fn refuse(problem: &str) -> SchemaError {
    SchemaError::FeatureTable {
        table: "response".to_owned(),
        problem: problem.to_owned(),
    }
}
