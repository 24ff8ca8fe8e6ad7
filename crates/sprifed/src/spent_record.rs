//! What was spent by a fit that has no model to say so.

use serde::Serialize;
use sprifed_noise::Provenance;
use sprifed_privacy::LedgerRecord;

use crate::model::{Receipt, software};

/// The file that is written in the place of a model.
#[derive(Clone, Debug, Serialize)]
pub struct SpentRecord {
    format: &'static str,
    version: u32,
    software: String,
    /// `NOT PRIVATE` if the noise can be repeated.
    label: Option<&'static str>,
    /// Why there is no model.
    why: String,
    provenance: Provenance,
    ledger: LedgerRecord,
}

impl SpentRecord {
    /// The record of a fit that ended for the reason `why`.
    #[must_use]
    pub fn of(why: &str, receipt: &Receipt) -> Self {
        Self {
            format: "sprifed-spent",
            version: 1,
            software: software(),
            label: (receipt.provenance == Provenance::Simulated).then_some("NOT PRIVATE"),
            why: why.to_owned(),
            provenance: receipt.provenance,
            ledger: receipt.ledger.clone(),
        }
    }

    /// The content of the file.
    #[must_use]
    pub fn to_text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}
