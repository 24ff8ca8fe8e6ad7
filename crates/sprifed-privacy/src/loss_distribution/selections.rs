//! What selections and Gaussian releases cost together.

use super::LossDistribution;
use super::composition::{self, LONGEST, SPREAD};
use crate::quantity::{ApproxDp, Delta, Epsilon, Mu, RangeBound};
use crate::rounding::{bisect, upward};
use crate::{concentrated, gaussian};

/// What selections of these ranges, each made so many times, and a Gaussian release cost
/// together at `delta`, rounded up.
///
/// # Guarantee
/// The composition satisfies the returned pair, whatever the order of its parts and however each
/// was chosen from the answers before it.
///
/// # Why
/// The least of four bounds, each sound alone:
/// - zCDP: ρ = Σ r²/8 + μ²/2 [CR21, Sec. 3], [BS16, Lemma 2.3], [CKS20, Prop. 12];
/// - the Rényi divergence of the dominating logistic pairs at one order [CKS20, Prop. 12];
/// - their privacy loss distribution [ZDW22, Thm 10], [DGKKM22, Sec. 3];
/// - the sum of the ranges, since bounded range is pure DP [DDR20, Sec. 2], and the ε of the
///   Gaussian alone.
#[must_use]
pub fn compose_selections(
    ranges: &[(RangeBound, u32)],
    gaussian: Option<Mu>,
    delta: Delta,
) -> ApproxDp {
    compose_selections_by(Bounds::All, ranges, gaussian, delta)
}

/// Which bounds on a composition are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bounds {
    /// All that are known.
    All,
    /// Those of a closed form: without the privacy loss distribution, which takes a thousand times as long.
    ClosedForm,
}

/// As [`compose_selections`], by the least of these bounds.
pub(crate) fn compose_selections_by(
    bounds: Bounds,
    ranges: &[(RangeBound, u32)],
    gaussian: Option<Mu>,
    delta: Delta,
) -> ApproxDp {
    let run = Run {
        ranges: merge_equal(ranges),
        mu: gaussian,
    };
    let claimed = upward(run.epsilon(bounds, delta)).min(f64::MAX);
    let epsilon = Epsilon::try_from(claimed).unwrap_or_else(|_| unreachable!("ε ≥ 0"));
    ApproxDp::new(epsilon, delta)
}

/// Selections of distinct ranges with their counts, largest range first, and a Gaussian.
struct Run {
    ranges: Vec<(RangeBound, u32)>,
    mu: Option<Mu>,
}

impl Run {
    fn epsilon(&self, bounds: Bounds, delta: Delta) -> f64 {
        let goal = delta.get().ln();
        let alone = self.mu.map_or(0.0, |mu| gaussian::epsilon(mu.get(), goal));
        let pure = alone + self.sum(|range, count| count * range);
        match (self.ranges.as_slice(), self.mu) {
            ([], _) => return alone,
            (&[(range, 1)], None) => return range.single_epsilon(delta),
            _ => {}
        }
        let rho = self.sum(|range, count| count * range * range / 8.0) + self.squared_mu() / 2.0;
        let tilt = self.best_tilt(goal);
        let renyi = (self.log_moment(tilt) - goal - tilt.ln_1p()) / tilt - (1.0 / tilt).ln_1p();
        let grid = match bounds {
            Bounds::All => self.grid_epsilon(tilt, goal),
            Bounds::ClosedForm => f64::INFINITY,
        };
        let routes = [concentrated::epsilon(rho, goal), renyi, pure, grid];
        routes.into_iter().fold(f64::INFINITY, f64::min).max(0.0)
    }

    /// ε by way of the grid; infinite where the grid would have to be too long or too coarse.
    fn grid_epsilon(&self, best_tilt: f64, goal: f64) -> f64 {
        let count = self.sum(|_, count| count) + 1.0;
        let mut tilt = best_tilt;
        let std_dev = self.variance(tilt).sqrt();
        // Connecting the dots adds about width²/6 to the variance of each loss. This keeps the
        // excess of ε below 2e-5, relatively and in units of ε.
        let fine = (std_dev * (2.4e-4 / count).sqrt()).min((4e-5 * std_dev / count).sqrt());
        let longest = self.ranges.first().map_or(0.0, |(range, _)| range.get());
        let width = fine
            .max(2.0 * SPREAD * std_dev / (LONGEST as f64 - 64.0))
            .max(longest / MOST_CELLS);
        if width > 0.5 {
            return f64::INFINITY;
        }
        while self.variance(tilt).sqrt() < 4.0 * width && tilt > 1.0 {
            tilt /= 2.0;
        }
        let mut parts: Vec<(LossDistribution, u32)> = self
            .few_ranges()
            .into_iter()
            .map(|(range, count)| (LossDistribution::selection(range, width), count))
            .collect();
        if let Some(mu) = self.mu {
            parts.push((LossDistribution::gaussian(mu, width, tilt), 1));
        }
        composition::epsilon(&parts, tilt, goal)
    }

