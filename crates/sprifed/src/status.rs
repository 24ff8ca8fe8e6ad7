//! How a fit ended, in words that say what would help.

use sprifed_recovery::FitStatus;

use crate::model::{Model, Response};

#[cfg(test)]
mod tests;

impl Model {
    /// What a person must hear before using the model, if anything.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        residual_warning(self.residual_scale, &self.response)
    }

    /// How the fit ended, in one word.
    #[must_use]
    pub const fn status_name(&self) -> &'static str {
        match self.status {
            FitStatus::Complete => "complete",
            FitStatus::NoFeatureAboveNoise { .. } => "no-feature-above-noise",
            FitStatus::IllConditioned { .. } => "ill-conditioned",
        }
    }

    /// How the fit ended, and what would help.
    #[must_use]
    pub fn status_words(&self) -> String {
        match self.status {
        FitStatus::Complete => "All features were chosen and the last solve stood above its noise. Whether the model predicts, \
                                only other records tell.".to_owned(),
        FitStatus::NoFeatureAboveNoise { largest_ratio } => format!(
            "NOTHING FOUND: no coefficient stands out of the noise (the largest is {largest_ratio:.1} standard \
             deviations of it); take these features as picked at random. Tighter public bounds or a public \
             center and scale in the schema, more records, a larger epsilon or fewer candidate features \
             would help."
        ),
        FitStatus::IllConditioned {
            condition,
            repaired,
        } => {
            let condition = if condition < 0.0 {
                "they were not positive definite".to_owned()
            } else {
                format!("their condition number was {condition:.1}")
            };
            format!(
                "UNRELIABLE COEFFICIENTS: the noisy equations had to be repaired: {condition}, and {repaired} of \
                 {} directions were raised to the noise level. Tighter public bounds or a public center and \
                 scale in the schema, more records, a larger epsilon or a smaller sparsity would help.",
                self.features.len()
            )
        }
    }
    }
}

/// Says so if the residuals, as the run itself estimated them, are larger than a constant would
/// leave. Both numbers are private answers or public, so this costs nothing.
pub(crate) fn residual_warning(residual_scale: Option<f64>, response: &Response) -> Option<String> {
    let half = (response.upper - response.lower) / 2.0;
    residual_scale.filter(|scale| *scale > half).map(|scale| {
        format!(
            "before its last step the model left residuals of about {scale:.3}, but the middle of the \
             response's bounds alone leaves at most {half:.3}: do not use this model. Features in \
             standard units (`center` and `scale` in the schema), a larger epsilon or another \
             procedure may help"
        )
    })
}
