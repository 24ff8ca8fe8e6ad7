//! A local fit in the ledger: set aside before the first answer, settled with what was spent.

use std::path::{Path, PathBuf};

use clap::Args;
use sprifed::{Receipt, Study};
use sprifed_noise::Provenance;
use sprifed_party::{LocalFit, ledger_beside};
use sprifed_tables::TableFile;

use super::{configured_ledger, note_unmarked, place_of};
use crate::failure::{Explained as _, Failure};
use crate::output::Output;

/// Where a fit is accounted for.
#[derive(Args, Debug)]
pub(crate) struct LedgerArguments {
    /// Enter the fit into the ledger of this folder, a party's or a new one; a fit that would exceed its limit is refused
    /// [default: SPRIFED_LEDGER, or none].
    #[arg(long, value_name = "FOLDER")]
    ledger: Option<PathBuf>,
}

/// A fit that may have been entered.
#[derive(Debug)]
#[must_use]
pub(crate) struct FitEntry {
    fit: Option<LocalFit>,
}

impl LedgerArguments {
    /// Sets aside the most that `study` over the records of `file` can cost, if there is a ledger; when this returns, it is on the
    /// disk.
    ///
    /// # Errors
    /// When the limit would be passed, the ledger is not whole, or one of the tables is accounted for in another one.
    pub(crate) fn reserve(
        &self,
        study: &Study<'_>,
        provenance: Provenance,
        file: TableFile<'_>,
        output: &Output,
    ) -> Result<FitEntry, Failure> {
        let chosen = self.ledger.clone().or_else(configured_ledger);
        let Some(folder) = chosen else {
            for table in file.paths() {
                refuse_unaccounted(table)?;
            }
            return Ok(FitEntry { fit: None });
        };
        let place = place_of(Some(&folder))?;
        let others: Vec<PathBuf> = configured_ledger().into_iter().collect();
        let ledger = place.open().explained()?;
        let bind = |table| {
            let bound = place.bind(&ledger, table, &others).explained()?;
            note_unmarked(&bound, table, output);
            Ok::<_, Failure>(bound)
        };
        let second = file
            .phenotypes
            .map(|second| bind(second.path))
            .transpose()?;
        let mut bound = bind(file.path)?;
        if let Some(second) = second {
            bound = bound.joined_with(second);
        }
        for name in ledger.changed(&bound.data) {
            output.note(&format!(
                "note: `{name}` is not what it was when an earlier fit or study was entered into this ledger; all of them count"
            ));
        }
        drop(ledger);
        let fit = study.reserve(&place, provenance, bound.data);
        Ok(FitEntry {
            fit: Some(fit.explained()?),
        })
    }
}

impl FitEntry {
    /// That of a fit without a ledger.
    #[cfg(test)]
    pub(crate) const fn none() -> Self {
        Self { fit: None }
    }

    /// Whether it was.
    pub(crate) const fn is_counted(&self) -> bool {
        self.fit.is_some()
    }

    /// Counts what was spent; `None` if the run did not begin.
    ///
    /// # Errors
    /// When it could not be made durable: the fit stays at the most it could cost.
    pub(crate) fn settle(self, receipt: Option<&Receipt>) -> Result<(), Failure> {
        let Some(fit) = self.fit else {
            return Ok(());
        };
        let cost = receipt.and_then(Receipt::cost);
        fit.settle(cost).explained().map_err(|failure| {
            failure.with_help(
                "correct this; the fit stays in the ledger with the most it could cost, and a model that was made is written",
            )
        })
    }
}

/// A table with a ledger is not fitted past it.
fn refuse_unaccounted(table: &Path) -> Result<(), Failure> {
    let Some(ledger) = ledger_beside(table).explained()? else {
        return Ok(());
    };
    Err(Failure::usage(
        "sprifed::ledger::needed",
        format!(
            "`{}` is accounted for in the ledger of `{}`, but this fit would not be entered there",
            table.display(),
            ledger.display()
        ),
        "add --ledger with that folder, or set SPRIFED_LEDGER; nothing was spent",
    ))
}
