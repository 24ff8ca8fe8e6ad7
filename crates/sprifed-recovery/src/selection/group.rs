//! p-values of groups of columns that are picked together, by the largest of their scores or by the norm of them.

use core::f64::consts::PI;

use libm::{asin, cos, erfc, exp, log, sin, tgamma};

use super::argmax_pick::{MOST_CORRELATED, Pick};
use super::normal::cumulative;
use super::quadrature::panel;
use super::score_law::{ScoreLaw, largest_survival};
use crate::clipping::{clipped_variance, kept_signal};
use crate::portable::{larger, smaller, square};

#[cfg(test)]
mod tests;

/// One pick of a group of columns, and its estimate.
///
/// # Guarantee
/// As for [`Pick`]. Where the norm picks, the scores of all columns must have the same variance. Otherwise give
/// the largest variance: the law of the norm is then still bounded, and the p-value is an
/// approximation (docs/proofs/selective_inference.md#6-groups).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupPick {
    /// Which score the choice compared.
    pub by: GroupScore,
    /// g: how many columns the group has, at least 1.
    pub columns: u32,
    /// t² = T'V⁻¹T: the squared distance of the estimate from zero.
    pub squared_distance: f64,
    /// ϱ: the largest correlation of the score that picked with a combination of the estimates; by the norm, of a
    /// column's score with its estimate.
    pub correlation: f64,
    /// τ_u: the standard deviation of the score of one column.
    pub score_std_dev: f64,
    /// β.
    pub noise_scale: f64,
    /// λ.
    pub noise_rate: f64,
    /// P: how many scores this choice was made among.
    pub candidates: f64,
}

/// Which score of a group a choice compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupScore {
    /// The norm of the scores of its columns.
    Norm,
    /// The score of each column on its own; the one that is picked brings its group with it.
    Column,
}

/// The estimates of a group's columns, as far as its p-value depends on them.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupEstimate {
    /// t² = T'V⁻¹T: the squared distance of the estimates from zero.
    pub squared_distance: f64,
    /// The diagonals of V_s⁻¹ and of V⁻¹, column by column.
    pub precisions: Vec<(f64, f64)>,
}

/// The score of a column of zeros and ones without effect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IndicatorScore {
    /// τ_u: its standard deviation.
    pub std_dev: f64,
    /// How far its mean moves for each unit of the coefficient.
    pub slope: f64,
}

impl IndicatorScore {
    /// The score that `pick` compared, of a column in which one is 1/`feature_scale` units of the feature scale f.
    ///
    /// # Why
    /// [`Pick`] takes features as normal. Of zeros and ones the law is known: a share v·f² of the records has a one, which
    /// the clip b·f turns into min(1, b·f)/(b·f).
    #[must_use]
    pub fn of(pick: &Pick, feature_scale: f64) -> Self {
        let limit = pick.feature_clip * feature_scale;
        let size = smaller(limit, 1.0) / limit;
        let ones = pick.n_records * smaller(pick.feature_variance * square(feature_scale), 1.0);
        let kept = kept_signal(pick.residual_clip) / pick.residual_clip;
        Self {
            std_dev: size * (ones * clipped_variance(pick.residual_clip)).sqrt(),
            slope: ones * size / feature_scale * kept / pick.residual_scale,
        }
    }
}

impl GroupEstimate {
    fn columns(&self) -> u32 {
        u32::try_from(self.precisions.len()).unwrap_or(0)
    }

    /// The p-value of a group that nothing selected: P(χ²_g > t²).
    #[must_use]
    pub fn p_value(&self) -> f64 {
        if self.squared_distance >= 0.0 {
            smaller(survival(self.columns(), self.squared_distance), 1.0)
        } else {
            1.0
        }
    }

    /// The p-value of a group that came with its column number `column`, which `pick` named by this `score`.
    ///
    /// # Why
    /// The score of a level is the sum of errors over its records. Given the other features, its covariance with the
    /// estimates is that of its own level alone, c = slope/(V_s⁻¹)_jj. So no combination of them is more correlated
    /// with it than ϱ = c·√((V⁻¹)_jj)/τ_u.
    #[must_use]
    pub fn p_value_of_pick(&self, column: usize, pick: &Pick, score: IndicatorScore) -> f64 {
        let Some((sampling, whole)) = self.precisions.get(column) else {
            return 1.0;
        };
        let pick = GroupPick {
            by: GroupScore::Column,
            columns: self.columns(),
            squared_distance: self.squared_distance,
            correlation: score.slope / sampling * whole.sqrt() / score.std_dev,
            score_std_dev: score.std_dev,
            noise_scale: pick.noise_scale(),
            noise_rate: pick.noise_rate,
            candidates: pick.candidates,
        };
        pick.p_value()
    }
}

impl GroupPick {
    /// The p-value of the group; 1 where the numbers are not those of a pick.
    #[must_use]
    pub fn p_value(&self) -> f64 {
        let positive = |value: f64| value.is_finite() && value > 0.0;
        let needed = [
            self.score_std_dev,
            self.noise_scale,
            self.noise_rate,
            self.candidates,
        ];
        let is_legal = needed.into_iter().all(positive)
            && self.columns > 0
            && self.squared_distance >= 0.0
            && self.correlation >= 0.0
            && self.candidates >= 1.0;
        if !is_legal {
            return 1.0;
        }
        let correlation = smaller(self.correlation, MOST_CORRELATED);
        let spread = (1.0 - square(correlation)).sqrt();
        let tilt = self.score_std_dev / self.noise_scale;
        let mean = match self.by {
            // Given the norm, all of the estimate has the variance 1 − ϱ².
            GroupScore::Norm => {
                let limit = self.squared_distance / square(spread);
                let shift = correlation / spread;
                let exceeds = |u: f64| survival_along(self.columns, (shift * u, 1.0), limit);
                self.law_of_norm(tilt).mean_of(exceeds)
            }
            // Given one score, one direction of it has that variance, and the others one.
            GroupScore::Column => {
                let limit = self.squared_distance;
                let exceeds =
                    |u: f64| survival_along(self.columns, (correlation * u, spread), limit);
                ScoreLaw::of_pick(tilt, self.candidates).mean_of(exceeds)
            }
        };
        smaller(exp(2.0 * self.noise_rate) * mean, 1.0)
    }

