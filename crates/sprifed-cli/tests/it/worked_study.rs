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

/// The first line of `shown` that does not follow the ones before it in `said`. `…` stands for lines that are left out.
fn first_missing<'a>(shown: &'a [String], said: &str) -> Option<&'a str> {
    let mut said = said.lines();
    let shown = shown.iter().map(String::as_str).filter(|line| *line != "…");
    let mut shown = shown.map(str::trim_end);
    shown.find(|line| !said.any(|other| other.trim_end() == *line))
}

#[test]
fn a_line_is_missed_if_it_is_changed_or_out_of_order() {
    let shown = ["a", "…", "c"].map(str::to_owned);
    assert_eq!(first_missing(&shown, "a\nb\nc\n"), None);
    assert_eq!(first_missing(&shown, "c\na\n"), Some("c"));
    assert_eq!(first_missing(&shown, "a\nd\n"), Some("c"));
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
