//! The noise of a selection: which law, who deals it, and what follows for range, width and δ.
//!
//! A trusted curator adds floor-Gumbel noise alone. Among three trustees each law is such that the
//! shares of any two suffice against the third (docs/proofs/trustees.md#5-three-trustees).
//!
//! What this module does not do: it draws nothing.

use num_rational::Ratio;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[cfg(test)]
mod tests;

/// The noise on the scores of a selection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SelectionLaw {
    /// A trusted curator adds ⌊G/λ⌋ with a standard Gumbel G, without a clamp.
    #[default]
    Curator,
    /// Two of three trustees each deal ⌊G/λ⌋ in full, clamped.
    FloorGumbel,
    /// Each of three trustees deals half a share of Euler noise, clamped.
    Euler,
}

/// One of three trustees, in the order of the agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Trustee {
    /// T₀.
    First,
    /// T₁.
    Second,
    /// T₂, who deals no noise under [`SelectionLaw::FloorGumbel`].
    Third,
}

impl Trustee {
    /// All three, in order.
    pub const ALL: [Self; 3] = [Self::First, Self::Second, Self::Third];
}

impl SelectionLaw {
    /// How far the rounding of the noise widens the range: the range is 2λΔ + 2λ times this.
    ///
    /// # Why
    /// docs/proofs/selection.md#2-gumbel-noise-on-the-integers for floor-Gumbel,
    /// docs/proofs/trustees.md#3-euler-selection for Euler.
    #[must_use]
    pub const fn steps_of_rounding(self) -> u32 {
        match self {
            Self::Curator | Self::FloorGumbel => 2,
            Self::Euler => 1,
        }
    }

    /// The range of the privacy loss where a score moves by at most `moves`: 2λ(Δ + steps).
    #[must_use]
    pub fn range(self, rate: f64, moves: f64) -> f64 {
        match self {
            // As it was computed before there was another law, bit for bit.
            Self::Curator | Self::FloorGumbel => 2.0 * rate * moves + 4.0 * rate,
            Self::Euler => 2.0 * rate * (moves + 1.0),
        }
    }

    /// Whether one trusted party adds all noise.
    #[must_use]
    pub const fn is_curator(&self) -> bool {
        matches!(self, Self::Curator)
    }

    /// Whether `trustee` deals noise.
    #[must_use]
    pub const fn is_dealt_by(self, trustee: Trustee) -> bool {
        match self {
            Self::Curator => false,
            Self::FloorGumbel => matches!(trustee, Trustee::First | Trustee::Second),
            Self::Euler => true,
        }
    }

    /// How many integer steps one unit has on the grid of scores.
    ///
    /// # Why
    /// The grid costs 2/B of the range for floor-Gumbel noise and 1/B for Euler noise. Among trustees
    /// each bit of B is a bit of every upload; 63 and 127 are the largest within 7 and 8 bits.
    #[must_use]
    pub const fn score_steps(self) -> u32 {
        match self {
            Self::Curator => 512,
            Self::FloorGumbel => 127,
            Self::Euler => 63,
        }
    }

    /// Whether noise of the rate λ can be dealt: a curator's sampler draws it up to [`LARGEST_CURATOR_RATE`]; among trustees
    /// the bounds of this module require that it is between 2⁻¹⁴ and 1.
    #[must_use]
    pub fn serves(self, rate: Ratio<u32>) -> bool {
        let has_denominator = *rate.denom() > 0 && *rate.numer() > 0;
        let (numerator, denominator) = (u64::from(*rate.numer()), u64::from(*rate.denom()));
        let is_drawn = numerator <= denominator * u64::from(self.largest_rate());
        has_denominator && is_drawn && (self.is_curator() || numerator << 14 >= denominator)
    }

    /// The largest λ that it [serves](Self::serves).
    #[must_use]
    pub const fn largest_rate(self) -> u32 {
        match self {
            Self::Curator => LARGEST_CURATOR_RATE,
            Self::FloorGumbel | Self::Euler => 1,
        }
    }

    /// What is added to every floor-Gumbel draw of a trustee so that it is not negative: ⌈4.4/λ⌉.
    /// It is public and the same for all candidates, so it changes no choice.
    #[must_use]
    pub fn offset(self, rate: Ratio<u32>) -> u64 {
        match self {
            Self::FloorGumbel if *rate.numer() > 0 => {
                (44 * u64::from(*rate.denom())).div_ceil(10 * u64::from(*rate.numer()))
            }
            _ => 0,
        }
    }

    /// The bits of one trustee's share: draws are clamped to 0 … 2^bits − 1. `None` for a curator, who
    /// clamps nothing, and for a rate that is not [served](Self::serves).
    ///
    /// # Why
    /// docs/proofs/trustees.md#6-what-is-cut-off. Computed in integers, so that all trustees have the
    /// same width: ln(1/λ) is at most 0.694 ⌈log₂(1/λ)⌉.
    #[must_use]
    pub fn share_bits(self, rate: Ratio<u32>) -> Option<u32> {
        if !self.serves(rate) {
            return None;
        }
        let (numerator, denominator) = (u128::from(*rate.numer()), u128::from(*rate.denom()));
        let halvings = denominator.div_ceil(numerator).next_power_of_two().ilog2();
        // The clamp must be at least `least / (1000 numerator)`.
        let least = match self {
            Self::Curator => return None,
            Self::FloorGumbel => 79_400 * denominator + 2_000 * numerator,
            Self::Euler => (75_000 + 694 * u128::from(halvings)) * denominator,
        };
        Some(
            least
                .div_ceil(1_000 * numerator)
                .next_power_of_two()
                .ilog2(),
        )
    }

    /// η: the probability that the noise of a selection among `candidates` which the guarantee counts is
    /// not the law itself, because a draw was clamped or a jump left out. Rounded up.
    ///
    /// # Guarantee
    /// For [served](Self::serves) rates a run whose selections have these η in all is
    /// (ε, δ + (1 + e^ε) Σ η)-DP where the run with unclamped noise is (ε, δ)-DP.
    ///
    /// # Why
    /// docs/proofs/trustees.md#6-what-is-cut-off: 4 p e^−75 for two Euler halves, 2 p e^−75 for one
    /// floor-Gumbel dealer.
    #[must_use]
    pub fn cut_off(self, candidates: u32) -> f64 {
        let events = match self {
            Self::Curator => return 0.0,
            Self::FloorGumbel => 2.0,
            Self::Euler => 4.0,
        };
        (events * f64::from(candidates) * E_TO_THE_MINUS_75).next_up()
    }
}

/// The largest λ of a curator's floor-Gumbel noise.
pub const LARGEST_CURATOR_RATE: u32 = 16;

/// e^−75, rounded up.
const E_TO_THE_MINUS_75: f64 = 2.678_636_961_808_1e-33;
