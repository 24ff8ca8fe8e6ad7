//! Zeros and ones whose log odds are a sum of normal features: the model that has a given share of ones, and what a fit is
//! worth over the population.
//!
//! The linear predictors of the truth and of a fit are jointly normal, so that everything is an integral over one or two
//! normal numbers.

use core::f64::consts::PI;

use sprifed_query::LinearModel;

pub(crate) mod reference;
#[cfg(test)]
mod tests;

/// How well a model predicts the probability of a one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OddsScores {
    /// The mean squared error of the probability: the Brier score.
    pub brier: f64,
    /// That of the share of ones.
    pub null_brier: f64,
    /// Of the deviance that the true model explains, the share that this model explains; none if that explains nothing.
    pub deviance_share: Option<f64>,
    /// How often a one has a larger predictor than a zero.
    pub auc: f64,
}

/// The linear predictors of the truth and of a model, which are jointly normal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Predictors {
    pub(crate) true_mean: f64,
    pub(crate) true_variance: f64,
    pub(crate) model_mean: f64,
    pub(crate) model_variance: f64,
    pub(crate) covariance: f64,
}

/// Half of the nodes on each side of zero, and their distance: they reach eight standard deviations.
const HALF: i32 = 100;
const DISTANCE: f64 = 0.08;

/// Less deviance than this is that of rounding.
const LEAST_DEVIANCE: f64 = 1e-9;

/// No linear predictor is taken to vary more than this.
const WIDEST_SPREAD: f64 = 10.0;

/// Newton's method ends after so many steps.
const MOST_STEPS: usize = 60;

/// The probability at these log odds.
pub(crate) fn logistic(predictor: f64) -> f64 {
    1.0 / (1.0 + (-predictor).exp())
}

/// Nodes of a standard normal number, with their weights.
pub(crate) fn nodes() -> impl Iterator<Item = (f64, f64)> + Clone {
    (-HALF..=HALF).map(|step| {
        let z = DISTANCE * f64::from(step);
        (z, DISTANCE * (-z * z / 2.0).exp() / (2.0 * PI).sqrt())
    })
}

/// The mean of the probability where the predictor is normal.
pub(crate) fn mean_share(mean: f64, variance: f64) -> f64 {
    let spread = variance.max(0.0).sqrt();
    nodes()
        .map(|(z, weight)| weight * logistic(mean + spread * z))
        .sum()
}

/// `drawn`, whose predictor has the standard deviation `found`, scaled to the standard deviation `spread`, with the
/// intercept at which the share of ones is `prevalence`. Without a feature the predictor does not vary.
pub(crate) fn odds_model(
    drawn: LinearModel,
    found: f64,
    spread: f64,
    prevalence: f64,
) -> LinearModel {
    let (factor, spread) = match found > 0.0 {
        true => (spread / found, spread),
        false => (1.0, 0.0),
    };
    let terms = drawn.terms.into_iter();
    LinearModel {
        intercept: intercept_for(spread, prevalence),
        terms: terms
            .map(|(feature, value)| (feature, factor * value))
            .collect(),
    }
}

/// The intercept at which the share of ones is `prevalence`.
fn intercept_for(spread: f64, prevalence: f64) -> f64 {
    let (mut low, mut high) = (-200.0, 200.0);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        match mean_share(middle, spread * spread) < prevalence {
            true => low = middle,
            false => high = middle,
        }
    }
    f64::midpoint(low, high)
}

/// The standard deviation of the linear predictor at which the best linear prediction explains this share of the variance
/// of zeros and ones; none if it explains less at any.
#[must_use]
pub fn spread_for(explained: f64, prevalence: f64) -> Option<f64> {
    let (mut low, mut high) = (0.0, WIDEST_SPREAD);
    if explained >= explained_share(high, prevalence) {
        return None;
    }
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        match explained_share(middle, prevalence) < explained {
            true => low = middle,
            false => high = middle,
        }
    }
    Some(high)
}

