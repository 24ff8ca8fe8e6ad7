//! Whether the means and scales of columns are asked for: as requested, or by a public rule.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sprifed_privacy::{counted, shown_to};
use sprifed_query::{FeatureSet, PlanError};
use sprifed_recovery::{ColumnScales, MOST_COLUMN_NOISE, Setting};
use sprifed_schema::Mapping;

#[cfg(test)]
mod tests;

/// Whether columns are standardised by private means and scales.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ColumnScalesRequest {
    /// They stay in the units of their bounds.
    #[default]
    Never,
    /// If the noise on a mean is small.
    Auto,
    /// Whatever the noise is.
    Always,
}

impl ColumnScalesRequest {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Never, Self::Auto, Self::Always];

    /// Its name.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Auto => "auto",
            Self::Always => "always",
        }
    }

    /// What the help says of it.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::Never => "Columns stay in the units of their public bounds",
            Self::Auto => {
                "Standardise if there are enough records for so many columns, by public numbers"
            }
            Self::Always => "Standardise whatever the noise is",
        }
    }

    /// What is asked about `columns`, which have no public scales and reach at most `bound` in bounded units.
    ///
    /// # Errors
    /// When the setting makes no sense, or the columns must be asked about and lie in too many runs.
    pub fn choose(
        self,
        setting: &Setting,
        columns: &FeatureSet,
        bound: f64,
    ) -> Result<ColumnScalesChoice, PlanError> {
        let scales = ColumnScales::new(columns, bound);
        let mut choice = ColumnScalesChoice {
            request: self,
            is_asked: false,
            columns: columns.len(),
            noise: None,
            most_noise: MOST_COLUMN_NOISE,
            scales: ColumnScales::NONE,
        };
        if self == Self::Never || columns.is_empty() {
            return Ok(choice);
        }
        let scales = match (self, scales) {
            (Self::Auto, Err(_)) => return Ok(choice),
            (_, scales) => scales?,
        };
        let noise = setting.column_noise(scales)?;
        choice.noise = Some(noise);
        if self == Self::Always || noise <= MOST_COLUMN_NOISE {
            choice.is_asked = true;
            choice.scales = scales;
        }
        Ok(choice)
    }

    /// The same for the columns of `mapping`.
    pub(crate) fn choose_for(
        self,
        setting: &Setting,
        mapping: &Mapping,
    ) -> Result<ColumnScalesChoice, PlanError> {
        let (columns, bound) = mapping.columns_without_scales();
        self.choose(setting, &FeatureSet::only(&columns), bound)
    }
}

/// Whether the means and scales of columns are asked for, and why.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ColumnScalesChoice {
    /// What was requested.
    pub request: ColumnScalesRequest,
    /// Whether they are asked for.
    pub is_asked: bool,
    /// How many columns have no public scale.
    pub columns: usize,
    /// The standard deviation of the noise on the mean of a column, as a share of the largest size of a column; absent
    /// if it was not looked at.
    pub noise: Option<f64>,
    /// The most of it with which `auto` asks.
    pub most_noise: f64,
    #[serde(skip)]
    pub(crate) scales: ColumnScales,
}

impl ColumnScalesChoice {
    /// The same for a study that seeks no feature: nothing is asked about columns.
    pub(crate) fn unless(mut self, seeks_nothing: bool) -> Self {
        if seeks_nothing {
            self.is_asked = false;
            self.scales = ColumnScales::NONE;
        }
        self
    }

    /// The choice in one line; none if nothing was requested.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        let columns = counted(self.columns, "column", "columns");
        let noise = self.noise.map(|noise| shown_to(noise, 2));
        let most = self.most_noise;
        let why = match (self.request, &noise) {
            (ColumnScalesRequest::Never, _) => return None,
            (_, None) if self.columns == 0 => {
                "Columns: not standardised, as all have public scales".to_owned()
            }
            (_, None) => format!(
                "Columns: not standardised, as the {columns} without public scales lie in too many runs between others"
            ),
            (request, Some(noise)) if self.is_asked => format!(
                "Columns: {columns} standardised by private means and scales ({}); the noise on a mean is {noise} of the \
                 bounds, and auto accepts {most}",
                request.text(),
            ),
            (_, Some(noise)) if self.noise <= Some(most) => format!(
                "Columns: not standardised, as no feature is sought; the noise on a mean would be {noise} of the bounds"
            ),
            (_, Some(noise)) => format!(
                "Columns: not standardised, as the noise on a mean of {columns} would be {noise} of the bounds, and at \
                 most {most} is accepted"
            ),
        };
        Some(why)
    }
}
