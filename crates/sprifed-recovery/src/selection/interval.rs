//! The interval that is reported: the hull of Wald's and of the one given the selection.

use core::f64::consts::PI;

use libm::{exp, expm1, log, log1p};

use super::Estimate;
use super::argmax_pick::Pick;
use super::conditioned::{ConditionalLaw, PooledSelection, Selection};
use super::normal::{log_cumulative, upper_quantile};
use super::weight_table::WeightTable;
use crate::portable::{larger, smaller, square};

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests decide nothing for a study"
)]
mod tests;

/// A confidence interval; both ends may be infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// All numbers: nothing is known.
    pub const WHOLE: Self = Self {
        low: f64::NEG_INFINITY,
        high: f64::INFINITY,
    };

    /// Whether `value` is inside or an end.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// The distance of the ends.
    #[must_use]
    pub fn width(&self) -> f64 {
        self.high - self.low
    }

    /// The smallest interval that contains both.
    #[must_use]
    pub const fn hull_with(&self, other: &Self) -> Self {
        Self {
            low: smaller(self.low, other.low),
            high: larger(self.high, other.high),
        }
    }
}

/// The level of each interval when `kept` of at most `most` features are reported: 0.05·R/s_max.
///
/// # Why
/// Then the expected share of reported intervals that miss is at most 0.05 [BY05, Thm 1], where
/// estimates are independent.
#[must_use]
pub fn false_coverage_level(kept: u32, most: u32) -> f64 {
    if most == 0 {
        return NOMINAL;
    }
    NOMINAL * f64::from(kept.min(most)) / f64::from(most)
}

const NOMINAL: f64 = 0.05;

/// T ± Φ⁻¹(1 − level/2)·√V; everything where the numbers are not those of an estimate.
#[must_use]
pub fn wald(estimate: &Estimate, level: f64) -> Interval {
    if !estimate.is_legal() {
        return Interval::WHOLE;
    }
    let reach = upper_quantile(level / 2.0) * estimate.std_error();
    Interval {
        low: estimate.value - reach,
        high: estimate.value + reach,
    }
}

/// The interval that is reported: the hull of Wald's interval and of the conditional one.
#[must_use]
pub fn hull(selection: &impl ReportedSelection, estimate: &Estimate, level: f64) -> Interval {
    if !estimate.is_legal() || !selection.is_legal() {
        return Interval::WHOLE;
    }
    let conditional = selection.conditional_interval(estimate, level);
    conditional.hull_with(&wald(estimate, level))
}

/// A selection after which an interval can be reported.
pub trait ReportedSelection: Selection + Sized {
    /// Whether its numbers make a law.
    fn is_legal(&self) -> bool;

    /// The interval given the selection; see [`ConditionalLaw::interval`].
    fn conditional_interval(&self, estimate: &Estimate, level: f64) -> Interval {
        let law = ConditionalLaw {
            selection: self,
            std_error: estimate.std_error(),
        };
        law.interval(estimate.value, level)
    }
}

impl ReportedSelection for PooledSelection {
    fn is_legal(&self) -> bool {
        Self::is_legal(self)
    }
}

/// A kept feature that competed with the one whose interval is sought.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rival {
    /// κ_m: [`Pick::transfer`] with its own v_m.
    pub transfer: f64,
    /// θ̂_m, in the units of [`Estimate`].
    pub coefficient: f64,
    /// Whether it was picked later, so that it was a candidate of the same choice.
    pub is_picked_later: bool,
}

