//! The page about one fit.

use serde::Serialize;
use sprifed_privacy::GuaranteeTable;

use crate::chart::LineChart;
use crate::features::FeatureTable;
use crate::page::{Badge, GuaranteeView, render};

#[cfg(test)]
mod tests;

const TEMPLATE: &str = include_str!("page/fit.html");

/// One step of the plan that was followed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Round {
    /// What was asked, in words.
    pub purpose: String,
    /// How many numbers were answered.
    pub coordinates: u64,
}

/// Charts of a score, which no noise protects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ScoreCurves {
    /// What the score is of, and that no guarantee covers it.
    pub label: String,
    /// Charts as SVG, each with what is said of it.
    pub charts: Vec<(String, String)>,
}

/// What the page about a fit shows.
#[derive(Clone, Debug)]
pub struct FitPage {
    /// The heading.
    pub title: String,
    /// How the fit ended, as a badge.
    pub status: Vec<Badge>,
    /// The guarantee.
    pub guarantee: GuaranteeTable,
    /// What must be read before the model is used.
    pub warnings: Vec<String>,
    /// The coefficients.
    pub features: FeatureTable,
    /// How estimates, intervals and p-values are to be read.
    pub notes: Vec<String>,
    /// A curve that the model predicts, if it predicts one.
    pub curve: Option<LineChart>,
    /// Names and values.
    pub facts: Vec<(String, String)>,
    /// What is drawn of a score, if one was asked for.
    pub curves: Option<ScoreCurves>,
    /// The steps that were asked.
    pub rounds: Vec<Round>,
    /// What was spent.
    pub budget: Vec<(String, String)>,
    /// How the fit ended.
    pub diagnostics: Vec<String>,
}

#[derive(Serialize)]
struct View<'a> {
    title: &'a str,
    status: &'a [Badge],
    guarantee: GuaranteeView<'a>,
    features: &'a FeatureTable,
    page: Rest<'a>,
}

#[derive(Serialize)]
struct Rest<'a> {
    warnings: &'a [String],
    notes: &'a [String],
    /// The title and the drawing.
    curve: Option<(&'a str, String)>,
    facts: &'a [(String, String)],
    curves: Option<&'a ScoreCurves>,
    rounds: &'a [Round],
    budget: &'a [(String, String)],
    diagnostics: &'a [String],
}

impl FitPage {
    /// The page as one HTML file.
    #[must_use]
    pub fn to_html(&self) -> String {
        render(
            TEMPLATE,
            View {
                title: &self.title,
                status: &self.status,
                guarantee: GuaranteeView::new("Guarantee", &self.guarantee),
                features: &self.features,
                page: Rest {
                    warnings: &self.warnings,
                    notes: &self.notes,
                    curve: self
                        .curve
                        .as_ref()
                        .and_then(|chart| Some((chart.title.as_str(), chart.to_svg()?))),
                    facts: &self.facts,
                    curves: self.curves.as_ref(),
                    rounds: &self.rounds,
                    budget: &self.budget,
                    diagnostics: &self.diagnostics,
                },
            },
        )
    }
}
