//! Private units of columns: a mean and a scale of each column that has no public ones, asked together with the mean of
//! the response. Everything after that is asked of standardised columns, and the fit is written in bounded units again.
//!
//! # Notation
//! | symbol | is |
//! |---|---|
//! | p | the columns that are asked about |
//! | B | the largest size that one of them can have, in bounded units |
//! | R₁ = 0.35√p·B | the norm to which a row is clipped |
//! | R₂ = 0.25√p·B² | the norm to which a row of squares is clipped |
//!
//! The sensitivities are R₁ and R₂, and twice that under replace-one: docs/proofs/sensitivity.md#columns.

use serde::{Deserialize, Serialize};
use sprifed_privacy::{Mu, Rounding};
use sprifed_query::{
    AnswerBlock, ColumnUnit, FeatureSet, Limit, PlanError, PlannedBlock, Question, ReleasedColumns,
};

use crate::portable::larger;
use crate::setting::{Intercept, Setting, share_of};

mod back;
mod standardising;
#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests decide nothing for a study"
)]
mod tests;

pub(crate) use self::standardising::Standardising;

/// The most runs of consecutive columns that can be asked about.
pub const MOST_COLUMN_RUNS: usize = 40;

/// Columns are worth asking about if the noise on a mean is at most this share of B.
pub const MOST_COLUMN_NOISE: f64 = 0.02;

/// The share of μ² or ρ that both questions cost together.
const SHARE: f64 = 0.05;

/// R₁ and R₂ for one column with B = 1.
const ROW_NORM: f64 = 0.35;
const SQUARES_NORM: f64 = 0.25;

/// A variance is at least so many standard deviations of its noise.
const LEAST_VARIANCE: f64 = 2.0;

/// The columns whose means and scales are asked for; none where they are public or not wanted.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "StatedScales", into = "StatedScales")]
pub struct ColumnScales {
    count: usize,
    /// Start and end of each run.
    runs: [(u32, u32); MOST_COLUMN_RUNS],
    bound: f64,
}

/// Columns as they are written down.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StatedScales {
    columns: FeatureSet,
    bound: f64,
}

impl ColumnScales {
    /// No column.
    pub const NONE: Self = Self {
        count: 0,
        runs: [(0, 0); MOST_COLUMN_RUNS],
        bound: 0.0,
    };

    /// These columns; `bound` is the largest size that one of them can have, in bounded units.
    ///
    /// # Errors
    /// When they lie in too many runs.
    pub fn new(columns: &FeatureSet, bound: f64) -> Result<Self, PlanError> {
        let mut scales = Self {
            bound,
            ..Self::NONE
        };
        let runs: Vec<core::ops::Range<u32>> = columns.clone().into();
        let places = scales.runs.get_mut(..runs.len());
        let places = places.ok_or_else(|| PlanError::Request {
            found: format!("columns with private scales in {} runs", runs.len()),
            required: format!(
                "at most {MOST_COLUMN_RUNS} runs are possible: give columns scales in the schema, or ask for no private ones"
            ),
        })?;
        for (place, run) in places.iter_mut().zip(&runs) {
            *place = (run.start, run.end);
        }
        scales.count = runs.len();
        Ok(scales)
    }

    /// The columns.
    #[must_use]
    pub fn columns(&self) -> FeatureSet {
        let runs = self.runs.get(..self.count).unwrap_or(&[]);
        let columns: Vec<u32> = runs.iter().flat_map(|(start, end)| *start..*end).collect();
        FeatureSet::only(&columns)
    }

    /// p: how many columns.
    #[must_use]
    pub fn len(&self) -> usize {
        let runs = self.runs.get(..self.count).unwrap_or(&[]);
        runs.iter()
            .map(|(start, end)| end.saturating_sub(*start) as usize)
            .sum()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// B: the largest size that one of them can have, in bounded units.
    #[must_use]
    pub const fn bound(&self) -> f64 {
        self.bound
    }

    /// One past the last column.
    fn end(&self) -> u32 {
        let last = self.count.checked_sub(1);
        let last = last.and_then(|place| self.runs.get(place));
        last.map_or(0, |(_, end)| *end)
    }

    fn root(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 columns")]
        let count = self.len() as f64;
        count.sqrt()
    }

    /// R₁.
    #[must_use]
    pub fn row_norm(&self) -> f64 {
        Limit::nearest(ROW_NORM * self.root() * self.bound).get()
    }

    /// R₂.
    #[must_use]
    pub fn squares_norm(&self) -> f64 {
        Limit::nearest(SQUARES_NORM * self.root() * self.bound * self.bound).get()
    }
}

impl core::fmt::Debug for ColumnScales {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let runs = self.runs.get(..self.count).unwrap_or(&[]);
        let mut shown = formatter.debug_struct("ColumnScales");
        shown.field("runs", &runs).field("bound", &self.bound);
        shown.finish()
    }
}

