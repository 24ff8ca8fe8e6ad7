//! What a fit has spent, kept where no exception can lose it.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use sprifed::Receipt;

/// Given to a fit, which writes down here what it spends, whatever its end is.
#[pyclass(frozen, module = "sprifed._core")]
#[derive(Debug, Default)]
pub(crate) struct SpentFit(Mutex<State>);

#[derive(Debug, Default)]
enum State {
    /// No ledger was opened.
    #[default]
    Closed,
    /// A run is under way, or ended in an unexpected way.
    Open,
    /// The run is over; this was spent.
    Counted { receipt: String, is_empty: bool },
}

#[pymethods]
impl SpentFit {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Whether it is certain that nothing was spent.
    #[getter]
    fn is_empty(&self) -> bool {
        self.with(|state| match state {
            State::Closed => true,
            State::Open => false,
            State::Counted { is_empty, .. } => *is_empty,
        })
    }

    /// What was spent and with which noise, as JSON, if the run is over.
    #[getter]
    fn receipt(&self) -> Option<String> {
        self.with(|state| match state {
            State::Counted { receipt, .. } => Some(receipt.clone()),
            _ => None,
        })
    }
}

impl SpentFit {
    /// A run begins: from here on something may have been spent.
    pub(crate) fn open(&self) {
        self.with(|state| *state = State::Open);
    }

    /// The run did not begin after all.
    pub(crate) fn close(&self) {
        self.with(|state| *state = State::Closed);
    }

    /// The run is over.
    pub(crate) fn count(&self, receipt: &Receipt) {
        let counted = State::Counted {
            receipt: serde_json::to_string(receipt).unwrap_or_default(),
            is_empty: receipt.ledger.entries.is_empty(),
        };
        self.with(|state| *state = counted);
    }

    fn with<R>(&self, look: impl FnOnce(&mut State) -> R) -> R {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Adds the class to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<SpentFit>()
}
