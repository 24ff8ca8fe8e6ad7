//! Where random bits for noise come from, and how the answer remembers it.

use rand_chacha::ChaCha20Rng;
use rand_core::{Infallible, Rng, SeedableRng, TryCryptoRng, TryRng};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether the noise is secret, and so protects records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Provenance {
    /// Keyed with fresh bits of the operating system: the noise is secret.
    Cryptographic,
    /// Keyed with a known seed, so that any reader can repeat it: NOT PRIVATE.
    Simulated,
}

/// A ChaCha20 generator that knows where its key came from.
///
/// Every answer carries the [`Provenance`] of its noise to the final report, so a repeatable run
/// cannot pass for a private one.
pub struct NoiseGenerator {
    stream: ChaCha20Rng,
    provenance: Provenance,
}

impl NoiseGenerator {
    /// A generator keyed with 256 bits.
    ///
    /// # Trust
    /// The caller vouches that `key` is fresh from the operating system's generator and is used
    /// once. The command line does so in one file, which is found by this name.
    #[must_use]
    pub fn assume_fresh_entropy(key: [u8; 32]) -> Self {
        Self {
            stream: ChaCha20Rng::from_seed(key),
            provenance: Provenance::Cryptographic,
        }
    }

    /// A generator keyed with 256 bits that were derived from a longer-lived secret.
    ///
    /// # Trust
    /// The caller vouches that `key` is the output of a pseudorandom function of a secret of this
    /// `provenance`, under a label that is used once. One party's noise for one sum is keyed so, so
    /// that a restart draws what it drew before.
    #[must_use]
    pub fn assume_derived(key: [u8; 32], provenance: Provenance) -> Self {
        Self {
            stream: ChaCha20Rng::from_seed(key),
            provenance,
        }
    }

    /// A repeatable generator for simulation. What it protects is nothing.
    #[must_use]
    pub fn simulated(seed: u64) -> Self {
        Self {
            stream: ChaCha20Rng::seed_from_u64(seed),
            provenance: Provenance::Simulated,
        }
    }

    /// A seed for a fast generator that rounds values at random.
    ///
    /// Rounding gives no protection: the bounds of a sum are checked on the rounded integers.
    pub fn dither_seed(&mut self) -> u64 {
        self.stream.next_u64()
    }

    /// Where the key came from.
    #[must_use]
    pub const fn provenance(&self) -> Provenance {
        self.provenance
    }
}

impl TryRng for NoiseGenerator {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.stream.next_u32())
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.stream.next_u64())
    }

    fn try_fill_bytes(&mut self, destination: &mut [u8]) -> Result<(), Infallible> {
        self.stream.fill_bytes(destination);
        Ok(())
    }
}

impl TryCryptoRng for NoiseGenerator {}

impl core::fmt::Debug for NoiseGenerator {
    /// The stream is secret: only its provenance is shown.
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "NoiseGenerator({:?})", self.provenance)
    }
}
