//! The law of an estimate given that its feature was selected, p-values and intervals from it.
//!
//! Before the selection T is normal with mean θ and variance V. The selection keeps T with the
//! probability W_θ(T), so its law has the density φ((T − θ)/√V)·W_θ(T) up to a constant
//! (docs/proofs/selective_inference.md#4-conditioning).

use libm::{exp, log, log1p};

use super::Estimate;
use super::interval::Interval;
use super::normal::log_cumulative;
use super::quadrature::panel;
use crate::portable::{larger, smaller, square};

#[cfg(test)]
mod tests;

/// How a feature came to be reported.
///
/// Both functions must be symmetric: what holds for (θ, T) holds for (−θ, −T).
pub trait Selection {
    /// ln W_θ(T), at most 0, where |T| is at least [`least`](Self::least).
    fn log_weight(&self, coefficient: f64, estimate: f64) -> f64;

    /// t_T: no smaller |T| would have been reported.
    fn least(&self) -> f64 {
        0.0
    }
}

/// The probabilities on both sides of an estimate; they add up to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares {
    /// F_θ(T).
    pub below: f64,
    /// 1 − F_θ(T), without the rounding of this difference.
    pub above: f64,
}

/// The law of an estimate given that its feature was selected.
#[derive(Clone, Copy, Debug)]
pub struct ConditionalLaw<'a, S> {
    /// How it was selected.
    pub selection: &'a S,
    /// √V.
    pub std_error: f64,
}

/// Panels of the quadrature are at most this wide, in standard errors.
const PANEL: f64 = 0.5;

/// What is below the largest density by more than this many in its logarithm is left out.
const NEGLIGIBLE: f64 = 40.0;

/// Intervals are sought on this many standard errors towards zero and away from it.
const TOWARDS_ZERO: f64 = 12.0;
const AWAY: f64 = 5.0;

/// Ends of intervals are found to this many standard errors.
const TOLERANCE: f64 = 1e-7;

impl<S: Selection> ConditionalLaw<'_, S> {
    /// The probabilities of less and of more than `estimate` when the coefficient is θ.
    #[must_use]
    pub fn shares(&self, coefficient: f64, estimate: f64) -> Shares {
        let panels = self.panels(coefficient, estimate);
        let log_density = |value: f64| self.log_density(coefficient, value);
        let heights = panels.iter().map(|panel| log_density(middle_of(*panel)));
        let heights: Vec<f64> = heights.collect();
        let highest = heights.iter().copied().fold(f64::NEG_INFINITY, larger);
        let (mut below, mut above) = (0.0, 0.0);
        for (ends, height) in panels.into_iter().zip(heights) {
            if height < highest - NEGLIGIBLE {
                continue;
            }
            let mass = panel(ends, |value| exp(log_density(value) - highest));
            if middle_of(ends) < estimate {
                below += mass;
            } else {
                above += mass;
            }
        }
        let whole = below + above;
        Shares {
            below: below / whole,
            above: above / whole,
        }
    }

    /// 2·min(F_0(T), 1 − F_0(T)).
    #[must_use]
    pub fn p_value(&self, estimate: f64) -> f64 {
        let shares = self.shares(0.0, estimate);
        let p = 2.0 * smaller(shares.below, shares.above);
        if p >= 0.0 { smaller(p, 1.0) } else { 1.0 }
    }

    /// All θ with level/2 ≤ F_θ(T) ≤ 1 − level/2, at most 12 standard errors towards zero and 5 away
    /// from it.
    ///
    /// # Why
    /// F falls in θ, so each end is the root of a falling function. It is found by the Illinois
    /// method on the logarithm of the odds, and by bisection where that is not known.
    #[must_use]
    pub fn interval(&self, estimate: f64, level: f64) -> Interval {
        let (down, up) = if estimate < 0.0 {
            (AWAY, TOWARDS_ZERO)
        } else {
            (TOWARDS_ZERO, AWAY)
        };
        let ends = (
            estimate - down * self.std_error,
            estimate + up * self.std_error,
        );
        let odds = log((1.0 - level / 2.0) / (level / 2.0));
        Interval {
            low: self.root(estimate, ends, odds),
            high: self.root(estimate, ends, -odds),
        }
    }

    /// The θ in the bracket at which ln(F/(1 − F)) is `goal`, or the end at which it is nearest.
    fn root(&self, estimate: f64, (mut low, mut high): (f64, f64), goal: f64) -> f64 {
        let excess = |coefficient: f64| {
            let shares = self.shares(coefficient, estimate);
            log(larger(shares.below, LEAST)) - log(larger(shares.above, LEAST)) - goal
        };
        let (mut at_low, mut at_high) = (excess(low), excess(high));
        if at_low <= 0.0 {
            return low;
        }
        if at_high >= 0.0 {
            return high;
        }
        let (tolerance, mut last) = (TOLERANCE * self.std_error, 0);
        for _ in 0..MOST_STEPS {
            if high - low <= tolerance {
                break;
            }
            let is_known = at_low < KNOWN && at_high > -KNOWN;
            let middle = if is_known {
                let between = low + (high - low) * at_low / (at_low - at_high);
                smaller(
                    larger(between, low + tolerance / 4.0),
                    high - tolerance / 4.0,
                )
            } else {
                f64::midpoint(low, high)
            };
            let found = excess(middle);
            if found > 0.0 {
                (low, at_low) = (middle, found);
                at_high = if last > 0 && is_known {
                    at_high / 2.0
                } else {
                    at_high
                };
                last = 1;
            } else {
                (high, at_high) = (middle, found);
                at_low = if last < 0 && is_known {
                    at_low / 2.0
                } else {
                    at_low
                };
                last = -1;
            }
        }
        f64::midpoint(low, high)
    }

    fn log_density(&self, coefficient: f64, value: f64) -> f64 {
        let distance = (value - coefficient) / self.std_error;
        self.selection.log_weight(coefficient, value) - square(distance) / 2.0
    }

    /// Panels that hold all mass that counts, cut at the estimate and at ±t_T.
    ///
    /// # Why
    /// W ≤ 1, so what is so far from θ that the normal density alone is negligible beside a value
    /// that is attained may be left out.
    fn panels(&self, coefficient: f64, estimate: f64) -> Vec<(f64, f64)> {
        let least = self.selection.least();
        let outside = |value: f64| if value.abs() < least { least } else { value };
        let attained = larger(
            self.log_density(coefficient, outside(coefficient)),
            self.log_density(coefficient, estimate),
        );
        let radius = smaller((2.0 * (NEGLIGIBLE - attained)).sqrt(), WIDEST) * self.std_error;
        let (start, end) = (coefficient - radius, coefficient + radius);
        let mut cuts = vec![start, -least, least, estimate, end];
        cuts.retain(|cut| *cut >= start && *cut <= end);
        cuts.sort_by(f64::total_cmp);
        let mut panels = Vec::new();
        for pair in cuts.windows(2) {
            let [low, high] = [pair[0], pair[1]];
            if f64::midpoint(low, high).abs() < least || high <= low {
                continue;
            }
            let count = ((high - low) / (PANEL * self.std_error)).ceil();
            let width = (high - low) / count;
            let mut place = 0.0;
            while place < count {
                panels.push((low + place * width, low + (place + 1.0) * width));
                place += 1.0;
            }
        }
        panels
    }
}

