//! The checks of the crates that changed: formatting, lints, and the tests that do not take long.
//!
//! For the time between two commits. It finds what a change breaks in its own crate; what it breaks
//! in crates above, in the Python package or in the documents only `cargo xtask test` finds.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, ExitCode};

use crate::error::XtaskError;
use crate::suite::cargo;
use crate::workspace::Workspace;

/// Where the main branch may be.
const MAIN: [&str; 2] = ["main", "origin/main"];

/// Crates whose integration tests take long: they start processes, fit models or simulate studies.
const LONG_INTEGRATION: [&str; 5] = [
    "sprifed-bench",
    "sprifed-cli",
    "sprifed-net",
    "sprifed-secure-sum",
    "sprifed-simulate",
];

/// Selected beside the crates that changed: the features of outside crates are then those of the whole workspace, so that
/// nothing is compiled again that `cargo xtask test` has compiled.
pub(crate) const ONE_SET_OF_FEATURES: [&str; 2] = ["-p", "sprifed-one-build"];

/// Sources outside of `crates/` that are compiled into a crate.
const ELSEWHERE: [(&str, &str); 1] = [("fuzz/", "sprifed-fuzz")];

/// Checks the crates with changes since `base`; without one, since the merge base with the main branch.
///
/// Changes that are not committed count.
///
/// # Errors
/// When git or cargo cannot list files or crates.
pub(crate) fn run(root: &Path, base: Option<&str>) -> Result<ExitCode, XtaskError> {
    let base = match base {
        Some(base) => base.to_owned(),
        None => merge_base(root),
    };
    let workspace = Workspace::load(root)?;
    let names: Vec<&str> = workspace
        .packages
        .iter()
        .map(|package| package.name.as_str())
        .collect();
    let changed = changed_crates(&changed_files(root, &base)?, &names);
    let crates: Vec<&str> = changed.iter().map(String::as_str).collect();
    let text = format!("since {base} changed: {}\n", crates.join(", "));
    crate::say(&mut std::io::stderr(), &text, ExitCode::SUCCESS);
    let listing = git(root, &["ls-files", "--", "crates/*/src/lib.rs"])?;
    let has_library = |name: &str| {
        let root_of_library = format!("crates/{name}/src/lib.rs");
        listing.lines().any(|path| path == root_of_library)
    };
    let passes = |(what, arguments): &(&str, Vec<&str>)| cargo(root, what, arguments, &[]);
    Ok(if commands(&crates, has_library).iter().all(passes) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// The cargo commands for these crates; none if there are none.
fn commands<'a>(
    crates: &[&'a str],
    has_library: impl Fn(&str) -> bool,
) -> Vec<(&'static str, Vec<&'a str>)> {
    let chosen = |among: &[&'a str]| -> Vec<&'a str> {
        among.iter().flat_map(|name| ["-p", name]).collect()
    };
    let (long, short): (Vec<&str>, Vec<&str>) = crates
        .iter()
        .partition(|name| LONG_INTEGRATION.contains(name));
    // Cargo refuses `--lib` where there is no library.
    let (libraries, programs): (Vec<&str>, Vec<&str>) =
        long.into_iter().partition(|name| has_library(name));
    let mut commands = Vec::new();
    if !crates.is_empty() {
        commands.push((
            "formatting",
            [vec!["fmt", "--check"], chosen(crates)].concat(),
        ));
        commands.push((
            "lints",
            [
                vec!["clippy", "--all-targets"],
                chosen(crates),
                ONE_SET_OF_FEATURES.to_vec(),
                vec!["--", "-D", "warnings"],
            ]
            .concat(),
        ));
    }
    for (among, targets) in [
        (&short, &["--tests"][..]),
        (&libraries, &["--lib", "--bins"][..]),
        (&programs, &["--bins"][..]),
    ] {
        if !among.is_empty() {
            let arguments = [
                vec!["test"],
                targets.to_vec(),
                chosen(among),
                ONE_SET_OF_FEATURES.to_vec(),
            ];
            let arguments = arguments.concat();
            commands.push(("tests", arguments));
        }
    }
    commands
}

/// The crates to which these files belong.
fn changed_crates(files: &[String], names: &[&str]) -> BTreeSet<String> {
    let owner = |file: &String| {
        let elsewhere = ELSEWHERE
            .into_iter()
            .find(|(start, _)| file.starts_with(start));
        let name = match elsewhere {
            Some((_, name)) => name,
            None => file.strip_prefix("crates/")?.split('/').next()?,
        };
        names.contains(&name).then(|| name.to_owned())
    };
    files.iter().filter_map(owner).collect()
}

/// Files that differ from `base`, and files that git does not know.
fn changed_files(root: &Path, base: &str) -> Result<Vec<String>, XtaskError> {
    let differing = git(root, &["diff", "--name-only", "--no-renames", base])?;
    let unknown = git(root, &["ls-files", "--others", "--exclude-standard"])?;
    let lines = differing.lines().chain(unknown.lines());
    Ok(lines.map(str::to_owned).collect())
}

/// The commit at which the current branch left the main branch; without one, the current commit.
fn merge_base(root: &Path) -> String {
    let common = |main| git(root, &["merge-base", "HEAD", main]).ok();
    let found = MAIN.into_iter().find_map(common);
    found.map_or_else(|| "HEAD".to_owned(), |commit| commit.trim().to_owned())
}

fn git(root: &Path, arguments: &[&str]) -> Result<String, XtaskError> {
    let failed = |reason: String| XtaskError::Command {
        command: format!("git {}", arguments.join(" ")),
        reason,
    };
    let output = Command::new("git")
        .args(arguments)
        .current_dir(root)
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    String::from_utf8(output.stdout).map_err(|error| failed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::{ONE_SET_OF_FEATURES, changed_crates, commands};

    const CRATES: [&str; 3] = ["sprifed-cli", "sprifed-fuzz", "sprifed-noise"];

    fn changed(files: &[&str]) -> Vec<String> {
        let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
        changed_crates(&files, &CRATES).into_iter().collect()
    }

    #[test]
    fn a_file_belongs_to_the_crate_of_its_folder() {
        let files = [
            "crates/sprifed-noise/src/lib.rs",
            "crates/sprifed-noise/README.md",
            "crates/sprifed-cli/tests/it/main.rs",
        ];
        assert_eq!(changed(&files), ["sprifed-cli", "sprifed-noise"]);
    }

    #[test]
    fn fuzz_targets_belong_to_the_crate_that_runs_them() {
        assert_eq!(changed(&["fuzz/fuzz_targets/client.rs"]), ["sprifed-fuzz"]);
    }

    #[test]
    fn other_files_and_deleted_crates_change_no_crate() {
        assert_eq!(changed(&["README.md", "crates/gone/src/lib.rs"]), [""; 0]);
    }

    #[test]
    fn nothing_is_run_when_no_crate_changed() {
        assert!(commands(&[], |_| true).is_empty());
    }

    #[test]
    fn long_integration_tests_are_left_out() {
        let changed = ["sprifed-bench", "sprifed-cli", "sprifed-noise"];
        let found = commands(&changed, |name| name != "sprifed-bench");
        let tests: Vec<String> = found[2..].iter().map(|(_, one)| one.join(" ")).collect();
        let expected = [
            "test --tests -p sprifed-noise",
            "test --lib --bins -p sprifed-cli",
            "test --bins -p sprifed-bench",
        ];
        let selected = ONE_SET_OF_FEATURES.join(" ");
        assert_eq!(tests, expected.map(|test| format!("{test} {selected}")));
    }
}
