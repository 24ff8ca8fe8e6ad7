//! The Python package: a wheel, built and installed into a virtual environment of its own, its tests and
//! its reference.
//!
//! The environment is made anew when the pinned requirements change. The wheel is built in the profile
//! of the other tests, so that they share what was compiled; the command line that its results are
//! compared with is built beside it.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::slow::SLOWLY;

/// Pinned versions of everything that the tests need.
const REQUIREMENTS: &str = "python/requirements-test.txt";

/// Makes the virtual environment, unless it is there; what fails is tried again and said by what needs it.
pub(crate) fn prepare(root: &Path) {
    let _ = Workshop::at(root).make_environment();
}

/// Builds, installs, tests and documents the package; whether all passed.
pub(crate) fn passes(root: &Path) -> bool {
    succeeded(Workshop::at(root).test_and_document())
}

/// Builds and installs the package and runs those of its tests that may take long.
pub(crate) fn passes_slowly(root: &Path) -> bool {
    succeeded(Workshop::at(root).test_slowly())
}

fn succeeded(work: Result<(), String>) -> bool {
    match work {
        Ok(()) => true,
        Err(why) => {
            let text = format!("the Python package failed: {why}\n");
            crate::say(&mut io::stderr(), &text, false)
        }
    }
}

/// Where things are.
struct Workshop {
    root: PathBuf,
    target: PathBuf,
    environment: PathBuf,
}

impl Workshop {
    fn at(root: &Path) -> Self {
        let given = env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
        let target = root.join(given.unwrap_or_else(|| "target".into()));
        Self {
            root: root.to_owned(),
            environment: target.join("python-venv"),
            target,
        }
    }

    fn test_and_document(&self) -> Result<(), String> {
        self.make_environment()?;
        self.install_wheel()?;
        // As the Rust tests have built it, so that nothing is compiled again after them.
        let build = ["test", "--quiet", "--workspace", "--no-run"];
        self.call("cargo".as_ref(), &build.map(OsStr::new), &self.root)?;
        self.test(&[], &[])?;
        let reference = self.target.join("python-reference");
        let describe = self.tests().join("write_reference.py");
        let arguments = [describe.as_os_str(), reference.as_os_str()];
        let python = self.program("python");
        self.call(python.as_os_str(), &arguments, &self.tests())
    }

    fn test_slowly(&self) -> Result<(), String> {
        self.make_environment()?;
        self.install_wheel()?;
        self.test(&["-m", "slow"], SLOWLY)
    }

    /// Runs the tests that `selection` names, from their folder, where the package is the installed one.
    fn test(&self, selection: &[&str], environment: &[(&str, &str)]) -> Result<(), String> {
        // Two workers, as a deployment mostly waits; deployments are one group, so never two at a time.
        let tests = [
            "-m",
            "pytest",
            "-q",
            "-rs",
            "-n",
            "2",
            "--dist",
            "loadgroup",
        ];
        let arguments: Vec<&OsStr> = tests.iter().chain(selection).map(OsStr::new).collect();
        let python = self.program("python");
        self.call_with(python.as_os_str(), &arguments, &self.tests(), environment)
    }

    fn tests(&self) -> PathBuf {
        self.root.join("python/tests")
    }

    /// A fresh environment with the pinned requirements, unless there is one already.
    fn make_environment(&self) -> Result<(), String> {
        let path = self.root.join(REQUIREMENTS);
        let required =
            fs::read_to_string(&path).map_err(|error| format!("{REQUIREMENTS}: {error}"))?;
        let stamp = self.environment.join("requirements-installed.txt");
        if fs::read_to_string(&stamp).is_ok_and(|installed| installed == required) {
            return Ok(());
        }
        let make = [
            "-m".as_ref(),
            "venv".as_ref(),
            "--clear".as_ref(),
            self.environment.as_os_str(),
        ];
        self.call("python3".as_ref(), &make, &self.root)?;
        let install = [
            "-m".as_ref(),
            "pip".as_ref(),
            "install".as_ref(),
            "--quiet".as_ref(),
            "--requirement".as_ref(),
            path.as_os_str(),
        ];
        self.call(self.program("python").as_os_str(), &install, &self.root)?;
        fs::write(&stamp, required).map_err(|error| error.to_string())
    }

    fn install_wheel(&self) -> Result<(), String> {
        let wheels = self.target.join("wheels");
        // A wheel of another version would be installed beside the new one.
        let _ = fs::remove_dir_all(&wheels);
        let build = [
            "build".as_ref(),
            "--profile".as_ref(),
            "dev".as_ref(),
            "--out".as_ref(),
            wheels.as_os_str(),
        ];
        let maturin = self.program("maturin");
        self.call(maturin.as_os_str(), &build, &self.root.join("python"))?;
        let built = fs::read_dir(&wheels).map_err(|error| error.to_string())?;
        let wheel = built
            .flatten()
            .next()
            .ok_or("maturin made no wheel")?
            .path();
        let install = [
            "-m".as_ref(),
            "pip".as_ref(),
            "install".as_ref(),
            "--quiet".as_ref(),
            "--force-reinstall".as_ref(),
            "--no-deps".as_ref(),
            wheel.as_os_str(),
        ];
        self.call(self.program("python").as_os_str(), &install, &self.root)
    }

    /// A program of the environment.
    fn program(&self, name: &str) -> PathBuf {
        let folder = if cfg!(windows) { "Scripts" } else { "bin" };
        self.environment.join(folder).join(name)
    }

    fn call(&self, program: &OsStr, arguments: &[&OsStr], folder: &Path) -> Result<(), String> {
        self.call_with(program, arguments, folder, &[])
    }

    fn call_with(
        &self,
        program: &OsStr,
        arguments: &[&OsStr],
        folder: &Path,
        environment: &[(&str, &str)],
    ) -> Result<(), String> {
        let command: Vec<_> = arguments
            .iter()
            .map(|argument| argument.to_string_lossy())
            .collect();
        let command = format!("{} {}", program.to_string_lossy(), command.join(" "));
        let ended = Command::new(program)
            .args(arguments)
            .current_dir(folder)
            .envs(environment.iter().copied())
            .env("CARGO_TARGET_DIR", &self.target)
            .env("SPRIFED_CLI", self.target.join("debug").join("sprifed"))
            .status();
        match ended {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("{command}: {status}")),
            Err(error) => Err(format!("{command}: {error}")),
        }
    }
}
