//! Rounding towards the weaker claim.
//!
//! The formulas of this crate are evaluated in double precision, with a relative error that the
//! known-answer vectors show to be below 1e-13. Every number that leaves the crate as part of a
//! guarantee is moved by 1e-12 in the direction that claims less, so that the evaluation error
//! cannot turn into a promise (docs/proofs/rounding.md).

const MARGIN: f64 = 1e-12;

/// An ε that is claimed: never below the exact one.
pub(crate) fn upward(epsilon: f64) -> f64 {
    epsilon + MARGIN * (1.0 + epsilon)
}

/// A budget that is granted to a mechanism: never above the exact one.
pub(crate) fn downward(budget: f64) -> f64 {
    budget * (1.0 - MARGIN)
}

/// The end of `bracket` at which `holds` is false, and the end at which it is true, after
/// bisection down to neighbouring doubles.
///
/// # Caller must
/// pass a bracket whose low end fails and whose high end holds, and a `holds` that is monotone.
pub(crate) fn bisect(bracket: (f64, f64), holds: impl Fn(f64) -> bool) -> (f64, f64) {
    let (mut fails, mut works) = bracket;
    for _ in 0..2100 {
        let middle = if fails > 0.0 && works / fails > 4.0 {
            fails.sqrt() * works.sqrt()
        } else {
            fails + (works - fails) / 2.0
        };
        if middle <= fails || middle >= works {
            break;
        }
        if holds(middle) {
            works = middle;
        } else {
            fails = middle;
        }
    }
    (fails, works)
}

/// The largest budget that does not exceed, rounded down; zero if every positive double does.
///
/// # Caller must
/// pass an `exceeds` that is monotone.
pub(crate) fn largest_within(exceeds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (1.0, 1.0);
    while !exceeds(high) && high < 1e150 {
        high *= 2.0;
    }
    while exceeds(low) && low > f64::MIN_POSITIVE {
        low /= 2.0;
    }
    if exceeds(low) {
        0.0
    } else {
        downward(bisect((low, high), exceeds).0)
    }
}
