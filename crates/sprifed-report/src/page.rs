//! The template that every page shares: one style, and the parts that pages have in common. A page
//! needs no network and is readable on a phone and in print.

use minijinja::value::Serde;
use minijinja::{Environment, Value};
use serde::Serialize;
use sprifed_privacy::GuaranteeTable;

/// The style of every page.
pub const STYLE: &str = include_str!("page/style.css");

/// The shared templates by name: a page extends the first and includes the others.
const SHARED: [(&str, &str); 4] = [
    ("base.html", include_str!("page/base.html")),
    ("top.html", include_str!("page/top.html")),
    ("guarantee.html", include_str!("page/guarantee.html")),
    ("features.html", include_str!("page/features.html")),
];

/// A short word on where something stands, shown above the title.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Badge {
    /// What it says.
    pub words: String,
    /// How it is coloured.
    pub kind: BadgeKind,
}

/// What a [`Badge`] tells at first sight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BadgeKind {
    /// Not over.
    Running,
    /// Over and well.
    Done,
    /// Over, but read the text.
    Attention,
    /// There is no result to rely on.
    Failed,
}

impl Badge {
    /// A badge of this kind with these words.
    #[must_use]
    pub fn new(kind: BadgeKind, words: impl Into<String>) -> Self {
        let words = words.into();
        Self { words, kind }
    }
}

/// The guarantee, as `guarantee.html` shows it.
#[derive(Clone, Debug, Serialize)]
pub struct GuaranteeView<'a> {
    heading: &'a str,
    is_private: bool,
    rows: Vec<GuaranteeRow<'a>>,
}

#[derive(Clone, Debug, Serialize)]
struct GuaranteeRow<'a> {
    label: &'static str,
    text: &'a str,
}

impl<'a> GuaranteeView<'a> {
    /// The rows of `table` under this heading.
    #[must_use]
    pub fn new(heading: &'a str, table: &'a GuaranteeTable) -> Self {
        let row = |(label, text): (sprifed_privacy::GuaranteeLabel, &'a str)| GuaranteeRow {
            label: label.name(),
            text,
        };
        Self {
            heading,
            is_private: table.warning().is_none(),
            rows: table.rows().map(row).collect(),
        }
    }
}

/// The shared templates, and those of one page.
///
/// # Errors
/// When a template of the page cannot be parsed.
pub fn environment(
    own: &[(&'static str, &'static str)],
) -> Result<Environment<'static>, minijinja::Error> {
    let mut environment = Environment::new();
    for (name, text) in SHARED.iter().chain(own) {
        environment.add_template(name, text)?;
    }
    environment.add_global("style", STYLE);
    environment.add_global("version", env!("CARGO_PKG_VERSION"));
    Ok(environment)
}

/// Renders `template`, which extends `base.html`, with `context`.
#[must_use]
pub fn render(template: &'static str, context: impl Serialize) -> String {
    let rendered = environment(&[("page.html", template)]).and_then(|environment| {
        environment
            .get_template("page.html")?
            .render(Value::from(Serde(context)))
    });
    rendered.unwrap_or_else(|error| format!("<!doctype html><p>no report: {error}</p>"))
}