/// The share of the variance of zeros and ones that the best linear prediction explains, where the linear predictor of the
/// odds is normal with this standard deviation.
///
/// # Why
/// By Stein's lemma the slope on the predictor is the mean of p(1 - p).
#[must_use]
pub fn explained_share(spread: f64, prevalence: f64) -> f64 {
    let intercept = intercept_for(spread, prevalence);
    let slope: f64 = nodes()
        .map(|(z, weight)| {
            let share = logistic(intercept + spread * z);
            weight * share * (1.0 - share)
        })
        .sum();
    (slope * spread).powi(2) / (prevalence * (1.0 - prevalence))
}

/// By what the best linear prediction of the true predictor is to be multiplied to be the best logistic model, where that
/// prediction has the variance `known` and the rest of the predictor the variance `rest`.
///
/// # Why
/// Given the prediction, the rest is normal and independent of it. So the probability is a function of the prediction alone,
/// and the likelihood has its maximum at a model of the prediction's direction.
pub(crate) fn projected_factor(intercept: f64, known: f64, rest: f64) -> f64 {
    if known <= 1e-12 || rest <= 1e-12 {
        return 1.0;
    }
    let spread = known.sqrt();
    let (mut level, mut factor) = (intercept, 1.0);
    for _ in 0..MOST_STEPS {
        let (mut g, mut h) = ([0.0; 2], [0.0; 3]);
        for (z, weight) in nodes() {
            let x = spread * z;
            let share = logistic(level + factor * x);
            let left = weight * (mean_share(intercept + x, rest) - share);
            let curve = weight * share * (1.0 - share);
            g = [g[0] + left, g[1] + left * x];
            h = [h[0] + curve, h[1] + curve * x, h[2] + curve * x * x];
        }
        let determinant = h[0] * h[2] - h[1] * h[1];
        let change = [
            (h[2] * g[0] - h[1] * g[1]) / determinant,
            (h[0] * g[1] - h[1] * g[0]) / determinant,
        ];
        level += change[0];
        factor += change[1];
        if change[0].abs() + change[1].abs() < 1e-12 {
            break;
        }
    }
    factor
}

/// Minus the mean logarithm of the probability of what happens: `share` is the true probability, `predictor` the log odds
/// of the predicted one.
fn loss(share: f64, predictor: f64) -> f64 {
    // ln(1 + e^x), without overflow.
    let softplus = |x: f64| x.max(0.0) + (-x.abs()).exp().ln_1p();
    share * softplus(-predictor) + (1.0 - share) * softplus(predictor)
}

impl OddsScores {
    /// The scores of a model whose predictor is known together with the true one.
    pub(crate) fn of(predictors: &Predictors) -> Self {
        let Predictors {
            true_mean,
            true_variance,
            model_mean,
            model_variance,
            covariance,
        } = *predictors;
        let spread = model_variance.max(0.0).sqrt();
        let slope = if spread > 0.0 {
            covariance / spread
        } else {
            0.0
        };
        let rest = (true_variance - slope * slope).max(0.0);
        let share = mean_share(true_mean, true_variance);
        let (mut brier, mut deviance) = (0.0, 0.0);
        let (mut below, mut wins) = (0.0, 0.0);
        for (z, weight) in nodes() {
            let predictor = model_mean + spread * z;
            let own = mean_share(true_mean + slope * z, rest);
            let predicted = logistic(predictor);
            brier += weight * (own * (1.0 - predicted).powi(2) + (1.0 - own) * predicted.powi(2));
            deviance += weight * loss(own, predictor);
            let (ones, zeros) = (weight * own, weight * (1.0 - own));
            wins += ones * (below + zeros / 2.0);
            below += zeros;
        }
        let best: f64 = nodes()
            .map(|(z, weight)| {
                let predictor = true_mean + true_variance.max(0.0).sqrt() * z;
                weight * loss(logistic(predictor), predictor)
            })
            .sum();
        let null = loss(share, (share / (1.0 - share)).ln());
        Self {
            brier,
            null_brier: share * (1.0 - share),
            deviance_share: (null - best > LEAST_DEVIANCE)
                .then(|| (null - deviance) / (null - best)),
            auc: if spread > 0.0 {
                wins / (share * (1.0 - share))
            } else {
                0.5
            },
        }
    }
}