fn middle_of((low, high): (f64, f64)) -> f64 {
    f64::midpoint(low, high)
}

/// Shares below this are not told apart.
const LEAST: f64 = 1e-16;

/// The logarithm of odds up to which the shape of F is used.
const KNOWN: f64 = 25.0;

/// No more than this many values of F for one end.
const MOST_STEPS: u32 = 60;

/// No panel is farther from θ than this many standard errors.
const WIDEST: f64 = 200.0;

/// The selection of a feature by pooled sums: |U|/√V_U > t_z, and |T| > t_T.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PooledSelection {
    /// √V_U, the standard error of the pooled estimate.
    pooled_std_error: f64,
    /// t_U.
    pooled_least: f64,
    /// t_T.
    least: f64,
    /// c/V.
    pull: f64,
    /// d: the standard deviation of the pooled estimate given T.
    rest: f64,
}

/// What is known of the pooled estimate of a feature, and what it had to exceed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PooledEstimate {
    /// U_j, in the units of [`Estimate`].
    pub value: f64,
    /// V_U = 1/W_j.
    pub variance: f64,
    /// t_z: the largest |pooled ratio| among the features that are not finalists.
    pub largest_ratio_left_out: f64,
    /// t_T: the largest |estimate| that an excluded finalist would have; 0 if there is none.
    pub largest_estimate_left_out: f64,
}

/// A limit that an observed value does not reach is set below it by this share.
const HAIR: f64 = 1e-9;

/// The covariance is at most this share of V_U.
const MOST_COVARIANCE: f64 = 0.95;

impl PooledSelection {
    /// The selection of the feature with these two estimates.
    #[must_use]
    pub fn new(pooled: &PooledEstimate, estimate: &Estimate) -> Self {
        let reached = |limit: f64, value: f64| smaller(limit, value.abs() * (1.0 - HAIR));
        let pooled_std_error = pooled.variance.sqrt();
        let covariance = smaller(
            estimate.sampling_variance,
            MOST_COVARIANCE * pooled.variance,
        );
        let pull = covariance / estimate.variance;
        Self {
            pooled_std_error,
            pooled_least: reached(
                pooled.largest_ratio_left_out * pooled_std_error,
                pooled.value,
            ),
            least: reached(pooled.largest_estimate_left_out, estimate.value),
            pull,
            rest: (pooled.variance - covariance * pull).sqrt(),
        }
    }

    /// The p-value of the feature; 1 where the numbers are not those of estimates.
    #[must_use]
    pub fn p_value(&self, estimate: &Estimate) -> f64 {
        if !self.is_legal() || !estimate.is_legal() {
            return 1.0;
        }
        let law = ConditionalLaw {
            selection: self,
            std_error: estimate.std_error(),
        };
        law.p_value(estimate.value)
    }

    /// Whether the numbers are those of a selection.
    pub(super) fn is_legal(&self) -> bool {
        let positive = |value: f64| value.is_finite() && value > 0.0;
        positive(self.pooled_std_error)
            && positive(self.rest)
            && self.pull.is_finite()
            && self.least.is_finite()
            && self.pooled_least.is_finite()
    }
}

impl Selection for PooledSelection {
    fn log_weight(&self, coefficient: f64, estimate: f64) -> f64 {
        let mean = (coefficient + self.pull * (estimate - coefficient)).abs();
        let near = log_cumulative((mean - self.pooled_least) / self.rest);
        let far = log_cumulative((-mean - self.pooled_least) / self.rest);
        near + log1p(exp(far - near))
    }

    fn least(&self) -> f64 {
        self.least
    }
}
