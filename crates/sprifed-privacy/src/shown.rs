//! Numbers of a guarantee as people read them: short, and rounded towards the weaker claim.
//!
//! This is the one place where ε, δ, μ and ρ are shortened. `cargo xtask tidy` refuses other formats
//! with a fixed number of digits beside these names. Files hold the numbers in full.

use core::fmt::Display;

use crate::lifetime_totals::SpentDelta;
use crate::quantity::{Delta, Epsilon, Mu, Rho};

#[cfg(test)]
mod tests;

/// Digits after the point of a cost of at least 1/10.
const DECIMALS: usize = 4;

/// Significant digits of a smaller cost, and of every δ.
const SIGNIFICANT: usize = 4;

/// A number with its noun: `1 study`, `2 studies`.
#[must_use]
pub fn counted<N: Display + PartialEq + From<u8>>(number: N, one: &str, several: &str) -> String {
    let noun = if number == N::from(1) { one } else { several };
    format!("{number} {noun}")
}

/// An ε, μ or ρ for people: four decimals, or four significant digits if it is small, rounded up.
///
/// # Guarantee
/// The text, read as a double, is never below `cost`.
#[must_use]
pub fn shown_cost(cost: f64) -> String {
    if !cost.is_finite() || cost >= 1e15 {
        return cost.to_string();
    }
    if cost >= 0.1 || cost <= 0.0 {
        return raised(cost, |digits| format!("{cost:.digits$}"), DECIMALS);
    }
    if cost < 1e-4 {
        return shown_delta(cost);
    }
    // 0.0123: as many zeros after the point as the number has, and four digits.
    let zeros = if cost < 1e-3 {
        3
    } else if cost < 1e-2 {
        2
    } else {
        1
    };
    raised(
        cost,
        |digits| format!("{cost:.digits$}"),
        zeros + SIGNIFICANT,
    )
}

/// An ε, μ or ρ with `decimals` digits after the point at most, rounded up.
///
/// # Guarantee
/// As [`shown_cost`].
#[must_use]
pub fn shown_to(cost: f64, decimals: usize) -> String {
    if cost.is_finite() {
        raised(cost, |digits| format!("{cost:.digits$}"), decimals)
    } else {
        cost.to_string()
    }
}

/// A δ for people: up to four significant digits, rounded up.
///
/// # Guarantee
/// As [`shown_cost`].
#[must_use]
pub fn shown_delta(delta: f64) -> String {
    if !delta.is_finite() || delta <= 0.0 {
        return delta.to_string();
    }
    raised(
        delta,
        |digits| format!("{delta:.digits$e}"),
        SIGNIFICANT - 1,
    )
}

/// The text of `value` with so many decimals, its last digit raised if it was rounded down, without
/// trailing zeros.
fn raised(value: f64, nearest: impl Fn(usize) -> String, digits: usize) -> String {
    let text = nearest(digits);
    let (mantissa, exponent) = text
        .split_once('e')
        .map_or((text.as_str(), ""), |(mantissa, exponent)| {
            (mantissa, exponent)
        });
    let is_below = text.parse::<f64>().is_ok_and(|shown| shown < value);
    let mantissa = if is_below {
        next_decimal(mantissa)
    } else {
        mantissa.to_owned()
    };
    let short = if mantissa.contains('.') {
        mantissa.trim_end_matches('0').trim_end_matches('.')
    } else {
        &mantissa
    };
    match exponent.parse::<i32>() {
        Err(_) => short.to_owned(),
        Ok(exponent) if short == "10" => format!("1e{}", exponent + 1),
        Ok(exponent) => format!("{short}e{exponent}"),
    }
}

/// The decimal number `text`, zero or more, with its last digit raised by one.
fn next_decimal(text: &str) -> String {
    let mut raised = Vec::with_capacity(text.len() + 1);
    let mut carries = true;
    for byte in text.bytes().rev() {
        raised.push(match byte {
            b'9' if carries => b'0',
            b'0'..=b'8' if carries => {
                carries = false;
                byte + 1
            }
            other => other,
        });
    }
    if carries {
        raised.push(b'1');
    }
    raised.iter().rev().copied().map(char::from).collect()
}

macro_rules! shown {
    ($($name:ident by $how:ident),*) => {
        $(impl $name {
            /// The number for people, rounded towards the weaker claim.
            #[must_use]
            pub fn shown(self) -> String {
                $how(self.get())
            }
        })*
    };
}

shown!(
    Epsilon by shown_cost,
    Mu by shown_cost,
    Rho by shown_cost,
    Delta by shown_delta,
    SpentDelta by shown_delta
);
