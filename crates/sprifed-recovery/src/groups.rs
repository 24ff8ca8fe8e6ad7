//! Groups of candidates: the columns of one category, of which a choice picks all or none.
//!
//! # Why
//! A category is one fact about a record, coded as several columns. A choice still compares single columns, so its sensitivity
//! and its noise are those of single features on every backend; the column that it picks brings the whole group into the
//! model.

use core::ops::Range;

use serde::{Deserialize, Serialize};
use sprifed_query::PlanError;

use crate::setting::Setting;

#[cfg(test)]
mod tests;

/// The most runs of neighbouring groups of one width.
pub const MOST_GROUP_RUNS: usize = 100;

/// The columns that are picked together: each record has a number other than zero in at most one column of a group. Columns
/// that are in no group are candidates of their own.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<[u32; 3]>", into = "Vec<[u32; 3]>")]
pub struct Groups {
    count: usize,
    runs: [Run; MOST_GROUP_RUNS],
}

/// Neighbouring groups of one width, so that thousands of alike columns are one entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    first: u32,
    width: u32,
    groups: u32,
}

impl Run {
    const EMPTY: Self = Self {
        first: 0,
        width: 0,
        groups: 0,
    };

    const fn end(&self) -> u32 {
        self.first
            .saturating_add(self.width.saturating_mul(self.groups))
    }
}

impl Groups {
    /// No group.
    pub const NONE: Self = Self {
        count: 0,
        runs: [Run::EMPTY; MOST_GROUP_RUNS],
    };

    /// The groups of these columns; one of a single column is none.
    ///
    /// # Errors
    /// When they overlap or descend, or are spread over too many runs.
    pub fn of(groups: impl IntoIterator<Item = Range<u32>>) -> Result<Self, PlanError> {
        let mut runs: Vec<Run> = Vec::new();
        for group in groups.into_iter().filter(|group| group.len() > 1) {
            let width = group.end - group.start;
            match runs.last_mut() {
                Some(run) if run.width == width && run.end() == group.start => run.groups += 1,
                _ => runs.push(Run {
                    first: group.start,
                    width,
                    groups: 1,
                }),
            }
        }
        Self::of_runs(&runs)
    }

    fn of_runs(runs: &[Run]) -> Result<Self, PlanError> {
        let mut groups = Self::NONE;
        let places = groups.runs.get_mut(..runs.len());
        let places = places.ok_or_else(|| PlanError::Request {
            found: format!("categories that are candidates in {} runs", runs.len()),
            required: format!(
                "at most {MOST_GROUP_RUNS} runs of neighbouring categories with as many levels are possible: put such \
                 categories next to each other, or name some in `always`"
            ),
        })?;
        let mut required = 0;
        for (place, run) in places.iter_mut().zip(runs) {
            let size = u64::from(run.width) * u64::from(run.groups);
            let ends = u64::from(run.first) + size;
            if run.first < required || run.width < 2 || size == 0 || ends > u64::from(u32::MAX) {
                return Err(PlanError::Request {
                    found: format!("a run of groups {run:?}"),
                    required: format!("groups of two columns or more that start at {required}"),
                });
            }
            *place = *run;
            required = run.end();
        }
        groups.count = runs.len();
        Ok(groups)
    }

    fn runs(&self) -> &[Run] {
        self.runs.get(..self.count).unwrap_or(&[])
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// How many groups there are.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.runs().iter().map(|run| run.groups).sum()
    }

    /// How many columns they have together.
    #[must_use]
    pub fn columns(&self) -> u32 {
        let columns = self.runs().iter().map(|run| run.width * run.groups);
        columns.sum()
    }

    /// How many columns the widest group has, or a single feature if there is no group.
    #[must_use]
    pub fn widest(&self) -> u32 {
        self.runs().iter().map(|run| run.width).max().unwrap_or(1)
    }

    /// All columns that are picked with `feature`: those of its group, or itself.
    #[must_use]
    pub fn of_feature(&self, feature: u32) -> Range<u32> {
        let mut runs = self.runs().iter();
        let run = runs.find(|run| (run.first..run.end()).contains(&feature));
        run.map_or(feature..feature.saturating_add(1), |run| {
            let start = feature - (feature - run.first) % run.width;
            start..start + run.width
        })
    }

    /// The most columns that so many picks can bring into a model.
    #[must_use]
    pub fn most_columns(&self, picks: u32) -> u32 {
        let mut runs = self.runs().to_vec();
        runs.sort_by_key(|run| core::cmp::Reverse(run.width));
        let (mut columns, mut left) = (0, picks);
        for run in runs {
            let taken = run.groups.min(left);
            columns += taken * run.width;
            left -= taken;
        }
        columns + left
    }

    /// One past the last column of a group.
    fn end(&self) -> u32 {
        self.runs().last().map_or(0, Run::end)
    }
}

impl core::fmt::Debug for Groups {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.debug_list().entries(self.runs()).finish()
    }
}

impl TryFrom<Vec<[u32; 3]>> for Groups {
    type Error = PlanError;

    fn try_from(stated: Vec<[u32; 3]>) -> Result<Self, PlanError> {
        let runs = stated.iter().map(|[first, width, groups]| Run {
            first: *first,
            width: *width,
            groups: *groups,
        });
        Self::of_runs(&runs.collect::<Vec<_>>())
    }
}

impl From<Groups> for Vec<[u32; 3]> {
    fn from(groups: Groups) -> Self {
        let runs = groups.runs().iter();
        runs.map(|run| [run.first, run.width, run.groups]).collect()
    }
}

impl Setting {
    /// How many picks are possible: single features, and groups that count as one.
    #[must_use]
    pub fn n_picks_possible(&self) -> u32 {
        let joined = self.groups.columns() - self.groups.count();
        self.n_candidates().saturating_sub(joined)
    }

    /// The most features that can be in a model: those of every model, and those of so many picks.
    pub(crate) fn most_features(&self, picks: u32) -> usize {
        (self.always + self.groups.most_columns(picks)) as usize
    }

    /// Refuses groups that are not of candidates.
    pub(crate) fn check_groups(&self) -> Result<(), PlanError> {
        let first = self.groups.runs().first().map(|run| run.first);
        let is_inside =
            first.is_none_or(|first| first >= self.always) && self.groups.end() <= self.n_features;
        if is_inside {
            return Ok(());
        }
        Err(PlanError::Request {
            found: format!("groups {:?} of columns", self.groups),
            required: format!(
                "columns from {} to below {}: those that are candidates",
                self.always, self.n_features
            ),
        })
    }
}
