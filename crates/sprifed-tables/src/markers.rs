//! What is publicly known of the features of a table that are genetic markers.

use std::collections::BTreeMap;

use sprifed_schema::Marker;

/// Where markers lie and which of their alleles are counted, by the position of their feature.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Markers(BTreeMap<usize, Marker>);

impl Markers {
    /// These markers, each at the position of its feature.
    pub fn of(markers: impl IntoIterator<Item = (usize, Marker)>) -> Self {
        Self(markers.into_iter().collect())
    }

    /// What is known of the feature at this position; none if it is no marker.
    #[must_use]
    pub fn get(&self, feature: usize) -> Option<&Marker> {
        self.0.get(&feature)
    }
}
