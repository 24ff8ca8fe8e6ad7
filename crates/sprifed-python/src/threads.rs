//! Threads that are alive, in a forked process too.
//!
//! A fork copies the memory of a pool of threads, and none of its threads: a caller that gives it work waits for
//! ever. A process that was forked after this module was loaded therefore gets a pool of its own.

use std::process::id;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::Refusal;

/// The process that loaded this module, whose threads the common pool has.
static LOADED_BY: OnceLock<u32> = OnceLock::new();

/// The pool of a forked process, and which process that is.
static FORKED: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Remembers which process this is.
pub(crate) fn register() {
    let _ = LOADED_BY.set(id());
}

/// Does `work`, whose parallel parts find threads that are alive.
///
/// # Errors
/// When a forked process can start no threads.
pub(crate) fn on_living_threads<R: Send>(work: impl FnOnce() -> R + Send) -> Result<R, Refusal> {
    if LOADED_BY.get().is_none_or(|loader| *loader == id()) {
        return Ok(work());
    }
    Ok(forked_pool()?.install(work))
}

fn forked_pool() -> Result<Arc<ThreadPool>, Refusal> {
    let mut forked = FORKED.lock().unwrap_or_else(PoisonError::into_inner);
    match &*forked {
        Some((process, pool)) if *process == id() => return Ok(Arc::clone(pool)),
        _ => {}
    }
    let pool = ThreadPoolBuilder::new().build();
    let pool = Arc::new(pool.map_err(Refusal::Threads)?);
    // The pool of a parent has no threads here that could be told to end.
    std::mem::forget(forked.replace((id(), Arc::clone(&pool))));
    Ok(pool)
}