/// ln R: the logarithm of what all rivals weigh in the choice that `pick` describes.
///
/// `kept` holds all kept features, the picked one too; `most` is s_max.
///
/// # Why
/// Features without effect weigh 2PΦ(τ_u/β)e^((τ_u/β)²/2) together on average. Where this average is
/// due to values beyond the largest of them, that largest one counts. The last term, s_max rivals as
/// strong as the weakest kept one, is an allowance for features that were not kept.
#[must_use]
pub fn log_rivals(pick: &Pick, kept: &[Rival], most: u32) -> f64 {
    let tilt = pick.score_std_dev() / pick.noise_scale();
    let largest = upper_quantile(0.5 / pick.candidates);
    let null = if tilt < largest {
        log(2.0 * pick.candidates) + log_cumulative(tilt) + square(tilt) / 2.0
    } else {
        largest * tilt
    };
    let unit = pick.n_records / (pick.residual_scale * pick.noise_scale());
    let strength = |rival: &Rival| unit * rival.transfer * rival.coefficient.abs();
    let later = kept.iter().filter(|rival| rival.is_picked_later);
    let mut terms: Vec<f64> = later.map(strength).collect();
    terms.push(null);
    let weakest = kept.iter().map(strength).fold(f64::INFINITY, smaller);
    if weakest.is_finite() {
        terms.push(log(f64::from(most.max(1))) + weakest);
    }
    log_sum(&terms)
}

/// ln Σ e^x.
fn log_sum(terms: &[f64]) -> f64 {
    let largest = terms.iter().copied().fold(f64::NEG_INFINITY, larger);
    let mut sum = 0.0;
    for term in terms {
        sum += exp(term - largest);
    }
    largest + log(sum)
}

/// The selection of a feature by a private choice among rivals of known weight.
///
/// W_θ(T) = E[1/(1 + R e^(−|U|/β)) given T], where U given T is normal with the mean
/// aθ + (c/V)(T − θ), a = nκ_j/σ_l, and the variance τ_u² − c²/V.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArgmaxSelection {
    /// β.
    noise_scale: f64,
    /// β ln R: the score at which the pick was as likely as not.
    even: f64,
    /// a.
    slope: f64,
    /// c/V.
    pull: f64,
    /// The standard deviation of U given T.
    spread: f64,
}

impl ArgmaxSelection {
    /// The selection of the feature that `pick` describes, in a model that estimates it so.
    ///
    /// # Why
    /// a is at most τ_u²/c, which only matters where c was cut. Then F_θ falls in θ
    /// (docs/proofs/selective_inference.md#4-conditioning).
    #[must_use]
    pub fn new(pick: &Pick, estimate: &Estimate, log_rivals: f64) -> Self {
        let covariance = pick.covariance(estimate.sampling_variance);
        let variance = square(pick.score_std_dev());
        let pull = covariance / estimate.variance;
        Self {
            noise_scale: pick.noise_scale(),
            even: log_rivals * pick.noise_scale(),
            slope: smaller(pick.score_slope(), variance / covariance),
            pull,
            spread: (variance - covariance * pull).sqrt(),
        }
    }

    /// √(τ_u² − c²/V).
    pub(super) const fn spread(&self) -> f64 {
        self.spread
    }

    /// Whether a pick with this mean of U is certain to the last digit.
    pub(super) fn is_certain(&self, mean: f64) -> bool {
        mean - REACH * self.spread > self.even + 40.0 * self.noise_scale
    }

    /// The mean of U given T.
    pub(super) fn mean(&self, coefficient: f64, estimate: f64) -> f64 {
        self.slope * coefficient + self.pull * (estimate - coefficient)
    }

    /// ln(1/(1 + R e^(−u/β))).
    fn log_chance(&self, score: f64) -> f64 {
        let against = (self.even - score) / self.noise_scale;
        if against > 40.0 {
            -against
        } else {
            -log1p(exp(against))
        }
    }

    /// What the first point of the rule counts: a half, and two terms of Euler and Maclaurin.
    ///
    /// # Why
    /// With f = gK, g the chance and K the density of |U|, the odd derivatives of K are zero at u = 0.
    /// So f' = g'K and the third derivative is that of g times K, and 3g'K''. The rule adds h²f'/12
    /// and takes off h⁴/720 of the third.
    fn first_point(&self, mean: f64, step: f64) -> f64 {
        let against = -expm1(self.log_chance(0.0));
        let first = against / self.noise_scale;
        let third = first * (1.0 - 6.0 * against * (1.0 - against)) / square(self.noise_scale);
        let curvature = (square(mean) - 1.0) / square(self.spread);
        let of_third = step * square(step) * (third + 3.0 * first * curvature) / 720.0;
        0.5 + step * first / 12.0 - of_third
    }

