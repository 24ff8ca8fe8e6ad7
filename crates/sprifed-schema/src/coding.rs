//! How one column of a table becomes columns of the bounded matrix: a number becomes one, a category one for each
//! level but its reference, and a missing-value indicator is one more.
//!
//! Everything here is public: transforms, bounds, levels and stand-ins are written in the schema. A cell decides only
//! about its own record.

mod levels;

use crate::schema::Transform;
use crate::units::Units;

pub use self::levels::LevelCoding;

/// How one column of a table is read.
#[derive(Debug, Clone, PartialEq)]
pub enum Coding {
    /// As a number.
    Number(NumberCoding),
    /// As one of several public levels.
    Levels(LevelCoding),
}

/// How a column of numbers is read.
#[derive(Debug, Clone, PartialEq)]
pub struct NumberCoding {
    pub(crate) transform: Transform,
    pub(crate) units: Units,
    pub(crate) gap: Gap,
}

/// What stands in for a number that is missing, infinite or not a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Gap {
    /// Nothing: the table is refused.
    Reject,
    /// A public number, on the scale after the transform.
    Fill(f64),
    /// The same, and a further column says that the number is missing.
    Indicator(f64),
}

/// Why a cell cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellDefect {
    /// There is no value.
    Missing,
    /// The value is infinite.
    Infinite,
    /// The value is none of the levels of its column.
    UnknownLevel,
    /// A time is below zero.
    NegativeTime,
}

/// What happened to a cell that can be used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CellNote {
    /// It was moved to a bound.
    pub is_clipped: bool,
    /// It was missing, and something stands in for it.
    pub is_missing: bool,
}

impl Coding {
    /// How many columns of the matrix it makes.
    #[must_use]
    pub fn width(&self) -> usize {
        match self {
            Self::Number(number) => number.width(),
            Self::Levels(levels) => levels.width(),
        }
    }

    /// The units of each column of the matrix.
    pub(crate) fn units(&self) -> Vec<Units> {
        match self {
            Self::Number(number) => {
                let indicator = number.has_indicator().then(Units::zero_one);
                core::iter::once(number.units).chain(indicator).collect()
            }
            Self::Levels(levels) => vec![Units::zero_one(); levels.width()],
        }
    }

    /// The name of each column of the matrix, for the column `name` of the table.
    pub(crate) fn names(&self, name: &str) -> Vec<String> {
        match self {
            Self::Number(number) => {
                let indicator = number.has_indicator().then(|| missing_name(name));
                core::iter::once(name.to_owned()).chain(indicator).collect()
            }
            Self::Levels(levels) => levels.names(name),
        }
    }
}

/// The name of the column that says that `name` is missing.
pub(crate) fn missing_name(name: &str) -> String {
    format!("{name}=missing")
}

impl NumberCoding {
    /// The change of scale.
    #[must_use]
    pub const fn transform(&self) -> Transform {
        self.transform
    }

    /// The units, on the scale after the transform.
    #[must_use]
    pub const fn units(&self) -> &Units {
        &self.units
    }

    /// Whether a further column says that the number is missing.
    #[must_use]
    pub const fn has_indicator(&self) -> bool {
        matches!(self.gap, Gap::Indicator(_))
    }

    fn width(&self) -> usize {
        1 + usize::from(self.has_indicator())
    }

    /// `value` in bounded units, where it is known that it is a number; one that is not becomes what stands in for it,
    /// or the middle of the bounds.
    pub fn to_unit(&self, value: f64) -> f32 {
        if value.is_finite() {
            return self.units.to_unit(self.transform.apply_signed(value));
        }
        self.stand_in().map_or_else(
            || self.units.midpoint(),
            |stand_in| self.units.to_unit(stand_in),
        )
    }

    /// What stands in for a missing value, on the scale after the transform.
    pub(crate) const fn stand_in(&self) -> Option<f64> {
        match self.gap {
            Gap::Reject => None,
            Gap::Fill(value) | Gap::Indicator(value) => Some(value),
        }
    }

    /// Writes `value`, NaN if it is missing, into its places of a row.
    ///
    /// # Errors
    /// If it is missing or infinite and nothing stands in for it.
    #[inline]
    pub fn encode(&self, value: f64, places: &mut [f32]) -> Result<CellNote, CellDefect> {
        let [place, indicator @ ..] = places else {
            return Ok(CellNote::default());
        };
        let is_missing = !value.is_finite();
        let transformed = match (is_missing, self.stand_in()) {
            (false, _) => self.transform.apply_signed(value),
            (true, Some(stand_in)) => stand_in,
            (true, None) if value.is_nan() => return Err(CellDefect::Missing),
            (true, None) => return Err(CellDefect::Infinite),
        };
        let bounded = self.units.bounded(transformed);
        *place = bounded.unit;
        if let [indicator] = indicator {
            *indicator = f32::from(u8::from(is_missing));
        }
        Ok(CellNote {
            is_clipped: bounded.is_clipped && !is_missing,
            is_missing,
        })
    }
}

/// Spellings of a missing value, besides the empty field.
const MISSING: [&str; 5] = ["NA", "N/A", "null", "none", "nan"];

/// Whether `text`, without the blanks around it, spells a missing value.
#[must_use]
pub fn is_missing_text(text: &str) -> bool {
    let text = text.trim();
    text.is_empty() || MISSING.iter().any(|word| text.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests;
