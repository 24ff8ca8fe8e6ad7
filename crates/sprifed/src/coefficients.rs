//! The coefficients of a model as text: estimates, intervals, p-values, and how to read them.

use std::fmt::Write as _;

use sprifed_recovery::Role;
use sprifed_report::{four, interval_words, p_value_words, percent_words, table};

use crate::model::Model;

impl Model {
    /// The table of coefficients, and the notes under it.
    #[must_use]
    pub fn coefficients_text(&self) -> String {
        let heading = [
            "feature",
            "estimate",
            "95 % interval",
            "p-value",
            "variance due to privacy",
        ];
        let mut rows = vec![heading.map(str::to_owned).to_vec()];
        let mut places = vec![["position", "effect allele", "other allele"].map(str::to_owned)];
        for term in self.reported() {
            places.push(self.marker_words(&term.name));
            let interval = term.interval.map(|interval| (interval.low, interval.high));
            let name = match term.role {
                Role::Selected => term.name,
                Role::Always => format!("{} (always in the model)", term.name),
            };
            rows.push(vec![
                name,
                four(term.estimate),
                interval_words(interval, true),
                term.p_value.map_or_else(absent, p_value_words),
                term.privacy_share.map_or_else(absent, percent_words),
            ]);
        }
        let (intercept, interval) = self.reported_intercept();
        rows.push(vec![
            "(intercept)".to_owned(),
            four(intercept),
            interval_words(interval, true),
            String::new(),
            String::new(),
        ]);
        places.push(Default::default());
        let has_markers = self.features.iter().any(|term| term.marker.is_some());
        if has_markers {
            for (row, place) in rows.iter_mut().zip(places) {
                row.splice(1..1, place);
            }
        }
        let mut text = table(&rows);
        for note in self.notes() {
            let _ = write!(text, "\nNote: {note}");
        }
        text.push('\n');
        text
    }

    /// Position, counted allele and other allele of the feature of this name; dashes if it is no genetic marker.
    fn marker_words(&self, name: &str) -> [String; 3] {
        match self.marker(name) {
            Some(marker) => [
                marker.place(),
                marker.effect_allele.clone(),
                marker.other_allele.clone(),
            ],
            None => [absent(), absent(), absent()],
        }
    }
}

/// What a table shows in place of a number that does not exist.
pub(crate) fn absent() -> String {
    "-".to_owned()
}
