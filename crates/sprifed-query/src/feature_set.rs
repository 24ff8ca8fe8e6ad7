//! A public set of features, kept as runs so that a row is read at memory speed.

use core::ops::Range;

use serde::{Deserialize, Serialize};

/// Some features, in increasing order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Range<u32>>", into = "Vec<Range<u32>>")]
pub struct FeatureSet {
    runs: Vec<Range<u32>>,
    len: usize,
}

/// Runs of features that are empty, overlap or descend.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the run {found:?} of features is empty or does not ascend from {required}")]
pub struct IllegalRuns {
    /// The run.
    pub found: Range<u32>,
    /// The least start it may have.
    pub required: u32,
}

impl TryFrom<Vec<Range<u32>>> for FeatureSet {
    type Error = IllegalRuns;

    fn try_from(runs: Vec<Range<u32>>) -> Result<Self, IllegalRuns> {
        let mut required = 0;
        for run in &runs {
            if run.start < required || run.is_empty() {
                let found = run.clone();
                return Err(IllegalRuns { found, required });
            }
            required = run.end;
        }
        Ok(Self::of_runs(runs))
    }
}

impl From<FeatureSet> for Vec<Range<u32>> {
    fn from(set: FeatureSet) -> Self {
        set.runs
    }
}

impl FeatureSet {
    /// All of `n_features` features.
    #[must_use]
    pub fn all(n_features: u32) -> Self {
        Self::except(n_features, &[])
    }

    /// All but `excluded`.
    #[must_use]
    pub fn except(n_features: u32, excluded: &[u32]) -> Self {
        let mut excluded: Vec<u32> = excluded
            .iter()
            .copied()
            .filter(|f| *f < n_features)
            .collect();
        excluded.sort_unstable();
        excluded.dedup();
        let mut runs = Vec::new();
        let mut start = 0;
        for feature in excluded.into_iter().chain([n_features]) {
            if start < feature {
                runs.push(start..feature);
            }
            start = feature.saturating_add(1);
        }
        Self::of_runs(runs)
    }

    /// These features, each once. The largest number of 32 bits is no feature.
    #[must_use]
    pub fn only(features: &[u32]) -> Self {
        let mut features = features.to_vec();
        features.retain(|feature| *feature < u32::MAX);
        features.sort_unstable();
        features.dedup();
        let mut runs: Vec<Range<u32>> = Vec::new();
        for feature in features {
            match runs.last_mut() {
                Some(run) if run.end == feature => run.end += 1,
                _ => runs.push(feature..feature + 1),
            }
        }
        Self::of_runs(runs)
    }

    /// One past the last feature; zero if there are none.
    #[must_use]
    pub fn end(&self) -> u32 {
        self.runs.last().map_or(0, |run| run.end)
    }

    fn of_runs(runs: Vec<Range<u32>>) -> Self {
        let len = runs.iter().map(ExactSizeIterator::len).sum();
        Self { runs, len }
    }

    /// How many features.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The features, in the order of the coordinates of an answer.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.runs.iter().cloned().flatten()
    }

    /// The values of a row, run by run.
    pub fn runs_of<'a>(&'a self, row: &'a [f32]) -> impl Iterator<Item = &'a [f32]> {
        self.runs
            .iter()
            .map(|run| row.get(run.start as usize..run.end as usize).unwrap_or(&[]))
    }
}
