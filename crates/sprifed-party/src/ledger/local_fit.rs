//! A fit by the holder of the records alone, in the same ledger as studies with others.

use super::data_set::fingerprint;
use super::{Cost, CostKind, DataSet, LedgerPlace, LifetimeLine, Protection, Standing, Work};
use crate::database::StoreError;

/// A fit for which the most it can cost is set aside. One that is forgotten stays at its most.
#[derive(Debug)]
#[must_use = "a fit that is not settled stays at the most it can cost"]
pub struct LocalFit {
    place: LedgerPlace,
    line: LifetimeLine,
}

impl LocalFit {
    /// Sets aside `cost`; when this returns, it is on the disk.
    ///
    /// # Errors
    /// If the ledger is not whole, its limit would be passed, or the disk refuses. No record may be read then.
    pub fn reserve(
        place: &LedgerPlace,
        title: &str,
        kind: CostKind,
        protection: Protection,
        cost: Cost,
        data: DataSet,
    ) -> Result<Self, StoreError> {
        let mut ledger = place.open()?;
        let line = LifetimeLine {
            study: ledger.name_of_next_fit(),
            work: Work::Fit,
            title: title.to_owned(),
            kind,
            protection,
            cost,
            data: Some(data),
            standing: Standing::Reserved,
        };
        ledger.reserve(&line)?;
        Ok(Self {
            place: place.clone(),
            line,
        })
    }

    /// Counts what the fit did cost; a fit that cost nothing is withdrawn.
    ///
    /// # Errors
    /// If it could not be made durable. The fit stays at its most then.
    pub fn settle(self, cost: Option<Cost>) -> Result<(), StoreError> {
        let mut ledger = self.place.open()?;
        let Some(cost) = cost else {
            return ledger.withdraw(&self.line.study);
        };
        if ledger.line(&self.line.study).is_none() {
            // The ledger was restarted while the fit ran.
            ledger.reserve(&self.line)?;
        }
        ledger.settle(&self.line.study, cost)
    }
}

impl LedgerPlace {
    /// Records in memory, as `name`, for this ledger; `content` gives all their bytes.
    ///
    /// # Errors
    /// If the ledger is not whole, or the content cannot be read.
    pub fn data_in_memory(
        &self,
        name: &str,
        content: impl std::io::Read,
    ) -> Result<DataSet, StoreError> {
        let ledger = self.open()?;
        let fingerprint = fingerprint(&ledger.fingerprint_key, content);
        let fingerprint = fingerprint.map_err(|error| StoreError::Database(error.to_string()))?;
        Ok(DataSet {
            name: name.to_owned(),
            fingerprint,
            joined: None,
        })
    }
}
