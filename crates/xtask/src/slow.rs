//! The tests that may take long, optimized: long statistics and simulations, and the same tests with more draws and trials.
//!
//! Only crates that have such tests are compiled for it, without the examples in their documentation: `test` runs the others.
//! Two programs of tests run at a time, as many tests wait or use one processor. A failure does not end the others.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use serde::Deserialize;

use crate::error::XtaskError;
use crate::python;
use crate::repository::Repository;

/// The environment of tests that may take long.
pub(crate) const SLOWLY: [(&str, &str); 1] = [("SPRIFED_SLOW", "1")];

/// How many programs of tests run at a time.
const AT_A_TIME: usize = 2;

/// The crate whose tests take longest. They are begun first.
const LONGEST: &str = "sprifed-cli";

/// Builds and runs the long tests of the crates and of the Python package.
///
/// # Errors
/// When the files of the project cannot be read or cargo cannot be asked.
pub(crate) fn run(root: &Path) -> Result<ExitCode, XtaskError> {
    let repository = Repository::load(root)?;
    let Some(programs) = built(root, &with_slow_tests(&repository))? else {
        return Ok(ExitCode::FAILURE);
    };
    let jobs = in_order(programs);
    let next = AtomicUsize::new(0);
    let worker = || {
        let taken = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        let jobs = taken.map_while(|place| jobs.get(place));
        let failed = jobs.filter(|job| !job.passes(root));
        failed.map(Job::name).collect::<Vec<String>>()
    };
    let failed: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_A_TIME).map(|_| scope.spawn(worker)).collect();
        let failed = workers.into_iter();
        let failed = failed.flat_map(|worker| worker.join().unwrap_or(vec!["a worker".to_owned()]));
        failed.collect()
    });
    let text = match failed.as_slice() {
        [] => "all slow tests passed\n".to_owned(),
        failed => format!("slow tests failed: {}\n", failed.join(", ")),
    };
    let code = ExitCode::from(u8::from(!failed.is_empty()));
    Ok(crate::say(&mut std::io::stderr(), &text, code))
}

/// The crates whose code asks whether there is time for long tests.
fn with_slow_tests(repository: &Repository) -> BTreeSet<&str> {
    let question = format!("(\"{}\")", SLOWLY[0].0);
    let texts = repository.texts_ending(&[".rs"]);
    let asking = texts.filter(|(_, text)| text.contains(&question));
    let folders = asking.filter_map(|(path, _)| path.strip_prefix("crates/")?.split_once('/'));
    folders.map(|(name, _)| name).collect()
}

/// A program of tests.
#[derive(Debug, PartialEq, Eq)]
struct Program {
    path: PathBuf,
    /// The folder of its crate.
    folder: PathBuf,
}

/// What runs beside another one.
#[derive(Debug, PartialEq, Eq)]
enum Job {
    Program(Program),
    Python,
}

impl Job {
    fn name(&self) -> String {
        match self {
            Self::Program(Program { path, .. }) => path.display().to_string(),
            Self::Python => "the Python package".to_owned(),
        }
    }

    fn passes(&self, root: &Path) -> bool {
        let begun = Instant::now();
        let (said, passes) = match self {
            Self::Program(program) => program.ended(),
            Self::Python => {
                let code = python::run_slow_tests(root);
                (String::new(), code == ExitCode::SUCCESS)
            }
        };
        let name = self.name();
        let seconds = begun.elapsed().as_secs();
        let text = format!("== {name}\n{said}== {name}: {seconds} s\n");
        crate::say(&mut std::io::stderr(), &text, passes)
    }
}

impl Program {
    /// What it said, and whether all its tests passed.
    fn ended(&self) -> (String, bool) {
        let ended = Command::new(&self.path)
            .envs(SLOWLY)
            // As cargo runs it.
            .env("CARGO_MANIFEST_DIR", &self.folder)
            .current_dir(&self.folder)
            .output();
        match ended {
            Ok(output) => {
                let said = [output.stdout, output.stderr].concat();
                let said = String::from_utf8_lossy(&said).into_owned();
                (said, output.status.success())
            }
            Err(error) => (format!("{error}\n"), false),
        }
    }
}

