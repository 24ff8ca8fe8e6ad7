//! Which parties miss a sum: drawn for each sum and party, from the seed of the trial.

use sprifed_secure_sum::{ClientId, Phase};
use sprifed_study::Attendance;

/// The share of parties that leave each sum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Absence(f64);

/// A share that is none.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("a share of {found} absent parties is not one; from 0 to below 1 is required")]
pub struct IllegalShare {
    /// What was given.
    pub found: f64,
}

impl Absence {
    /// No party misses a sum.
    pub const NONE: Self = Self(0.0);

    /// Each party leaves each sum with this probability: half of those that leave do so before they
    /// upload, the others before the sum is unmasked.
    ///
    /// # Errors
    /// When it is not a share.
    pub fn of(share: f64) -> Result<Self, IllegalShare> {
        if (0.0..1.0).contains(&share) {
            return Ok(Self(share));
        }
        Err(IllegalShare { found: share })
    }

    /// The share.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }

    pub(crate) fn attendance(self, seed: u64) -> Box<Attendance<'static>> {
        Box::new(move |phase, sum, party| {
            let draw = uniform(seed, sum, party);
            match phase {
                Phase::Upload => draw >= self.0 / 2.0,
                Phase::Confirm | Phase::Unmask => draw >= self.0,
                Phase::Keys | Phase::Agree | Phase::Shares => true,
            }
        })
    }
}

/// A number of [0, 1) that depends on all three.
#[expect(
    clippy::cast_precision_loss,
    reason = "53 bits are what a double holds"
)]
fn uniform(seed: u64, sum: u32, party: ClientId) -> f64 {
    let mut state = seed ^ (u64::from(sum) << 32) ^ u64::from(party.0);
    for _ in 0..2 {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        state = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        state = (state ^ (state >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        state ^= state >> 31;
    }
    (state >> 11) as f64 / (1u64 << 53) as f64
}
