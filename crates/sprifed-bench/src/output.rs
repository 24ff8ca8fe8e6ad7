//! The only place that prints.

use std::io::Write as _;

use serde::Serialize;

use crate::error::Error;

/// Where figures go, as text or as JSON.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    json: bool,
}

impl Output {
    pub(crate) const fn new(json: bool) -> Self {
        Self { json }
    }

    /// Prints one report: `value` as JSON, or the text that `words` makes of it.
    pub(crate) fn answer<T: Serialize>(&self, value: &T, words: impl FnOnce(&T) -> String) {
        let text = if self.json {
            serde_json::to_string_pretty(value).unwrap_or_else(|error| error.to_string())
        } else {
            words(value)
        };
        // A reader that has gone away is not an error of ours.
        let _ = writeln!(std::io::stdout(), "{}", text.trim_end());
    }

    /// Says what is done so far, for a reader who waits.
    pub(crate) fn note(&self, line: &str) {
        let _ = writeln!(std::io::stderr(), "{line}");
    }

    /// Prints why there is no report.
    pub(crate) fn failure(&self, error: &Error) {
        let help = error.help();
        let _ = writeln!(std::io::stderr(), "error: {error}\n help: {help}");
    }
}
