//! How a fit ended, in words that say what would help.

use sprifed_privacy::{PrivacyUnit, counted};
use sprifed_recovery::{FitStatus, NoInterval};

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
            FitStatus::TooFewRecords { .. } => "too-few-records",
            FitStatus::AlmostSeparated { .. } => "almost-separated",
            FitStatus::IllConditioned { .. } => "ill-conditioned",
        }
    }

    /// Whether its coefficients may be read and its predictions used: the fit kept something and nothing warns of it.
    #[must_use]
    pub fn is_reliable(&self) -> bool {
        self.status == FitStatus::Complete && self.warning().is_none()
    }

    /// What must stand above everything else: why the model is no more than the mean, or must not be interpreted.
    #[must_use]
    pub fn alarm(&self) -> Option<String> {
        match self.status {
            FitStatus::Complete => {
                let unusable = self.warning().map(|words| format!("DO NOT USE: {words}."));
                unusable.or_else(|| self.few_records_words())
            }
            _ => Some(self.status_words()),
        }
    }

    /// What must be said where features were sought with too few records, because exactly so many were asked for.
    fn few_records_words(&self) -> Option<String> {
        let report = self.inference.available()?;
        let is_few = report.no_intervals == Some(NoInterval::TooFewRecords);
        is_few.then(|| {
            "WARNING: there are fewer records than one feature needs at this epsilon. Take the features as picked at random."
                .to_owned()
        })
    }

    /// How the fit ended, and what would help.
    #[must_use]
    pub fn status_words(&self) -> String {
        match self.status {
            FitStatus::Complete => {
                let kept = self.inference.kept_words();
                let kept = kept.unwrap_or_else(|| chosen_words(self.features.len()));
                format!(
                    "{kept}. Only records that were not fitted can show whether the model predicts."
                )
            }
            FitStatus::NoFeatureAboveNoise { largest_ratio } => format!(
                "NOTHING FOUND: no feature can be told from chance (the largest estimate is {largest_ratio:.1} standard \
                 errors). {} {WOULD_HELP} or fewer candidate features would help.",
                self.what_is_left("Take the features as picked at random."),
            ),
            FitStatus::TooFewRecords { needed } => {
                let units = match self.plan.unit {
                    PrivacyUnit::Record => counted(self.train_size, "record", "records"),
                    PrivacyUnit::Client => counted(self.train_size, "client", "clients"),
                };
                format!(
                    "NOTHING SOUGHT: {units} are too few to find a feature at this epsilon; about {needed} are needed. {}",
                    self.what_is_left("Take the features as picked at random."),
                )
            }
            FitStatus::AlmostSeparated { explained } => format!(
                "ALMOST SEPARATED: the features almost separate the two values of the response (about {:.0} % of its \
                 variance is explained). Coefficients are too small, and there are no intervals. {}",
                100.0 * explained,
                self.what_is_left("The predictions may be used after a test on other records."),
            ),
            FitStatus::IllConditioned { repaired, .. } if self.has_interval() => format!(
                "INTERVALS ARE TOO WIDE: the noise is too large for {} of the equations of the last step. {} {WOULD_HELP} or \
                 a smaller sparsity would help.",
                counted(repaired, "direction", "directions"),
                self.what_is_left("The predictions may be used after a test on other records."),
            ),
            FitStatus::IllConditioned {
                condition,
                repaired,
            } => {
                let condition = if condition < 0.0 {
                    "the noisy equations were not positive definite".to_owned()
                } else {
                    format!("the condition number of the noisy equations was {condition:.1}")
                };
                let headline = match self.has_chosen() {
                    true => "DO NOT INTERPRET THE COEFFICIENTS",
                    false => "NOTHING FOUND",
                };
                format!(
                    "{headline}: the noise is too large to separate {} from the others ({condition}). {} {WOULD_HELP} or a \
                     smaller sparsity would help.",
                    counted(repaired, "feature", "features"),
                    self.what_is_left("The predictions may be used after a test on other records."),
                )
            }
        }
    }

    /// Whether an interval is reported.
    fn has_interval(&self) -> bool {
        let report = self.inference.available();
        report.is_some_and(|report| report.terms.iter().any(|term| term.interval.is_some()))
    }

    /// Whether the model has features that were chosen, beside those that are always in it.
    #[must_use]
    pub fn has_chosen(&self) -> bool {
        self.features.iter().any(|term| !term.always)
    }

    /// What the model of a fit that failed has in it; `chosen` is said if it has features that were chosen.
    fn what_is_left(&self, chosen: &'static str) -> &'static str {
        match (self.has_chosen(), self.features.len()) {
            (true, _) => chosen,
            (false, 0) if self.baseline.is_some() => {
                "No feature is kept: the model predicts the same for every record."
            }
            (false, 0) => "No feature is kept: the model predicts the mean.",
            (false, _) => {
                "No feature is kept: the model has only the features that are always in it."
            }
        }
    }
}

const WOULD_HELP: &str = "Tighter public bounds, a public center and scale in the schema, more records, a larger epsilon";

fn chosen_words(n_features: usize) -> String {
    format!("{} chosen", counted(n_features, "feature", "features"))
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
