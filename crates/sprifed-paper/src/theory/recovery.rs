//! When the paper's algorithms recover the support [SPRIFED, Theorems 7 and 8].

use super::gradient_bound::gradient_bound;
use super::{Situation, Wording};

#[cfg(test)]
pub(crate) mod tests;

/// One condition of a theorem: what it demands, and what there is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Requirement {
    /// The condition, as text.
    pub label: &'static str,
    /// What it demands.
    pub demand: Demand,
    /// Whether it is met.
    pub holds: bool,
}

/// What a condition demands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Demand {
    /// So many records; infinite if no number is enough.
    Records {
        /// The least number.
        required_records: f64,
    },
    /// A quantity at most so large.
    AtMost {
        /// What is allowed.
        allowed: f64,
        /// What there is.
        found: f64,
    },
}

/// What a recovery theorem says of a situation.
#[derive(Clone, Debug, PartialEq)]
pub struct Recovery {
    /// Its conditions.
    pub requirements: Vec<Requirement>,
    /// The probability of exact recovery that it promises if all hold; vacuous if zero.
    pub probability: f64,
}

impl Recovery {
    /// Whether the theorem applies.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.requirements
            .iter()
            .all(|requirement| requirement.holds)
    }

    /// The least number of records that meets every condition on it.
    #[must_use]
    pub fn required_records(&self) -> f64 {
        let of = |requirement: &Requirement| match requirement.demand {
            Demand::Records { required_records } => required_records,
            Demand::AtMost { .. } => 0.0,
        };
        self.requirements.iter().map(of).fold(0.0, f64::max)
    }
}

/// The conditions for SPriFed-OMP [SPRIFED, Theorem 7].
///
/// # Ambiguous in the paper
/// κ₁ is defined twice in one sentence: as κ₃₂(1+νζ)^{3/2} and as κ_{M₂}√(ln(s/p_b))/μ_s. The proof
/// shows that the first belongs into 4√p·s·κ₁ and the second into κ₂; so it is read here. The
/// logarithms differ: √ln(p/p_b) and √ln(s/p_b) as stated, √(2 ln(2(p−s)/p_b)) and √(2 ln(2s²/p_b))
/// in the appendix. κ_{M₂} is 1 + C₁s^{3/2}/(nμ_s(1−ζ)) as stated, but 1 − … in the appendix, which
/// no norm can be; the stated one is used. The third term has no p_b.
#[must_use]
pub fn omp_recovery(situation: &Situation, wording: Wording) -> Recovery {
    let s = situation.size();
    let p = f64::from(situation.n_features);
    let (feature_log, support_log) = match wording {
        Wording::Stated => {
            let root = |count: f64| (count / situation.failure_probability).ln().sqrt();
            (root(p), root(s))
        }
        Wording::Derived => (situation.largest_of(p - s), situation.largest_of(s * s)),
    };
    let inverse = situation.inverse();
    // (1 + (ν + 1)ζ) with the same ν.
    let wider = inverse + situation.isometry_constant;
    let spread = |n: f64| {
        let (constant, mu) = (situation.matrix_constant(), situation.per_support.get());
        1.0 + constant * s.powf(1.5) * inverse / (n * mu)
    };
    let vectors = |n: f64| {
        4.0 * p.sqrt() * s * spread(n) * feature_log / situation.per_vector.get()
            * inverse.powf(1.5)
    };
    let rows = |n: f64| {
        let first = spread(n) * support_log / situation.per_support.get();
        16.0 * s.powf(2.5) * first * inverse.powf(2.5) * wider
    };
    let allowed = situation.smallest_coefficient / (16.0 * (s.sqrt() + 1.0) * inverse);
    Recovery {
        requirements: vec![
            records(
                "sample size against the noise of p-vectors",
                situation,
                vectors,
            ),
            records(
                "sample size against the noise of support rows",
                situation,
                rows,
            ),
            first_pick(situation),
            at_most(
                "restricted isometry of order s + 1",
                1.0 / (4.0 * (1.0 + s.sqrt())),
                situation.isometry_constant,
            ),
            at_most("error of the response", allowed, situation.largest_error()),
        ],
        probability: (1.0 - 40.0 * (s + 1.0) * situation.failure_probability).max(0.0),
    }
}

