//! The tests that may take long, optimized: long statistics and simulations, and the same tests with more draws and trials.
//!
//! Only crates that have such tests are compiled for it, without the examples in their documentation: `test` runs the others.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

use crate::error::XtaskError;
use crate::programs::{self, Environment, Job};
use crate::python;
use crate::repository::Repository;

/// The environment of tests that may take long.
pub(crate) const SLOWLY: Environment = &[("SPRIFED_SLOW", "1")];

/// Builds and runs the long tests of the crates and of the Python package.
///
/// # Errors
/// When the files of the project cannot be read or cargo cannot be asked.
pub(crate) fn run(root: &Path) -> Result<ExitCode, XtaskError> {
    let repository = Repository::load(root)?;
    let crates = with_slow_tests(&repository);
    let crates = crates.iter().flat_map(|name| ["-p", name]);
    let which: Vec<&str> = ["--profile", "slow-tests", "--tests"]
        .into_iter()
        .chain(crates)
        .collect();
    let Some(built) = programs::built(root, &which)? else {
        return Ok(ExitCode::FAILURE);
    };
    let python = Job::Other("the Python package", python::passes_slowly);
    Ok(programs::run(
        root,
        &programs::in_order(built, SLOWLY, [python]),
    ))
}

/// The crates whose code asks whether there is time for long tests.
fn with_slow_tests(repository: &Repository) -> BTreeSet<&str> {
    let question = format!("(\"{}\")", SLOWLY[0].0);
    let texts = repository.texts_ending(&[".rs"]);
    let asking = texts.filter(|(_, text)| text.contains(&question));
    let folders = asking.filter_map(|(path, _)| path.strip_prefix("crates/")?.split_once('/'));
    folders.map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::with_slow_tests;
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
}
