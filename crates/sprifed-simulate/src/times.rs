//! Times to an event whose hazard is a sum of normal features on the scale of logarithms: how they are drawn, and what a fit
//! is worth over the population.
//!
//! A record has a constant hazard exp(η) in units of the horizon, one. Every second record is censored at a time that is
//! uniform before the horizon, the others at the horizon.
//!
//! # Why
//! Scores are about pairs of records, of which one has its event first: with constant hazards the first one has it first
//! with probability 1/(1 + exp(η₂ − η₁)), whatever the times are. So the scores of zeros and ones hold for differences of
//! predictors, and no censoring is in them.

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use sprifed_query::{FollowUp, LinearModel};

use crate::odds::{OddsScores, Predictors, mean_share, nodes};
use crate::world::uniform;

pub(crate) mod reference;
#[cfg(test)]
mod tests;

/// How well a model tells whose event comes first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeScores {
    /// The mean squared error of the probability that the first of two records has its event first.
    pub brier: f64,
    /// That of a half.
    pub null_brier: f64,
    /// Of the deviance of these pairs that the true model explains, the share that this model explains; none if that
    /// explains nothing.
    pub deviance_share: Option<f64>,
    /// How often the record of the larger predictor has its event first.
    pub concordance: f64,
}

/// The variances and the covariance of the predictors of the truth and of a model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread {
    pub(crate) truth: f64,
    pub(crate) model: f64,
    pub(crate) covariance: f64,
}

impl TimeScores {
    /// The scores of a model whose predictor is known together with the true one.
    pub(crate) fn of(spread: Spread) -> Self {
        let pairs = Predictors {
            true_mean: 0.0,
            true_variance: 2.0 * spread.truth,
            model_mean: 0.0,
            model_variance: 2.0 * spread.model,
            covariance: 2.0 * spread.covariance,
        };
        let scores = OddsScores::of(&pairs);
        Self {
            brier: scores.brier,
            null_brier: scores.null_brier,
            deviance_share: scores.deviance_share,
            concordance: concordance(&pairs),
        }
    }
}

/// How often the sign of the model's difference is that of what happens.
fn concordance(pairs: &Predictors) -> f64 {
    if pairs.model_variance <= 0.0 {
        return 0.5;
    }
    let slope = pairs.covariance / pairs.model_variance.sqrt();
    let rest = (pairs.true_variance - slope * slope).max(0.0);
    // By symmetry, twice the part of positive differences; the node at zero counts for both.
    let part = nodes().filter(|(z, _)| *z >= 0.0).map(|(z, weight)| {
        let weight = if z > 0.0 { 2.0 * weight } else { weight };
        weight * mean_share(slope * z, rest)
    });
    part.sum()
}

/// The share of records with an event before they are censored, where the hazard is `hazard`.
fn event_share(hazard: f64) -> f64 {
    let before_horizon = -(-hazard).exp_m1();
    // Over a censoring time that is uniform before the horizon; for a small hazard by its series.
    let before_uniform = if hazard < 1e-6 {
        hazard / 2.0
    } else {
        1.0 - before_horizon / hazard
    };
    f64::midpoint(before_horizon, before_uniform)
}

/// `drawn`, whose predictor has the standard deviation `found`, scaled to the standard deviation `spread`, with the
/// intercept at which `events` is the share of records with an event. Without a feature the predictor does not vary.
pub(crate) fn hazard_model(
    drawn: LinearModel,
    found: f64,
    spread: f64,
    events: f64,
) -> LinearModel {
    let (factor, spread) = match found > 0.0 {
        true => (spread / found, spread),
        false => (1.0, 0.0),
    };
    let share = |level: f64| -> f64 {
        nodes()
            .map(|(z, weight)| weight * event_share((level + spread * z).exp()))
            .sum()
    };
    let (mut low, mut high) = (-60.0, 60.0);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        match share(middle) < events {
            true => low = middle,
            false => high = middle,
        }
    }
    let terms = drawn.terms.into_iter();
    LinearModel {
        intercept: f64::midpoint(low, high),
        terms: terms
            .map(|(feature, value)| (feature, factor * value))
            .collect(),
    }
}

/// The response of a record whose logarithm of the hazard is `predictor`.
pub(crate) fn draw(predictor: f64, stream: &mut Xoshiro256PlusPlus) -> f32 {
    let time = -(1.0 - uniform(stream)).ln() / predictor.exp();
    let place = uniform(stream);
    let censored = match stream.next_u64() & 1 {
        0 => place,
        _ => 1.0,
    };
    FollowUp::new(time.min(censored), time <= censored).response()
}

/// By what the projection of the true predictor on some features is to be multiplied to be the limit of Cox's model of
/// these features, where that projection has the variance `known` and the rest of the predictor the variance `rest`.
///
/// # Why
/// What is left out makes hazards of records with equal features fall together with time, so that they are not
/// proportional. The limit is where the score ∫ (E[x; event at t] − E[x·e^{fx}; at risk]·E[event at t]/E[e^{fx}; at risk])
/// is zero; it depends on the censoring.
pub(crate) fn projected_factor(intercept: f64, known: f64, rest: f64) -> f64 {
    if known <= 1e-12 || rest <= 1e-12 {
        return 1.0;
    }
    let moments = Moments::of(intercept, known.sqrt(), rest.sqrt());
    let (mut low, mut high) = (0.0, 2.0);
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        match moments.score(middle) > 0.0 {
            true => low = middle,
            false => high = middle,
        }
    }
    f64::midpoint(low, high)
}

/// Times at which the score is computed, and nodes of the two normal numbers on each side of zero.
const TIMES: u32 = 60;
const COARSE: i32 = 24;
const COARSE_DISTANCE: f64 = 0.25;

/// Records at risk and events by time and by the node of the known part.
struct Moments {
    known: Vec<f64>,
    /// For each time: at risk and events, by node, each with the weight of the node and of the time.
    at: Vec<Vec<(f64, f64)>>,
}

impl Moments {
    fn of(intercept: f64, known: f64, rest: f64) -> Self {
        let coarse = || {
            (-COARSE..=COARSE).map(|step| {
                let z = COARSE_DISTANCE * f64::from(step);
                let density = (-z * z / 2.0).exp() / (2.0 * core::f64::consts::PI).sqrt();
                (z, COARSE_DISTANCE * density)
            })
        };
        let at = (0..TIMES).map(|place| {
            let time = (f64::from(place) + 0.5) / f64::from(TIMES);
            let uncensored = 1.0 - time / 2.0;
            let of_node = |(z, weight): (f64, f64)| {
                let mut sums = (0.0, 0.0);
                for (other, share) in coarse() {
                    let hazard = (intercept + known * z + rest * other).exp();
                    let alive = weight * share * uncensored * (-hazard * time).exp();
                    sums = (sums.0 + alive, sums.1 + hazard * alive);
                }
                sums
            };
            coarse().map(of_node).collect()
        });
        Self {
            at: at.collect(),
            known: coarse().map(|(z, _)| known * z).collect(),
        }
    }

    /// The score at the factor.
    fn score(&self, factor: f64) -> f64 {
        let of_time = |nodes: &Vec<(f64, f64)>| {
            let (mut events, mut with_x) = (0.0, 0.0);
            let (mut risks, mut risk_x) = (0.0, 0.0);
            for ((at_risk, event), x) in nodes.iter().zip(&self.known) {
                let risk = at_risk * (factor * x).exp();
                events += event;
                with_x += event * x;
                risks += risk;
                risk_x += risk * x;
            }
            with_x - events * risk_x / risks
        };
        self.at.iter().map(of_time).sum()
    }
}
