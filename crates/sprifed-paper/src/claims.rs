//! What the paper claims of its settings, beside what they deliver.

use schemars::JsonSchema;
use serde::Serialize;
use sprifed_privacy::paper::{Claim, NominalCounts, claims};
use sprifed_privacy::{
    Algorithm, Delta, Epsilon, IllegalQuantity, Mu, Reading, Relation, RunShape,
};

use crate::trials::Priced;

/// Every claim of the paper.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ClaimsAnswer {
    /// That the numbers are no guarantee.
    pub label: &'static str,
    /// The settings.
    pub rows: Vec<ClaimRow>,
}

/// One setting of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ClaimRow {
    /// Where the paper says it.
    pub place: &'static str,
    /// δ.
    pub delta: Delta,
    /// What the paper says.
    pub claimed_epsilon: f64,
    /// What the paper's own μ converts to.
    pub epsilon_of_claimed_mu: Option<Epsilon>,
    /// The paper's theorem, recomputed. Nominal.
    pub theorem: Option<Priced>,
    /// This project's reading, noise scaled by the bounds.
    pub needed_zero_out: Option<Priced>,
    /// The same if one record is replaced.
    pub needed_replace_one: Option<Priced>,
    /// The paper's noise on the paper's data, as its pseudocode runs.
    pub delivered_zero_out: Option<Priced>,
    /// The same if one record is replaced.
    pub delivered_replace_one: Option<Priced>,
}

impl ClaimsAnswer {
    /// All claims, recomputed.
    ///
    /// # Errors
    /// When a number of the paper is no privacy quantity.
    pub fn recomputed() -> Result<Self, IllegalQuantity> {
        Ok(Self {
            label: "NOMINAL (paper formula, not a DP guarantee)",
            rows: claims().iter().map(row).collect::<Result<_, _>>()?,
        })
    }
}

fn row(claim: &Claim) -> Result<ClaimRow, IllegalQuantity> {
    let delta = Delta::try_from(claim.claimed.1)?;
    let priced = |mu: Mu| Priced::of(mu, delta);
    let (per_vector, per_support) = (Mu::try_from(claim.shares.0)?, Mu::try_from(claim.shares.1)?);
    let shape = claim.sparsity.map(|sparsity| RunShape {
        algorithm: Algorithm::Omp,
        features: claim.features,
        sparsity,
        per_vector,
        per_support,
    });
    let theorem = claim
        .sparsity
        .map(|sparsity| {
            NominalCounts {
                sparsity,
                per_vector,
                per_support,
            }
            .theorem()
        })
        .transpose()?;
    let needed = |relation| {
        shape
            .map(|shape| shape.total(Reading::Needed, relation))
            .transpose()
    };
    let delivered = claim.delivered_zero_out()?;
    let twice = delivered
        .map(|mu| Mu::try_from(2.0 * mu.get()))
        .transpose()?;
    Ok(ClaimRow {
        place: claim.place,
        delta,
        claimed_epsilon: claim.claimed.0,
        epsilon_of_claimed_mu: claim.epsilon_of_claimed_mu()?,
        theorem: theorem.map(priced),
        needed_zero_out: needed(Relation::ZeroOut)?.map(priced),
        needed_replace_one: needed(Relation::ReplaceOne)?.map(priced),
        delivered_zero_out: delivered.map(priced),
        delivered_replace_one: twice.map(priced),
    })
}
