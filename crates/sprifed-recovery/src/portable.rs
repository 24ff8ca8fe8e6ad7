//! Arithmetic of decisions: the same bits on every processor and platform.
//!
//! # Why
//! Every party runs the procedure itself, from the same released integers. All of them must choose
//! the same features, so no result may depend on the processor or on the platform's mathematics
//! library. IEEE 754 fixes the result of `+`, `-`, `*`, `/` and the square root. Everything else
//! that decides is made of these, in a written order: the crate `libm` (logarithm, exponential,
//! error function), [`crate::SquareMatrix`], and what follows here. The methods of `f64` that
//! call the platform's library are banned in this crate; see `docs/decisions/0012`.

/// The larger of two numbers; the second if they are equal or one is not a number.
///
/// `f64::max` leaves open which of two zeros of different sign it returns.
#[must_use]
pub const fn larger(left: f64, right: f64) -> f64 {
    if left > right { left } else { right }
}

/// The smaller of two numbers; the second if they are equal or one is not a number.
#[must_use]
pub const fn smaller(left: f64, right: f64) -> f64 {
    if left < right { left } else { right }
}

/// The square.
#[must_use]
pub const fn square(value: f64) -> f64 {
    value * value
}

/// Σ a·b, from the first to the last.
#[must_use]
pub fn dot(left: &[f64], right: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (a, b) in left.iter().zip(right) {
        sum += a * b;
    }
    sum
}

/// √(Σ a²).
#[must_use]
pub fn norm(values: &[f64]) -> f64 {
    dot(values, values).sqrt()
}
