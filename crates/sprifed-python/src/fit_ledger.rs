//! A fit of arrays in the ledger of a folder: set aside before a record is read for a sum, settled afterwards.

use std::io::Read;
use std::path::Path;

use numpy::ndarray::ArrayView2;
use pyo3::prelude::*;
use sprifed::{Receipt, Study};
use sprifed_noise::Provenance;
use sprifed_party::{LedgerPlace, LocalFit, PartyError, StoreError};

use crate::entropy::{NoEntropy, fresh_bits};
use crate::error::raise;
use crate::matrix::Number;

/// A fit that may have been entered.
#[derive(Debug, Default)]
#[must_use]
pub(crate) struct FitEntry(Option<LocalFit>);

impl FitEntry {
    /// Sets aside the most that `study` can cost in the ledger of `folder`, if there is one; when this returns, it is
    /// on the disk.
    pub(crate) fn reserve<T: Number>(
        py: Python<'_>,
        folder: Option<&Path>,
        study: &Study<'_>,
        provenance: Provenance,
        values: ArrayView2<'_, T>,
        responses: &[f64],
    ) -> PyResult<Self> {
        let Some(folder) = folder else {
            return Ok(Self(None));
        };
        let reserved = py.detach(|| -> Result<LocalFit, Unentered> {
            let place = LedgerPlace::of_owner(folder, || fresh_bits().map_err(Unentered::from))?;
            let name = format!("{} x {} in memory", values.nrows(), values.ncols());
            let numbers = values.iter().map(|value| (*value).into());
            let numbers = numbers.chain(responses.iter().copied());
            let data = place.data_in_memory(&name, Bytes::of(numbers))?;
            Ok(study.reserve(&place, provenance, data)?)
        });
        match reserved {
            Ok(fit) => Ok(Self(Some(fit))),
            Err(error) => Err(raise(py, error)),
        }
    }

    /// Counts what was spent; `None` if the run did not begin.
    pub(crate) fn settle(self, py: Python<'_>, receipt: Option<&Receipt>) -> PyResult<()> {
        let Some(fit) = self.0 else {
            return Ok(());
        };
        let cost = receipt.and_then(Receipt::cost);
        let settled = py.detach(|| fit.settle(cost));
        settled.map_err(|error| raise(py, Unentered::from(error)))
    }
}

/// Why a fit could not be entered.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unentered {
    /// The ledger cannot be used.
    #[error(transparent)]
    Party(#[from] PartyError),
    /// Its key could not be made.
    #[error(transparent)]
    Entropy(#[from] NoEntropy),
}

impl From<StoreError> for Unentered {
    fn from(error: StoreError) -> Self {
        Self::Party(error.into())
    }
}

impl Unentered {
    /// What to do, if the ledger itself refused.
    pub(crate) const fn advice(&self) -> Option<&'static str> {
        match self {
            Self::Party(PartyError::Store(StoreError::Ledger { help, .. })) => Some(help),
            _ => None,
        }
    }
}

/// Numbers as the bytes they are made of.
struct Bytes<I> {
    numbers: I,
    pending: [u8; 8],
    used: usize,
}

impl<I: Iterator<Item = f64>> Bytes<I> {
    const fn of(numbers: I) -> Self {
        Self {
            numbers,
            pending: [0; 8],
            used: 8,
        }
    }
}

impl<I: Iterator<Item = f64>> Read for Bytes<I> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let mut n_read = 0;
        for place in buffer {
            if self.used == self.pending.len() {
                let Some(number) = self.numbers.next() else {
                    break;
                };
                self.pending = number.to_le_bytes();
                self.used = 0;
            }
            *place = self.pending[self.used];
            self.used += 1;
            n_read += 1;
        }
        Ok(n_read)
    }
}
