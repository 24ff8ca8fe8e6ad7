//! What one sum releases, and what that costs.
//!
//! A sum is a row of blocks, each with its own grid and its own noise; together they are one
//! Gaussian mechanism. The noise is a sum of discrete Gaussians, one from every noise source that
//! stays, and its guarantee is that of a continuous Gaussian up to an explicit slack.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{Signed, Zero};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::block::Block;
use crate::neighbours::Relation;
use crate::participation::Participation;
use crate::protocol_failure::{check_left, left_for_noise};
use crate::quantity::{ApproxDp, Delta, Epsilon, IllegalQuantity, Mu};
use crate::rational::nearest_double;
use crate::record_part::RecordPart;
use crate::rounding::upward;
use crate::selection_law::LARGEST_CURATOR_RATE;
use crate::{gaussian, share_sum};

#[cfg(test)]
mod tests;

/// r²: the part of the discrete noise that pays for its being discrete.
pub(crate) const SMOOTHING_VARIANCE: u32 = 3;

/// The smallest variance of a noise share for which shares merge with a negligible slack.
const LEAST_SHARE_VARIANCE: u32 = 4;

/// How many trustees deal noise.
const TRUSTEES: u32 = 3;

/// How many of them may know their own share and pool it with what is opened.
const COLLUDING_TRUSTEES: u32 = 1;

/// The largest slack with which a guarantee is still certified.
pub const LARGEST_SLACK: f64 = 1e-9;

/// A plan for which no certified guarantee exists.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Uncertifiable {
    /// A share's noise is too fine for its grid.
    #[error(
        "block {block:?} gives each client noise of variance {found}, but at least 4 grid units are required; use a finer grid"
    )]
    ShareTooSmall {
        /// The block.
        block: String,
        /// Its share variance.
        found: String,
    },
    /// The discretisation costs too much.
    #[error(
        "the discretisation slack is {found:.3e}, but at most {LARGEST_SLACK:.0e} is certified; use a finer grid"
    )]
    SlackTooLarge {
        /// The slack of the sum.
        found: f64,
    },
    /// The sum has no coordinates.
    #[error("the sum {found:?} has no coordinates; ask for at least one")]
    Empty {
        /// The names of its blocks.
        found: String,
    },
    /// The rate of a selection is one that a curator cannot draw, or for which the clamps of trustees are not proved.
    #[error(
        "the selection has noise of rate {found}, but a curator draws noise of rates up to {most}, and trustees deal noise of \
         rates between 1/16384 and 1; ask for a choice of another range",
        most = LARGEST_CURATOR_RATE
    )]
    UndealtRate {
        /// λ.
        found: f64,
    },
    /// A release about a part of the records, where no rule for parts is proved.
    #[error("a release about {found} is certified only {required}")]
    OnePart {
        /// The part.
        found: &'static str,
        /// Where it is certified.
        required: &'static str,
    },
    /// A number of the plan does not fit.
    #[error("block {block:?} is too large to be accounted for; use a coarser grid")]
    TooLarge {
        /// The block.
        block: String,
    },
    /// A cost that is not a legal quantity.
    #[error(transparent)]
    Illegal(#[from] IllegalQuantity),
}

/// Who adds the noise of a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NoiseOrigin {
    /// Every client adds a share, and enough honest ones stay.
    Shares(Participation),
    /// One trusted party adds all of it.
    Curator,
    /// Each of three trustees deals a share, and at most one of them colludes.
    Trustees,
}

impl NoiseOrigin {
    /// h: how many honest shares are certain to be in the sum.
    #[must_use]
    pub const fn certain_shares(self) -> u32 {
        match self {
            Self::Shares(participation) => participation.honest(),
            Self::Curator => 1,
            Self::Trustees => TRUSTEES - COLLUDING_TRUSTEES,
        }
    }

    /// The most shares that can be in the sum.
    #[must_use]
    pub const fn most_shares(self) -> u32 {
        match self {
            Self::Shares(participation) => participation.clients(),
            Self::Curator => 1,
            Self::Trustees => TRUSTEES,
        }
    }
}

/// One sum: its blocks, all public.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SumPlan {
    /// The blocks, in the order of their coordinates.
    pub blocks: Vec<Block>,
    /// The records that it is about.
    #[serde(default, skip_serializing_if = "RecordPart::is_all")]
    pub part: RecordPart,
}

