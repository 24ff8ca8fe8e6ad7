//! What is publicly known of a genetic marker: where it lies, and which of its alleles a column counts.
//!
//! A coefficient of a marker means nothing without the allele that was counted, so the annotation travels with the
//! column. It comes from the list of markers, which says nothing about a person, and no bound is made of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a marker lies and what its column counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Marker {
    /// The chromosome, as the file calls it.
    pub chromosome: String,
    /// The position in base pairs, counted from 1; absent if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<u64>,
    /// The allele whose copies are counted.
    pub effect_allele: String,
    /// The other allele.
    pub other_allele: String,
}

impl Marker {
    /// The fewest copies that a person can have of an allele.
    pub const LEAST_COPIES: f64 = 0.0;
    /// The most copies that a person can have of an allele.
    pub const MOST_COPIES: f64 = 2.0;

    /// Chromosome and position, as `6:25000000`.
    #[must_use]
    pub fn place(&self) -> String {
        let position = self
            .position
            .map_or_else(|| "?".to_owned(), |position| position.to_string());
        format!("{}:{position}", self.chromosome)
    }
}
