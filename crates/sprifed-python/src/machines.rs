//! The roles of a study as Python objects, for an engine that carries their messages.

use pyo3::prelude::*;

/// Adds the roles to the module.
pub(crate) fn register(_module: &Bound<'_', PyModule>) -> PyResult<()> {
    Ok(())
}
