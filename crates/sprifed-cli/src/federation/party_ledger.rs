//! A party's ledger of all its studies: where it is, which total a study counts in, and whether it is whole.

use std::path::{Path, PathBuf};

use sprifed_party::{
    LedgerPlace, LifetimeLine, LifetimeTotal, Protection, TotalsAnswer, folder_name, totals_of,
};
use sprifed_study::{Digest, Policy};

use super::identity::read_identity;
use super::read;
use crate::failure::Failure;
use crate::ledger::configured_ledger;

/// What the folders of studies in a party's folder begin with.
const STUDY: &str = "study-";

/// The folder in which a party keeps its part of one study.
pub(super) fn study_folder(party: &Path, study: &Digest) -> PathBuf {
    party.join(folder_name(&study.to_string()))
}

/// The ledger of the party in `folder`: `chosen`, the one that the environment names, or its own.
pub(super) fn ledger_place(folder: &Path, chosen: Option<&Path>) -> Result<LedgerPlace, Failure> {
    let signer = read_identity(&folder.join("identity.key"))?;
    let place = chosen.map(Path::to_owned).or_else(configured_ledger);
    Ok(LedgerPlace::new(place.as_deref().unwrap_or(folder), signer))
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
pub(crate) fn words_of_totals(lines: &[LifetimeLine]) -> String {
    let total = |total: LifetimeTotal| {
        format!(
            "in all, for each {} under {}: epsilon = {} at delta = {} in {} studies",
            total.kind.unit.text(),
            total.kind.neighbours.text(),
            total.cost.epsilon.shown(),
            total.cost.delta.shown(),
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
pub(crate) fn json_of_totals(lines: &[LifetimeLine]) -> TotalsAnswer {
    TotalsAnswer::of(lines)
}

/// How many studies protected nobody.
pub(super) fn n_unprotected(lines: &[LifetimeLine]) -> usize {
    let unprotected = |line: &&LifetimeLine| line.protection == Protection::Unprotected;
    lines.iter().filter(unprotected).count()
}

/// The policy of the party in `folder`, or the one in `other`.
///
/// # Errors
/// When it can not be read, lacks something, or is not signed for this party by its data-protection officer.
pub(super) fn read_policy(folder: &Path, other: Option<&Path>) -> Result<Policy, Failure> {
    let party = Digest(read_identity(&folder.join("identity.key"))?.public());
    sprifed_party::read_policy(folder, other, &party, |path| {
        // A link that leads nowhere is there: it must not stand for "no officer".
        let is_there = std::fs::symlink_metadata(path).is_ok();
        is_there.then(|| read(path)).transpose()
    })
    .map_err(|failure: Failure| match failure.code {
        "sprifed::policy::officer" => Failure::usage(
            failure.code,
            failure
                .message
                .replace("another policy was given", "--policy was given"),
            "leave --policy out, or have the officer sign another policy.toml; nothing was spent",
        ),
        _ => failure,
    })
}
