//! The page about all experiments.

mod tables;

use minijinja::value::Serde;
use minijinja::{Value, context};
use serde::Serialize;
use sprifed_report::render;

use self::tables::{Independent, Table};
use crate::chart::lines;
use crate::contender::{Family, look};
use crate::experiment::{Conditions, Experiment, Size};
use crate::row::Row;
use crate::verdict::{Evidence, Outcome};

const TEMPLATE: &str = include_str!("experiments.html");

#[derive(Serialize)]
struct Section {
    name: &'static str,
    title: &'static str,
    claim: &'static str,
    setting: &'static str,
    privacy: String,
    outcome: Outcome,
    text: &'static str,
    sentences: String,
    figures: Vec<String>,
    key: Vec<Entry>,
    tables: Vec<Table>,
}

#[derive(Serialize)]
struct Entry {
    series: String,
    colour: String,
    family: &'static str,
}

/// The page about the experiments that have rows or a verdict, and its figures by file name.
#[must_use]
pub fn experiments_page(
    experiments: &[Experiment],
    rows: &[Row],
    conditions: &Conditions,
) -> (String, Vec<(String, String)>) {
    let mut files = Vec::new();
    let mut sections = Vec::new();
    for experiment in experiments {
        let own: Vec<Row> = rows
            .iter()
            .filter(|row| row.experiment == experiment.name)
            .cloned()
            .collect();
        let section = section(experiment, &own);
        for (number, figure) in (1..).zip(&section.figures) {
            files.push((format!("{}-{number}.svg", experiment.name), figure.clone()));
        }
        sections.push(section);
    }
    let mut commits: Vec<&str> = rows.iter().map(|row| row.commit.as_str()).collect();
    commits.sort_unstable();
    commits.dedup();
    let page = render(
        TEMPLATE,
        context! {
            title => "The paper, reproduced and judged",
            version => env!("CARGO_PKG_VERSION"),
            quick => conditions.size == Size::Quick,
            commits => commits.join(", "),
            seed => conditions.seed,
            independent => Value::from(Serde(&Independent::of(rows))),
            sections => Value::from(Serde(&sections)),
        },
    );
    (page, files)
}

fn section(experiment: &Experiment, rows: &[Row]) -> Section {
    let verdict = (experiment.judge)(rows);
    let mut panels: Vec<&str> = Vec::new();
    for row in rows {
        if !panels.contains(&row.panel.as_str()) {
            panels.push(&row.panel);
        }
    }
    let mut figures = Vec::new();
    let mut drawn: Vec<&str> = Vec::new();
    for figure in experiment.figures {
        for panel in &panels {
            let of_panel: Vec<&Row> = rows
                .iter()
                .filter(|row| row.panel == *panel && row.metric == figure.metric)
                .collect();
            // A single place on the axis is a table, not a curve.
            let first = of_panel.first().map(|row| row.x.to_bits());
            if of_panel.iter().all(|row| Some(row.x.to_bits()) == first) {
                continue;
            }
            figures.push(lines::draw(&of_panel, figure, panel));
            for row in of_panel {
                if !drawn.contains(&row.series.as_str()) {
                    drawn.push(&row.series);
                }
            }
        }
    }
    let privacy = match Evidence(rows).privacy_sentence() {
        sentence if sentence.is_empty() || verdict.sentences.contains(&sentence) => String::new(),
        sentence => sentence,
    };
    Section {
        name: experiment.name,
        title: experiment.title,
        claim: experiment.claim,
        setting: experiment.setting,
        privacy,
        outcome: verdict.outcome,
        text: verdict.outcome.text(),
        sentences: verdict.sentences,
        figures,
        key: drawn.into_iter().map(entry).collect(),
        tables: tables::of(experiment, rows, &panels),
    }
}

fn entry(series: &str) -> Entry {
    let ((red, green, blue), family) = look(series);
    Entry {
        series: series.to_owned(),
        colour: format!("rgb({red},{green},{blue})"),
        family: match family {
            Family::Paper => "paper",
            Family::Baseline => "baseline",
            Family::Certified => "certified",
            Family::NonPrivate => "non-private",
        },
    }
}
