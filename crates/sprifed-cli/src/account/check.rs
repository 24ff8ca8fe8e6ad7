//! `account check`: known answers made by other people's libraries.

use std::path::{Path, PathBuf};

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use sprifed_vectors::VectorFile;

use crate::failure::Failure;
use crate::output::Output;

/// `account check`.
#[derive(Args, Debug)]
pub(crate) struct Files {
    /// Vector files.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Do not fail on vectors of a group that is not implemented.
    #[arg(long)]
    allow_unsupported: bool,
    /// How many failures to print of each file.
    #[arg(long, default_value_t = 5)]
    show: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FileReport {
    file: String,
    #[serde(flatten)]
    found: sprifed_vectors::FileReport,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Report {
    passed: usize,
    failed: usize,
    unsupported: usize,
    files: Vec<FileReport>,
}

impl Files {
    pub(crate) fn answer(&self, output: &Output) -> Result<(), Failure> {
        let files: Vec<FileReport> = self
            .files
            .iter()
            .map(|path| self.check_file(path))
            .collect::<Result<_, _>>()?;
        let count = |field: fn(&FileReport) -> usize| files.iter().map(field).sum::<usize>();
        let report = Report {
            passed: count(|file| file.found.passed),
            failed: count(|file| file.found.failed),
            unsupported: count(|file| file.found.unsupported),
            files,
        };
        output.answer(&report, to_text);
        if report.passed + report.failed + report.unsupported == 0 {
            return Err(Failure::usage(
                "sprifed::account::no-vectors",
                "0 vectors were found, but at least one is required".to_owned(),
                "check that the files are whole",
            ));
        }
        if report.failed > 0 {
            return Err(Failure::outcome(
                "sprifed::account::vectors-failed",
                format!(
                    "{} of {} vectors failed",
                    report.failed,
                    report.passed + report.failed
                ),
                "the first failures are listed above with what was found and expected",
            ));
        }
        if report.unsupported > 0 && !self.allow_unsupported {
            return Err(Failure::usage(
                "sprifed::account::unsupported-vectors",
                format!(
                    "{} vectors belong to a group that is not implemented",
                    report.unsupported
                ),
                "pass --allow-unsupported to check the others only",
            ));
        }
        Ok(())
    }

    fn check_file(&self, path: &Path) -> Result<FileReport, Failure> {
        let file = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|error| {
            Failure::environment(
                "sprifed::file::unreadable",
                format!("{file} cannot be read: {error}"),
                "check the path",
            )
        })?;
        let vectors = VectorFile::parse(&bytes).map_err(|error| {
            Failure::usage(
                "sprifed::account::bad-vector-file",
                format!("{file} is not a vector file: {error}"),
                "a vector file is JSON with meta.name and a list of vectors",
            )
        })?;
        let found = vectors.check(self.show);
        Ok(FileReport { file, found })
    }
}

fn to_text(report: &Report) -> String {
    let mut text = String::new();
    for FileReport { file: name, found } in &report.files {
        let (passed, failed, unsupported) = (found.passed, found.failed, found.unsupported);
        text += &format!("{name}: {passed} passed, {failed} failed, {unsupported} unsupported\n");
        if !found.faulty_references.is_empty() {
            text += &format!(
                "    {} of the passed contradict their own formula and were judged by it (see --json)\n",
                found.faulty_references.len()
            );
        }
        for failure in &found.failures {
            text += &format!("    {failure}\n");
        }
    }
    let Report {
        passed,
        failed,
        unsupported,
        ..
    } = report;
    text + &format!("all files: {passed} passed, {failed} failed, {unsupported} unsupported")
}
