//! The reported effects of a model as a table for other programs.
//!
//! Columns are called as in the summary statistics of genome-wide studies (GWAS-SSF), the first eight in its order. The
//! table is not what that format is meant for: it has the reported features only, estimated together, and no frequency of
//! an allele, which would be one more release about the records.

use crate::model::Model;

/// The columns.
const HEADING: [&str; 12] = [
    "chromosome",
    "base_pair_location",
    "effect_allele",
    "other_allele",
    "beta",
    "standard_error",
    "effect_allele_frequency",
    "p_value",
    "variant_id",
    "ci_lower",
    "ci_upper",
    "n",
];

/// What stands for a value that does not exist or is not released.
const ABSENT: &str = "NA";

impl Model {
    /// The reported features, one in a line, in columns that are separated by tabs.
    #[must_use]
    pub fn effects_table(&self) -> String {
        let mut text = HEADING.join("\t") + "\n";
        let absent = || ABSENT.to_owned();
        let number = |number: Option<f64>| number.map_or_else(absent, |number| number.to_string());
        for term in self.reported() {
            let marker = self.marker(&term.name);
            let said = |said: Option<&String>| said.cloned().unwrap_or_else(absent);
            let position = marker.and_then(|marker| marker.position);
            let fields: [String; HEADING.len()] = [
                said(marker.map(|marker| &marker.chromosome)),
                position.map_or_else(absent, |position| position.to_string()),
                said(marker.map(|marker| &marker.effect_allele)),
                said(marker.map(|marker| &marker.other_allele)),
                term.estimate.to_string(),
                number(term.std_error),
                absent(),
                // That of a category is not that of a level, and no column says so.
                number(term.p_value.filter(|_| term.category.is_none())),
                term.name.replace(['\t', '\n', '\r'], " "),
                number(term.interval.map(|interval| interval.low)),
                number(term.interval.map(|interval| interval.high)),
                self.train_size.to_string(),
            ];
            text += &fields.join("\t");
            text.push('\n');
        }
        text
    }
}
