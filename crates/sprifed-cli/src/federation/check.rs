//! `join --check`: what a study is, who takes part, what it would cost, and everything that is not allowed.
//!
//! Nothing is sent and nothing is spent.

use sprifed_party::{Application, CheckAnswer, CheckedTable, EndedPart, PartyError, PartyTable};
use sprifed_tables::TableFile;

use crate::failure::{Explained as _, Failure};
use crate::output::Output;

/// Says everything that a party should know before it takes part.
///
/// # Errors
/// When something is not allowed, after all of it was said, or a file cannot be read.
pub(super) fn say_check(
    application: &Application<'_>,
    file: TableFile<'_>,
    address: &str,
    output: &Output,
) -> Result<(), Failure> {
    let admission = application.look().explained()?;
    let mut problems: Vec<String> = admission
        .obstacles
        .iter()
        .flat_map(PartyError::reasons)
        .collect();
    let table = PartyTable::in_file(file, application.agreed, admission.me);
    let table = match table.read() {
        Ok((records, counts)) => Some(CheckedTable::of(application.data, records, counts)),
        Err(error) => {
            problems.extend(error.reasons());
            None
        }
    };
    let ended = admission
        .ended
        .as_ref()
        .map(|line| EndedPart::from(line).text());
    if let Some(ended) = &ended {
        // What a policy would allow does not matter any more.
        problems = vec![ended.clone()];
    }
    let answer = CheckAnswer::of(application.agreed, &admission, address, table, problems);
    output.answer(&answer, CheckAnswer::text);
    if let Some(ended) = ended {
        let help = "`sprifed study status` shows what all studies have cost; nothing was sent and nothing was spent";
        return Err(Failure::outcome("sprifed::study::over", ended, help));
    }
    takes_part(
        "party",
        &answer.problems,
        "talk to the coordinator, or change the policy or the table; nothing was sent and nothing was spent",
    )
}

/// How a check ends.
///
/// # Errors
/// With the problem, or how many the answer before it holds, and what to do about them.
pub(super) fn takes_part(role: &str, problems: &[String], help: &str) -> Result<(), Failure> {
    if problems.is_empty() {
        return Ok(());
    }
    let message = match problems {
        [one] => format!("this {role} does not take part, for 1 reason: {one}"),
        several => {
            let reasons = several.len();
            format!("this {role} does not take part, for {reasons} reasons; all are listed above")
        }
    };
    Err(Failure::outcome("sprifed::policy::refused", message, help))
}
