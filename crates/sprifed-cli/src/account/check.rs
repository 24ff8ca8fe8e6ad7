//! `account check`: known answers made by other people's libraries.

use std::path::{Path, PathBuf};

use clap::Args;
use sprifed_vectors::{CheckReport, NamedReport, VectorFile};

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

impl Files {
    pub(crate) fn answer(&self, output: &Output) -> Result<(), Failure> {
        let files = self.files.iter().map(|path| self.check_file(path));
        let report = CheckReport::of(files.collect::<Result<_, _>>()?);
        output.answer(&report, CheckReport::to_string);
        if report.n_vectors() == 0 {
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

    fn check_file(&self, path: &Path) -> Result<NamedReport, Failure> {
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
        Ok(NamedReport { file, found })
    }
}
