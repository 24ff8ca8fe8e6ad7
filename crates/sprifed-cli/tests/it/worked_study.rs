//! Every number of the worked study comes from the commands that it shows.

use std::fs;
use std::path::{Path, PathBuf};

use crate::process::{is_slow_run, output_of, shell};

/// A command of the guide and the lines that it shows of the answer.
struct Step {
    command: String,
    shown: Vec<String>,
}

/// The commands of the guide: in blocks called `console`, after a dollar sign, with the answer below.
fn steps(guide: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut is_console = false;
    for line in guide.lines() {
        if line.starts_with("```") {
            is_console = line == "```console";
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| is_console) {
            steps.push(Step {
                command: command.to_owned(),
                shown: Vec::new(),
            });
        } else if is_console && !line.is_empty() {
            steps
                .last_mut()
                .expect("a block begins with a command")
                .shown
                .push(line.to_owned());
        }
    }
    steps
}

/// The first line of `shown` that is not in its place in `said`. `…` stands for lines that are left out, and only there may
/// lines be missing. Empty lines do not count.
fn first_missing<'a>(shown: &'a [String], said: &str) -> Option<&'a str> {
    let mut said = said
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty());
    let mut may_skip = false;
    for line in shown.iter().map(|line| line.trim_end()) {
        if line == "…" {
            may_skip = true;
            continue;
        }
        let is_there = match may_skip {
            true => said.any(|other| other == line),
            false => said.next() == Some(line),
        };
        if !is_there {
            return Some(line);
        }
        may_skip = false;
    }
    let is_complete = may_skip || shown.is_empty() || said.next().is_none();
    (!is_complete).then_some("the end")
}

#[test]
fn a_line_is_missed_if_it_is_changed_or_out_of_order_or_left_out_in_silence() {
    let missing = |shown: &[&str], said: &str| {
        let shown: Vec<String> = shown.iter().copied().map(str::to_owned).collect();
        first_missing(&shown, said).map(str::to_owned)
    };
    let dots = ["a", "…", "c"];
    assert_eq!(missing(&dots, "a\nb\n\nc\n"), None);
    assert_eq!(missing(&dots, "c\na\n"), Some("a".to_owned()));
    assert_eq!(missing(&dots, "a\nd\n"), Some("c".to_owned()));
    assert_eq!(missing(&dots, "a\nb\nc\nd\n"), Some("the end".to_owned()));
    assert_eq!(missing(&["a", "c"], "a\nb\nc\n"), Some("c".to_owned()));
    assert_eq!(missing(&["a", "…"], "a\nb\n"), None);
    assert_eq!(missing(&["a"], "a\nb\n"), Some("the end".to_owned()));
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn guide() -> String {
    fs::read_to_string(root().join("docs/worked-study.md")).unwrap()
}

#[test]
fn the_guide_shows_the_schema_that_is_used() {
    let schema = fs::read_to_string(root().join("examples/worked_study/schema.toml")).unwrap();
    assert!(guide().contains(&format!("```toml\n{schema}```")));
}

#[test]
fn the_commands_of_the_worked_study_say_what_it_shows() {
    if !is_slow_run() {
        return;
    }
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("worked_study");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    for file in ["make_data.py", "schema.toml"] {
        let from = root().join("examples/worked_study").join(file);
        fs::copy(from, folder.join(file)).unwrap();
    }
    let steps = steps(&guide());
    assert!(steps.len() >= 6, "the guide has its commands");
    for Step { command, shown } in steps {
        let ended = output_of(&mut shell(&command, &folder));
        let said = String::from_utf8(ended.stdout).unwrap();
        let complaint = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success(), "{command}\n{complaint}");
        let missing = first_missing(&shown, &said);
        assert_eq!(missing, None, "{command}\n{said}");
    }
}

/// The guide without its line breaks, so that a sentence can be looked for.
fn in_one_line(guide: &str) -> String {
    let lines = guide
        .lines()
        .map(|line| line.trim_start_matches("> ").trim());
    lines.collect::<Vec<_>>().join(" ")
}

/// The numbers of a table's row: estimate, low and high end of the interval, p-value.
struct Row<'a> {
    name: &'a str,
    estimate: f64,
    interval: (f64, f64),
    p_value: &'a str,
}

/// The rows of the fit that the guide shows.
fn rows(guide: &str) -> Vec<Row<'_>> {
    let row = |line| {
        let columns: Vec<&str> = str::split(line, "  ")
            .map(str::trim)
            .filter(|column| !column.is_empty())
            .collect();
        let [name, estimate, interval, p_value, _privacy] = columns[..] else {
            return None;
        };
        let (low, high) = interval.split_once(" to ")?;
        Some(Row {
            name,
            estimate: estimate.parse().ok()?,
            interval: (low.parse().ok()?, high.parse().ok()?),
            p_value,
        })
    };
    guide.lines().filter_map(row).collect()
}

