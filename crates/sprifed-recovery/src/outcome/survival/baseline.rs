//! The cumulative hazard that two noisy histograms give, and how far it can be trusted.
//!
//! # Notation
//! | symbol | is |
//! |---|---|
//! | E_j, L_j | noisy events and noisy weights of the records that left, in bin j |
//! | R_j | the weights at risk in bin j |
//! | h_j = E_j/R_j | the hazard of bin j |
//!
//! The formulas are derived in docs/proofs/event_times.md#4-what-follows-costs-nothing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sprifed_query::{AnswerBlock, LARGEST_RISK, ReleasedHazard, TIME_BINS};

use crate::portable::{larger, smaller, square};

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests decide nothing for a study"
)]
mod tests;

/// The weights at risk in a bin are at least this many.
const FEWEST_AT_RISK: f64 = 5.0;

/// The share of records with an event is at least this.
const LEAST_SHARE: f64 = 0.05;

/// The hazard of a record whose linear predictor is zero, from private sums.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// What each bin of equal length, up to the horizon, adds to the cumulative hazard.
    pub hazard: Vec<f64>,
    /// The standard error of the cumulative hazard at the end of each bin, by the noise and by the number of events. It
    /// leaves out that the coefficients are estimates too.
    pub std_errors: Vec<f64>,
    /// The private share of records with an event before the horizon.
    pub event_share: f64,
}

/// How records were counted among those that left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counted {
    /// Each as one.
    AsOne,
    /// Each by its relative risk.
    ByRisk,
}

impl Counted {
    /// The largest weight of a record, in which the answer is.
    const fn unit(self) -> f64 {
        match self {
            Self::AsOne => 1.0,
            Self::ByRisk => LARGEST_RISK,
        }
    }
}

impl Baseline {
    /// What the blocks of events and of what left say of so many records.
    pub(super) fn of(
        events: &AnswerBlock,
        left: &AnswerBlock,
        counted: Counted,
        n_records: u32,
    ) -> Self {
        let unit = counted.unit();
        let entry = |block: &AnswerBlock, bin: usize, unit: f64| {
            let value = block.values.get(bin).copied().unwrap_or(0.0);
            larger(value * unit, 0.0)
        };
        let numbers = |block: &AnswerBlock, unit: f64| -> [f64; TIME_BINS] {
            core::array::from_fn(|bin| entry(block, bin, unit))
        };
        let (counts, weights) = (numbers(events, 1.0), numbers(left, unit));
        let at_risk = at_risk(&weights);
        let hazard: Vec<f64> = counts.iter().zip(&at_risk).map(|(e, r)| e / r).collect();
        let noise = (events.noise_std_dev, left.noise_std_dev * unit);
        let total: f64 = events.values.iter().sum();
        let share = total / f64::from(n_records);
        Self {
            std_errors: std_errors(&hazard, &at_risk, noise),
            hazard,
            event_share: larger(smaller(share, 1.0), LEAST_SHARE),
        }
    }

    /// The hazard as questions are asked about it.
    pub(super) fn released(&self) -> ReleasedHazard {
        ReleasedHazard::new(|bin| self.hazard.get(bin).copied().unwrap_or(0.0))
    }
}

/// R: what leaves in a bin is at risk during half of it.
fn at_risk(left: &[f64; TIME_BINS]) -> [f64; TIME_BINS] {
    let mut later = 0.0;
    let mut risks = [0.0; TIME_BINS];
    for (risk, left) in risks.iter_mut().zip(left).rev() {
        *risk = larger(later + left / 2.0, FEWEST_AT_RISK);
        later += left;
    }
    risks
}

/// The standard errors of the cumulative hazard at the end of each bin, where events and weights have these noises.
fn std_errors(hazard: &[f64], at_risk: &[f64; TIME_BINS], noise: (f64, f64)) -> Vec<f64> {
    // How much the hazard of a bin falls when one more is at risk.
    let falls: Vec<f64> = hazard.iter().zip(at_risk).map(|(h, r)| h / r).collect();
    let mut of_events = 0.0;
    (0..hazard.len())
        .map(|last| {
            let risk = at_risk[last];
            of_events += square(noise.0 / risk) + falls[last];
            let mut before = 0.0;
            let mut of_left = 0.0;
            for (bin, fall) in falls.iter().enumerate() {
                // What leaves in a bin was at risk in all earlier ones and in half of its own.
                let own = if bin <= last { *fall } else { 0.0 };
                of_left += square(before + own / 2.0);
                before += own;
            }
            (of_events + square(noise.1) * of_left).sqrt()
        })
        .collect()
}
