//! The frame that every page shares: one file, no network, readable on a phone and in print.

use minijinja::{Environment, Value};

const BASE: &str = include_str!("page/base.html");

/// Renders `template` within the shared frame; the template extends `base.html`.
#[must_use]
pub fn render(template: &'static str, context: Value) -> String {
    let mut environment = Environment::new();
    let added = environment
        .add_template("base.html", BASE)
        .and_then(|()| environment.add_template("page.html", template));
    let rendered = added.and_then(|()| environment.get_template("page.html")?.render(context));
    rendered.unwrap_or_else(|error| format!("<!doctype html><p>no report: {error}</p>"))
}