    /// The bound on the law of the norm of the scores, in units of τ_u.
    fn law_of_norm(&self, tilt: f64) -> ScoreLaw {
        let power = f64::from(self.columns - 1);
        let peak = tilt / 2.0 + (square(tilt) / 4.0 + power).sqrt();
        let end = smaller(peak + 9.0, self.end_of_largest());
        let tilted = TiltedNorm::new(tilt, power, peak);
        ScoreLaw::of_survival(end, |u| {
            let tail = survival(self.columns, square(u));
            smaller(tilted.survival(u), largest_survival(tail, self.candidates))
        })
    }

    /// Where the largest of all candidates lies with probability 1e-12.
    fn end_of_largest(&self) -> f64 {
        let goal = 1e-12 / self.candidates;
        let (mut low, mut high) = (0.0, 60.0 + f64::from(self.columns).sqrt());
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if survival(self.columns, square(middle)) > goal {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }
}

/// The law with the density x^(g−1) e^(xt − x²/2) up to a constant, on x > 0.
struct TiltedNorm {
    tilt: f64,
    power: f64,
    peak: f64,
    whole: f64,
}

impl TiltedNorm {
    fn new(tilt: f64, power: f64, peak: f64) -> Self {
        let mut law = Self {
            tilt,
            power,
            peak,
            whole: 1.0,
        };
        law.whole = law.mass_from(0.0);
        law
    }

    fn survival(&self, u: f64) -> f64 {
        self.mass_from(u) / self.whole
    }

    /// The mass above u, in units of the density at the peak. The logarithm of the density is
    /// concave with a curvature of at least 1, so nine units beside the peak hold all that counts.
    fn mass_from(&self, u: f64) -> f64 {
        let (start, end) = (larger(u, self.peak - 9.0), larger(u, self.peak) + 9.0);
        let start = larger(start, 0.0);
        let width = (end - start) / TILTED_PANELS;
        let mut sum = 0.0;
        let mut place = 0.0;
        while place < TILTED_PANELS {
            let ends = (start + place * width, start + (place + 1.0) * width);
            sum += panel(ends, |x| self.density(x));
            place += 1.0;
        }
        sum
    }

    fn density(&self, x: f64) -> f64 {
        let apart = x - self.peak;
        let exponent = self.tilt * apart - (square(x) - square(self.peak)) / 2.0;
        let power = if self.power > 0.0 {
            self.power * log(x / self.peak)
        } else {
            0.0
        };
        exp(exponent + power)
    }
}

const TILTED_PANELS: f64 = 16.0;

/// P(χ²_g > x), by the finite sums for whole g.
fn survival(freedom: u32, x: f64) -> f64 {
    let half = x / 2.0;
    let (mut sum, mut term, mut order) = if freedom.is_multiple_of(2) {
        (0.0, exp(-half), 0.0)
    } else {
        (
            erfc(half.sqrt()),
            exp(-half) * half.sqrt() / tgamma(1.5),
            0.5,
        )
    };
    for _ in 0..freedom / 2 {
        sum += term;
        order += 1.0;
        term *= half / order;
    }
    sum
}

/// P((`spread`·z + `shift`)² + χ²_(g−1) > x) for a normal z, to an absolute 1e-13. With a spread of one it is
/// P(χ'²_g > x) with the noncentrality `shift`².
///
/// # Why
/// With |spread·z + shift| = √x·sin the integrand is smooth up to both ends.
fn survival_along(freedom: u32, (shift, spread): (f64, f64), x: f64) -> f64 {
    let radius = x.sqrt();
    let outside = cumulative((shift - radius) / spread) + cumulative((-shift - radius) / spread);
    if freedom == 1 || radius <= 0.0 {
        return smaller(outside, 1.0);
    }
    // Farther across than this, less than e^(−37) of χ²_(g−1) is left.
    let degrees = f64::from(freedom);
    let farthest = degrees + 2.0 * (37.0 * degrees).sqrt() + 74.0;
    let nearest = if x > farthest {
        (x - farthest).sqrt()
    } else {
        -radius
    };
    let (low, high) = (
        larger(shift - REACH * spread, nearest),
        smaller(shift + REACH * spread, radius),
    );
    if low >= high {
        return smaller(outside, 1.0);
    }
    let (start, end) = (asin(low / radius), asin(high / radius));
    let panels = larger(((high - low) / (0.75 * spread)).ceil(), 12.0);
    let width = (end - start) / panels;
    let inside = |angle: f64| {
        let (along, across) = (radius * sin(angle), radius * cos(angle));
        let density = exp(-square((along - shift) / spread) / 2.0) / ((2.0 * PI).sqrt() * spread);
        density * survival(freedom - 1, square(across)) * across
    };
    let (mut sum, mut place) = (0.0, 0.0);
    while place < panels {
        let ends = (start + place * width, start + (place + 1.0) * width);
        sum += panel(ends, inside);
        place += 1.0;
    }
    smaller(outside + sum, 1.0)
}

/// Normal deviations beyond which nothing counts.
const REACH: f64 = 9.0;
