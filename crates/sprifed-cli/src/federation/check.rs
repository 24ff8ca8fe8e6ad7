//! `join --check`: what a study is, who takes part, what it would cost, and everything that is not allowed.
//!
//! Nothing is sent and nothing is spent.

use sprifed_party::{Application, CheckAnswer, CheckedTable, InvitedParty, PartyError, PartyTable};

use super::ended::Ended;
use crate::failure::{Explained as _, Failure};
use crate::output::Output;

/// How many columns are named to a person.
const SHOWN: usize = 8;

/// Says everything that a party should know before it takes part.
///
/// # Errors
/// When something is not allowed, after all of it was said, or a file cannot be read.
pub(super) fn say_check(
    application: &Application<'_>,
    address: &str,
    output: &Output,
) -> Result<(), Failure> {
    let admission = application.look().explained()?;
    let mut problems: Vec<String> = admission.obstacles.iter().flat_map(reasons).collect();
    let table = PartyTable::in_file(application.data, application.agreed, admission.me);
    let table = match table.read() {
        Ok((records, counts)) => Some(CheckedTable::of(application.data, records, counts)),
        Err(error) => {
            problems.push(error.to_string());
            None
        }
    };
    let ended = admission.ended.clone().map(Ended::of);
    if let Some(ended) = &ended {
        // What a policy would allow does not matter any more.
        problems = vec![ended.text()];
    }
    let answer = CheckAnswer::of(application.agreed, &admission, address, table, problems);
    output.answer(&answer, to_text);
    if let Some(ended) = ended {
        return Err(ended.into_failure());
    }
    let problems = answer.problems;
    let reasons = match problems.len() {
        0 => return Ok(()),
        1 => "1 reason".to_owned(),
        several => format!("{several} reasons"),
    };
    Err(Failure::outcome(
        "sprifed::policy::refused",
        format!(
            "this party does not take part, for {reasons}: {}",
            problems.join("; ")
        ),
        "talk to the coordinator, or change the policy or the table; nothing was sent and nothing was spent",
    ))
}

/// What stands against taking part, one reason a line.
fn reasons(obstacle: &PartyError) -> Vec<String> {
    match obstacle {
        PartyError::Forbidden(forbidden) => {
            let violations = forbidden.violations.iter();
            violations.map(ToString::to_string).collect()
        }
        PartyError::OverLimit(over) => vec![over.to_string()],
        other => vec![other.to_string()],
    }
}

/// The same for a person: status first.
fn to_text(answer: &CheckAnswer) -> String {
    let mut lines = Vec::new();
    match answer.problems.as_slice() {
        [] => lines.push(
            "Allowed      yes: the policy allows this study and the table can be read".to_owned(),
        ),
        [ended] if answer.ended.is_some() => lines.push(format!("Ended        {ended}")),
        problems => {
            lines.push("Allowed      NO".to_owned());
            let problem = |problem: &String| format!("             - {problem}");
            lines.extend(problems.iter().map(problem));
        }
    }
    if !answer.protected {
        lines.push("NOT PROTECTED: the noise of this study is simulated".to_owned());
    }
    lines.push(format!("Study        {}", answer.title));
    lines.push(format!("Purpose      {}", answer.purpose));
    lines.push(format!("In words     {}", answer.words));
    lines.push(format!("Digest       {}", answer.study));
    lines.push(format!(
        "Coordinator  {}  at {}",
        answer.coordinator, answer.address
    ));
    for (place, party) in answer.parties.iter().enumerate() {
        let heading = if place == 0 { "Parties" } else { "" };
        lines.push(format!("{heading:<13}{}", text_of_party(party)));
    }
    let columns = &answer.columns;
    let shown = columns.get(..SHOWN.min(columns.len())).unwrap_or_default();
    let more = if columns.len() > SHOWN { ", …" } else { "" };
    lines.push(format!(
        "Columns      {}: {}{more} (all with --json)",
        columns.len(),
        shown.join(", ")
    ));
    if let Some(table) = &answer.table {
        lines.push(format!(
            "Table        {}: {} privacy units",
            table.file.display(),
            table.units
        ));
    }
    lines.push(format!(
        "Method       {} over {} features, sums of at least {} parties",
        answer.procedure, answer.features, answer.quorum
    ));
    lines.push(format!(
        "Cost         at most epsilon = {} at delta = {} for each {} under {}",
        answer.largest_epsilon.shown(),
        answer.delta.shown(),
        answer.unit.text(),
        answer.neighbours.text()
    ));
    lines.push(format!(
        "Spent        epsilon = {} at delta = {} in this party's other studies of that kind",
        answer.spent_elsewhere.epsilon.shown(),
        answer.spent_elsewhere.delta.shown()
    ));
    if answer.unprotected_studies != 0 {
        lines.push(format!(
            "             {} studies with simulated noise are in no total",
            answer.unprotected_studies
        ));
    }
    lines.push(
        "Telephone    Compare the words, and each party's key, with the coordinator and the parties".to_owned(),
    );
    lines.join("\n")
}

fn text_of_party(party: &InvitedParty) -> String {
    let InvitedParty { name, identity, .. } = party;
    let note = match (party.is_this_party, &party.known_as) {
        (true, _) => "  (this party)".to_owned(),
        (false, None) => "  (NOT IN THE POLICY)".to_owned(),
        (false, Some(known)) if known != name => format!("  (in the policy: {known})"),
        (false, Some(_)) => String::new(),
    };
    format!("{identity}  {name}{note}")
}