/// The conditions for SPriFed-OMP-GRAD [SPRIFED, Theorem 8].
///
/// # Ambiguous in the paper
/// ‖α_{S_A^c}‖₂ is the norm of what is not yet chosen; for the condition to hold at every pick it is
/// the smallest coefficient, as the theorem's third condition has it. As stated the first condition
/// has 4(√s+1)(1+√s(κ_α+1)); the appendix derives 2(√s+1)·B_C, and writes B_C as √s·κ'_α + 2X_M·y_M
/// there but as in [SPRIFED, Lemma 5] elsewhere, which is used here. The bound on ζ is ≤ as stated
/// and < in the proof.
#[must_use]
pub fn gradient_recovery(situation: &Situation, wording: Wording) -> Recovery {
    let s = situation.size();
    let p = f64::from(situation.n_features);
    let zeta = situation.isometry_constant;
    let inverse = situation.inverse();
    let at = |n: f64| Situation {
        n_records: as_count(n),
        ..*situation
    };
    let vectors = |n: f64| {
        let there = at(n);
        let factor = match wording {
            Wording::Stated => {
                let root = (1.0 + zeta).sqrt();
                let model = root * (root * there.model_norm + there.largest_error()) * inverse;
                4.0 * (1.0 + s.sqrt() * (model + 1.0))
            }
            Wording::Derived => 2.0 * gradient_bound(&there).stated,
        };
        (s.sqrt() + 1.0) * factor * p.sqrt() * situation.largest_of(p)
            / (situation.per_vector.get() * situation.smallest_coefficient)
    };
    let rows =
        situation.matrix_constant() * s.sqrt() * situation.largest_of(s) * (1.0 + zeta).sqrt()
            / (situation.records() * situation.per_support.get());
    let allowed =
        situation.smallest_coefficient / (6.0 * inverse.powf(1.5) * (s.sqrt() + 1.0 + rows));
    Recovery {
        requirements: vec![
            records(
                "sample size against the noise of gradients",
                situation,
                vectors,
            ),
            first_pick(situation),
            at_most(
                "restricted isometry of order s + 1",
                1.0 / (1.0 + s.sqrt()),
                zeta,
            ),
            at_most("error of the response", allowed, situation.largest_error()),
        ],
        probability: (1.0 - 8.0 * (s + 1.0) * situation.failure_probability).max(0.0),
    }
}

/// 4√ln(p−s)·√p/(μ_p‖α‖₂), in both theorems.
fn first_pick(situation: &Situation) -> Requirement {
    let p = f64::from(situation.n_features);
    let others = (p - situation.size()).max(1.0);
    let required =
        4.0 * others.ln().sqrt() * p.sqrt() / (situation.per_vector.get() * situation.model_norm);
    records("sample size for the first pick", situation, |_| required)
}

fn at_most(label: &'static str, allowed: f64, found: f64) -> Requirement {
    Requirement {
        label,
        demand: Demand::AtMost { allowed, found },
        holds: found <= allowed,
    }
}

/// The condition n ≥ `least(n)`, solved for n.
///
/// # Why
/// The right-hand side holds n itself, in κ_{M₂} or under a logarithm; it grows slower than n, so
/// the condition holds from one n on, which is found by bisection.
pub(super) fn records(
    label: &'static str,
    situation: &Situation,
    least: impl Fn(f64) -> f64,
) -> Requirement {
    let is_enough = |n: f64| n >= least(n);
    let mut above = 1.0;
    while !is_enough(above) && above < LARGEST {
        above *= 2.0;
    }
    let mut below = above / 2.0;
    while above - below > 0.5 && above < LARGEST {
        let middle = f64::midpoint(below, above);
        (below, above) = if is_enough(middle) {
            (below, middle)
        } else {
            (middle, above)
        };
    }
    let required_records = if above < LARGEST {
        above.ceil()
    } else {
        f64::INFINITY
    };
    let holds = is_enough(situation.records());
    Requirement {
        label,
        demand: Demand::Records { required_records },
        holds,
    }
}

/// Beyond this many records a condition counts as out of reach.
const LARGEST: f64 = 1e15;

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates; only a logarithm of the count is taken"
)]
fn as_count(records: f64) -> u32 {
    records.max(1.0) as u32
}