/// What a sum, or several, cost: μ², the slack of the discretisation, and how likely the protocol fails
/// that shows nothing but sums.
///
/// # Guarantee
/// Releases of this cost are (ε + 2D, e^D δ_μ(ε) + φ)-DP for every ε, where D is the slack and φ the
/// probability of failure.
///
/// # Why
/// Noise that is a sum of discrete Gaussians is within e^D of a post-processing of continuous
/// Gaussian noise: merging the h certain shares changes a likelihood by at most t1 per coordinate
/// (docs/proofs/discrete_noise.md#1-merging-shares), smoothing by at most t2 (#2), further shares are
/// post-processing, and μ² adds over adaptive rounds [DRS19, Cor. 3.3]. φ is added as
/// docs/proofs/protocol_failure.md#1-why-the-probability-is-added-to-delta shows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "StatedCost")]
pub struct SumCost {
    squared_mu: f64,
    slack: f64,
    failure: f64,
}

/// A cost as it was written, before it is checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StatedCost {
    squared_mu: f64,
    slack: f64,
    #[serde(default)]
    failure: f64,
}

impl TryFrom<StatedCost> for SumCost {
    type Error = Uncertifiable;

    fn try_from(stated: StatedCost) -> Result<Self, Uncertifiable> {
        let cost = Self {
            squared_mu: stated.squared_mu,
            slack: stated.slack,
            failure: stated.failure,
        };
        cost.check()?;
        Ok(cost)
    }
}

impl SumPlan {
    /// How many integers the sum consists of.
    #[must_use]
    pub fn coordinates(&self) -> u64 {
        self.blocks
            .iter()
            .map(|block| u64::from(block.coordinates))
            .sum()
    }

    /// What the sum costs when its noise comes from `origin`, if nothing but the sum is seen.
    ///
    /// # Guarantee
    /// As [`SumCost`], with φ = 0; see [`SumCost::with_protocol_of`].
    ///
    /// # Errors
    /// When a share is too small, the slack too large, or the sum empty.
    pub fn cost(&self, origin: NoiseOrigin, relation: Relation) -> Result<SumCost, Uncertifiable> {
        if self.coordinates() == 0 {
            let found = self
                .blocks
                .iter()
                .map(|block| block.name.as_str())
                .collect::<Vec<_>>();
            return Err(Uncertifiable::Empty {
                found: found.join(" | "),
            });
        }
        let mut squared_mu = BigRational::zero();
        let mut slack = 0.0;
        for block in &self.blocks {
            squared_mu += squared_block_cost(block, origin, relation)?;
            slack += block_slack(block, origin);
        }
        let cost = SumCost {
            squared_mu: nearest_double(&squared_mu),
            slack,
            failure: 0.0,
        };
        cost.check()?;
        Ok(cost)
    }
}

fn squared_block_cost(
    block: &Block,
    origin: NoiseOrigin,
    relation: Relation,
) -> Result<BigRational, Uncertifiable> {
    let share = block.share_variance.to_exact();
    if share < BigRational::from(BigInt::from(LEAST_SHARE_VARIANCE)) {
        let found = block.share_variance.to_string();
        return Err(Uncertifiable::ShareTooSmall {
            block: block.name.clone(),
            found,
        });
    }
    let too_large = || Uncertifiable::TooLarge {
        block: block.name.clone(),
    };
    let moved = block.squared_sensitivity(relation).ok_or_else(too_large)?;
    let certain = share * BigRational::from(BigInt::from(origin.certain_shares()));
    let gaussian = certain - BigRational::from(BigInt::from(SMOOTHING_VARIANCE));
    debug_assert!(
        gaussian.is_positive(),
        "a share variance of at least 4 exceeds 3"
    );
    Ok(BigRational::from(BigInt::from(moved)) / gaussian)
}

fn block_slack(block: &Block, origin: NoiseOrigin) -> f64 {
    // Shares beyond the certain ones are independent of all else: adding them is post-processing.
    let merging = share_sum::merging_slack(block.share_variance.to_f64(), origin.certain_shares());
    let smoothing = share_sum::smoothing_slack(f64::from(SMOOTHING_VARIANCE));
    f64::from(block.coordinates) * (merging + smoothing)
}

