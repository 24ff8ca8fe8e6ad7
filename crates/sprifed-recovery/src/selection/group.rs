//! p-values of groups of columns that are picked together, by the norm of their scores.

use core::f64::consts::PI;

use libm::{asin, cos, erfc, exp, log, sin, tgamma};

use super::argmax_pick::MOST_CORRELATED;
use super::normal::cumulative;
use super::quadrature::panel;
use super::score_law::{ScoreLaw, largest_survival};
use crate::portable::{larger, smaller, square};

#[cfg(test)]
mod tests;

/// One pick of a group of columns, and its estimate.
///
/// # Guarantee
/// As for [`Pick`](super::Pick), if the scores of all columns have the same variance. Otherwise give
/// the largest variance: the law of the norm is then still bounded, and the p-value is an
/// approximation (docs/proofs/selective_inference.md#6-groups).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupPick {
    /// g: how many columns the group has, at least 1.
    pub columns: u32,
    /// t² = T'V⁻¹T: the squared distance of the estimate from zero.
    pub squared_distance: f64,
    /// ϱ: the largest correlation c/(τ_u√V) of a column's score with its estimate.
    pub correlation: f64,
    /// τ_u: the standard deviation of the score of one column.
    pub score_std_dev: f64,
    /// β.
    pub noise_scale: f64,
    /// λ.
    pub noise_rate: f64,
    /// P: how many groups and single features this choice was made among.
    pub candidates: f64,
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
        let rest = 1.0 - square(correlation);
        let limit = self.squared_distance / rest;
        let shift = correlation / rest.sqrt();
        let exceeds = |u: f64| noncentral_survival(self.columns, shift * u, limit);
        let p = exp(2.0 * self.noise_rate) * self.law().mean_of(exceeds);
        smaller(p, 1.0)
    }

    /// The bound on the law of the norm of the scores, in units of τ_u.
    fn law(&self) -> ScoreLaw {
        let tilt = self.score_std_dev / self.noise_scale;
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

/// P(χ'²_g > x) with the noncentrality `shift`², to an absolute 1e-13.
///
/// # Why
/// χ'²_g is (z + shift)² and an independent χ²_(g−1). With |z + shift| = √x·sin the integrand is smooth
/// up to both ends.
fn noncentral_survival(freedom: u32, shift: f64, x: f64) -> f64 {
    let radius = x.sqrt();
    let outside = cumulative(shift - radius) + cumulative(-shift - radius);
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
        larger(shift - REACH, nearest),
        smaller(shift + REACH, radius),
    );
    if low >= high {
        return smaller(outside, 1.0);
    }
    let (start, end) = (asin(low / radius), asin(high / radius));
    let panels = larger(((high - low) / 0.75).ceil(), 12.0);
    let width = (end - start) / panels;
    let inside = |angle: f64| {
        let (along, across) = (radius * sin(angle), radius * cos(angle));
        let density = exp(-square(along - shift) / 2.0) / (2.0 * PI).sqrt();
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
