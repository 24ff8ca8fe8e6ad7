//! `experiment`: names, rows, and a page whose numbers are all in its rows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::command::{run, sprifed, text};

fn folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join("experiment")
        .join(name);
    let _ = std::fs::remove_dir_all(&path);
    path
}

#[test]
fn the_list_names_every_table_and_figure_of_the_paper() {
    insta::assert_snapshot!(text("experiment list"));
}

#[test]
fn an_unknown_name_and_a_folder_that_is_none_are_usage_errors() {
    let ended = sprifed("experiment table-9");
    ended.assert_refused(2, "sprifed::experiment::unknown");
    let ended = sprifed("experiment privacy --data no/such/folder");
    ended.assert_refused(2, "sprifed::experiment::no-data");
}

#[test]
fn a_run_leaves_rows_figures_and_a_page_whose_numbers_are_rows() {
    let out = folder("small");
    let arguments = [
        "experiment",
        "privacy",
        "norms",
        "perf-b",
        "madelon",
        "--quick",
        "--out",
    ];
    let ended = run(arguments
        .into_iter()
        .map(std::ffi::OsString::from)
        .chain([out.clone().into()]));
    assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
    // Before it and in other lines is how long the run has taken.
    let lines = ended.stderr.lines();
    let skipped: Vec<&str> = lines
        .filter_map(|line| Some(&line[line.find("SKIPPED")?..]))
        .collect();
    insta::assert_snapshot!(skipped.join("\n"));
    assert!(out.join("figures/norms-1.svg").exists() && out.join("results.json").exists());
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("QUICK RUN") && page.contains("<svg"));
    assert!(
        !page.contains("<script") && !page.contains("src="),
        "nothing is loaded"
    );
    assert_numbers_are_rows(&out);
}

#[test]
fn every_number_of_the_published_page_is_one_of_its_rows() {
    let published = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/paper");
    assert_numbers_are_rows(&published);
    let page = std::fs::read_to_string(published.join("report.html")).unwrap();
    assert!(!page.contains("QUICK RUN") && !page.contains(">not run<"));
}

#[test]
fn the_published_page_is_what_the_program_makes_of_its_rows() {
    let published = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/paper");
    let out = folder("again");
    std::fs::create_dir_all(&out).unwrap();
    for name in ["cells.csv", "results.json"] {
        std::fs::copy(published.join(name), out.join(name)).unwrap();
    }
    let ended = run(["experiment", "report", "--out", out.to_str().unwrap()]);
    assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
    for name in ["report.html", "results.json", "cells.csv"] {
        let [old, new] = [&published, &out].map(|folder| std::fs::read(folder.join(name)).unwrap());
        assert!(
            old == new,
            "docs/paper/{name} is old: run sprifed experiment report --out docs/paper"
        );
    }
}

#[test]
fn the_key_of_a_figure_names_only_what_is_drawn() {
    let published = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/paper");
    let page = std::fs::read_to_string(published.join("report.html")).unwrap();
    let key_of = |section: &str| {
        let (_, rest) = page
            .split_once(&format!("<section id=\"{section}\">"))
            .unwrap();
        let (_, rest) = rest.split_once("<ul class=\"key\">").unwrap();
        rest.split_once("</ul>").unwrap().0
    };
    let signs = ["× paper", "↑ paper, at least", "- - null model"];
    for (section, shown) in [
        ("table-1", [true, false, true]),
        ("recovery-s5-a", [false, true, true]),
        ("n90", [false, false, true]),
        ("norms", [false, false, false]),
    ] {
        let found = signs.map(|sign| key_of(section).contains(sign));
        assert_eq!(found, shown, "{section}: {}", key_of(section));
    }
}

/// Every number in the text of the page, outside settings and drawings, is a value of the CSV file
/// at the digits shown, or stands in its text.
fn assert_numbers_are_rows(folder: &Path) {
    let rows = std::fs::read_to_string(folder.join("cells.csv")).unwrap();
    let page = std::fs::read_to_string(folder.join("report.html")).unwrap();
    let known: Vec<f64> = tokens(&rows)
        .filter_map(|token| token.parse().ok())
        .collect();
    let mut written: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
    let mut checked = 0;
    for token in tokens(&text_of(&page)) {
        let Ok(number) = token.parse::<f64>() else {
            continue;
        };
        let decimals = token.split_once('.').map_or(0, |(_, digits)| digits.len());
        let at_digits = written.entry(decimals).or_insert_with(|| {
            // Rounded to the nearest, or up as every epsilon is.
            let unit = 10f64.powi(i32::try_from(decimals).unwrap());
            let raised = |value: &f64| (value * unit).ceil() / unit;
            known
                .iter()
                .flat_map(|value| [*value, raised(value)])
                .map(|value| format!("{value:.decimals$}"))
                .collect()
        });
        let is_row = at_digits.contains(token)
            || known
                .iter()
                .any(|value| (value - number).abs() <= f64::EPSILON * number.abs());
        assert!(is_row, "{token} is on the page but in no row");
        checked += 1;
    }
    assert!(checked > 50, "only {checked} numbers were found");
}

fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || "._-'".contains(c);
    text.split(move |c: char| !is_part(c))
        .map(|token| token.trim_end_matches('.'))
        .filter(|token| !token.is_empty())
}

/// The text of a page without drawings, style, settings and the frame.
fn text_of(page: &str) -> String {
    let (_, body) = page.split_once("<body>").unwrap();
    let (body, _) = body.split_once("<footer>").unwrap();
    let mut body = body.to_owned();
    for (start, end) in [
        ("<svg", "</svg>"),
        ("<p class=\"setting\">", "</p>"),
        ("<ul class=\"setting\">", "</ul>"),
    ] {
        while let Some(from) = body.find(start) {
            let length = body[from..].find(end).unwrap() + end.len();
            body.replace_range(from..from + length, " ");
        }
    }
    let mut text = String::new();
    let mut is_tag = false;
    for c in body.chars() {
        match c {
            '<' => is_tag = true,
            '>' => {
                is_tag = false;
                text.push(' ');
            }
            _ if !is_tag => text.push(c),
            _ => {}
        }
    }
    text.replace("&#x27;", "'")
        .replace("&gt;", ">")
        .replace("&lt;", "<")
        .replace("&#x2f;", "/")
}
