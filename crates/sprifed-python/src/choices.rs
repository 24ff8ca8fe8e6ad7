//! Names of choices, as the command line types them.

use sprifed_fit::{Backend, Failure};
use sprifed_privacy::Relation;
use sprifed_recovery::CertifiedProcedure;

/// The one of `all` whose name is `found`.
fn named<T: Copy>(
    what: &str,
    found: &str,
    all: &[T],
    name: impl Fn(T) -> String,
) -> Result<T, Failure> {
    if let Some(chosen) = all.iter().find(|choice| name(**choice) == found) {
        return Ok(*chosen);
    }
    let names: Vec<String> = all.iter().map(|choice| name(*choice)).collect();
    let message = format!("{what} is {found:?}; required: one of {}", names.join(", "));
    Err(Failure::usage(
        "sprifed::python::choice",
        message,
        "correct the argument; nothing was spent",
    ))
}

/// The procedure of this name.
pub(crate) fn procedure(found: &str) -> Result<CertifiedProcedure, Failure> {
    let name = |procedure: CertifiedProcedure| procedure.to_string();
    named("procedure", found, &CertifiedProcedure::ALL, name)
}

/// One of the procedures that `fit` offers.
pub(crate) fn fitted_procedure(found: &str) -> Result<CertifiedProcedure, Failure> {
    let offered = [
        CertifiedProcedure::Grad,
        CertifiedProcedure::Sieve,
        CertifiedProcedure::Argmax,
    ];
    let name = |procedure: CertifiedProcedure| procedure.to_string();
    named("procedure", found, &offered, name)
}

/// The neighbouring relation of this name.
pub(crate) fn neighbours(found: &str) -> Result<Relation, Failure> {
    let all = [Relation::ZeroOut, Relation::ReplaceOne];
    let name = |relation: Relation| match relation {
        Relation::ZeroOut => "zero-out".to_owned(),
        Relation::ReplaceOne => "replace-one".to_owned(),
    };
    named("neighbours", found, &all, name)
}

/// The backend of this name.
pub(crate) fn backend(found: &str) -> Result<Backend, Failure> {
    named("backend", found, &Backend::ALL, |backend| {
        backend.words().to_owned()
    })
}
