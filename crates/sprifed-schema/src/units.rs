//! Bounded units: a public interval, and the public centre and scale it is measured in.

use crate::error::SchemaError;

/// Turns values of one column into bounded units.
///
/// A value is clipped to the bounds and written as `(value - center) / scale`. By default the
/// centre is the middle of the bounds and the scale half their distance, so units run from -1 to 1.
/// All four numbers are public constants: nothing here is estimated from records.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Units {
    lower: f64,
    upper: f64,
    center: f64,
    scale: f64,
    unit_lower: f32,
    unit_upper: f32,
}

/// The largest size of a number in a schema; its inverse is the smallest scale. Beyond it coefficients in the units of the
/// table could be infinite, which would be found only after the budget is spent.
const LARGEST: f64 = 1e30;

/// One value in bounded units, and whether the bounds changed it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounded {
    /// The value in bounded units.
    pub unit: f32,
    /// Whether it was moved to a bound.
    pub is_clipped: bool,
}

impl Units {
    /// Units for the interval from `lower` to `upper`; `table` names the place in the schema.
    ///
    /// # Errors
    /// If a number is not finite or too large, the interval is empty, the centre outside it, or the scale not
    /// positive or so small that units overflow.
    pub(crate) fn new(
        table: &str,
        lower: f64,
        upper: f64,
        center: Option<f64>,
        scale: Option<f64>,
    ) -> Result<Self, SchemaError> {
        let given = [
            ("lower", Some(lower)),
            ("upper", Some(upper)),
            ("center", center),
            ("scale", scale),
        ];
        for (key, value) in given {
            if let Some(found) = value.filter(|value| !value.is_finite()) {
                return Err(SchemaError::NotFinite {
                    key: format!("{table}.{key}"),
                    found,
                });
            }
            if let Some(found) = value.filter(|value| value.abs() > LARGEST) {
                return Err(SchemaError::TooLarge {
                    key: format!("{table}.{key}"),
                    found,
                    most: LARGEST,
                });
            }
        }
        if lower >= upper {
            return Err(SchemaError::NotAnInterval {
                table: table.into(),
                lower,
                upper,
            });
        }
        let center = center.unwrap_or(lower / 2.0 + upper / 2.0);
        if !(lower..=upper).contains(&center) {
            return Err(SchemaError::CenterOutsideBounds {
                table: table.into(),
                found: center,
                lower,
                upper,
            });
        }
        let scale = scale.unwrap_or(upper / 2.0 - lower / 2.0);
        let unit_lower = to_f32((lower - center) / scale);
        let unit_upper = to_f32((upper - center) / scale);
        let is_usable = scale >= 1.0 / LARGEST
            && unit_lower.is_finite()
            && unit_upper.is_finite()
            && unit_lower < unit_upper;
        if !is_usable {
            return Err(SchemaError::UnusableScale {
                table: table.into(),
                found: scale,
            });
        }
        Ok(Self {
            lower,
            upper,
            center,
            scale,
            unit_lower,
            unit_upper,
        })
    }

    /// The units of a column of zeros and ones, which stay as they are.
    pub(crate) const fn zero_one() -> Self {
        Self {
            lower: 0.0,
            upper: 1.0,
            center: 0.0,
            scale: 1.0,
            unit_lower: 0.0,
            unit_upper: 1.0,
        }
    }

    /// The smallest value that is not clipped.
    pub const fn lower(&self) -> f64 {
        self.lower
    }

    /// The largest value that is not clipped.
    pub const fn upper(&self) -> f64 {
        self.upper
    }

    /// The value that becomes zero.
    pub const fn center(&self) -> f64 {
        self.center
    }

    /// How far a value moves when its unit moves by one.
    pub const fn scale(&self) -> f64 {
        self.scale
    }

    /// The largest absolute value any record can have in these units.
    ///
    /// # Guarantee
    /// Holds exactly for the stored `f32`, not only up to rounding: it is the clip itself.
    pub fn bound(&self) -> f64 {
        f64::from(self.unit_lower.abs().max(self.unit_upper.abs()))
    }

    /// Whether the schema gave a scale of its own, so that units are standard ones. The default scale is half the
    /// distance of the bounds, computed in the same way.
    #[must_use]
    pub fn has_public_scale(&self) -> bool {
        let default = self.upper / 2.0 - self.lower / 2.0;
        (self.scale - default).abs() > 1e-12 * default
    }

    /// `value` in bounded units; a value that is not a number becomes the midpoint.
    pub fn to_unit(&self, value: f64) -> f32 {
        self.bounded(value).unit
    }

    /// The value that `unit` represents.
    pub fn from_unit(&self, unit: f64) -> f64 {
        self.center + unit * self.scale
    }

    /// The unit that replaces a missing value: the middle of the bounds.
    pub fn midpoint(&self) -> f32 {
        self.to_unit(self.lower / 2.0 + self.upper / 2.0)
    }

    /// A value in bounded units, moved to the nearest bound if it lies outside.
    pub fn bounded(&self, value: f64) -> Bounded {
        if value.is_nan() {
            return Bounded {
                unit: self.midpoint(),
                is_clipped: false,
            };
        }
        let unit = to_f32((value - self.center) / self.scale);
        Bounded {
            unit: unit.clamp(self.unit_lower, self.unit_upper),
            is_clipped: value < self.lower || value > self.upper,
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "rounding to the stored precision is meant"
)]
fn to_f32(value: f64) -> f32 {
    value as f32
}

#[cfg(test)]
mod tests;
