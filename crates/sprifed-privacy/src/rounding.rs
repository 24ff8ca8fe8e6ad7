//! Rounding towards the weaker claim.
//!
//! The formulas of this crate are evaluated in double precision, with a relative error that the
//! known-answer vectors show to be below 1e-13. Every number that leaves the crate as part of a
//! guarantee is moved by 1e-12 in the direction that claims less, so that the evaluation error
//! cannot turn into a promise (docs/proofs/rounding.md).
//!
//! Sums and products of costs are rounded up to the next double, and not at all where they are exact
//! ([`sum_up`], [`product_up`]), so that two studies of epsilon 1.5 cost 3 together.

const MARGIN: f64 = 1e-12;

/// An ε that is claimed: never below the exact one.
pub(crate) fn upward(epsilon: f64) -> f64 {
    epsilon + MARGIN * (1.0 + epsilon)
}

/// A budget that is granted to a mechanism: never above the exact one.
pub(crate) fn downward(budget: f64) -> f64 {
    budget * (1.0 - MARGIN)
}

/// The smallest double that is not below `a + b`, for finite numbers that are not negative; infinite if
/// no finite double is.
///
/// # Why
/// [KNUTH97, Sec. 4.2.2, Thm B]: with `sum` rounded to nearest, the error computed below is exact.
pub(crate) fn sum_up(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let from_b = sum - a;
    let error = (a - (sum - from_b)) + (b - from_b);
    if error > 0.0 { sum.next_up() } else { sum }
}

/// A double that is not below `a · b`, for finite numbers that are not negative; infinite if no finite
/// double is. It is the smallest such double, unless the product is nearly too small for a double.
///
/// # Why
/// The error `a · b - product` of a product rounded to nearest is a double as long as it is not below
/// the smallest one. It has no more than 106 bits below the first of the product, so a product of
/// 2^-900 or more is on the safe side.
pub(crate) fn product_up(a: f64, b: f64) -> f64 {
    const EXACT_FROM: f64 = 1e-270;
    let product = a * b;
    let is_zero = a <= 0.0 || b <= 0.0;
    let is_exact = product >= EXACT_FROM && libm::fma(a, b, -product) <= 0.0;
    if is_zero || is_exact {
        product
    } else {
        product.next_up()
    }
}

/// A double that is not below e^`power`, for a finite power that is not negative; infinite if it is too
/// large for a double.
///
/// # Why
/// `libm::exp` errs by less than one unit in the last place, which is at most 2^-52 of the result; the
/// result is raised by 2^-50 of it. The same bits come out on every machine
/// (docs/decisions/0012-same-bits-everywhere.md).
pub(crate) fn exp_up(power: f64) -> f64 {
    const RAISED: f64 = 1.0 + 4.0 * f64::EPSILON;
    if power <= 0.0 {
        return 1.0;
    }
    product_up(libm::exp(power), RAISED)
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

#[cfg(test)]
mod tests;
