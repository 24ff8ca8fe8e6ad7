//! What a check of several files found.

use core::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use crate::FileReport;

/// What a check of one file found, with the name of the file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct NamedReport {
    /// The file.
    pub file: String,
    /// What was found.
    #[serde(flatten)]
    pub found: FileReport,
}

/// What a check of several files found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CheckReport {
    /// How many vectors agree.
    pub passed: usize,
    /// How many do not agree.
    pub failed: usize,
    /// How many are of a group that is not implemented.
    pub unsupported: usize,
    /// The same file by file.
    pub files: Vec<NamedReport>,
}

impl CheckReport {
    /// All of them.
    #[must_use]
    pub fn of(files: Vec<NamedReport>) -> Self {
        let count = |field: fn(&FileReport) -> usize| {
            let counts = files.iter().map(|file| field(&file.found));
            counts.sum::<usize>()
        };
        Self {
            passed: count(|found| found.passed),
            failed: count(|found| found.failed),
            unsupported: count(|found| found.unsupported),
            files,
        }
    }

    /// How many vectors there are.
    #[must_use]
    pub const fn n_vectors(&self) -> usize {
        self.passed + self.failed + self.unsupported
    }
}

impl fmt::Display for CheckReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for NamedReport { file, found } in &self.files {
            let (passed, failed, unsupported) = (found.passed, found.failed, found.unsupported);
            writeln!(
                formatter,
                "{file}: {passed} passed, {failed} failed, {unsupported} unsupported"
            )?;
            if !found.faulty_references.is_empty() {
                writeln!(
                    formatter,
                    "    {} of the passed contradict their own formula and were judged by it",
                    found.faulty_references.len()
                )?;
            }
            for failure in &found.failures {
                writeln!(formatter, "    {failure}")?;
            }
        }
        write!(
            formatter,
            "all files: {} passed, {} failed, {} unsupported",
            self.passed, self.failed, self.unsupported
        )
    }
}
