#![doc = include_str!("../README.md")]

mod discrete_gaussian;
mod dropout_collusion;
mod e2e_accounting;
mod exponential_mechanism;
mod gaussian;
mod lifetime_totals;
mod paper_settings;
mod report;
mod rounding_modulus;
mod samplers;
mod selection;
mod sensitivity;
mod skellam;
mod sum_discrete_gaussian;
mod trustee_choices;
mod vector;
mod verdict;
mod zcdp;

use schemars::JsonSchema;
use serde::Serialize;

use crate::vector::{BadVector, Vector};
use crate::verdict::Verdict;

pub use crate::report::{CheckReport, NamedReport};
pub use crate::vector::VectorFile;

/// Compares one vector with what this program computes.
type Judge = fn(&Vector, &mut Verdict<'_>) -> Result<(), BadVector>;

/// The judge of a file, by the name in its `meta`.
fn judge_of(name: &str) -> Option<Judge> {
    Some(match name {
        "discrete_gaussian" => discrete_gaussian::judge,
        "dropout_collusion" => dropout_collusion::judge,
        "e2e_accounting" => e2e_accounting::judge,
        "euler" => samplers::judge,
        "exponential_mechanism" => exponential_mechanism::judge,
        "gaussian_composition" => gaussian::judge_composition,
        "gdp_calibrate_mu" => gaussian::judge_calibration,
        "gdp_delta_to_eps" => gaussian::judge_epsilon,
        "gdp_to_delta" => gaussian::judge_delta,
        "lifetime_totals" => lifetime_totals::judge,
        "paper_settings" => paper_settings::judge,
        "rounding_modulus" => rounding_modulus::judge,
        "samplers" => samplers::judge,
        "selection" => selection::judge,
        "sensitivity" => sensitivity::judge,
        "skellam" => skellam::judge,
        "sum_discrete_gaussian" => sum_discrete_gaussian::judge,
        "trustee_choices" | "trustee_choices_spu" => trustee_choices::judge,
        "zcdp_to_approxdp" => zcdp::judge,
        _ => return None,
    })
}

/// What a check of one file found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileReport {
    /// How many vectors agree.
    pub passed: usize,
    /// Passed vectors whose own value contradicts their formula, with the reason.
    pub faulty_references: Vec<String>,
    /// How many do not agree.
    pub failed: usize,
    /// How many are of a group that is not implemented.
    pub unsupported: usize,
    /// The first failures, with what was found and expected.
    pub failures: Vec<String>,
}

impl VectorFile {
    /// Compares every vector with what this program computes; at most `show` failures are listed.
    #[must_use]
    pub fn check(&self, show: usize) -> FileReport {
        let mut report = FileReport::default();
        let judge = judge_of(&self.name);
        for vector in &self.vectors {
            let mut verdict = Verdict::new(vector);
            let judged = match judge {
                Some(judge) => judge(vector, &mut verdict),
                None => Err(BadVector::UnknownGroup(self.name.clone())),
            };
            let failure = match judged {
                Ok(()) if verdict.is_passed() => {
                    report.passed += 1;
                    let fault = verdict.reference_fault();
                    let noted = fault.map(|why| format!("{}: {why}", vector.id));
                    report.faulty_references.extend(noted);
                    continue;
                }
                Ok(()) => failed(&mut report, vector, &verdict.into_complaints()),
                Err(BadVector::UnknownGroup(group)) => {
                    report.unsupported += 1;
                    format!("{}: unknown group {group:?}", vector.id)
                }
                Err(error) => failed(&mut report, vector, &[error.to_string()]),
            };
            if report.failures.len() < show {
                report.failures.push(failure);
            }
        }
        report
    }
}

fn failed(report: &mut FileReport, vector: &Vector, complaints: &[String]) -> String {
    report.failed += 1;
    let complaints = complaints.join("; ");
    format!("{} [{}]: {complaints}", vector.id, vector.group)
}
