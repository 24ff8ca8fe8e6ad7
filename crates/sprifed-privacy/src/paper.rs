//! What the paper claims, in its own formulas: nominal numbers, never a guarantee.
//!
//! Kept so that `sprifed account paper` can set claimed beside delivered. Nothing here is read by
//! a ledger, a plan or a certificate.

use core::f64::consts::PI;

use serde::Serialize;

use crate::quantity::{Delta, Epsilon, IllegalQuantity, Mu};
use crate::sensitivity::{FeatureBound, RecordBounds};

/// Sensitivities as the paper states and uses them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SensitivityClaims {
    /// Its lemma for Xᵀy: 2√p X_M y_M.
    pub response_correlation: f64,
    /// Its lemma for XᵀX_j: 2√p X_M².
    pub feature_correlation: f64,
    /// What its algorithm's noise corresponds to: √p, without the 2 and without the bounds.
    pub noise_times_mu: f64,
}

impl SensitivityClaims {
    /// The claims for `features` features within `bounds`.
    #[must_use]
    pub fn of(bounds: RecordBounds, features: u32) -> Self {
        let root = f64::from(features).sqrt();
        let (feature, response) = (bounds.feature.get(), bounds.response.get());
        Self {
            response_correlation: 2.0 * root * feature * response,
            feature_correlation: 2.0 * root * feature * feature,
            noise_times_mu: root,
        }
    }
}

/// A pair of records that breaks the paper's bound B_C on a gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counterexample {
    /// How far one gradient entry moves.
    pub change: f64,
    /// How far the lemma's step |x_S α| ≤ √s X_M ‖α‖_∞ would let it move.
    pub claimed_bound: f64,
}

/// The record of all ones against the one with x_S = −1, at the model of all ones.
///
/// The entry x_j (x_S α) goes from s X_M² to −s X_M²; the lemma allows 2√s X_M².
#[must_use]
pub fn all_ones_example(sparsity: u32, bound: FeatureBound) -> Counterexample {
    let square = bound.get() * bound.get();
    Counterexample {
        change: 2.0 * f64::from(sparsity) * square,
        claimed_bound: 2.0 * f64::from(sparsity).sqrt() * square,
    }
}

/// Totals in the style of the paper's theorem: so many μ_p² plus 2s μ_s².
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NominalCounts {
    /// s.
    pub sparsity: u32,
    /// μ_p.
    pub per_vector: Mu,
    /// μ_s.
    pub per_support: Mu,
}

impl NominalCounts {
    /// The theorem's total: s μ_p² + 2s μ_s².
    ///
    /// # Errors
    /// When the total leaves the range of doubles.
    pub fn theorem(self) -> Result<Mu, IllegalQuantity> {
        self.with_extra_vectors(0)
    }

    /// (s + `extra`) μ_p² + 2s μ_s².
    ///
    /// # Errors
    /// When the total leaves the range of doubles.
    pub fn with_extra_vectors(self, extra: u32) -> Result<Mu, IllegalQuantity> {
        let rows = 2.0 * f64::from(self.sparsity) * self.per_support.get().powi(2);
        Mu::from_square(self.vectors(extra) + rows)
    }

    /// (s + `extra`) μ_p², the support rows forgotten.
    ///
    /// # Errors
    /// When the total leaves the range of doubles.
    pub fn vectors_only(self, extra: u32) -> Result<Mu, IllegalQuantity> {
        Mu::from_square(self.vectors(extra))
    }

    fn vectors(self, extra: u32) -> f64 {
        f64::from(self.sparsity + extra) * self.per_vector.get().powi(2)
    }
}

/// A standard normal variable clipped to [−1, 1], as the paper's synthetic features are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClippedNormal {
    /// Its variance.
    pub variance: f64,
}

