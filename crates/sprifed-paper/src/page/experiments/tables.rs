//! The tables under the figures: every number a row of the CSV file.

use serde::Serialize;

use crate::experiment::Experiment;
use crate::numbers::{plain, shown};
use crate::row::Row;
use crate::verdict::with_error;

#[derive(Serialize)]
pub(super) struct Table {
    title: String,
    open: bool,
    heads: Vec<Head>,
    parts: Vec<Part>,
}

/// The rows of one panel.
#[derive(Serialize)]
struct Part {
    title: String,
    rows: Vec<Line>,
}

#[derive(Serialize)]
struct Head {
    name: &'static str,
    number: bool,
}

#[derive(Serialize)]
struct Line {
    best: bool,
    cells: Vec<Text>,
}

#[derive(Serialize)]
struct Text {
    text: String,
    number: bool,
}

/// One table for each metric, with every row of it.
pub(super) fn of(experiment: &Experiment, rows: &[Row], panels: &[&str]) -> Vec<Table> {
    let is_drawn = !experiment.figures.is_empty() && !experiment.metrics.contains(&"n90");
    experiment
        .metrics
        .iter()
        .filter_map(|metric| {
            let of_metric: Vec<&Row> = panels
                .iter()
                .flat_map(|panel| rows.iter().filter(move |row| row.panel == **panel))
                .filter(|row| row.metric == *metric)
                .collect();
            if of_metric.is_empty() {
                return None;
            }
            Some(table(metric, &of_metric, !is_drawn))
        })
        .collect()
}

fn table(metric: &str, rows: &[&Row], open: bool) -> Table {
    let axis = rows.first().map_or("", |row| row.axis.as_str());
    let has = |of: fn(&Row) -> bool| rows.iter().any(|row| of(row));
    let (has_median, has_paper) = (
        has(|row| row.median.is_some()),
        has(|row| row.paper.is_some()),
    );
    let has_null = has(|row| row.null.is_some());
    let has_x = rows.iter().any(|row| row.x != 0.0);
    let has_epsilon = has(|row| row.epsilon_zero_out.is_some());
    let has_privacy = has(|row| !row.privacy.is_empty());
    let mut heads = Vec::new();
    if has_x {
        heads.push((axis_name(axis), true));
    }
    heads.push(("procedure", false));
    heads.push((
        if metric == "epsilon" {
            "ε"
        } else {
            "mean ± std. error"
        },
        true,
    ));
    let optional = [
        (metric != "epsilon", "trials", true),
        (has_median, "median", true),
        (has_null, "null model", true),
        (has_paper, "paper", true),
        (has_epsilon, "ε claimed", true),
        (has_epsilon, "ε zero-out", true),
        (has_epsilon, "ε replace-one", true),
        (has_privacy, "privacy", false),
    ];
    heads.extend(
        optional
            .iter()
            .filter(|(is_shown, ..)| *is_shown)
            .map(|(_, name, number)| (*name, *number)),
    );
    let number = |value: Option<f64>, metric: &str| {
        value.map_or("–".to_owned(), |value| shown(value, metric))
    };
    let line = |row: &Row| {
        let mut cells = Vec::new();
        if has_x {
            let is_private = row.x != 0.0 || axis != "ε";
            cells.push((
                if is_private {
                    rounded(row.x)
                } else {
                    "–".to_owned()
                },
                true,
            ));
        }
        cells.push((row.series.clone(), false));
        cells.push((with_error(row), true));
        let paper = row.paper.map_or("–".to_owned(), |value| {
            let sign = if row.paper_says == ">=" { "≥ " } else { "" };
            format!("{sign}{}", plain(value))
        });
        let optional = [
            (metric != "epsilon", row.trials.to_string(), true),
            (has_median, number(row.median, metric), true),
            (has_null, number(row.null, metric), true),
            (has_paper, paper, true),
            (has_epsilon, number(row.epsilon_claimed, "epsilon"), true),
            (has_epsilon, number(row.epsilon_zero_out, "epsilon"), true),
            (
                has_epsilon,
                number(row.epsilon_replace_one, "epsilon"),
                true,
            ),
            (has_privacy, row.privacy.clone(), false),
        ];
        cells.extend(
            optional
                .into_iter()
                .filter(|(is_shown, ..)| *is_shown)
                .map(|(_, text, number)| (text, number)),
        );
        Line {
            best: is_best(row, rows),
            cells: cells
                .into_iter()
                .map(|(text, number)| Text { text, number })
                .collect(),
        }
    };
    let mut parts: Vec<Part> = Vec::new();
    for row in rows {
        match parts.last_mut() {
            Some(part) if part.title == row.panel => part.rows.push(line(row)),
            _ => parts.push(Part {
                title: row.panel.clone(),
                rows: vec![line(row)],
            }),
        }
    }
    Table {
        title: format!("All numbers: {metric}"),
        open,
        heads: heads
            .into_iter()
            .map(|(name, number)| Head { name, number })
            .collect(),
        parts,
    }
}

