//! The roles of a study as Python objects, for an engine that carries their messages.
//!
//! ```text
//! CoordinatorMachine ──request──▶ engine ──▶ PartyMachine   opens its sealed state, answers, seals it
//!                    ◀──answer─── engine ◀──                and only then lets the answer go
//! ```
//!
//! The engine is trusted with nothing: requests are signed by the coordinator and answers by the party,
//! so that it can lose messages but not make or change one. Trustees are not reached by the engine: they connect to the
//! coordinator, as they do without one (`sprifed-net`). Deliberately absent: clocks and any knowledge of the engine.

mod coordinator;
mod draft;
mod envelope;
mod exchange;
mod failure;
mod party;
mod rehearsal;

use pyo3::prelude::*;

/// Adds the roles to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<coordinator::CoordinatorMachine>()?;
    module.add_class::<exchange::Exchange>()?;
    module.add_class::<party::PartyMachine>()?;
    module.add_function(wrap_pyfunction!(draft::draft_invitation, module)?)?;
    module.add_function(wrap_pyfunction!(draft::simulated_identity, module)?)?;
    module.add_function(wrap_pyfunction!(rehearsal::rehearse, module)?)
}
