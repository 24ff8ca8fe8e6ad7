//! A party's ledger of all its studies: where it is, and its totals in words.

use std::path::Path;

use sprifed_party::{LedgerPlace, LifetimeLine, LifetimeTotal, PartyFolder, Protection, totals_of};
use sprifed_privacy::counted;

use crate::failure::Failure;
use crate::ledger::configured_ledger;

/// The ledger of a party: `chosen`, the one that the environment names, or its own.
pub(super) fn ledger_place(
    party: &PartyFolder,
    chosen: Option<&Path>,
) -> Result<LedgerPlace, Failure> {
    let chosen = chosen.map(Path::to_owned).or_else(configured_ledger);
    Ok(party.ledger(chosen.as_deref())?)
}

/// The totals of a party in words, one line each, and what no total holds.
pub(crate) fn text_of_totals(lines: &[LifetimeLine]) -> String {
    let total = |total: LifetimeTotal| {
        format!(
            "in all, for each {} under {}: epsilon = {} at delta = {} in {}",
            total.kind.unit.text(),
            total.kind.neighbours.text(),
            total.cost.epsilon.shown(),
            total.cost.delta.shown(),
            counted(total.studies, "study", "studies")
        )
    };
    let mut words: Vec<String> = totals_of(lines).into_iter().map(total).collect();
    let unprotected = n_unprotected(lines);
    if unprotected > 0 {
        words.push(format!(
            "NOT PROTECTED, in no total: {} with simulated noise, which no epsilon bounds",
            counted(unprotected, "study", "studies")
        ));
    }
    if words.is_empty() {
        words.push("no study has cost anything so far".to_owned());
    }
    words.join("\n")
}

/// How many studies protected no record.
fn n_unprotected(lines: &[LifetimeLine]) -> usize {
    let unprotected = |line: &&LifetimeLine| line.protection == Protection::Unprotected;
    lines.iter().filter(unprotected).count()
}