impl ClippedNormal {
    /// Clipped at one.
    #[must_use]
    pub fn at_one() -> Self {
        // E min(z², 1) = ∫_{|z|<1} z² φ + P(|z| ≥ 1), and ∫_{|z|<1} z² φ = P(|z| < 1) − 2φ(1).
        let density = (-0.5f64).exp() / (2.0 * PI).sqrt();
        Self {
            variance: 1.0 - 2.0 * density,
        }
    }

    /// X_M after the paper's rescaling to unit variance.
    #[must_use]
    pub fn rescaled_bound(self) -> f64 {
        1.0 / self.variance.sqrt()
    }
}

/// One of the paper's settings, with what it says of its privacy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Claim {
    /// Where the paper says it.
    pub place: &'static str,
    /// s, where the paper states it.
    pub sparsity: Option<u32>,
    /// p of the setting that is priced.
    pub features: u32,
    /// μ_p and μ_s.
    pub shares: (f64, f64),
    /// The claimed (ε, δ).
    pub claimed: (f64, f64),
    /// The claimed μ, where there is one.
    pub claimed_mu: Option<f64>,
    /// The bounds of features and response after the paper's clipping and rescaling.
    pub bounds: Option<(f64, f64)>,
}

/// The paper's claims about its own settings.
#[must_use]
pub fn claims() -> [Claim; 5] {
    let rescaled = ClippedNormal::at_one().rescaled_bound();
    // The response is almost its sign after clipping at one: rescaling adds 4 to 6 %.
    let synthetic = Some((rescaled, 1.05));
    let setting = |place, sparsity, per_vector, epsilon, claimed_mu| Claim {
        place,
        sparsity: Some(sparsity),
        features: 10_000,
        shares: (per_vector, 0.02),
        claimed: (epsilon, 1e-4),
        claimed_mu,
        bounds: synthetic,
    };
    [
        setting("section 6, s = 10", 10, 0.4, 5.34, Some(1.32)),
        setting("section 6, s = 5", 5, 0.543, 5.34, Some(1.32)),
        setting("figures, s = 5", 5, 0.543, 4.94, None),
        setting("Table 1, s = 10", 10, 0.4, 5.74, None),
        Claim {
            place: "MADELON, s not stated",
            sparsity: None,
            features: 500,
            shares: (0.45, 0.09),
            claimed: (8.38, 1e-3),
            claimed_mu: Some(1.72),
            bounds: None,
        },
    ]
}

impl Claim {
    /// The total μ of SPriFed-OMP as the paper ran it, for each record under zero-out: noise
    /// without the bounds, s + 1 vectors.
    ///
    /// # Why
    /// Xᵀy with noise √p/μ_p costs X_M y_M μ_p, and each of the s columns XᵀX_j costs X_M² μ_p.
    ///
    /// # Errors
    /// When the total leaves the range of doubles; `None` when the paper leaves s or bounds open.
    pub fn delivered_zero_out(&self) -> Result<Option<Mu>, IllegalQuantity> {
        let (Some(s), Some((feature, response))) = (self.sparsity, self.bounds) else {
            return Ok(None);
        };
        let s = f64::from(s);
        let (per_vector, per_support) = self.shares;
        let correlation = (feature * response).powi(2);
        let gram = feature.powi(4);
        let vectors = per_vector.powi(2) * (correlation + s * gram);
        let rows = per_support.powi(2) * (correlation + gram * (s + 1.0) / 2.0);
        Mu::from_square(vectors + rows).map(Some)
    }

    /// ε that the claimed μ gives at the claimed δ.
    ///
    /// # Errors
    /// When the claim is not a legal quantity.
    pub fn epsilon_of_claimed_mu(&self) -> Result<Option<Epsilon>, IllegalQuantity> {
        let Some(mu) = self.claimed_mu else {
            return Ok(None);
        };
        let delta = Delta::try_from(self.claimed.1)?;
        Ok(Some(Mu::try_from(mu)?.to_approx_dp(delta).epsilon()))
    }
}
