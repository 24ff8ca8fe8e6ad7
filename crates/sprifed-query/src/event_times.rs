//! Times to an event: how a record holds one, and the released hazard that it is compared with.
//!
//! # Notation
//! | symbol | is |
//! |---|---|
//! | t | the time that a record was followed, in units of the public horizon |
//! | δ | one if it ended with the event, zero if it was censored |
//! | Λ(t) | the cumulative hazard, linear within each of [`TIME_BINS`] bins of equal length |
//!
//! # Why
//! A record has one response. The two numbers t and δ are one of them with a sign: t of a record with an event, −t of one
//! that was censored. So whatever holds, copies and counts records stays as it is.
//!
//! Not here: late entry, competing events, and features that change with time. A record has none of them.

use serde::{Deserialize, Serialize};

/// How many bins of equal length the time up to the horizon has.
pub const TIME_BINS: usize = 20;

/// The largest cumulative hazard that a martingale residual is made from: residuals lie between −this and one.
pub const LARGEST_HAZARD: f64 = 4.0;

/// The largest relative risk by which a record counts among those at risk.
pub const LARGEST_RISK: f64 = 3.0;

/// The logarithm of a relative risk is at most this far from zero before it is limited.
const WIDEST_LOG_RISK: f64 = 8.0;

/// A hazard of one bin is at most this.
const MOST_HAZARD: f64 = 1e6;

/// How long a record was followed, and whether that ended with the event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FollowUp {
    /// t, from zero to one.
    pub time: f64,
    /// Whether the event occurred then.
    pub is_event: bool,
}

impl FollowUp {
    /// A time in units of the horizon. One beyond the horizon becomes the horizon, and counts as censored.
    #[must_use]
    pub fn new(time: f64, is_event: bool) -> Self {
        Self {
            time: unit_interval(time),
            is_event: is_event && time <= 1.0,
        }
    }

    /// The response of a record: its time, negative if it was censored. An event at the time zero has the smallest
    /// positive response.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "times of single precision are enough"
    )]
    pub const fn response(self) -> f32 {
        let time = self.time as f32;
        if self.is_event {
            time.max(f32::MIN_POSITIVE)
        } else {
            -time
        }
    }

    /// What a response says. What is not a number counts as censored at the time zero.
    #[must_use]
    pub fn of(response: f32) -> Self {
        let response = f64::from(if response.is_finite() { response } else { 0.0 });
        Self::new(response.abs(), response > 0.0)
    }

    /// The bin that the time lies in; the horizon lies in the last.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from zero to the number of bins"
    )]
    pub(crate) fn bin(self) -> usize {
        ((self.time * BINS) as usize).min(TIME_BINS - 1)
    }

    /// One for an event, zero for none.
    pub(crate) fn events(self) -> f64 {
        f64::from(u8::from(self.is_event))
    }
}

const BINS: f64 = 20.0;

/// Zero if it is not a number.
const fn unit_interval(value: f64) -> f64 {
    if value.is_nan() {
        0.0
    } else {
        value.max(0.0).min(1.0)
    }
}

/// A released cumulative hazard. Each of its numbers is finite and not negative.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<f64>", into = "Vec<f64>")]
pub struct ReleasedHazard([f64; TIME_BINS]);

/// Numbers that are no hazard.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "a hazard is {found:?}, but there must be {TIME_BINS} numbers from 0 to {MOST_HAZARD}, one for each bin"
)]
pub struct IllegalHazard {
    /// The first number that is illegal; none if their count is.
    pub found: Option<f64>,
}

impl TryFrom<Vec<f64>> for ReleasedHazard {
    type Error = IllegalHazard;

    fn try_from(stated: Vec<f64>) -> Result<Self, IllegalHazard> {
        let mut numbers = stated.iter().copied();
        if let Some(found) = numbers.find(|value| !(0.0..=MOST_HAZARD).contains(value)) {
            return Err(IllegalHazard { found: Some(found) });
        }
        let bins = stated.try_into();
        bins.map(Self).map_err(|_| IllegalHazard { found: None })
    }
}

impl From<ReleasedHazard> for Vec<f64> {
    fn from(hazard: ReleasedHazard) -> Self {
        hazard.0.to_vec()
    }
}

impl ReleasedHazard {
    /// The hazard that adds `of_bin` in each bin. What is not a number, or negative, becomes zero: whatever a procedure
    /// computed from earlier answers, there is a question to ask.
    #[must_use]
    pub fn new(of_bin: impl Fn(usize) -> f64) -> Self {
        Self(core::array::from_fn(|bin| {
            let value = of_bin(bin);
            let value = if value.is_nan() { 0.0 } else { value };
            value.max(0.0).min(MOST_HAZARD)
        }))
    }

    /// What each bin adds.
    #[must_use]
    pub const fn bins(&self) -> &[f64; TIME_BINS] {
        &self.0
    }

    /// Λ at a time in units of the horizon.
    #[must_use]
    pub fn at(&self, time: f64) -> f64 {
        let position = unit_interval(time) * BINS;
        let mut passed = 0.0;
        self.0
            .iter()
            .map(|hazard| {
                let part = unit_interval(position - passed);
                passed += 1.0;
                hazard * part
            })
            .sum()
    }

    /// δ − min(Λ(t), [`LARGEST_HAZARD`]) of a response.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "within the largest hazard, and single precision is enough"
    )]
    pub fn martingale(&self, response: f32) -> f32 {
        let follow_up = FollowUp::of(response);
        (follow_up.events() - self.at(follow_up.time).min(LARGEST_HAZARD)) as f32
    }
}

/// The relative risk by which a record counts, where the model says `predictor` of it without its intercept.
pub(crate) fn relative_risk(predictor: f64) -> f64 {
    let predictor = if predictor.is_nan() { 0.0 } else { predictor };
    let limited = predictor.max(-WIDEST_LOG_RISK).min(WIDEST_LOG_RISK);
    limited.exp().min(LARGEST_RISK)
}

#[cfg(test)]
mod tests;
