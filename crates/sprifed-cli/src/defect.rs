//! A panic is a defect of the program: on whatever thread it happens, the process ends at once, with an exit code of
//! its own.
//!
//! The hook runs before anything is unwound or caught, so no runtime and no other thread goes on without the one
//! that panicked, and nothing is sent after it. What is stored is as after a power cut, which every store survives.

use std::panic::PanicHookInfo;

use crate::failure::Failure;
use crate::output::Output;

#[cfg(test)]
#[path = "../tests/unit/defect.rs"]
mod tests;

/// What to do after a defect.
pub(crate) const HELP: &str = "nothing was sent after this, and what was charged stays charged. Do not start the \
                               command again before the cause is known: keep the log and the folder of the study, and \
                               report this text. Read it first: it may quote a value of the table";

/// From now on the first panic ends the process.
#[expect(
    clippy::disallowed_methods,
    clippy::exit,
    reason = "no thread but the one that panicked could tell `main`, and the others must not go on"
)]
pub(crate) fn end_with_the_first_panic() {
    std::panic::set_hook(Box::new(|panic| {
        let failure = failure_of(panic);
        let is_json = std::env::args_os().any(|word| word == "--json");
        Output::new(is_json).failure(&failure);
        std::process::exit(failure.exit_code().into());
    }));
}

fn failure_of(panic: &PanicHookInfo<'_>) -> Failure {
    let said = panic.payload_as_str().unwrap_or("it did not say why");
    let place = panic.location().map_or_else(String::new, |location| {
        format!(" ({}:{})", location.file(), location.line())
    });
    Failure::defect(
        "sprifed::defect",
        format!("the program has a defect and ended at once: {said}{place}"),
        HELP,
    )
}
