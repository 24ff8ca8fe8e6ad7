//! One small family of Python exceptions. Every error is explained here, in the words of Python's keywords.

use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};
use sprifed_privacy::LedgerRecord;

mod explanation;
mod refusal;

pub(crate) use refusal::Refusal;

create_exception!(
    sprifed,
    SprifedError,
    PyValueError,
    "Whatever this package refuses; `message`, `help` and `code` are its parts."
);
create_exception!(
    sprifed,
    BudgetError,
    SprifedError,
    "The privacy budget is illegal, too small for the plan, or would be spent twice."
);
create_exception!(
    sprifed,
    SchemaError,
    SprifedError,
    "The public bounds are absent or contradict themselves."
);
create_exception!(
    sprifed,
    DataError,
    SprifedError,
    "The table does not fit the schema."
);
create_exception!(
    sprifed,
    StudyError,
    SprifedError,
    "The study could not begin, or ended without a model."
);
create_exception!(
    sprifed,
    ReceiptError,
    SprifedError,
    "A receipt is not to be believed."
);

/// `error` as an exception of its class, in the words of Python.
pub(crate) fn raise(py: Python<'_>, error: impl Into<Refusal>) -> PyErr {
    let refusal = error.into();
    let class = explanation::class_of(py, &refusal);
    exception(
        &class,
        refusal.code(),
        &refusal.to_string(),
        &explanation::help_of(&refusal),
    )
}

/// An exception of the class `error` with its parts.
#[pyfunction]
#[pyo3(name = "refusal")]
fn exception(error: &Bound<'_, PyType>, code: &str, message: &str, help: &str) -> PyErr {
    let made = error.call1((format!("{message}\n help: {help}"),));
    let value = match made {
        Ok(value) => value,
        Err(error) => return error,
    };
    for (name, text) in [("message", message), ("help", help), ("code", code)] {
        if let Err(second) = value.setattr(name, text) {
            return second;
        }
    }
    PyErr::from_value(value)
}

/// Says on `error` what was spent before it was raised.
pub(crate) fn with_ledger(py: Python<'_>, error: PyErr, ledger: &LedgerRecord) -> PyErr {
    let record = serde_json::to_string(ledger).unwrap_or_default();
    let value = error.value(py);
    // Some exceptions take no attributes, and older Pythons know no notes; the error goes on as it is.
    let _ = value.setattr("ledger", record);
    if !ledger.entries.is_empty() {
        let note = format!(
            "{}; the attribute `ledger` of this exception says in what, keep it",
            sprifed::spent_words(ledger)
        );
        let _ = value.call_method1("add_note", (note,));
    }
    error
}

/// Adds the family to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let family = py.get_type::<SprifedError>();
    // One that was raised with words alone has its parts all the same.
    let words = py.import("functools")?.getattr("cached_property")?;
    let words = words.call1((py.get_type::<PyString>(),))?;
    words.call_method1("__set_name__", (&family, "message"))?;
    family.setattr("message", words)?;
    family.setattr("help", "read the message")?;
    family.setattr("code", "sprifed::study::refused")?;
    module.add_function(wrap_pyfunction!(exception, module)?)?;
    module.add("SprifedError", family)?;
    module.add("BudgetError", py.get_type::<BudgetError>())?;
    module.add("SchemaError", py.get_type::<SchemaError>())?;
    module.add("DataError", py.get_type::<DataError>())?;
    module.add("StudyError", py.get_type::<StudyError>())?;
    module.add("ReceiptError", py.get_type::<ReceiptError>())
}