/// The programs of the tests of `crates`; none if they cannot be built, which cargo then says.
fn built(root: &Path, crates: &BTreeSet<&str>) -> Result<Option<Vec<Program>>, XtaskError> {
    let options = ["--no-run", "--message-format=json-render-diagnostics"];
    let arguments = ["test", "--profile", "slow-tests", "--tests"];
    let built = Command::new("cargo")
        .args(arguments.into_iter().chain(options))
        .args(crates.iter().flat_map(|name| ["-p", name]))
        .current_dir(root)
        .stderr(Stdio::inherit())
        .output();
    let failed = |reason: String| XtaskError::Command {
        command: format!("cargo {}", arguments.join(" ")),
        reason,
    };
    let built = built.map_err(|error| failed(error.to_string()))?;
    if !built.status.success() {
        return Ok(None);
    }
    let programs = programs(&String::from_utf8_lossy(&built.stdout));
    Ok(Some(programs.map_err(|error| failed(error.to_string()))?))
}

/// One of cargo's messages, as far as it is about a program.
#[derive(Deserialize)]
struct Message {
    executable: Option<PathBuf>,
    manifest_path: Option<PathBuf>,
    profile: Option<Profile>,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

/// The programs of tests that cargo says it has built.
fn programs(messages: &str) -> Result<Vec<Program>, serde_json::Error> {
    let messages = messages.lines().map(serde_json::from_str::<Message>);
    let program = |message: Message| {
        let is_test = message.profile.is_some_and(|profile| profile.test);
        Some(Program {
            path: message.executable.filter(|_| is_test)?,
            folder: message.manifest_path?.parent()?.to_owned(),
        })
    };
    messages
        .filter_map(|message| message.map(program).transpose())
        .collect()
}

/// The longest first, so that all others run beside them.
fn in_order(programs: Vec<Program>) -> Vec<Job> {
    let is_longest = |program: &Program| program.folder.ends_with(LONGEST);
    let (longest, others): (Vec<_>, Vec<_>) = programs.into_iter().partition(is_longest);
    let longest = longest.into_iter().map(Job::Program);
    let others = others.into_iter().map(Job::Program);
    longest.chain([Job::Python]).chain(others).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Job, Program, in_order, programs, with_slow_tests};
    use crate::repository::Repository;

    #[test]
    fn crates_that_ask_whether_there_is_time_have_slow_tests() {
        let question = format!("let is_slow = std::env::var_os({:?});", "SPRIFED_SLOW");
        let repository = Repository::sample([
            ("crates/a/src/lib.rs", "//! Set SPRIFED_SLOW=1.\n"),
            ("crates/b/tests/it/long.rs", &question),
            ("crates/c/src/tests.rs", &question),
            ("crates/c/src/more.rs", &question),
            ("crates/d/README.md", &question),
            ("python/e.rs", &question),
        ]);
        let found: Vec<&str> = with_slow_tests(&repository).into_iter().collect();
        assert_eq!(found, ["b", "c"]);
    }

    fn program(name: &str, folder: &str) -> Program {
        Program {
            path: name.into(),
            folder: folder.into(),
        }
    }

    #[test]
    fn programs_of_tests_are_taken_from_what_cargo_says() {
        let said = r#"{"reason":"compiler-artifact","manifest_path":"/r/crates/a/Cargo.toml","profile":{"opt_level":"2","test":false},"executable":"/t/sprifed"}
{"reason":"compiler-artifact","manifest_path":"/r/crates/a/Cargo.toml","profile":{"opt_level":"2","test":true},"executable":"/t/deps/it-1"}
{"reason":"compiler-artifact","manifest_path":"/r/crates/b/Cargo.toml","profile":{"opt_level":"2","test":false},"executable":null}
{"reason":"build-script-executed","out_dir":"/t/out"}
{"reason":"build-finished","success":true}
"#;
        assert_eq!(
            programs(said).unwrap(),
            [program("/t/deps/it-1", "/r/crates/a")]
        );
        assert!(programs("what is not JSON\n").is_err());
    }

    #[test]
    fn the_longest_tests_are_begun_first_and_the_python_package_beside_them() {
        let noise = || program("noise", "/r/crates/sprifed-noise");
        let command = || program("it", "/r/crates/sprifed-cli");
        let jobs = in_order(vec![noise(), command()]);
        assert_eq!(
            jobs,
            [Job::Program(command()), Job::Python, Job::Program(noise())]
        );
    }

    #[test]
    fn a_program_that_fails_or_is_not_there_does_not_pass() {
        let ended = |path: &str| Job::Program(program(path, "/")).passes(Path::new("/"));
        assert!(ended("true"));
        assert!(!ended("false"));
        assert!(!ended("/no/such/program"));
    }
}
