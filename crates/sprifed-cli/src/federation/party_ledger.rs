//! A party's ledger of all its studies: which total a study counts in, and whether it is whole.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sprifed_net::{
    LifetimeLedger, LifetimeLine, LifetimeTotal, Protection, SqliteJournal, folder_name, totals_of,
};
use sprifed_study::{Digest, Policy};

use super::read;
use crate::failure::{Explained as _, Failure};

/// The file of the ledger in a party's folder.
pub(super) const LEDGER: &str = "ledger.sqlite";

/// What the folders of studies in a party's folder begin with.
const STUDY: &str = "study-";

/// The folder in which a party keeps its part of one study.
pub(super) fn study_folder(party: &Path, study: &Digest) -> PathBuf {
    party.join(folder_name(&study.to_string()))
}

/// Opens the ledger of the party in `folder`, if it knows every study that lies there.
///
/// # Errors
/// When it is gone or does not know a study in which something was sent: what was spent would be
/// spent again.
pub(super) fn open_ledger(folder: &Path) -> Result<LifetimeLedger, Failure> {
    let path = folder.join(LEDGER);
    let refuse = |found: &str, missing: &[PathBuf]| {
        let (count, first) = (
            missing.len(),
            missing.first().map(|folder| folder.display()),
        );
        let first = first.map_or_else(String::new, |first| format!(", `{first}` among them"));
        Err(Failure::outcome(
            "sprifed::study::ledger-lost",
            format!(
                "`{}` {found}, but this party has sent something in {count} studies that it should know{first}; a \
                 ledger that knows every study of this party is required",
                path.display()
            ),
            "restore the ledger as it was last. If it is lost for good, move these folders away, keep their \
             receipts, and lower the totals of policy.toml by what they say; nothing was spent now",
        ))
    };
    if !path.exists() {
        let missing = missing_studies(folder, &[])?;
        if !missing.is_empty() {
            return refuse("is gone", &missing);
        }
    }
    let ledger = LifetimeLedger::open_patiently(&path).explained()?;
    let lines = ledger.lines().explained()?;
    let missing = missing_studies(folder, &lines)?;
    if missing.is_empty() {
        return Ok(ledger);
    }
    refuse(&format!("knows {} studies", lines.len()), &missing)
}

/// Studies in which the party in `folder` has sent something, and of which its ledger's lines know nothing.
pub(super) fn missing_studies(
    folder: &Path,
    lines: &[LifetimeLine],
) -> Result<Vec<PathBuf>, Failure> {
    let is_known = |folder: &Path| lines.iter().any(|line| line.is_in(folder));
    let mut missing = Vec::new();
    for study in study_folders(folder)? {
        if !is_known(&study) && has_begun(&study)? {
            missing.push(study);
        }
    }
    Ok(missing)
}

/// Whether something was sent in the study of this folder: it is in the journal, or a receipt says so.
fn has_begun(study: &Path) -> Result<bool, Failure> {
    let journal = study.join("state.sqlite");
    let view = if journal.exists() {
        SqliteJournal::look_into(&journal).explained()?
    } else {
        None
    };
    // A key is made after the journal: without a journal it was lost.
    Ok(match view {
        Some(view) => !view.is_unused() || study.join("receipt.json").exists(),
        None => study.join("party.key").exists() || study.join("receipt.json").exists(),
    })
}

/// The folders of studies in a party's folder, in the order of their names.
pub(super) fn study_folders(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let unreadable = |error: std::io::Error| {
        Failure::environment(
            "sprifed::study::unreadable",
            format!("`{}` can not be read: {error}", folder.display()),
            "check the path and its permissions; nothing was spent",
        )
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        if name.is_some_and(|name| name.starts_with(STUDY)) && path.is_dir() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The totals of a party in words, one line each, and what no total holds.
pub(super) fn words_of_totals(lines: &[LifetimeLine]) -> String {
    let total = |total: LifetimeTotal| {
        format!(
            "in all, for each {} under {}: epsilon = {:.4} at delta = {:e} in {} studies",
            total.kind.unit,
            total.kind.neighbours,
            (total.cost.epsilon * 1e4).ceil() / 1e4,
            total.cost.delta,
            total.studies
        )
    };
    let mut words: Vec<String> = totals_of(lines).into_iter().map(total).collect();
    let unprotected = n_unprotected(lines);
    if unprotected > 0 {
        words.push(format!(
            "NOT PROTECTED: {unprotected} studies with simulated noise, which no epsilon bounds, are in no total"
        ));
    }
    if words.is_empty() {
        words.push("no study has cost anything so far".to_owned());
    }
    words.join("\n")
}

/// The totals of a party for programs.
pub(super) fn json_of_totals(lines: &[LifetimeLine]) -> Value {
    let total = |total: LifetimeTotal| {
        json!({
            "unit": total.kind.unit, "neighbours": total.kind.neighbours,
            "epsilon": total.cost.epsilon, "delta": total.cost.delta, "studies": total.studies,
        })
    };
    let totals: Vec<Value> = totals_of(lines).into_iter().map(total).collect();
    json!({ "by_unit_and_neighbours": totals, "unprotected_studies": n_unprotected(lines) })
}

/// How many studies protected nobody.
pub(super) fn n_unprotected(lines: &[LifetimeLine]) -> usize {
    let unprotected = |line: &&LifetimeLine| line.protection == Protection::Unprotected;
    lines.iter().filter(unprotected).count()
}

/// The policy of the party in `folder`, or the one in `other`.
///
/// # Errors
/// When it can not be read, lacks something, or is not signed by the party's data-protection officer.
pub(super) fn read_policy(folder: &Path, other: Option<&Path>) -> Result<Policy, Failure> {
    sprifed_fit::read_policy(folder, other, |path| {
        // A link that leads nowhere is there: it must not stand for "no officer".
        let is_there = std::fs::symlink_metadata(path).is_ok();
        is_there.then(|| read(path)).transpose()
    })
}