    /// The order less 1 at which the Rényi bound is least.
    ///
    /// # Why
    /// Its derivative vanishes where t K′(t) − K(t) + ln(1 + t) = ln(1/δ), K the logarithm of the
    /// moment E e^(t L); the left side increases.
    fn best_tilt(&self, goal: f64) -> f64 {
        let enough = |t: f64| t * self.mean(t) - self.log_moment(t) + t.ln_1p() >= -goal;
        bisect((1e-9, 1e12), enough).1
    }

    /// ln E e^(t L) of the composed loss L.
    fn log_moment(&self, tilt: f64) -> f64 {
        let selections = self.sum(|range, count| {
            count * (log_sinh_ratio((tilt + 0.5) * range) - log_sinh_ratio(range / 2.0))
        });
        selections + self.squared_mu() * tilt * (tilt + 1.0) / 2.0
    }

    /// The mean of L tilted by `tilt`: the derivative of its logarithmic moment.
    fn mean(&self, tilt: f64) -> f64 {
        let x = tilt + 0.5;
        self.sum(|range, count| count * range * langevin(x * range)) + self.squared_mu() * x
    }

    /// The variance of L tilted by `tilt`.
    fn variance(&self, tilt: f64) -> f64 {
        let x = tilt + 0.5;
        let selections = self.sum(|range, count| count * range * range * langevin_slope(x * range));
        selections + self.squared_mu()
    }

    fn squared_mu(&self) -> f64 {
        self.mu.map_or(0.0, |mu| mu.get() * mu.get())
    }

    fn sum(&self, term: impl Fn(f64, f64) -> f64) -> f64 {
        self.ranges
            .iter()
            .map(|&(range, count)| term(range.get(), f64::from(count)))
            .sum()
    }

    /// At most [`MOST_RANGES`] distinct ranges, some of them raised to a larger neighbour.
    fn few_ranges(&self) -> Vec<(RangeBound, u32)> {
        let share = self.ranges.len().div_ceil(MOST_RANGES).max(1);
        let counts = |chunk: &[(RangeBound, u32)]| {
            chunk
                .iter()
                .fold(0_u32, |sum, &(_, count)| sum.saturating_add(count))
        };
        self.ranges
            .chunks(share)
            .filter_map(|chunk| chunk.first().map(|&(largest, _)| (largest, counts(chunk))))
            .collect()
    }
}

/// Equal ranges together, the largest first.
fn merge_equal(ranges: &[(RangeBound, u32)]) -> Vec<(RangeBound, u32)> {
    let mut sorted: Vec<_> = ranges
        .iter()
        .copied()
        .filter(|&(_, count)| count > 0)
        .collect();
    sorted.sort_by(|(first, _), (second, _)| second.get().total_cmp(&first.get()));
    let mut merged: Vec<(RangeBound, u32)> = Vec::new();
    for (range, count) in sorted {
        match merged.last_mut() {
            Some((last, total)) if last.get().total_cmp(&range.get()).is_eq() => {
                *total = total.saturating_add(count);
            }
            _ => merged.push((range, count)),
        }
    }
    merged
}

/// ln(sinh z / z).
fn log_sinh_ratio(z: f64) -> f64 {
    if z > 1.0 {
        return z + (-(-2.0 * z).exp()).ln_1p() - (2.0 * z).ln();
    }
    let mut term = 1.0;
    let excess: f64 = (1..=12)
        .map(|n| {
            let even = f64::from(2 * n);
            term *= z * z / (even * (even + 1.0));
            term
        })
        .sum();
    excess.ln_1p()
}

/// coth z − 1/z.
fn langevin(z: f64) -> f64 {
    if z < 0.05 {
        z / 3.0 - z.powi(3) / 45.0 + 2.0 * z.powi(5) / 945.0
    } else {
        1.0 / z.tanh() - 1.0 / z
    }
}

/// 1/z² − 1/sinh² z.
fn langevin_slope(z: f64) -> f64 {
    if z < 0.05 {
        1.0 / 3.0 - z * z / 15.0 + 2.0 * z.powi(4) / 189.0
    } else {
        let inverse_sinh = if z > 300.0 { 0.0 } else { 1.0 / z.sinh() };
        1.0 / (z * z) - inverse_sinh * inverse_sinh
    }
}

/// The most grid cells that one half of a selection's range is cut into.
const MOST_CELLS: f64 = 32_768.0;

/// The most distinct ranges that are transformed one by one.
const MOST_RANGES: usize = 24;
