//! Where a party's ledger of all its studies is.

use std::path::Path;

use sprifed_party::{LedgerPlace, PartyFolder};

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
