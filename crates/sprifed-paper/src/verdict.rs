//! Two sentences for each experiment, made from its rows.

use schemars::JsonSchema;
use serde::Serialize;

use crate::numbers::shown;
use crate::row::Row;

/// How an experiment came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The claim holds as stated.
    Reproduced,
    /// It holds under a condition that the paper does not state.
    OnlyIf,
    /// It does not hold.
    NotReproduced,
    /// A question of ours, which the paper does not ask.
    Ours,
    /// Rows are missing.
    NotRun,
}

impl Outcome {
    /// The outcome as text.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::OnlyIf => "reproduced under a condition",
            Self::NotReproduced => "not reproduced",
            Self::Ours => "our question",
            Self::NotRun => "not run",
        }
    }
}

/// An outcome with its reasons.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// How it came out.
    pub outcome: Outcome,
    /// Why, in two sentences.
    pub sentences: String,
}

impl Verdict {
    /// This outcome with these sentences.
    #[must_use]
    pub fn new(outcome: Outcome, sentences: String) -> Self {
        Self { outcome, sentences }
    }

    /// For an experiment without the rows that it needs.
    #[must_use]
    pub fn not_run() -> Self {
        let sentences = "Not all cells were run, so nothing is judged. Run the full size.";
        Self::new(Outcome::NotRun, sentences.to_owned())
    }
}

/// The rows of an experiment, found by place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evidence<'a>(pub(crate) &'a [Row]);

impl<'a> Evidence<'a> {
    /// The row of this cell and metric.
    pub(crate) fn at(self, panel: &str, series: &str, x: f64, metric: &str) -> Option<&'a Row> {
        self.0.iter().find(|row| {
            row.panel == panel
                && row.series == series
                && row.x.total_cmp(&x).is_eq()
                && row.metric == metric
        })
    }

    /// All rows of a metric.
    pub(crate) fn of(self, metric: &'a str) -> impl Iterator<Item = &'a Row> {
        self.0.iter().filter(move |row| row.metric == metric)
    }

    /// How many of the paper's printed values agree with ours, and how many there are. The paper
    /// averages three trials; its spread is taken to be ours.
    pub(crate) fn agreement_with_paper(self, metric: &str) -> (usize, usize) {
        let compared: Vec<bool> = self
            .0
            .iter()
            .filter(|row| row.metric == metric)
            .filter_map(|row| {
                let paper = row.paper?;
                let margin = 2.0
                    * row
                        .std_error
                        .unwrap_or(0.0)
                        .hypot(row.spread() / 3f64.sqrt());
                Some(match row.paper_says.as_str() {
                    "=" => row.agrees_with(paper, 3.0),
                    _ => row.value + margin >= paper,
                })
            })
            .collect();
        (
            compared.iter().filter(|agrees| **agrees).count(),
            compared.len(),
        )
    }

    /// The ε that the paper's OMP claims and delivers, in one sentence; nothing where it is run in
    /// several ways.
    pub(crate) fn privacy_sentence(self) -> String {
        let priced = |series: &'static str| {
            let rows = self.0.iter().filter(move |row| row.series == series);
            rows.filter_map(|row| {
                Some((
                    row.epsilon_claimed?,
                    row.epsilon_zero_out,
                    row.epsilon_replace_one,
                ))
            })
        };
        let Some((claimed, Some(zero_out), Some(replace_one))) = priced("paper-omp").next() else {
            return String::new();
        };
        let is_one_way = priced("paper-omp").all(|(_, other, _)| other == Some(zero_out));
        if !is_one_way {
            return String::new();
        }
        let epsilon = |value: f64| shown(value, "epsilon");
        let mut sentence = format!(
            "As run, SPriFed-OMP claims ε {} and delivers {} (zero-out) or {} (replace-one)",
            epsilon(claimed),
            epsilon(zero_out),
            epsilon(replace_one),
        );
        if priced("paper-grad")
            .next()
            .is_some_and(|(_, zero_out, _)| zero_out.is_none())
        {
            sentence += ", and SPriFed-OMP-GRAD, which clips no residual, delivers none";
        }
        sentence + "."
    }
}

/// How many standard errors of the difference lie between two means.
pub(crate) fn distance(left: &Row, right: &Row) -> f64 {
    let error = left
        .std_error
        .unwrap_or(0.0)
        .hypot(right.std_error.unwrap_or(0.0));
    (left.value - right.value) / error.max(1e-12)
}

/// `mean ± standard error`, as pages write it.
pub(crate) fn with_error(row: &Row) -> String {
    let value = match row.qualifier.as_str() {
        "" => shown(row.value, &row.metric),
        qualifier => format!("{qualifier} {}", shown(row.value, &row.metric)),
    };
    match row.std_error {
        Some(error) if row.trials > 0 => format!("{value} ± {}", shown(error, &row.metric)),
        _ => value,
    }
}
