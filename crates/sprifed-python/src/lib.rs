#![doc = include_str!("../README.md")]

use pyo3::prelude::*;

mod budget;
mod choices;
mod entropy;
mod error;
mod fit;
mod fit_ledger;
mod machines;
mod matrix;
mod planning;
mod schema;
mod spent_fit;
mod threads;

/// The compiled part of the package `sprifed`.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    threads::register();
    error::register(module)?;
    schema::register(module)?;
    budget::register(module)?;
    spent_fit::register(module)?;
    fit::register(module)?;
    planning::register(module)?;
    machines::register(module)
}
