//! Processes of the binary. This is the only way in which tests run it, so that every answer in JSON is checked.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::json_schema::observe;

/// The command under test.
#[expect(clippy::disallowed_methods, reason = "a test of processes")]
pub(crate) fn sprifed() -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("sprifed"));
    // Help is wrapped at this width, and snapshots hold it.
    command.env_remove("COLUMNS");
    command
}

/// Whether there is time for the long version of a test.
pub(crate) fn is_slow() -> bool {
    std::env::var_os("SPRIFED_SLOW").is_some_and(|value| value == "1")
}

/// As [`is_slow`]; if not, the test says that it did not run.
#[expect(
    clippy::print_stderr,
    reason = "a test that did not run must not look like one that did"
)]
pub(crate) fn is_slow_run() -> bool {
    if !is_slow() {
        eprintln!("SKIPPED: set SPRIFED_SLOW=1");
    }
    is_slow()
}

/// How `command` ends; an answer in JSON fits its schema.
pub(crate) fn output_of(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    observe(&arguments_of(command), &output.stdout);
    output
}

/// How `command` ends, which must be well.
pub(crate) fn succeed(command: &mut Command) -> Output {
    let output = output_of(command);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{said}");
    output
}

/// What `command` says on standard error, which must end with this exit code.
pub(crate) fn refused(command: &mut Command, exit_code: i32) -> String {
    let ended = output_of(command);
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(exit_code), "{command:?}\n{said}");
    said
}

/// As [`refused`], with this code.
pub(crate) fn refused_as(command: &mut Command, exit_code: i32, code: &str) -> String {
    let said = refused(command, exit_code);
    assert_eq!(code_of(&said), code, "{command:?}\n{said}");
    said
}

/// `command` in a process that can make no file larger than so many blocks of 512 bytes.
///
/// A write beyond that fails, as on a full disk, and what was written before stays.
#[expect(clippy::disallowed_methods, reason = "a test of processes")]
pub(crate) fn with_room_for(n_blocks: u32, command: &Command) -> Command {
    let mut limited = Command::new("sh");
    // Ignored signals stay so in the new program; otherwise it would be killed instead of told.
    let script = "trap '' XFSZ; ulimit -f \"$1\"; shift; exec \"$@\"";
    limited.args(["-c", script, "sh", &n_blocks.to_string()]);
    limited.arg(command.get_program()).args(command.get_args());
    limited
}

/// `line` as a shell in `folder` understands it; `sprifed` is the command under test.
#[expect(clippy::disallowed_methods, reason = "a test of processes")]
pub(crate) fn shell(line: &str, folder: &Path) -> Command {
    let binary = Path::new(sprifed().get_program()).to_owned();
    let before = std::env::var_os("PATH").unwrap_or_default();
    let places = binary.parent().map(Path::to_owned).into_iter();
    let places = places.chain(std::env::split_paths(&before));
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(folder);
    command.env("PATH", std::env::join_paths(places).unwrap());
    command
}

/// The stable name of the last refusal on standard error.
pub(crate) fn code_of(said: &str) -> &str {
    let mut lines = said.lines().rev();
    lines
        .find_map(|line| line.strip_prefix(" code: "))
        .unwrap_or_else(|| panic!("no code in:\n{said}"))
}

/// The last refusal in a log: what happened, what to do and the code.
pub(crate) fn refusal_in(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    let start = lines.iter().rposition(|line| line.starts_with("error: "));
    let end = lines.iter().rposition(|line| line.starts_with(" code: "));
    let (Some(start), Some(end)) = (start, end) else {
        panic!("no refusal in:\n{log}");
    };
    lines[start..=end].join("\n")
}

/// The arguments of the binary, which another program may start; none if the binary is not run.
fn arguments_of(command: &Command) -> Vec<String> {
    let ours = sprifed();
    let all = [command.get_program()].into_iter();
    let all = all.chain(command.get_args());
    all.skip_while(|argument| *argument != ours.get_program())
        .skip(1)
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect()
}

/// A process that is killed if the test ends before it.
pub(crate) struct Running(Option<Child>, Vec<String>);

impl Running {
    pub(crate) fn start(command: &mut Command, log: &Path) -> Self {
        let log = fs::File::options()
            .create(true)
            .append(true)
            .open(log)
            .unwrap();
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn();
        Self(Some(child.unwrap()), arguments_of(command))
    }

    /// No process.
    pub(crate) const fn none() -> Self {
        Self(None, Vec::new())
    }

    pub(crate) fn is_over(&mut self) -> bool {
        self.0.is_none() || self.ended().is_some()
    }

    /// How it ended, if it did.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.0.as_mut().and_then(|child| child.try_wait().unwrap())
    }

    pub(crate) fn has_succeeded(&mut self) -> bool {
        self.ended().is_some_and(|ended| ended.success())
    }

    /// As `kill -9`.
    pub(crate) fn kill(mut self) {
        let mut child = self.0.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Stops it where it is, until it is killed or let run.
    pub(crate) fn stop(&self) {
        self.signal(Signal::STOP);
    }

    /// Lets it run on.
    pub(crate) fn let_run(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let process = Pid::from_child(self.0.as_ref().unwrap());
        kill_process(process, signal).unwrap();
    }

    /// As Ctrl-C.
    pub(crate) fn interrupt(&self) {
        self.signal(Signal::INT);
    }

    pub(crate) fn finish(mut self) -> Output {
        let output = self.0.take().unwrap().wait_with_output().unwrap();
        observe(&self.1, &output.stdout);
        output
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
fn arguments_of_the_binary_are_found_behind_another_program() {
    let mut ours = sprifed();
    ours.args(["plan", "--json"]);
    #[expect(clippy::disallowed_methods, reason = "a test of processes")]
    let mut other = Command::new("sh");
    assert_eq!(
        arguments_of(other.args(["-c", "exec \"$@\"", "sh"])),
        [""; 0]
    );
    other.arg(ours.get_program()).args(ours.get_args());
    assert_eq!(arguments_of(&other), ["plan", "--json"]);
}
