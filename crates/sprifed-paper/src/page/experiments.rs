//! The page about all experiments.

mod summary;
mod tables;

use serde::Serialize;
use sprifed_report::{Badge, BadgeKind, render};

use self::tables::{Independent, Table};
use crate::chart::lines;
use crate::chart::{Drawn, Figure};
use crate::contender::look;
use crate::experiment::{Conditions, Experiment, Size, Work};
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
    figures: Vec<Numbered>,
    key: Vec<Entry>,
    signs: Vec<&'static str>,
    tables: Vec<Table>,
}

/// A figure with its number on the page.
#[derive(Serialize)]
struct Numbered {
    number: usize,
    svg: String,
    caption: String,
}

#[derive(Serialize)]
struct Entry {
    series: String,
    marker: String,
}

/// Sections about the same kind of data.
#[derive(Serialize)]
struct Group<'a> {
    title: &'static str,
    sections: &'a [Section],
}

#[derive(Serialize)]
struct View<'a> {
    title: &'static str,
    status: Vec<Badge>,
    quick: bool,
    summary: Vec<String>,
    groups: Vec<Group<'a>>,
    commits: String,
    seed: u64,
    independent: Option<Independent>,
}

/// The page about the experiments that have rows or a verdict, and its figures by file name.
pub(crate) fn experiments_page(
    experiments: &[Experiment],
    rows: &[Row],
    conditions: &Conditions,
) -> (String, Vec<(String, String)>) {
    let is_real = |experiment: &&Experiment| matches!(experiment.work, Work::OnData(_));
    let (real, generated): (Vec<&Experiment>, Vec<&Experiment>) =
        experiments.iter().partition(is_real);
    let n_real = real.len();
    let mut files = Vec::new();
    let mut sections: Vec<Section> = Vec::new();
    let mut figures = 0;
    for experiment in real.into_iter().chain(generated) {
        let own: Vec<Row> = rows
            .iter()
            .filter(|row| row.experiment == experiment.name)
            .cloned()
            .collect();
        let section = section(experiment, &own, figures);
        figures += section.figures.len();
        for (number, figure) in (1..).zip(&section.figures) {
            let name = format!("{}-{number}.svg", experiment.name);
            files.push((name, figure.svg.clone()));
        }
        sections.push(section);
    }
    let mut commits: Vec<&str> = rows.iter().map(|row| row.commit.as_str()).collect();
    commits.sort_unstable();
    commits.dedup();
    let (real, generated) = sections.split_at(n_real);
    let groups = [("Real data", real), ("Generated data", generated)];
    let page = render(
        TEMPLATE,
        View {
            title: "The paper, reproduced and judged",
            status: status(&sections),
            quick: conditions.size == Size::Quick,
            summary: summary::sentences(&sections, rows)
                .iter()
                .map(|sentence| unbroken(sentence))
                .collect(),
            groups: groups
                .into_iter()
                .filter(|(_, sections)| !sections.is_empty())
                .map(|(title, sections)| Group { title, sections })
                .collect(),
            commits: commits.join(", "),
            seed: conditions.seed,
            independent: Independent::of(rows),
        },
    );
    (page, files)
}

/// How many experiments came out in each way.
fn status(sections: &[Section]) -> Vec<Badge> {
    let kinds = [
        (Outcome::Reproduced, BadgeKind::Done),
        (Outcome::OnlyIf, BadgeKind::Attention),
        (Outcome::NotReproduced, BadgeKind::Failed),
        (Outcome::NotRun, BadgeKind::Failed),
    ];
    let badge = |(outcome, kind): (Outcome, BadgeKind)| {
        let same = sections.iter().filter(|section| section.outcome == outcome);
        let count = same.count();
        (count > 0).then(|| Badge::new(kind, format!("{count} {}", outcome.text())))
    };
    kinds.into_iter().filter_map(badge).collect()
}

/// The section of `experiment`, whose figures come after so many others.
fn section(experiment: &Experiment, rows: &[Row], figures_before: usize) -> Section {
    let verdict = (experiment.judge)(rows);
    let mut panels: Vec<&str> = Vec::new();
    for row in rows {
        if !panels.contains(&row.panel.as_str()) {
            panels.push(&row.panel);
        }
    }
    let mut figures = Vec::new();
    let mut drawn: Vec<&Row> = Vec::new();
    let mut series: Vec<&str> = Vec::new();
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
            let caption = caption(figure, &of_panel, panel);
            let Some(svg) = lines::draw(&of_panel, figure, &caption) else {
                continue;
            };
            figures.push(Numbered {
                number: figures_before + figures.len() + 1,
                svg,
                caption,
            });
            for row in &of_panel {
                if !series.contains(&row.series.as_str()) {
                    series.push(&row.series);
                }
            }
            drawn.extend(of_panel);
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
        sentences: unbroken(&verdict.sentences),
        figures,
        key: series.into_iter().map(entry).collect(),
        signs: signs(&drawn),
        tables: tables::of(experiment, rows, &panels),
    }
}

fn entry(series: &str) -> Entry {
    Entry {
        series: series.to_owned(),
        marker: look(series).to_legend(),
    }
}

/// What the signs mean that the figures of these rows have beside their series.
fn signs(drawn: &[&Row]) -> Vec<&'static str> {
    let has = |of: fn(&Row) -> bool| drawn.iter().any(|row| of(row));
    let printed = has(|row| row.paper.is_some() && !row.is_bound());
    let bound = has(|row| row.paper.is_some() && row.is_bound());
    let signs = [
        (printed, "× paper"),
        (bound, "↑ paper, at least"),
        (has(|row| row.null.is_some()), "- - null model"),
    ];
    let shown = signs.into_iter().filter(|(is_drawn, _)| *is_drawn);
    shown.map(|(_, sign)| sign).collect()
}

/// What a figure shows.
fn caption(figure: &Figure, rows: &[&Row], panel: &str) -> String {
    let metric = match figure.metric {
        "recovered" => "Features found",
        "test MSE" => "Test MSE",
        "norm" => "Norms divided by n",
        other => other,
    };
    let axis = rows.first().map_or("", |row| row.axis.as_str());
    let whiskers = match figure.drawn {
        Drawn::Mean => "mean, one standard error",
        Drawn::Median => "median, quartiles",
    };
    format!("{metric} over {axis}; {panel} ({whiskers}).")
}

/// The text with no line break between a number and its error, or a symbol and its value.
fn unbroken(text: &str) -> String {
    text.replace(" ± ", "\u{a0}±\u{a0}")
        .replace(" = ", "\u{a0}=\u{a0}")
}
