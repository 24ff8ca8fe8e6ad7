//! The only place that prints.

use std::cell::Cell;

use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;

/// The version of every answer in JSON; it grows when a key changes its meaning or goes away. The schemas are in
/// `docs/json`.
const SCHEMA_VERSION: u32 = 1;

/// An answer with the version of its schema.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Versioned<'a, T> {
    #[schemars(extend("const" = SCHEMA_VERSION))]
    schema_version: u32,
    #[serde(flatten)]
    answer: &'a T,
}

/// Why there is no answer.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Refused<'a> {
    error: &'a Failure,
}

/// The user stopped a command that can go on.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Interrupted {
    interrupted: bool,
}

/// Where answers go, as text or as JSON.
#[derive(Debug)]
pub(crate) struct Output {
    json: bool,
    is_answered: Cell<bool>,
}

impl Output {
    pub(crate) const fn new(json: bool) -> Self {
        Self {
            json,
            is_answered: Cell::new(false),
        }
    }

    /// Prints one answer: `value` as JSON, or the text that `words` makes of it.
    pub(crate) fn answer<T: Serialize + JsonSchema>(
        &self,
        value: &T,
        words: impl FnOnce(&T) -> String,
    ) {
        let text = if self.json {
            to_json(value)
        } else {
            plain(&words(value))
        };
        print_line(&mut std::io::stdout(), text.trim_end());
        self.is_answered.set(true);
    }

    /// Says that the user stopped a command that can go on.
    pub(crate) fn interrupted(&self) {
        if self.json {
            self.answer(&Interrupted { interrupted: true }, |_| String::new());
        }
        self.note("stopped; start again to go on");
    }

    /// Says something beside the answer, on standard error.
    pub(crate) fn note(&self, text: &str) {
        print_line(&mut std::io::stderr(), &plain(text));
    }

    /// Prints why there is no answer, or why the answer is not the hoped-for one. As JSON only if
    /// there was no answer, so that standard output holds one object.
    pub(crate) fn failure(&self, failure: &Failure) {
        if self.json && !self.is_answered.get() {
            let refused = Refused { error: failure };
            print_line(&mut std::io::stdout(), &to_json(&refused));
        }
        let Failure {
            code,
            message,
            help,
            ..
        } = failure;
        print_line(
            &mut std::io::stderr(),
            &plain(&format!("error: {message}\n help: {help}\n code: {code}")),
        );
    }
}

/// Text that may quote others: what would steer a terminal is shown instead of done.
fn plain(text: &str) -> String {
    let is_steering = |character: char| match character {
        '\n' | '\t' => false,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        _ => character.is_control(),
    };
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_steering(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

fn to_json<T: Serialize>(value: &T) -> String {
    let answer = Versioned {
        schema_version: SCHEMA_VERSION,
        answer: value,
    };
    serde_json::to_string_pretty(&answer)
        .unwrap_or_else(|error| format!("{{\"error\":{{\"message\":\"{error}\"}}}}"))
}

/// A reader that has gone away is not an error of ours.
fn print_line(stream: &mut impl std::io::Write, text: &str) {
    let _ = writeln!(stream, "{text}").and_then(|()| stream.flush());
}
