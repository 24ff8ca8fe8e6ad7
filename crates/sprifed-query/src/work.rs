//! Counts the work done, in tests: the values of a record must not show in how long its answer
//! takes.
//!
//! Every loop over coordinates says how many it touches. Outside of tests this is nothing.

#[cfg(test)]
use core::cell::Cell;

/// What was done since the last look.
#[cfg(test)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Work {
    /// Coordinates read or written, once for each pass over them.
    pub(crate) coordinates: u64,
    /// Vectors rounded.
    pub(crate) roundings: u64,
}

#[cfg(test)]
thread_local! {
    static DONE: Cell<Work> = const { Cell::new(Work { coordinates: 0, roundings: 0 }) };
}

/// A pass over this many coordinates.
#[inline]
pub(crate) fn touch(coordinates: usize) {
    #[cfg(test)]
    DONE.with(|done| {
        let work = done.get();
        let coordinates = work.coordinates + coordinates as u64;
        done.set(Work {
            coordinates,
            ..work
        });
    });
    #[cfg(not(test))]
    let _ = coordinates;
}

/// One vector is rounded.
#[inline]
pub(crate) fn round() {
    #[cfg(test)]
    DONE.with(|done| {
        let work = done.get();
        let roundings = work.roundings + 1;
        done.set(Work { roundings, ..work });
    });
}

/// What was done on this thread since the last look.
#[cfg(test)]
pub(crate) fn take() -> Work {
    DONE.with(Cell::take)
}
