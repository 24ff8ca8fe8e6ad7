//! A page about one fit.

use minijinja::value::Serde;
use minijinja::{Value, context};
use serde::Serialize;

use crate::chart::coefficients;
use crate::page::render;

const TEMPLATE: &str = include_str!("page/fit.html");

/// A feature's coefficients, for a bar of the chart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bar {
    /// The feature.
    pub name: String,
    /// The true coefficient, where it is known.
    pub truth: Option<f64>,
    /// The private estimate.
    pub found: Option<f64>,
    /// What the added noise alone does to the estimate.
    pub noise_std_dev: Option<f64>,
}

/// One step of the plan that was followed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Round {
    /// What was asked, in words.
    pub purpose: String,
    /// How many numbers were answered.
    pub coordinates: u64,
}

/// What the page about a fit shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FitPage {
    /// The heading.
    pub title: String,
    /// `NOT PRIVATE` and the like.
    pub label: Option<String>,
    /// The guarantee, in one sentence.
    pub guarantee: String,
    /// What must be seen before anything else is used.
    pub warnings: Vec<String>,
    /// Names and values.
    pub facts: Vec<(String, String)>,
    /// The coefficients of the table.
    pub bars: Vec<Bar>,
    /// The bars that are drawn, if other units make them comparable.
    pub drawn: Option<Vec<Bar>>,
    /// What is drawn, if it is not the coefficients themselves.
    pub chart_note: Option<String>,
    /// The steps that were asked.
    pub rounds: Vec<Round>,
    /// What was spent.
    pub budget: Vec<(String, String)>,
    /// How the fit ended.
    pub diagnostics: Vec<String>,
}

#[derive(Serialize)]
struct Line {
    name: String,
    truth: String,
    found: String,
    interval: String,
}

impl FitPage {
    /// The page as one HTML file.
    #[must_use]
    pub fn to_html(&self) -> String {
        let lines: Vec<Line> = self.bars.iter().map(Line::of).collect();
        render(
            TEMPLATE,
            context! {
                title => self.title.as_str(),
                version => env!("CARGO_PKG_VERSION"),
                page => Value::from(Serde(self)),
                has_truth => self.bars.iter().any(|bar| bar.truth.is_some()),
                lines => Value::from(Serde(&lines)),
                chart => coefficients::draw(self.drawn.as_deref().unwrap_or(&self.bars)),
            },
        )
    }
}

impl Line {
    fn of(bar: &Bar) -> Self {
        let number = |value: Option<f64>| value.map_or("–".to_owned(), four);
        let interval = match (bar.found, bar.noise_std_dev) {
            (Some(found), Some(noise)) => {
                format!(
                    "{} to {}",
                    four(found - 2.0 * noise),
                    four(found + 2.0 * noise)
                )
            }
            _ => "–".to_owned(),
        };
        Self {
            name: bar.name.clone(),
            truth: number(bar.truth),
            found: number(bar.found),
            interval,
        }
    }
}

/// Four significant digits, with an exponent where a number is very large or small.
fn four(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-3..1e6).contains(&size) {
        return format!("{value:.3e}");
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between zero and six"
    )]
    let decimals = (3.0 - size.max(1e-3).log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::{Bar, FitPage, four};

    #[test]
    fn the_page_shows_the_guarantee_and_every_feature() {
        let bar = Bar {
            name: "x_<7>".to_owned(),
            truth: None,
            found: Some(-1.25),
            noise_std_dev: Some(0.125),
        };
        let page = FitPage {
            guarantee: "(1, 1e-6)-DP".to_owned(),
            bars: vec![bar],
            ..FitPage::default()
        };
        let html = page.to_html();
        assert!(
            html.contains("(1, 1e-6)-DP.") && html.contains("x_&lt;7&gt;"),
            "{html}"
        );
        assert!(html.contains("-1.500 to -1.000") && html.contains("<svg"));
        assert!(
            !html.contains("http://")
                || html.matches("http://").count() == html.matches("xmlns=").count()
        );
    }

    #[test]
    fn four_digits_are_shown() {
        let written: Vec<String> = [1234.56, 0.012_345, -2.5, 1e-7].map(four).into();
        assert_eq!(written, ["1235", "0.01235", "-2.500", "1.000e-7"]);
    }
}
