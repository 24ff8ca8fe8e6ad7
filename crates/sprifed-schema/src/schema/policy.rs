//! The choices a schema makes by name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What happens to a record in which a feature is missing, infinite or not a number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MissingPolicy {
    /// The table is refused.
    #[default]
    Reject,
    /// The middle of the public bounds is used instead. Means and medians of the column would be
    /// statistics of other people's records, so they are not offered.
    Midpoint,
    /// A public value is used instead: `missing_value` of the column's own table.
    Value,
    /// The middle of the bounds is used, and a further column is 1 where the value is missing and
    /// 0 elsewhere.
    Indicator,
}

/// What happens to a record in which the response is missing, infinite or not a number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MissingResponsePolicy {
    /// The table is refused.
    #[default]
    Reject,
    /// The record contributes nothing. Whether it does depends on that record alone, so under
    /// zero-out of one record the other contributions stay as they are.
    Drop,
}

/// A public change of scale of a column, made before bounding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Transform {
    /// The column as it is.
    #[default]
    Identity,
    /// `ln(1 + y)`, for counts and other heavy-tailed columns; of a feature that can be negative
    /// `sign(x) ln(1 + |x|)`.
    Log1p,
}

impl Transform {
    /// Its name in a schema.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Log1p => "log1p",
        }
    }

    /// `value` on the scale the model is fitted on.
    pub fn apply(self, value: f64) -> f64 {
        match self {
            Self::Identity => value,
            Self::Log1p => value.ln_1p(),
        }
    }

    /// `value` of a feature on the scale the model is fitted on; the sign is kept, so the function
    /// exists for every number and grows everywhere.
    pub fn apply_signed(self, value: f64) -> f64 {
        match self {
            Self::Identity => value,
            Self::Log1p => value.abs().ln_1p().copysign(value),
        }
    }

    /// `value` of the fitted scale, back in the units of the column.
    pub fn invert(self, value: f64) -> f64 {
        match self {
            Self::Identity => value,
            Self::Log1p => value.exp_m1(),
        }
    }
}
