//! The tests, as jobs of which two run at a time: many tests wait, or use one processor.
//!
//! A failure does not end the others. What a program of tests says is shown when it has ended.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use serde::Deserialize;

use crate::error::XtaskError;

/// How many jobs run at a time.
const AT_A_TIME: usize = 2;

/// The crate whose tests take longest. They are begun first.
const LONGEST: &str = "sprifed-cli";

/// How many of its tests run at a time. They wait for processes that wait for each other.
const TESTS_OF_LONGEST: &str = "4";

/// Variables that tests are given.
pub(crate) type Environment = &'static [(&'static str, &'static str)];

/// A program of tests.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Program {
    path: PathBuf,
    /// The folder of its crate.
    folder: PathBuf,
}

/// What runs beside another one.
#[derive(Debug)]
pub(crate) enum Job {
    /// A program, and what it is given.
    Program(Program, Environment),
    /// Anything else, by its name.
    Other(&'static str, fn(&Path) -> bool),
}

/// Runs all jobs.
pub(crate) fn run(root: &Path, jobs: &[Job]) -> ExitCode {
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
        [] => "all tests passed\n".to_owned(),
        failed => format!("tests failed: {}\n", failed.join(", ")),
    };
    let code = ExitCode::from(u8::from(!failed.is_empty()));
    crate::say(&mut std::io::stderr(), &text, code)
}

impl Job {
    fn name(&self) -> String {
        match self {
            Self::Program(program, _) => program.path.display().to_string(),
            Self::Other(name, _) => (*name).to_owned(),
        }
    }

    fn passes(&self, root: &Path) -> bool {
        let begun = Instant::now();
        let (said, passes) = match self {
            Self::Program(program, environment) => program.ended(environment),
            Self::Other(_, passes) => (String::new(), passes(root)),
        };
        let name = self.name();
        let seconds = begun.elapsed().as_secs();
        let text = format!("== {name}\n{said}== {name}: {seconds} s\n");
        crate::say(&mut std::io::stderr(), &text, passes)
    }
}

impl Program {
    fn is_longest(&self) -> bool {
        self.folder.ends_with(LONGEST)
    }

    /// What it said, and whether all its tests passed.
    fn ended(&self, environment: Environment) -> (String, bool) {
        let mut command = Command::new(&self.path);
        if self.is_longest() {
            command.env("RUST_TEST_THREADS", TESTS_OF_LONGEST);
        }
        command.envs(environment.iter().copied());
        // As cargo runs it.
        command.env("CARGO_MANIFEST_DIR", &self.folder);
        command.current_dir(&self.folder);
        match command.output() {
            Ok(output) => {
                let said = [output.stdout, output.stderr].concat();
                let said = String::from_utf8_lossy(&said).into_owned();
                (said, output.status.success())
            }
            Err(error) => (format!("{error}\n"), false),
        }
    }
}

/// Builds tests by `cargo test` with the arguments `which`; none if they cannot be built, which cargo then says.
pub(crate) fn built(root: &Path, which: &[&str]) -> Result<Option<Vec<Program>>, XtaskError> {
    let options = ["--no-run", "--message-format=json-render-diagnostics"];
    let built = Command::new("cargo")
        .arg("test")
        .args(which.iter().chain(&options))
        .current_dir(root)
        .stderr(Stdio::inherit())
        .output();
    let failed = |reason: String| XtaskError::Command {
        command: format!("cargo test {}", which.join(" ")),
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

/// The longest first, so that all others run beside them; `beside` are begun next.
pub(crate) fn in_order<const N: usize>(
    programs: Vec<Program>,
    environment: Environment,
    beside: [Job; N],
) -> Vec<Job> {
    let (longest, others): (Vec<_>, Vec<_>) = programs.into_iter().partition(Program::is_longest);
    let job = |program| Job::Program(program, environment);
    let longest = longest.into_iter().map(job);
    let others = others.into_iter().map(job);
    longest.chain(beside).chain(others).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Job, Program, in_order, programs};

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
        let python = Job::Other("python", |_| true);
        let jobs = in_order(vec![noise(), command()], &[], [python]);
        let names: Vec<String> = jobs.iter().map(Job::name).collect();
        assert_eq!(names, ["it", "python", "noise"]);
    }

    #[test]
    fn a_program_that_fails_or_is_not_there_does_not_pass() {
        let ended = |path: &str| Job::Program(program(path, "/"), &[]).passes(Path::new("/"));
        assert!(ended("true"));
        assert!(!ended("false"));
        assert!(!ended("/no/such/program"));
    }
}
