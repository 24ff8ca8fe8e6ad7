//! How far the recovered model is from the true one [SPRIFED, Theorems 9 and 10].

use super::Situation;

#[cfg(test)]
mod tests;

/// A bound, as the paper states it and as corrected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorBound {
    /// With the paper's constants, which its proof does not support everywhere.
    pub stated: f64,
    /// With constants that follow from the same events; `None` if the noise in the second moments
    /// is too large for any bound of this kind.
    pub repaired: Option<f64>,
    /// The probability with which both hold once the support is right.
    pub probability: f64,
}

/// ‖α̂ − α‖₂ of PRIVATE-OLS on the true support [SPRIFED, Theorem 9].
///
/// # Ambiguous in the paper
/// The probability is 1 − p_b at the start of the theorem and 1 − 4p_b at its end; the proof gives
/// the second. κ_M is not defined in the theorem; its lemma has 1/(1 + …) with an unknown constant,
/// so one, its largest value, is used.
///
/// # Why
/// With G = XᵀX/n, E = η_β/n and e = η_γ/n the error is
/// G⁻¹Xᵀε/n + G⁻¹e − G⁻¹(I + EG⁻¹)⁻¹EG⁻¹(Xᵀy/n + e). `repaired` bounds each factor on the paper's own
/// events: ‖G⁻¹‖ ≤ 1/(1−ζ) also in the first term, where the paper has 1−ζ; ‖e‖ with s entries of
/// standard deviation √s/(μ_s·n) also in the last bracket, where the paper lost a √s; and
/// ‖(I + EG⁻¹)⁻¹‖ ≤ 1/(1 − ‖E‖/(1−ζ)), because the smallest singular value of I + A is not one plus
/// that of A.
#[must_use]
pub fn estimation_error(situation: &Situation) -> ErrorBound {
    let parts = Parts::of(situation);
    let zeta = situation.isometry_constant;
    let inverse = situation.inverse();
    let s = situation.size();
    let signal = parts.signal;
    let stated = (1.0 - zeta) * parts.error
        + parts.cross_noise * inverse
        + parts.gram_noise * inverse.powi(2) * (signal + parts.cross_noise / s.sqrt());
    let left = 1.0 - parts.gram_noise * inverse;
    let repaired = (left > 0.0).then(|| {
        let through = parts.gram_noise * inverse.powi(2) / left;
        inverse * (parts.error + parts.cross_noise) + through * (signal + parts.cross_noise)
    });
    ErrorBound {
        stated,
        repaired,
        probability: parts.probability,
    }
}

/// The mean squared residual in excess of the true model's, on the same records
/// [SPRIFED, Theorem 10].
///
/// # Why
/// The proof takes Xα for y and so loses the term −2εᵀX(α̂ − α)/n, splits a square of three terms
/// with the factor 2 that is right for two, and leaves out ‖X/√n‖ in the third. `repaired` is
/// (1+ζ)Δ² + 2Δ‖X_Sᵀε‖/n with Δ the repaired bound of [`estimation_error`].
#[must_use]
pub fn risk(situation: &Situation) -> ErrorBound {
    let parts = Parts::of(situation);
    let zeta = situation.isometry_constant;
    let inverse = situation.inverse();
    let s = situation.size();
    let wide = (1.0 + zeta) * inverse;
    let through =
        parts.gram_noise * inverse.powi(2) * (parts.signal + parts.cross_noise / s.sqrt());
    let squares = (wide * parts.cross_noise).powi(2) + (wide * parts.error).powi(2);
    let stated = 2.0 * (squares + through.powi(2));
    let repaired = estimation_error(situation).repaired;
    let repaired = repaired.map(|error| (1.0 + zeta) * error * error + 2.0 * error * parts.error);
    ErrorBound {
        stated,
        repaired,
        probability: parts.probability,
    }
}

/// The sizes that both theorems are made of, each exceeded with probability at most p_b.
struct Parts {
    /// ‖X_Sᵀε‖/n ≤ √(2s·ln(2s/p_b)/n)·σ_ε·X_M.
    error: f64,
    /// ‖η_γ‖/n ≤ s·√(2 ln(2s/p_b))/(μ_s·n).
    cross_noise: f64,
    /// ‖η_β‖/n ≤ s^{3/2}·√(2 ln(2s²/p_b))/(μ_s·n).
    gram_noise: f64,
    /// ‖X_Sᵀy‖/n ≤ (1+ζ)‖α‖₂ + √(1+ζ)·κ_ε.
    signal: f64,
    probability: f64,
}

impl Parts {
    fn of(situation: &Situation) -> Self {
        let s = situation.size();
        let wide = 1.0 + situation.isometry_constant;
        let per_record = 1.0 / (situation.per_support.get() * situation.records());
        let spread = situation.residual_std_dev * situation.feature_bound;
        Self {
            error: (s / situation.records()).sqrt() * situation.largest_of(s) * spread,
            cross_noise: s * situation.largest_of(s) * per_record,
            gram_noise: s.powf(1.5) * situation.largest_of(s * s) * per_record,
            signal: wide * situation.model_norm + wide.sqrt() * situation.largest_error(),
            probability: (1.0 - 4.0 * situation.failure_probability).max(0.0),
        }
    }
}
