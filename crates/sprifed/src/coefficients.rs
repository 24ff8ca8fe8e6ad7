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
        for term in self.reported() {
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
        let mut text = table(&rows);
        for note in self.notes() {
            let _ = write!(text, "\nNote: {note}");
        }
        text.push('\n');
        text
    }
}

/// What a table shows in place of a number that does not exist.
pub(crate) fn absent() -> String {
    "-".to_owned()
}
