//! `account check`: known answers made by other people's libraries.
//!
//! Every expected value of a vector must be looked at by its judge; one that is not counts as a
//! failure, so a file can not pass by being ignored.

mod discrete_gaussian;
mod dropout_collusion;
mod e2e_accounting;
mod exponential_mechanism;
mod gaussian;
mod paper_settings;
mod rounding_modulus;
mod samplers;
mod sensitivity;
mod skellam;
mod sum_discrete_gaussian;
mod vector;
mod verdict;
mod zcdp;

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use crate::account::check::vector::{BadVector, Vector, VectorFile};
use crate::account::check::verdict::Verdict;
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

/// Compares one vector with what this program computes.
type Judge = fn(&Vector, &mut Verdict<'_>) -> Result<(), BadVector>;

/// The judge of a file, by the name in its `meta`.
fn judge_of(name: &str) -> Option<Judge> {
    Some(match name {
        "discrete_gaussian" => discrete_gaussian::judge,
        "dropout_collusion" => dropout_collusion::judge,
        "e2e_accounting" => e2e_accounting::judge,
        "exponential_mechanism" => exponential_mechanism::judge,
        "gaussian_composition" => gaussian::judge_composition,
        "gdp_calibrate_mu" => gaussian::judge_calibration,
        "gdp_delta_to_eps" => gaussian::judge_epsilon,
        "gdp_to_delta" => gaussian::judge_delta,
        "paper_settings" => paper_settings::judge,
        "rounding_modulus" => rounding_modulus::judge,
        "samplers" => samplers::judge,
        "sensitivity" => sensitivity::judge,
        "skellam" => skellam::judge,
        "sum_discrete_gaussian" => sum_discrete_gaussian::judge,
        "zcdp_to_approxdp" => zcdp::judge,
        _ => return None,
    })
}

#[derive(Debug, Serialize)]
struct FileReport {
    file: String,
    passed: usize,
    /// Passed vectors whose own value contradicts their formula, with the reason.
    faulty_references: Vec<String>,
    failed: usize,
    unsupported: usize,
    failures: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Report {
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
            passed: count(|file| file.passed),
            failed: count(|file| file.failed),
            unsupported: count(|file| file.unsupported),
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
        let file = VectorFile::read(path)?;
        let mut report = FileReport {
            file: path.display().to_string(),
            passed: 0,
            faulty_references: Vec::new(),
            failed: 0,
            unsupported: 0,
            failures: Vec::new(),
        };
        let judge = judge_of(&file.name);
        for vector in &file.vectors {
            let mut verdict = Verdict::new(vector);
            let judged = match judge {
                Some(judge) => judge(vector, &mut verdict),
                None => Err(BadVector::UnknownGroup(file.name.clone())),
            };
            match judged {
                Ok(()) if verdict.is_passed() => {
                    report.passed += 1;
                    let fault = verdict.reference_fault();
                    let noted = fault.map(|why| format!("{}: {why}", vector.id));
                    report.faulty_references.extend(noted);
                }
                Ok(()) => self.note(&mut report, vector, &verdict.into_complaints()),
                Err(BadVector::UnknownGroup(group)) => {
                    report.unsupported += 1;
                    self.note_text(
                        &mut report,
                        format!("{}: unknown group {group:?}", vector.id),
                    );
                }
                Err(error) => self.note(&mut report, vector, &[error.to_string()]),
            }
        }
        Ok(report)
    }

    fn note(&self, report: &mut FileReport, vector: &Vector, complaints: &[String]) {
        report.failed += 1;
        let text = format!(
            "{} [{}]: {}",
            vector.id,
            vector.group,
            complaints.join("; ")
        );
        self.note_text(report, text);
    }

    fn note_text(&self, report: &mut FileReport, text: String) {
        if report.failures.len() < self.show {
            report.failures.push(text);
        }
    }
}

fn to_text(report: &Report) -> String {
    let mut text = String::new();
    for file in &report.files {
        let FileReport {
            file: name,
            passed,
            failed,
            unsupported,
            ..
        } = file;
        text += &format!("{name}: {passed} passed, {failed} failed, {unsupported} unsupported\n");
        if !file.faulty_references.is_empty() {
            text += &format!(
                "    {} of the passed contradict their own formula and were judged by it (see --json)\n",
                file.faulty_references.len()
            );
        }
        for failure in &file.failures {
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
