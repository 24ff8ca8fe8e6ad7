//! The hazard and the survival of a record of public features, from a fit of times.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sprifed_query::{ReleasedHazard, TIME_BINS};
use sprifed_recovery::Fit;

use crate::model::Response;

#[cfg(test)]
mod tests;

/// The reach of a band of 95 %, in standard errors.
const REACH: f64 = 1.959_963_984_540_054;

/// The hazard where the linear predictor of a model is zero, and what a record of average features can expect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelBaseline {
    /// What each bin of equal length, up to the horizon, adds to the cumulative hazard.
    pub hazard: Vec<f64>,
    /// The standard error of the cumulative hazard at the end of each bin, by the noise and by the number of events.
    pub std_errors: Vec<f64>,
    /// The private share of records with an event before the horizon.
    pub event_share: f64,
    /// The linear predictor of a record whose features are all at their centres.
    pub centre: f64,
}

/// One time of a survival curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CurvePoint {
    /// The time, in the units of the table.
    pub time: f64,
    /// The probability of no event up to it.
    pub survival: f64,
    /// The lower end of its band of 95 %, which allows for noise and for the number of events, and not for the error of
    /// coefficients.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl ModelBaseline {
    /// That of a fit; none if its response is no time.
    pub(crate) fn of(fit: &Fit) -> Option<Self> {
        let baseline = fit.baseline.as_ref()?;
        Some(Self {
            hazard: baseline.hazard.clone(),
            std_errors: baseline.std_errors.clone(),
            event_share: baseline.event_share,
            centre: fit.model.intercept,
        })
    }

    /// Whether predictions can be made with it.
    pub(crate) fn is_usable(&self) -> bool {
        let errors = &self.std_errors;
        ReleasedHazard::try_from(self.hazard.clone()).is_ok()
            && errors.len() == TIME_BINS
            && errors
                .iter()
                .all(|error| error.is_finite() && *error >= 0.0)
            && (0.0..=1.0).contains(&self.event_share)
            && self.centre.is_finite()
    }

    /// The probability of an event up to the horizon, for this linear predictor.
    pub(crate) fn event_probability(&self, predictor: f64) -> f64 {
        let cumulative: f64 = self.hazard.iter().sum();
        -(-cumulative * predictor.exp()).exp_m1()
    }

    /// The survival of a record whose features are all at their centres.
    #[must_use]
    pub fn curve(&self, response: &Response) -> Vec<CurvePoint> {
        let Some(horizon) = response.horizon else {
            return Vec::new();
        };
        let risk = self.centre.exp();
        let (mut cumulative, mut bins) = (0.0, 0.0);
        let points = self.hazard.iter().zip(&self.std_errors);
        points
            .map(|(hazard, error)| {
                cumulative += hazard;
                bins += 1.0;
                // On the scale of the logarithm, so that the band stays within zero and one.
                let reach = if cumulative > 0.0 {
                    (REACH * error / cumulative).exp()
                } else {
                    f64::INFINITY
                };
                let survival = |hazard: f64| (-hazard * risk).exp();
                #[expect(clippy::cast_precision_loss, reason = "a few bins")]
                let time = horizon * bins / self.hazard.len() as f64;
                CurvePoint {
                    time,
                    survival: survival(cumulative),
                    low: if reach.is_finite() {
                        survival(cumulative * reach)
                    } else {
                        0.0
                    },
                    high: survival(cumulative / reach),
                }
            })
            .collect()
    }
}
