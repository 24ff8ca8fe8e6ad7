//! The only exit: a paid permit becomes noise, the noise takes a sum, and a release comes out.
//!
//! Noise is drawn *before* the data are read. A sampler's running time depends on what it draws,
//! so an observer who can time the release of a sum would learn about its noise; drawn ahead of
//! time, it says nothing. This is not an option but the order of the types:
//!
//! ```
//! # use sprifed_privacy::test_support::{generous_ledger, small_sum};
//! # use sprifed_noise::{BoundedSum, DrawnNoise, NoiseGenerator};
//! let mut ledger = generous_ledger();
//! let purchase = small_sum();
//! let mut sum = BoundedSum::zero(purchase.plan.clone());
//! let permit = ledger.spend("three numbers", purchase)?;
//! let noise = DrawnNoise::draw(permit, &mut NoiseGenerator::simulated(1))?;
//! sum.add_unit(0, &[4, -4, 0])?;
//! let released = noise.release(sum)?;
//! assert_eq!(released.values().len(), 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A sum without noise has no `values`:
//!
//! ```compile_fail,E0599
//! # use sprifed_privacy::test_support::small_sum;
//! # use sprifed_noise::BoundedSum;
//! let released = BoundedSum::zero(small_sum().plan);
//! assert_eq!(released.values().len(), 3);
//! ```

use num_rational::Ratio;
use sprifed_privacy::{
    Decision, NoiseOrigin, Participation, Permit, SelectionLaw, SelectionPurchase, SumPlan,
    SumPurchase,
};

use crate::bounded_sum::BoundedSum;
use crate::discrete_gaussian::DiscreteGaussian;
use crate::floor_gumbel::FloorGumbel;
use crate::generator::{NoiseGenerator, Provenance};
use crate::parameter::NoiseParameterError;

#[cfg(test)]
mod tests;

/// A release that was refused; nothing came out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReleaseError {
    /// The sum belongs to another plan than the one that was paid for.
    #[error("the sum has the plan {found:?}, but {paid:?} was paid for")]
    OtherPlan {
        /// Blocks of the sum.
        found: String,
        /// Blocks of the permit.
        paid: String,
    },
    /// The permit's noise cannot be drawn.
    #[error(transparent)]
    Parameter(#[from] NoiseParameterError),
}

/// One party's noise for one sum, drawn and paid for. Never printed.
pub struct DrawnNoise {
    purchase: SumPurchase,
    noise: Vec<i64>,
    provenance: Provenance,
}

impl DrawnNoise {
    /// Draws what `permit` pays for.
    ///
    /// # Guarantee
    /// Every coordinate is an independent draw from its block's discrete Gaussian, exactly.
    ///
    /// # Errors
    /// When a block's parameter is beyond the samplers.
    pub fn draw(
        permit: Permit<SumPurchase>,
        generator: &mut NoiseGenerator,
    ) -> Result<Self, NoiseParameterError> {
        let purchase = permit.into_purchase();
        let mut noise = Vec::new();
        for block in &purchase.plan.blocks {
            let sampler = DiscreteGaussian::new(block.share_variance.get())?;
            let start = noise.len();
            noise.resize(start + block.coordinates as usize, 0);
            if let Some(part) = noise.get_mut(start..) {
                sampler.fill(part, generator);
            }
        }
        Ok(Self {
            purchase,
            noise,
            provenance: generator.provenance(),
        })
    }

    /// Adds the noise to `sum` and lets it out.
    ///
    /// # Guarantee
    /// If the permit's origin is a curator, the result satisfies the cost that was charged. If it
    /// is one share of many, it does so only in a sum with the planned number of honest shares.
    ///
    /// # Errors
    /// When the sum is not of the plan that was paid for; the noise is then lost.
    pub fn release(self, sum: BoundedSum) -> Result<Noised, ReleaseError> {
        if *sum.plan() != self.purchase.plan {
            return Err(ReleaseError::OtherPlan {
                found: names(sum.plan()),
                paid: names(&self.purchase.plan),
            });
        }
        let mut values = sum.into_totals();
        for (value, noise) in values.iter_mut().zip(&self.noise) {
            *value += noise;
        }
        let SumPurchase { plan, origin, .. } = self.purchase;
        Ok(Noised {
            plan,
            origin,
            values,
            provenance: self.provenance,
        })
    }
}

fn names(plan: &SumPlan) -> String {
    let names: Vec<&str> = plan
        .blocks
        .iter()
        .map(|block| block.name.as_str())
        .collect();
    format!("{} about {}", names.join(" | "), plan.part.text())
}

impl core::fmt::Debug for DrawnNoise {
    /// Noise is never shown.
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "DrawnNoise({})", names(&self.purchase.plan))
    }
}

/// A sum with one party's noise on every coordinate.
#[derive(Clone, Debug, PartialEq)]
pub struct Noised {
    plan: SumPlan,
    origin: NoiseOrigin,
    values: Vec<i64>,
    provenance: Provenance,
}

impl Noised {
    /// The integers.
    #[must_use]
    pub fn values(&self) -> &[i64] {
        &self.values
    }

    /// Where the noise came from.
    #[must_use]
    pub const fn provenance(&self) -> Provenance {
        self.provenance
    }

    /// The source of the noise of the sum that this is a part of.
    #[must_use]
    pub const fn origin(&self) -> NoiseOrigin {
        self.origin
    }

    /// The answer of a trusted curator; `None` if this is only a share.
    #[must_use]
    pub fn into_private_sum(self) -> Option<PrivateSum> {
        match self.origin {
            NoiseOrigin::Curator => Some(PrivateSum {
                plan: self.plan,
                values: self.values,
                provenance: self.provenance,
            }),
            NoiseOrigin::Shares(_) | NoiseOrigin::Trustees => None,
        }
    }
}

