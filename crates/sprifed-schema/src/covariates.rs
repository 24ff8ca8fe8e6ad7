//! The columns that are in every model and are never candidates: `always` of the schema.

use core::ops::Range;

use crate::mapping::CodedColumn;

/// The columns that are always in the model, and the features that they became.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Covariates {
    groups: Vec<CovariateGroup>,
}

/// One column that is always in the model: one feature for a number, one for each coded level of a category.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CovariateGroup {
    /// The name of the column.
    pub column: String,
    /// Its features, by place in the bounded matrix.
    pub features: Range<usize>,
}

impl Covariates {
    pub(crate) fn new<'a>(columns: impl Iterator<Item = &'a CodedColumn>) -> Self {
        let group = |column: &CodedColumn| CovariateGroup {
            column: column.name.clone(),
            features: column.features.clone(),
        };
        Self {
            groups: columns.map(group).collect(),
        }
    }

    /// Each column with its features, in the order of the matrix.
    #[must_use]
    pub fn groups(&self) -> &[CovariateGroup] {
        &self.groups
    }

    /// The features, by place in the bounded matrix, in ascending order.
    pub fn features(&self) -> impl Iterator<Item = usize> {
        self.groups.iter().flat_map(|group| group.features.clone())
    }

    /// How many features they are: `k_F`.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.groups.iter().map(|group| group.features.len()).sum()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }
}
