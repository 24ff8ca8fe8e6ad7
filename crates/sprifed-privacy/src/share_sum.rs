//! Sums of noise shares: how far they are from Gaussian noise, and what that costs.
//!
//! A sum of discrete Gaussians is not a discrete Gaussian [KLS21, Sec. 3], and a discrete Gaussian is not
//! μ-GDP. Both statements fail by a factor e^±D of the likelihood with an explicit and, for a
//! share variance of 4 or more, invisible D. The accountant charges the sandwich that follows;
//! the exact numbers are here to test it.
//!
//! What this module does not do: it never treats a sum of shares as the noise it resembles.

use core::f64::consts::PI;
use core::num::NonZeroU32;

use crate::discrete_gaussian::sum_law::{SumLaw, largest_log_ratio};
use crate::discrete_gaussian::{DiscreteGaussian, poisson_remainder, sum_log_ratio_bound};
use crate::gaussian;
use crate::quantity::{Delta, Epsilon, Mu};
use crate::rounding::upward;

#[cfg(test)]
mod tests;

/// The noise that a sum of `count` equal shares carries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShareSum {
    /// The law of one share.
    pub share: DiscreteGaussian,
    /// How many shares there are.
    pub count: NonZeroU32,
}

impl ShareSum {
    /// t1: a bound on |ln P(W = w)/P(N = w)| for the sum W and the discrete Gaussian N of the
    /// summed parameter, by merging one share after another.
    ///
    /// # Guarantee
    /// The bound holds for every integer w, and for every smaller number of shares.
    ///
    /// # Why
    /// docs/proofs/discrete_noise.md#1-merging-shares; [KLS21, Thm 9] has a bound of the Poisson remainder.
    #[must_use]
    pub fn merging_slack(self) -> f64 {
        merging_slack(self.share.parameter(), self.count.get())
    }

    /// τ of the literature: at least twice [`ShareSum::merging_slack`].
    ///
    /// # Why
    /// [KLS21, Thm 1]: τ = 10 Σ exp(−2π² σ² k/(k+1)) over k < m.
    #[must_use]
    pub fn published_slack(self) -> f64 {
        let rate = 2.0 * PI * PI * self.share.parameter();
        10.0 * sum_over_merges(self.count.get(), |fraction| (-rate * fraction).exp())
    }

    /// The largest |ln P(W = w)/P(N = w)|, exactly.
    #[must_use]
    pub fn exact_log_ratio(self) -> f64 {
        largest_log_ratio(self.share, self.count.get())
    }

    /// A bound on the same from all dual vectors at once: ln((1 + Θ)/(1 − Θ)), Θ the theta series
    /// of the dual lattice A*_{m−1} without its origin. Infinite where Θ ≥ 1.
    ///
    /// # Why
    /// Poisson summation over the integer vectors of a given sum.
    #[must_use]
    pub fn lattice_bound(self) -> f64 {
        sum_log_ratio_bound(self.share, self.count.get())
    }

    /// δ(ε) between the noise and the noise shifted by `shift`, exactly.
    ///
    /// # Why
    /// Convolutions of log-concave laws are log-concave, so the worst set is a half-line.
    #[must_use]
    pub fn delta_of_shift(self, shift: u32, epsilon: Epsilon) -> f64 {
        SumLaw::new(self.share, self.count.get()).delta_of_shift(shift, epsilon.get())
    }
}

/// t1 for `count` shares of parameter `parameter`; infinite where the bound says nothing.
///
/// Merges get cheaper as the sum grows, so those beyond the first [`EXACT_MERGES`] are counted as if
/// each cost what the last of these does: an upper bound in bounded time.
pub(crate) fn merging_slack(parameter: f64, count: u32) -> f64 {
    let term = |fraction: f64| smoothing_slack(parameter * fraction);
    let exact = sum_over_merges(count.min(EXACT_MERGES), term);
    let rest = f64::from(count.saturating_sub(EXACT_MERGES));
    let last = f64::from(EXACT_MERGES - 1) / f64::from(EXACT_MERGES);
    if rest > 0.0 {
        exact + rest * term(last)
    } else {
        exact
    }
}

/// Merges that are added up one by one.
const EXACT_MERGES: u32 = 100_000;

/// t2: a bound on the log-ratio between a discrete Gaussian and a continuous one, of a parameter
/// that is `parameter` smaller, rounded at random.
///
/// # Why
/// docs/proofs/discrete_noise.md#2-from-discrete-to-continuous: ln((1 + K)/(1 − K)) with K of
/// [`poisson_remainder`].
#[must_use]
pub fn smoothing_slack(parameter: f64) -> f64 {
    let remainder = poisson_remainder(parameter);
    if remainder < 1.0 {
        2.0 * remainder.atanh()
    } else {
        f64::INFINITY
    }
}

/// The ε that noise with the likelihood of μ-GDP noise up to a factor e^±`slack` has at `delta`,
/// rounded up.
///
/// # Guarantee
/// (ε, `delta`)-DP for the whole run, if `slack` bounds the log-ratio of its transcripts.
///
/// # Why
/// P(E) ≤ e^D P̃(E) ≤ e^D (e^ε Q̃(E) + δ_μ(ε)) ≤ e^(ε+2D) Q(E) + e^D δ_μ(ε), and [DRS19, Cor. 2.13];
/// docs/proofs/discrete_noise.md#3-a-whole-run.
#[must_use]
pub fn sandwich_epsilon(mu: Mu, slack: f64, delta: Delta) -> f64 {
    upward(2.0 * slack + gaussian::epsilon(mu.get(), delta.get().ln() - slack))
}

/// The δ that the same sandwich gives at `epsilon`, at most 1.
///
/// # Why
/// As [`sandwich_epsilon`].
#[must_use]
pub fn sandwich_delta(mu: Mu, slack: f64, epsilon: Epsilon) -> f64 {
    let log_delta = gaussian::log_delta(mu.get(), epsilon.get() - 2.0 * slack);
    (log_delta + slack).exp().min(1.0)
}

/// Σ term(k/(k+1)) over k = 1, …, count − 1, the smallest terms first.
fn sum_over_merges(count: u32, term: impl Fn(f64) -> f64) -> f64 {
    (1..count)
        .rev()
        .map(|k| term(f64::from(k) / (f64::from(k) + 1.0)))
        .sum()
}