impl SumCost {
    /// μ of the Gaussian mechanism behind the sum, rounded up.
    ///
    /// # Errors
    /// When the cost is not a legal μ, which [`SumPlan::cost`] excludes.
    pub fn mu(self) -> Result<Mu, IllegalQuantity> {
        Mu::from_square(self.squared_mu * (1.0 + 1e-12))
    }

    /// μ².
    #[must_use]
    pub const fn squared_mu(self) -> f64 {
        self.squared_mu
    }

    /// D: the slack of the discretisation.
    #[must_use]
    pub const fn slack(self) -> f64 {
        self.slack
    }

    /// φ: how likely the protocol fails that shows nothing but sums.
    #[must_use]
    pub const fn failure(self) -> f64 {
        self.failure
    }

    /// The same cost where sums are all that is seen only if the protocol of `origin` does not fail.
    #[must_use]
    pub fn with_protocol_of(self, origin: NoiseOrigin) -> Self {
        Self {
            failure: origin.protocol_failure(),
            ..self
        }
    }

    /// Both costs together, the second sum of the same study chosen with knowledge of the first's answer.
    ///
    /// # Why
    /// [DRS19, Cor. 3.3] for μ; the slacks are exponents of likelihood ratios, which multiply. The protocol
    /// of a study fails as a whole or not at all (docs/proofs/protocol_failure.md#2-the-events), so φ is not
    /// added up.
    ///
    /// # Errors
    /// When the total slack is more than is certified.
    pub fn compose(self, other: Self) -> Result<Self, Uncertifiable> {
        self.and(other, self.failure.max(other.failure))
    }

    /// The larger of each number: at least as much as either costs.
    pub(crate) const fn or_dearer(self, other: Self) -> Self {
        Self {
            squared_mu: self.squared_mu.max(other.squared_mu),
            slack: self.slack.max(other.slack),
            failure: self.failure.max(other.failure),
        }
    }

    /// The costs of two studies together, each with a protocol of its own.
    ///
    /// # Why
    /// As [`Self::compose`], and a union bound over the two protocols.
    ///
    /// # Errors
    /// When the total slack is more than is certified.
    pub(crate) fn beside(self, other: Self) -> Result<Self, Uncertifiable> {
        self.and(other, self.failure + other.failure)
    }

    fn and(self, other: Self, failure: f64) -> Result<Self, Uncertifiable> {
        let total = Self {
            squared_mu: self.squared_mu + other.squared_mu,
            slack: self.slack + other.slack,
            failure,
        };
        total.check()?;
        Ok(total)
    }

    /// The guarantee at `delta`, rounded up; the largest ε there is if `delta` is not above φ.
    ///
    /// # Guarantee
    /// As [`SumCost`]: ε = 2D + ε_GDP(μ, (δ − φ) e^(−D)).
    #[must_use]
    pub fn to_approx_dp(self, delta: Delta) -> ApproxDp {
        let exact = left_for_noise(delta, self.failure).map_or(f64::MAX, |left| {
            let goal = left.get().ln() - self.slack;
            2.0 * self.slack + gaussian::epsilon(self.squared_mu.sqrt(), goal)
        });
        let claimed = Epsilon::try_from(upward(exact).min(f64::MAX));
        ApproxDp::new(claimed.unwrap_or_else(|_| unreachable!("ε ≥ 0")), delta)
    }

    /// Refuses a δ that the protocol alone uses up, with the least.
    ///
    /// # Errors
    /// When `delta` is not above φ.
    pub fn check_delta(self, delta: Delta) -> Result<(), IllegalQuantity> {
        check_left(delta, self.failure).map(drop)
    }

    fn check(self) -> Result<(), Uncertifiable> {
        Mu::from_square(self.squared_mu)?;
        if !(0.0..=LARGEST_SLACK).contains(&self.slack) {
            return Err(Uncertifiable::SlackTooLarge { found: self.slack });
        }
        if !(0.0..1.0).contains(&self.failure) {
            return Err(Uncertifiable::Illegal(IllegalQuantity {
                quantity: "the probability that the protocol fails",
                found: self.failure,
                required: "at least 0 and below 1",
            }));
        }
        Ok(())
    }
}
