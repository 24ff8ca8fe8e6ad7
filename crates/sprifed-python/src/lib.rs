#![doc = include_str!("../README.md")]

use pyo3::prelude::*;

mod machines;

/// The compiled part of the package `sprifed`.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    machines::register(module)
}