/// Whether the row is the best private one of its part and place in the experiment about winners.
fn is_best(row: &Row, rows: &[&Row]) -> bool {
    row.experiment == "winners"
        && row.epsilon_zero_out.is_some()
        && rows
            .iter()
            .filter(|other| other.panel == row.panel && other.x.total_cmp(&row.x).is_eq())
            .all(|other| other.value <= row.value)
}

fn axis_name(axis: &str) -> &'static str {
    match axis {
        "records" => "n",
        "features" => "p",
        "iteration" => "iteration",
        "correlation" => "correlation",
        "ε" => "ε",
        _ => "at",
    }
}

fn rounded(x: f64) -> String {
    if x.fract() == 0.0 {
        plain(x)
    } else {
        plain((x * 100.0).round() / 100.0)
    }
}

/// The rows that an independent simulation has too.
#[derive(Serialize)]
pub(super) struct Independent {
    sentence: String,
    lines: Vec<Compared>,
}

#[derive(Serialize)]
struct Compared {
    cell: String,
    series: String,
    metric: String,
    ours: String,
    independent: String,
    agrees: &'static str,
    trials: u64,
}

/// The trials that the independent simulation is taken to have.
const OTHER_TRIALS: f64 = 40.0;

impl Independent {
    pub(super) fn of(rows: &[Row]) -> Option<Self> {
        let known: Vec<(&Row, f64, f64)> = rows
            .iter()
            .filter_map(|row| {
                let other = row.independent?;
                // The errors of Table 1 without Enhancement 1 have no useful mean: medians are compared.
                let (ours, error) = if is_by_median(row) {
                    (row.median?, median_error(row))
                } else {
                    (
                        row.value,
                        row.std_error?.hypot(row.spread() / OTHER_TRIALS.sqrt()),
                    )
                };
                // Trials with equal outcomes do not show their error.
                (error > 0.0).then_some((row, other, (ours - other) / error))
            })
            .collect();
        if known.is_empty() {
            return None;
        }
        let far: Vec<String> = known
            .iter()
            .filter(|(_, _, distance)| distance.abs() > 2.0)
            .map(|(row, ..)| {
                let (metric, axis, x) = (&row.metric, axis_name(&row.axis), rounded(row.x));
                format!(
                    "{} at {axis} = {x} ({}, {metric})",
                    row.series, row.experiment
                )
            })
            .collect();
        let lower = known
            .iter()
            .filter(|(row, _, distance)| row.metric == "recovered" && *distance < 0.0)
            .count();
        let recovered = known
            .iter()
            .filter(|(row, ..)| row.metric == "recovered")
            .count();
        let verdict = if far.is_empty() {
            "All rows agree within two standard errors.".to_owned()
        } else {
            format!(
                "{} of {} rows lie outside two standard errors, where about one in twenty is expected to by chance: {}.",
                far.len(),
                known.len(),
                far.join("; ")
            )
        };
        let sentence = format!(
            "{verdict} Of the {recovered} numbers of features found, {lower} lie below the independent ones."
        );
        let lines = known.into_iter().map(|(row, other, distance)| Compared {
            cell: format!(
                "{}, {} = {}",
                row.panel,
                axis_name(&row.axis),
                rounded(row.x)
            ),
            series: row.series.clone(),
            metric: if is_by_median(row) {
                "median MSE".to_owned()
            } else {
                row.metric.clone()
            },
            ours: if is_by_median(row) {
                row.median
                    .map_or_else(String::new, |median| shown(median, &row.metric))
            } else {
                with_error(row)
            },
            independent: plain(other),
            agrees: if distance.abs() <= 2.0 { "yes" } else { "no" },
            trials: row.trials,
        });
        Some(Self {
            sentence,
            lines: lines.collect(),
        })
    }
}

fn is_by_median(row: &Row) -> bool {
    row.series == "paper-omp-reuse" && row.metric == "test MSE"
}

/// The error of the difference of two medians, from the quartiles: for a normal sample the median's
/// standard error is 1.253 times that of the mean, and the quartiles lie 1.349 deviations apart.
fn median_error(row: &Row) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 trials")]
    let trials = row.trials.max(1) as f64;
    let (Some(low), Some(high)) = (row.lower_quartile, row.upper_quartile) else {
        return f64::NAN;
    };
    let deviation = (high - low) / 1.349;
    1.253 * deviation * (1.0 / trials + 1.0 / OTHER_TRIALS).sqrt()
}