impl TryFrom<StatedScales> for ColumnScales {
    type Error = PlanError;

    fn try_from(stated: StatedScales) -> Result<Self, PlanError> {
        Self::new(&stated.columns, stated.bound)
    }
}

impl From<ColumnScales> for StatedScales {
    fn from(scales: ColumnScales) -> Self {
        Self {
            columns: scales.columns(),
            bound: scales.bound,
        }
    }
}

impl Setting {
    /// Whether the root mean square of a row is asked for: features have neither public nor private scales.
    #[must_use]
    pub const fn asks_row_scale(&self) -> bool {
        self.feature_scale.is_none() && self.column_scales.is_empty()
    }

    /// The share of μ² or ρ that the questions about columns cost.
    #[must_use]
    pub const fn columns_share(&self) -> f64 {
        if self.column_scales.is_empty() {
            0.0
        } else {
            SHARE
        }
    }

    /// The share of one of the two questions about columns.
    #[must_use]
    pub const fn column_share() -> f64 {
        SHARE / 2.0
    }

    /// The standard deviation of the noise on the mean of one of `columns`, as a share of B, if they are asked about.
    /// It follows from public numbers only, and is to be at most [`MOST_COLUMN_NOISE`].
    ///
    /// # Errors
    /// When the budget is too small to be spent.
    pub fn column_noise(&self, columns: ColumnScales) -> Result<f64, PlanError> {
        let asking = Self {
            column_scales: columns,
            ..*self
        };
        let cost = share_of(self.total_mu()?, Self::column_share(), 1)?;
        let [means, _] = asking.column_blocks(cost)?;
        let noise = means.noise_std_dev(self.origin.most_shares());
        Ok(ROW_NORM * columns.root() * noise / f64::from(self.n_records))
    }

    /// Refuses private units of columns that do not exist, or have public ones.
    pub(crate) fn check_columns(&self) -> Result<(), PlanError> {
        let columns = self.column_scales;
        if columns.is_empty() {
            return Ok(());
        }
        let refuse = |found: String, required: &str| {
            let required = required.to_owned();
            Err(PlanError::Request { found, required })
        };
        if columns.end() > self.n_features {
            let found = format!("a private scale of column {}", columns.end() - 1);
            return refuse(found, "there are not so many features");
        }
        if !Self::is_legal_bound(columns.bound) {
            let found = format!("private scales within {}", columns.bound);
            return refuse(found, "bounds must be from 1e-30 to 1e30");
        }
        if self.feature_scale.is_some() || self.intercept == Intercept::Absent {
            let found = "private scales of columns".to_owned();
            return refuse(
                found,
                "they need a model with an intercept, and features without public scales",
            );
        }
        Ok(())
    }

    /// The blocks that answer [`Self::column_questions`], at a cost of `cost` each; none if no column is asked about.
    pub(crate) fn column_blocks(&self, cost: Mu) -> Result<[PlannedBlock; 2], PlanError> {
        let planner = self.planner();
        let block =
            |name: &str| planner.ball(name, self.column_scales.len(), cost, Rounding::Dithered);
        Ok([block("column means")?, block("column squares")?])
    }

    /// The questions about columns, in the order of their blocks.
    pub(crate) fn column_questions(&self) -> [Question; 2] {
        let scales = self.column_scales;
        let features = scales.columns();
        [
            Question::ColumnMeans {
                features: features.clone(),
                row_norm: Limit::nearest(scales.row_norm()),
            },
            Question::ColumnSquares {
                features,
                row_norm: Limit::nearest(scales.squares_norm()),
            },
        ]
    }

    /// The units that the answers to [`Self::column_questions`] give.
    ///
    /// # Why
    /// A variance is the difference of two noisy numbers, so it is raised to twice the noise on the mean square: a
    /// column that hardly varies is not blown up to noise.
    fn column_units(&self, means: &AnswerBlock, squares: &AnswerBlock) -> ReleasedColumns {
        let scales = self.column_scales;
        let records = f64::from(self.n_records);
        let of = |block: &AnswerBlock, place: usize, norm: f64| {
            let sum = block.values.get(place).copied().unwrap_or(0.0);
            norm * sum / records
        };
        let (row_norm, squares_norm) = (scales.row_norm(), scales.squares_norm());
        let least = LEAST_VARIANCE * squares_norm * squares.noise_std_dev / records;
        ReleasedColumns::new(scales.columns(), |place| {
            let centre = of(means, place, row_norm).clamp(-scales.bound, scales.bound);
            let square = of(squares, place, squares_norm);
            let variance = larger(square - centre * centre, least);
            ColumnUnit {
                centre,
                scale: Limit::nearest(variance.sqrt()),
            }
        })
    }
}
