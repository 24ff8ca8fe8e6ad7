//! B_C, the paper's bound on how far one record moves an entry of the gradient
//! [SPRIFED, Lemma 5].

use super::recovery::{Requirement, records};
use super::{Demand, Situation};

#[cfg(test)]
mod tests;

/// What the lemma says of a situation.
#[derive(Clone, Debug, PartialEq)]
pub struct GradientBound {
    /// B_C as the paper states it.
    pub stated: f64,
    /// The same sum with its two slips repaired.
    pub repaired: f64,
    /// The conditions of the lemma.
    pub requirements: Vec<Requirement>,
    /// The probability with which it is claimed to hold.
    pub probability: f64,
}

/// B_C = 1 + 2X_M·κ_ε + 2√s·X_M²·(‖α‖_∞ + √(1+ζ)·κ_ε)/(1−ζ) [SPRIFED, Lemma 5].
///
/// # Guarantee
/// None. A sensitivity has to hold for all neighbouring data and may not depend on the unknown
/// model; B_C holds with some probability over data that fit the model.
///
/// # Why
/// Two steps of the proof fail even so. |x_S·α| ≤ √s·X_M·‖α‖_∞ should have s
/// (see [`sprifed_privacy::paper::all_ones_example`]), and ‖α‖_∞ + ζ‖α‖₂/(1−ζ) is not ‖α‖_∞/(1−ζ)
/// but with ‖α‖₂ ≤ √s‖α‖_∞ at most (1 + √s·ζ/(1−ζ))·‖α‖_∞. `repaired` has both put right.
///
/// The unchosen coefficients are taken to be all of them, as at the first pick.
#[must_use]
pub fn gradient_bound(situation: &Situation) -> GradientBound {
    let s = situation.size();
    let zeta = situation.isometry_constant;
    let inverse = situation.inverse();
    let bound = situation.feature_bound;
    let error = situation.largest_error();
    let model_error = (1.0 + zeta).sqrt() * error * inverse;
    let with = |factor: f64, coefficient: f64| {
        1.0 + 2.0 * bound * error + 2.0 * factor * bound * bound * (coefficient + model_error)
    };
    let largest = situation.largest_coefficient;
    let least_records = 6.0
        * s.powi(2)
        * situation.matrix_constant()
        * bound.powi(5)
        * situation.response_bound
        * situation.largest_of(s)
        * (inverse / situation.per_support.get()).powi(2);
    let allowed = 1.0 / s.sqrt();
    let isometry = Requirement {
        label: "restricted isometry of order s + 1",
        demand: Demand::AtMost {
            allowed,
            found: zeta,
        },
        holds: zeta < allowed,
    };
    GradientBound {
        stated: with(s.sqrt(), largest * inverse),
        repaired: with(s, largest * (1.0 + s.sqrt() * zeta * inverse)),
        requirements: vec![
            isometry,
            records(
                "sample size for a model near the true one",
                situation,
                |_| least_records,
            ),
        ],
        probability: (1.0 - 3.0 * situation.failure_probability).max(0.0),
    }
}
