//! A public list of features in an order that matters.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// Some features, each once, in the order of the coordinates of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<u32>", into = "Vec<u32>")]
pub struct FeatureList(Vec<u32>);

/// A list that names a feature twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a list names feature {found} more than once")]
pub struct RepeatedFeature {
    /// The feature.
    pub found: u32,
}

impl FeatureList {
    /// These features; of one that is named again only the first place counts.
    #[must_use]
    pub fn of(features: &[u32]) -> Self {
        let mut seen = BTreeSet::new();
        let mut features = features.to_vec();
        features.retain(|feature| seen.insert(*feature));
        Self(features)
    }

    /// The features, in order.
    #[must_use]
    pub fn as_slice(&self) -> &[u32] {
        &self.0
    }

    /// The last feature, if there is one.
    #[must_use]
    pub fn last(&self) -> Option<u32> {
        self.0.last().copied()
    }

    /// The last so many features, or all if there are fewer.
    #[must_use]
    pub fn newest(&self, count: u32) -> &[u32] {
        let first = self.0.len().saturating_sub(count as usize);
        self.0.get(first..).unwrap_or(&[])
    }

    /// How many features.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The features, in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().copied()
    }
}

impl TryFrom<Vec<u32>> for FeatureList {
    type Error = RepeatedFeature;

    fn try_from(features: Vec<u32>) -> Result<Self, RepeatedFeature> {
        let mut seen = BTreeSet::new();
        match features.iter().find(|feature| !seen.insert(**feature)) {
            Some(found) => Err(RepeatedFeature { found: *found }),
            None => Ok(Self(features)),
        }
    }
}

impl From<FeatureList> for Vec<u32> {
    fn from(list: FeatureList) -> Self {
        list.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_has_one_place() {
        assert_eq!(FeatureList::of(&[4, 1, 4, 0, 1]).as_slice(), [4, 1, 0]);
        assert_eq!(FeatureList::of(&[4, 1, 0]).last(), Some(0));
        let repeated = FeatureList::try_from(vec![4, 1, 4]);
        assert_eq!(repeated, Err(RepeatedFeature { found: 4 }));
        assert_eq!(FeatureList::try_from(vec![4, 1]).unwrap().len(), 2);
    }
}
