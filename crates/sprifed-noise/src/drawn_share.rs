//! One trustee's share of the noise, drawn and paid for, before it is dealt to the others.
//!
//! A share comes only from a permit, and dealing it consumes it:
//!
//! ```
//! # use sprifed_privacy::test_support::{generous_ledger, small_choice_of_trustees};
//! # use sprifed_privacy::Trustee;
//! # use sprifed_noise::{DrawnShare, NoiseGenerator};
//! let mut ledger = generous_ledger();
//! let permit = ledger.spend("a choice", small_choice_of_trustees())?;
//! let share = DrawnShare::for_choice(permit, Trustee::First, &mut NoiseGenerator::simulated(1))?;
//! let dealt = share.into_dealt();
//! assert!(dealt.iter().all(|noise| *noise >= 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! It is dealt once:
//!
//! ```compile_fail,E0382
//! # use sprifed_privacy::test_support::{generous_ledger, small_choice_of_trustees};
//! # use sprifed_privacy::Trustee;
//! # use sprifed_noise::{DrawnShare, NoiseGenerator};
//! let mut ledger = generous_ledger();
//! let permit = ledger.spend("a choice", small_choice_of_trustees())?;
//! let share = DrawnShare::for_choice(permit, Trustee::First, &mut NoiseGenerator::simulated(1))?;
//! let dealt = share.into_dealt();
//! let dealt = share.into_dealt();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What was not paid for cannot be drawn:
//!
//! ```compile_fail,E0308
//! # use sprifed_privacy::test_support::{generous_ledger, small_choice_of_trustees};
//! # use sprifed_privacy::Trustee;
//! # use sprifed_noise::{DrawnShare, NoiseGenerator};
//! let permit = small_choice_of_trustees();
//! let share = DrawnShare::for_choice(permit, Trustee::First, &mut NoiseGenerator::simulated(1))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What this module does not do: it adds no noise to anything. A share leaves as integers, which a
//! trustee deals in secret shares; what is opened with them is decided elsewhere.

use num_rational::Ratio;
use sprifed_privacy::{NoiseOrigin, Permit, SelectionLaw, SelectionPurchase, SumPurchase, Trustee};

use crate::discrete_gaussian::DiscreteGaussian;
use crate::euler::EulerShare;
use crate::floor_gumbel::FloorGumbel;
use crate::generator::{NoiseGenerator, Provenance};
use crate::parameter::NoiseParameterError;

#[cfg(test)]
mod tests;

/// One trustee's noise for one choice or one sum. Never printed.
///
/// # Guarantee
/// With the shares of any two trustees a choice or a sum satisfies the cost that was charged, whatever
/// the third knows or deals: docs/proofs/trustees.md#5-three-trustees.
#[must_use = "the ledger has been charged for this noise"]
pub struct DrawnShare<P> {
    purchase: P,
    noise: Vec<i64>,
    provenance: Provenance,
}

impl DrawnShare<SelectionPurchase> {
    /// Draws the share of `trustee` for a choice: an integer from 0 to 2^bits − 1 for each candidate, with
    /// the bits of [`SelectionLaw::share_bits`].
    ///
    /// # Guarantee
    /// Under [`SelectionLaw::Euler`] each is a half share of Euler noise, under
    /// [`SelectionLaw::FloorGumbel`] a whole ⌊G/λ⌋ plus the public offset for the first two trustees and
    /// 0 for the third; exactly, up to the events that [`SelectionLaw::cut_off`] counts.
    ///
    /// # Errors
    /// When the permit pays for a curator's noise, or the rate is beyond the samplers.
    pub fn for_choice(
        permit: Permit<SelectionPurchase>,
        trustee: Trustee,
        generator: &mut NoiseGenerator,
    ) -> Result<Self, NoiseParameterError> {
        let purchase = permit.into_purchase();
        let law = purchase.law;
        let (numerator, denominator) = purchase.noise_rate;
        let rate = Ratio::new_raw(numerator, denominator);
        let bits = law.share_bits(rate).ok_or(OTHER_DEALER)?;
        let largest = (1i64 << bits) - 1;
        let exact = Ratio::new_raw(u128::from(numerator), u128::from(denominator));
        let mut noise = vec![0; purchase.candidates as usize];
        match law {
            SelectionLaw::Curator => return Err(OTHER_DEALER),
            SelectionLaw::FloorGumbel if law.is_dealt_by(trustee) => {
                let offset = law.offset(rate).cast_signed();
                FloorGumbel::new(exact)?.fill(&mut noise, generator);
                for draw in &mut noise {
                    *draw = (*draw + offset).clamp(0, largest);
                }
            }
            SelectionLaw::FloorGumbel => {}
            SelectionLaw::Euler => {
                let half = Ratio::new_raw(1, 2);
                let sampler = EulerShare::new(exact, half)?.clamped_at(largest);
                sampler.fill(&mut noise, generator);
            }
        }
        Ok(Self {
            purchase,
            noise,
            provenance: generator.provenance(),
        })
    }
}

impl DrawnShare<SumPurchase> {
    /// Draws one trustee's share for a sum: a discrete Gaussian of the share variance of its block for
    /// each coordinate, without a clamp. It is dealt modulo a power of two.
    ///
    /// # Errors
    /// When the permit does not pay for noise of trustees, or a parameter is beyond the samplers.
    pub fn for_sum(
        permit: Permit<SumPurchase>,
        generator: &mut NoiseGenerator,
    ) -> Result<Self, NoiseParameterError> {
        let purchase = permit.into_purchase();
        if purchase.origin != NoiseOrigin::Trustees {
            return Err(OTHER_DEALER);
        }
        let mut noise = Vec::new();
        for block in &purchase.plan.blocks {
            let start = noise.len();
            noise.resize(start + block.coordinates as usize, 0);
            let sampler = DiscreteGaussian::new(block.share_variance.get())?;
            sampler.fill(&mut noise[start..], generator);
        }
        Ok(Self {
            purchase,
            noise,
            provenance: generator.provenance(),
        })
    }
}

impl<P> DrawnShare<P> {
    /// What was paid for.
    pub const fn purchase(&self) -> &P {
        &self.purchase
    }

    /// Where the noise came from.
    pub const fn provenance(&self) -> Provenance {
        self.provenance
    }

    /// The integers, to be dealt in secret shares.
    ///
    /// # Caller must
    /// show them to no other party.
    #[must_use]
    pub fn into_dealt(self) -> Vec<i64> {
        self.noise
    }
}

impl<P> core::fmt::Debug for DrawnShare<P> {
    /// Noise is never shown.
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "DrawnShare({} integers)", self.noise.len())
    }
}

const OTHER_DEALER: NoiseParameterError = NoiseParameterError::OtherDealer {
    found: "noise of another origin or rate",
    required: "a trustee's share",
};