/// A sum that carries all the noise its plan promises: what a procedure may see.
#[derive(Clone, Debug, PartialEq)]
pub struct PrivateSum {
    plan: SumPlan,
    values: Vec<i64>,
    provenance: Provenance,
}

impl PrivateSum {
    /// The answer to `plan` that a secure sum of `survivors` noised shares gave; `None` if they are
    /// no quorum or the answer does not have the length of its plan.
    ///
    /// # Guarantee
    /// If at least the planned quorum stayed, and at most the planned number of colluders know
    /// their shares, the sum carries at least the honest noise that was charged.
    ///
    /// # Why
    /// Each survivor added a share of variance σ²/h, and h = quorum − colluders of them are honest;
    /// see [`sprifed_privacy::Participation`].
    ///
    /// # Trust
    /// The caller vouches that `values` is the sum of exactly these survivors' [`Noised`] vectors
    /// for `plan`, each drawn with the stated `provenance`. Remote clients are taken at their word:
    /// THREAT_MODEL.md, A2, A3 and A5.
    #[must_use]
    pub fn assume_unmasked_from(
        survivors: u32,
        participation: Participation,
        plan: SumPlan,
        values: Vec<i64>,
        provenance: Provenance,
    ) -> Option<Self> {
        let is_quorum = participation.decide(survivors) == Ok(Decision::Release);
        let fits = plan.coordinates() == values.len() as u64;
        (is_quorum && fits).then_some(Self {
            plan,
            values,
            provenance,
        })
    }

    /// The answer to `plan` that three trustees opened; `None` if it does not have the length of its
    /// plan.
    ///
    /// # Guarantee
    /// If at most one trustee colludes, the sum carries at least the noise that was charged for
    /// [`NoiseOrigin::Trustees`].
    ///
    /// # Trust
    /// The caller vouches that `values` is the sum with the [`crate::DrawnShare`] of each of the three,
    /// each drawn with the stated `provenance`.
    #[must_use]
    pub fn assume_opened_by_trustees(
        plan: SumPlan,
        values: Vec<i64>,
        provenance: Provenance,
    ) -> Option<Self> {
        let fits = plan.coordinates() == values.len() as u64;
        fits.then_some(Self {
            plan,
            values,
            provenance,
        })
    }

    /// The plan it answers.
    #[must_use]
    pub const fn plan(&self) -> &SumPlan {
        &self.plan
    }

    /// The integers, block after block.
    #[must_use]
    pub fn values(&self) -> &[i64] {
        &self.values
    }

    /// Where the noise came from.
    #[must_use]
    pub const fn provenance(&self) -> Provenance {
        self.provenance
    }
}

/// A curator's noise for one selection, drawn and paid for. Never printed.
pub struct DrawnSelection {
    purchase: SelectionPurchase,
    noise: Vec<i64>,
    provenance: Provenance,
}

impl DrawnSelection {
    /// Draws what `permit` pays for.
    ///
    /// # Guarantee
    /// Every candidate gets an independent ⌊G/λ⌋ with a standard Gumbel G, exactly.
    ///
    /// # Errors
    /// When the rate is beyond the sampler, or the noise is one that trustees deal.
    pub fn draw(
        permit: Permit<SelectionPurchase>,
        generator: &mut NoiseGenerator,
    ) -> Result<Self, NoiseParameterError> {
        let purchase = permit.into_purchase();
        if purchase.law != SelectionLaw::Curator {
            return Err(NoiseParameterError::OtherDealer {
                found: "noise that trustees deal",
                required: "a curator's noise",
            });
        }
        let (numerator, denominator) = purchase.noise_rate;
        let rate = Ratio::new_raw(u128::from(numerator), u128::from(denominator));
        let mut noise = vec![0; purchase.candidates as usize];
        FloorGumbel::new(rate)?.fill(&mut noise, generator);
        Ok(Self {
            purchase,
            noise,
            provenance: generator.provenance(),
        })
    }

    /// The candidate with the largest noisy absolute score; ties go to the first.
    ///
    /// # Guarantee
    /// The index satisfies the range that was charged.
    ///
    /// # Errors
    /// When the scores are not one block of the size and bound that were paid for.
    pub fn choose(self, scores: BoundedSum) -> Result<Choice, ReleaseError> {
        let fits = match scores.plan().blocks.as_slice() {
            [block] => {
                block.coordinates == self.purchase.candidates
                    && block.bounds.coordinate_bound() <= u64::from(self.purchase.score_bound)
            }
            _ => false,
        };
        if !fits || scores.plan().part != self.purchase.part {
            let (candidates, part) = (self.purchase.candidates, self.purchase.part);
            return Err(ReleaseError::OtherPlan {
                found: names(scores.plan()),
                paid: format!("a selection among {candidates} about {}", part.text()),
            });
        }
        let totals = scores.into_totals();
        let noisy = totals
            .iter()
            .zip(&self.noise)
            .map(|(total, noise)| total.abs() + noise);
        let largest = noisy
            .enumerate()
            .max_by_key(|(index, score)| (*score, usize::MAX - index));
        let index = largest.map_or(0, |(index, _)| index);
        Ok(Choice {
            index,
            provenance: self.provenance,
        })
    }
}

impl core::fmt::Debug for DrawnSelection {
    /// Noise is never shown.
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "DrawnSelection({} candidates)", self.noise.len())
    }
}

/// The outcome of a selection: an index, and nothing about the scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Which candidate, counted from zero.
    pub index: usize,
    /// Where the noise came from.
    pub provenance: Provenance,
}
