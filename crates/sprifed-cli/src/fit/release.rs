//! The part that spends: from the first answer to the file that says what was spent.
//!
//! Answers stay inside the process until the model is written, and nothing is written before. If
//! the run fails after the ledger was charged, the ledger goes to a file of its own: what was
//! spent is never counted as unspent.

use std::ops::ControlFlow;

use sprifed::{Run, Secret, SpentRecord, Study, rows_of, spent_words};
use sprifed_party::{Destination, write_beside};
use sprifed_tables::Table;

use crate::failure::Failure;
use crate::ledger::FitEntry;
use crate::model::{Model, Receipt};
use crate::progress::Progress;

#[cfg(test)]
#[path = "../../tests/unit/release.rs"]
mod tests;

/// Runs `study` and writes its model.
///
/// # Errors
/// When the run ends without a fit or the model cannot be written. If something was spent, the
/// message says where the ledger is.
pub(super) fn release(
    study: &Study<'_>,
    table: &Table,
    secret: Secret,
    place: Destination,
    earlier_receipts: Vec<Receipt>,
    entry: FitEntry,
) -> Result<Model, Failure> {
    let guarantee = study.guarantee(secret.provenance())?;
    let rows = rows_of(table);
    let progress = Progress::start("fit", study.plan.steps.len() as u64);
    let ended = study.run(&rows, secret, &mut |done| {
        progress.reach(done);
        ControlFlow::Continue(())
    });
    progress.finish();
    // A fit that did not begin cost nothing; if that cannot be stored, too much stays counted.
    let Run { outcome, receipt } = match ended {
        Ok(run) => run,
        Err(failure) => return entry.settle(None).and(Err(failure.into())),
    };
    let settled = entry.settle(Some(&receipt));
    let path = place.path().to_owned();
    let kept = receipt.clone();
    let written = outcome.map_err(Failure::from).and_then(|fit| {
        let model = study.to_model(&fit, guarantee, receipt, earlier_receipts);
        place.write(&model.to_text()?)?;
        Ok(model)
    });
    let model = written.map_err(|failure| keep_ledger(failure, &path, &kept))?;
    settled.map(|()| model)
}

/// Writes what was spent beside the model that is not there, and says so.
fn keep_ledger(failure: Failure, path: &std::path::Path, receipt: &Receipt) -> Failure {
    let ledger = &receipt.ledger;
    if ledger.entries.is_empty() {
        return failure.with_help("correct this and run again; nothing was spent");
    }
    let document = SpentRecord::of(&failure.message, receipt);
    let text = document.to_text();
    let spent = spent_words(ledger);
    match write_beside(path, "spent", &text) {
        Ok(beside) => failure.with_help(&format!(
            "{spent}; the ledger was written to {}, keep it",
            beside.display()
        )),
        Err(second) => failure.with_help(&format!(
            "{spent}, and the ledger could not be stored ({second}); keep this record: {text}"
        )),
    }
}
