//! What is to be explained: a number within public bounds, one of two public levels, or a time to an event.

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
    kind: Kind,
}

/// What the column holds.
#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Number,
    Levels(BinaryLevels),
    Time(EventTime),
}

/// The two levels of a response: the first counts as zero, the second as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BinaryLevels(LevelCoding);

/// The column that says whether a time ended with the event, and the public horizon of times.
#[derive(Debug, Clone, PartialEq)]
pub struct EventTime {
    column: String,
    levels: BinaryLevels,
    horizon: f64,
}

/// The units of a response that is a time: what is explained is its martingale residual, which is never below −4.
const RESIDUALS: f64 = 4.0;

/// The longest horizon.
const LONGEST: f64 = 1e30;

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
            OutcomeKey::Survival => Self::of_time(table),
        }
    }

    /// Bounds are stated in the units of the column; centre and scale, where given, belong to the scale the model is
    /// fitted on.
    fn of_number(table: ResponseTable) -> Result<Self, SchemaError> {
        if table.levels.is_some() {
            return Err(refuse(
                "has `levels`, which require outcome = \"binary\" or \"survival\"",
            ));
        }
        table.refuse_time_keys()?;
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
            kind: Kind::Number,
        })
    }

    fn of_levels(table: ResponseTable) -> Result<Self, SchemaError> {
        table.refuse_time_keys()?;
        if table.has_numbers() {
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
        Ok(Self {
            name: table.name,
            units: Units::zero_one(),
            transform: Transform::Identity,
            kind: Kind::Levels(BinaryLevels::new(levels)?),
        })
    }

    fn of_time(table: ResponseTable) -> Result<Self, SchemaError> {
        if table.has_numbers() {
            return Err(refuse(
                "has outcome = \"survival\" and a key for numbers; required: `event` and `horizon`",
            ));
        }
        let (Some(column), Some(horizon)) = (table.event, table.horizon) else {
            return Err(refuse(
                "has outcome = \"survival\"; required: `event`, the column that says whether the event occurred, and \
                 `horizon`, a public time after which nothing counts",
            ));
        };
        if column.is_empty() || column == table.name {
            return Err(refuse(
                "has an `event` that is empty or the column of times itself; required: the name of another column",
            ));
        }
        if !(horizon > 0.0 && horizon <= LONGEST) {
            return Err(refuse(
                "has a `horizon` that is no time; required: a number above 0 and at most 1e30",
            ));
        }
        let levels = table
            .levels
            .unwrap_or_else(|| vec![Level::Number(0), Level::Number(1)]);
        if levels.len() != 2 {
            return Err(refuse(
                "has outcome = \"survival\" and other than two `levels`; required: that of censored records, and then \
                 that of the event; 0 and 1 if there are none",
            ));
        }
        Ok(Self {
            name: table.name,
            units: Units::new("response", -RESIDUALS, RESIDUALS, Some(0.0), Some(1.0))?,
            transform: Transform::Identity,
            kind: Kind::Time(EventTime {
                column,
                levels: BinaryLevels::new(levels)?,
                horizon,
            }),
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

    /// Its two levels, if it has levels and no number.
    pub const fn levels(&self) -> Option<&BinaryLevels> {
        match &self.kind {
            Kind::Levels(levels) => Some(levels),
            Kind::Number | Kind::Time(_) => None,
        }
    }

    /// How times and events are read, if it is a time.
    pub const fn event_time(&self) -> Option<&EventTime> {
        match &self.kind {
            Kind::Time(time) => Some(time),
            Kind::Number | Kind::Levels(_) => None,
        }
    }

    /// How the event is read from a table where a model is scored: of the two levels, or of the column that says whether
    /// a time ended with the event. None if the response is a number.
    #[must_use]
    pub fn reading(&self) -> Option<FeatureReading> {
        let (column, BinaryLevels(levels)) = match &self.kind {
            Kind::Number => return None,
            Kind::Levels(levels) => (&self.name, levels),
            Kind::Time(time) => (&time.column, &time.levels),
        };
        Some(FeatureReading::Level {
            column: column.clone(),
            level: levels.coded().next().cloned(),
            levels: levels.clone(),
        })
    }
}

impl EventTime {
    /// The column that says whether the event occurred.
    #[must_use]
    pub fn column(&self) -> &str {
        &self.column
    }

    /// Its level of censored records, then that of the event.
    #[must_use]
    pub const fn levels(&self) -> &BinaryLevels {
        &self.levels
    }

    /// The public time after which nothing counts.
    #[must_use]
    pub const fn horizon(&self) -> f64 {
        self.horizon
    }

    /// The response of a record, in units of the horizon: its time if that ended with the event, minus its time if it was
    /// censored. An event at the time zero has the smallest positive response, and a time beyond the horizon counts as
    /// censored there. Not finite if the time is not, and not a number if the
    /// event is missing.
    ///
    /// # Errors
    /// If the time is below zero.
    pub fn response(&self, time: f64, event: f64) -> Result<f64, CellDefect> {
        if !time.is_finite() {
            return Ok(time);
        }
        if time < 0.0 {
            return Err(CellDefect::NegativeTime);
        }
        let time = time / self.horizon;
        Ok(match event > 0.0 {
            _ if event.is_nan() => f64::NAN,
            true if time <= 1.0 => time.max(f64::from(f32::MIN_POSITIVE)),
            _ => -time.min(1.0),
        })
    }
}

impl ResponseTable {
    fn has_numbers(&self) -> bool {
        let numbers = [self.lower, self.upper, self.center, self.scale];
        numbers.iter().any(Option::is_some) || self.transform != Transform::Identity
    }

    fn refuse_time_keys(&self) -> Result<(), SchemaError> {
        match self.event.is_some() || self.horizon.is_some() {
            true => Err(refuse(
                "has `event` or `horizon`, which require outcome = \"survival\"",
            )),
            false => Ok(()),
        }
    }
}

impl BinaryLevels {
    fn new(levels: Vec<Level>) -> Result<Self, SchemaError> {
        let levels = levels.into_iter().map(Level::into_text).collect();
        let coding = LevelCoding::new(levels, None, false, false);
        coding.map(Self).map_err(|problem| refuse(&problem))
    }

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
