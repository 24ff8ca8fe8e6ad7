//! `join --check`: what a study is, who takes part, what it would cost, and everything that is not allowed.
//!
//! Nothing is sent and nothing is spent.

use serde_json::{Value, json};
use sprifed_noise::Provenance;
use sprifed_party::{Admission, Application, PartyError, PartyTable, spoken_digest};
use sprifed_privacy::{shown_cost, shown_delta};
use sprifed_query::RecordSource as _;
use sprifed_study::Agreed;

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
    let table = table.read().map_or_else(
        |error| {
            problems.push(error.to_string());
            Value::Null
        },
        |(records, counts)| {
            json!({
                "file": application.data, "units": records.n_units(),
                "records": counts.records_read,
                "without_response": counts.dropped_without_response,
                "missing_values": counts.missing_values,
                "clipped_values": counts.clipped_values,
            })
        },
    );
    let ended = admission.ended.clone().map(Ended::of);
    if let Some(ended) = &ended {
        // What a policy would allow does not matter any more.
        problems = vec![ended.text()];
    }
    let mut answer = check_answer(application.agreed, &admission, address, &table, &problems);
    answer["ended"] = ended.as_ref().map(Ended::to_json).into();
    output.answer(&answer, to_text);
    if let Some(ended) = ended {
        return Err(ended.into_failure());
    }
    if problems.is_empty() {
        return Ok(());
    }
    let reasons = match problems.len() {
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

fn check_answer(
    agreed: &Agreed,
    admission: &Admission,
    address: &str,
    table: &Value,
    problems: &[String],
) -> Value {
    let Admission {
        me,
        policy,
        columns,
        spent_elsewhere: spent,
        n_unprotected: unprotected,
        ..
    } = admission;
    let agreement = agreed.agreement();
    let parties: Vec<Value> = (0..)
        .zip(&agreement.parties)
        .map(|(place, party)| {
            let known = policy.parties.iter();
            let mut known = known.filter(|(_, key)| **key == party.identity);
            json!({
                "name": party.name, "identity": party.identity, "units": party.units,
                "is_this_party": place == me.0,
                "known_as": known.next().map(|(name, _)| name),
            })
        })
        .collect();
    let (unit, relation) = (agreement.plan.unit.text(), agreement.plan.relation.text());
    json!({
        "allowed": problems.is_empty(), "problems": problems,
        "title": agreement.title, "purpose": agreement.purpose,
        "study": agreed.digest(), "words": spoken_digest(agreed.digest()),
        "coordinator": agreement.coordinator, "address": address, "parties": parties,
        "quorum": agreed.participation().quorum(),
        "colluders": agreed.participation().colluders(),
        "procedure": agreement.procedure, "features": agreement.setting.n_features,
        "columns": columns, "table": table,
        "protected": agreement.noise == Provenance::Cryptographic,
        "unit": unit, "neighbours": relation,
        "largest_epsilon": agreed.ceiling().epsilon(), "delta": agreed.ceiling().delta(),
        "spent_elsewhere": { "epsilon": spent.epsilon, "delta": spent.delta },
        "unprotected_studies": unprotected,
    })
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
fn to_text(answer: &Value) -> String {
    let text = |key: &str| answer[key].as_str().unwrap_or_default().to_owned();
    let problems = answer["problems"].as_array().into_iter().flatten();
    let problems: Vec<&str> = problems.filter_map(Value::as_str).collect();
    let mut lines = Vec::new();
    match problems.as_slice() {
        [] => lines.push(
            "Allowed      yes: the policy allows this study and the table can be read".to_owned(),
        ),
        [ended] if !answer["ended"].is_null() => lines.push(format!("Ended        {ended}")),
        problems => {
            lines.push("Allowed      NO".to_owned());
            let problem = |problem: &&str| format!("             - {problem}");
            lines.extend(problems.iter().map(problem));
        }
    }
    if answer["protected"] == false {
        lines.push("NOT PROTECTED: the noise of this study is simulated".to_owned());
    }
    lines.push(format!("Study        {}", text("title")));
    lines.push(format!("Purpose      {}", text("purpose")));
    lines.push(format!("In words     {}", text("words")));
    lines.push(format!("Digest       {}", text("study")));
    lines.push(format!(
        "Coordinator  {}  at {}",
        text("coordinator"),
        text("address")
    ));
    let parties = answer["parties"].as_array().into_iter().flatten();
    for (place, party) in parties.enumerate() {
        let heading = if place == 0 { "Parties" } else { "" };
        let name = party["name"].as_str().unwrap_or_default();
        let key = party["identity"].as_str().unwrap_or_default();
        let note = match (party["is_this_party"] == true, party["known_as"].as_str()) {
            (true, _) => "  (this party)".to_owned(),
            (false, None) => "  (NOT IN THE POLICY)".to_owned(),
            (false, Some(known)) if known != name => format!("  (in the policy: {known})"),
            (false, Some(_)) => String::new(),
        };
        lines.push(format!("{heading:<13}{key}  {name}{note}"));
    }
    let columns = answer["columns"].as_array().into_iter().flatten();
    let columns: Vec<&str> = columns.filter_map(Value::as_str).collect();
    let shown = columns.get(..SHOWN.min(columns.len())).unwrap_or_default();
    let more = if columns.len() > SHOWN { ", …" } else { "" };
    lines.push(format!(
        "Columns      {}: {}{more} (all with --json)",
        columns.len(),
        shown.join(", ")
    ));
    if let Some(units) = answer["table"]["units"].as_u64() {
        lines.push(format!(
            "Table        {}: {units} privacy units",
            answer["table"]["file"].as_str().unwrap_or_default()
        ));
    }
    lines.push(format!(
        "Method       {} over {} features, sums of at least {} parties",
        text("procedure"),
        answer["features"],
        answer["quorum"]
    ));
    lines.push(format!(
        "Cost         at most epsilon = {} at delta = {} for each {} under {}",
        shown_cost(number(&answer["largest_epsilon"])),
        shown_delta(number(&answer["delta"])),
        text("unit"),
        text("neighbours")
    ));
    lines.push(format!(
        "Spent        epsilon = {} at delta = {} in this party's other studies of that kind",
        shown_cost(number(&answer["spent_elsewhere"]["epsilon"])),
        shown_delta(number(&answer["spent_elsewhere"]["delta"]))
    ));
    if answer["unprotected_studies"] != 0 {
        lines.push(format!(
            "             {} studies with simulated noise are in no total",
            answer["unprotected_studies"]
        ));
    }
    lines.push(
        "Telephone    Compare the words, and each party's key, with the coordinator and the parties".to_owned(),
    );
    lines.join("\n")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}