/// The number after `before`, with commas between thousands left out.
fn number_after(text: &str, before: &str) -> f64 {
    let (_, after) = text
        .split_once(before)
        .unwrap_or_else(|| panic!("no {before:?}"));
    let digits = |sign: char| sign.is_ascii_digit() || ['-', '.', ','].contains(&sign);
    let end = after.find(|sign| !digits(sign)).unwrap_or(after.len());
    let number = after[..end].trim_end_matches(['.', ',']).replace(',', "");
    number
        .parse()
        .unwrap_or_else(|_| panic!("no number after {before:?}"))
}

#[test]
fn the_sentence_for_the_paper_says_what_the_commands_say() {
    let guide = guide();
    let (_, sentence) = guide.split_once("## 6. The sentence in the paper").unwrap();
    let sentence = in_one_line(sentence);
    let all = in_one_line(&guide);
    let markers: Vec<Row<'_>> = rows(&guide)
        .into_iter()
        .filter(|row| row.name.starts_with("rs"))
        .collect();
    // A half is rounded away from zero, as in a paper; `{:.1}` alone would round it to the even digit.
    let rounded = |value: f64| format!("{:.1}", (10.0 * value).round() / 10.0);
    for (index, row) in markers.iter().enumerate() {
        let (low, high) = row.interval;
        let [value, low, high] = [row.estimate, low, high].map(rounded);
        let expected = match index {
            0 => format!(
                "{} ({value} mg/dl per copy, 95 % CI {low} to {high})",
                row.name
            ),
            _ => format!("{} ({value}, {low} to {high})", row.name),
        };
        assert!(sentence.contains(&expected), "{expected}");
        assert_eq!(row.p_value, "< 0.001", "{}", row.name);
    }
    assert!(sentence.contains("all with selection p < 0.001"));
    assert_eq!(markers.len(), 5);
    assert!(sentence.contains("Five markers were kept"));
    assert!(
        all.contains("5 of at most 8 features kept, expected share of false ones at most 10 %")
    );
    assert!(sentence.contains("at most eight of 10,000 markers"));
    assert!(sentence.contains("expected false discovery rate of at most 10 %"));
    // Age, one column of sex and two of site are no markers.
    assert!(is_equal(number_after(&all, "--features "), 10_000.0 + 4.0));
    assert!(is_equal(number_after(&all, "--sparsity "), 8.0));
    assert!(is_equal(
        number_after(&sentence, "ε = "),
        number_after(&all, "--epsilon ")
    ));
    assert!(is_equal(
        number_after(&sentence, "n = "),
        number_after(&all, "--records ")
    ));
    assert!(all.contains("delta = 1e-6 for each record") && sentence.contains("δ = 10⁻⁶"));
    assert!(all.contains("Procedure: argmax") && sentence.contains("procedure argmax"));
    let r2 = number_after(&all, "of the null model, R2 ");
    let explained = format!("explains {:.0} % of the variance", 100.0 * r2);
    assert!(sentence.contains(&explained), "{explained}");
    assert!(all.contains(" on 500 records.") && sentence.contains("On 500 patients"));
}

fn is_equal(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-9
}

#[test]
fn the_prose_says_what_the_commands_say() {
    let guide = guide();
    let all = in_one_line(&guide);
    let rows = rows(&guide);
    let first = &rows[0];
    let higher = format!(
        "`{}`: each copy of the rarer allele goes with an LDL that is higher by {:.1} mg/dl",
        first.name, first.estimate
    );
    assert!(all.contains(&higher), "{higher}");
    let sex = rows
        .iter()
        .find(|row| row.name.starts_with("sex=male"))
        .unwrap();
    assert!(
        sex.interval.0 < 0.0
            && 0.0 < sex.interval.1
            && all.contains("Sex has an interval that contains zero")
    );
    let forecast = guide
        .lines()
        .find(|line| line.starts_with("0.3 ") && line.contains("  argmax  "));
    let recall = forecast
        .unwrap()
        .split("  ")
        .filter(|column| !column.is_empty())
        .nth(2);
    let recall = number_after(&format!("argmax {}", recall.unwrap().trim()), "argmax ");
    assert!(
        all.contains(&format!("about {:.0} of 100 true markers", 100.0 * recall)),
        "{recall}"
    );
    // The truth of the made-up table, and how many of the intervals contain it.
    let (_, truth) = all
        .split_once("What is true in this made-up table")
        .unwrap();
    assert_eq!(rows.len(), 9);
    for row in &rows {
        let word = match row.name {
            name if name.starts_with("rs") => format!("{name} "),
            "age (always in the model)" => "Age ".to_owned(),
            name => {
                let level = name.split(['=', ' ']).nth(1).unwrap();
                format!(" {level} ")
            }
        };
        let truth = number_after(truth, &word);
        let (low, high) = row.interval;
        assert!(low <= truth && truth <= high, "{}: {truth}", row.name);
    }
    assert!(all.contains("All nine intervals contain their truth"));
}