    /// ln E[1/(1 + R e^(−|U|/β))] for a normal U with this mean and the deviation `spread`.
    ///
    /// # Why
    /// The trapezoidal rule for u ≥ 0, with the density of |U|. It converges faster than any power for
    /// functions that are analytic and vanish at infinity, once the end at u = 0 is corrected for. The
    /// logarithm of the integrand is concave, with its largest value between the mean and the mean
    /// shifted by the tilt.
    pub(super) fn log_mean_chance(&self, mean: f64) -> f64 {
        if self.is_certain(mean.abs()) {
            return 0.0;
        }
        self.integrated(mean.abs()).0
    }

    /// How fast ln W rises with the mean of U beside zero, where it has a bend: E[|U| given the pick]
    /// at mean zero, over the variance of U.
    pub(super) fn slope_beside_zero(&self) -> f64 {
        self.integrated(0.0).1 / square(self.spread)
    }

    fn step(&self) -> f64 {
        STEP * smaller(self.spread, self.noise_scale)
    }

    /// Points of the rule, whatever the mean.
    fn most_points(&self) -> f64 {
        let shift = square(self.spread) / self.noise_scale;
        (smaller(shift, larger(self.even, 0.0)) + 2.0 * REACH * self.spread) / self.step()
    }

    /// [`log_mean_chance`](Self::log_mean_chance), and the mean of |U| given the pick.
    fn integrated(&self, mean: f64) -> (f64, f64) {
        let spread = self.spread;
        let step = self.step();
        let tilted = mean + square(spread) / self.noise_scale;
        let likely = smaller(tilted, larger(self.even, mean));
        let exponent = |u: f64| self.log_chance(u) - square((u - mean) / spread) / 2.0;
        let reference = exponent(likely);
        let folded = |u: f64| {
            let apart = 2.0 * u * mean / square(spread);
            let mirrored = if apart < 40.0 { exp(-apart) } else { 0.0 };
            exp(exponent(u) - reference) * (1.0 + mirrored)
        };
        let first = (larger(mean - REACH * spread, 0.0) / step).floor();
        let last = ((likely + REACH * spread) / step).ceil();
        let (mut sum, mut moment) = (0.0, 0.0);
        let mut place = first;
        if first <= 0.0 {
            sum = folded(0.0) * self.first_point(mean / spread, step);
            place = 1.0;
        }
        while place <= last {
            let value = folded(place * step);
            sum += value;
            moment += value * place * step;
            place += 1.0;
        }
        let whole = sum * step / (spread * (2.0 * PI).sqrt());
        (smaller(log(whole) + reference, 0.0), moment / sum)
    }
}

/// Steps of the rule, in units of the smaller of β and the deviation.
const STEP: f64 = 0.75;

/// How far the rule reaches, in deviations.
const REACH: f64 = 7.0;

/// The rule has at most so many points. Selections of records stay far below; noise far beyond what was planned does not.
const MOST_POINTS: f64 = 50_000.0;

impl Selection for ArgmaxSelection {
    fn log_weight(&self, coefficient: f64, estimate: f64) -> f64 {
        self.log_mean_chance(self.mean(coefficient, estimate))
    }
}

impl ReportedSelection for ArgmaxSelection {
    fn is_legal(&self) -> bool {
        let positive = |value: f64| value.is_finite() && value > 0.0;
        positive(self.noise_scale)
            && positive(self.spread)
            && self.even.is_finite()
            && self.slope.is_finite()
            && self.pull.is_finite()
            && self.most_points() <= MOST_POINTS
    }

    fn conditional_interval(&self, estimate: &Estimate, level: f64) -> Interval {
        let law = ConditionalLaw {
            selection: &WeightTable::new(self),
            std_error: estimate.std_error(),
        };
        law.interval(estimate.value, level)
    }
}
