//! A uniform real number. Only the bits that matter are drawn.
//!
//! Comparing it with an enclosed threshold gives the answer that the infinite bit string would
//! give, or `None` when the bits drawn so far do not settle it. Deciding by the first conclusive
//! comparison therefore has exactly the probability of the event itself.

use num_bigint::BigUint;
use rand_core::CryptoRng;

use crate::enclosure::Enclosure;

/// A uniform number in `[0, 1)` known to lie in `[prefix, prefix + 1) · 2^-bits`.
#[derive(Clone, Debug)]
pub(crate) struct LazyUniform {
    prefix: BigUint,
    bits: u32,
}

impl LazyUniform {
    /// The uniform number whose first `bits` bits are `prefix`.
    pub(crate) fn from_prefix(prefix: u64, bits: u32) -> Self {
        debug_assert!(
            bits == 64 || prefix >> bits == 0,
            "the prefix has more bits than claimed"
        );
        Self {
            prefix: BigUint::from(prefix),
            bits,
        }
    }

    /// How many bits have been drawn; the scale at which to compute thresholds for it.
    pub(crate) fn bits(&self) -> u32 {
        self.bits
    }

    /// Draws at least as many new bits as are known, so that a settling loop doubles its effort.
    pub(crate) fn refine(&mut self, rng: &mut impl CryptoRng) {
        for _ in 0..self.bits.div_ceil(64) {
            self.prefix = (&self.prefix << 64) | BigUint::from(rng.next_u64());
            self.bits += 64;
        }
    }

    /// Whether the number is below `threshold`, given at scale [`Self::bits`], if that is settled.
    pub(crate) fn is_below(&self, threshold: &Enclosure) -> Option<bool> {
        if self.prefix < threshold.lower {
            Some(true)
        } else if self.prefix >= threshold.upper {
            Some(false)
        } else {
            None
        }
    }

    /// Whether the number is below a threshold that can be computed at any scale.
    ///
    /// Ends with probability one, because the enclosures shrink to the threshold and a uniform
    /// number equals it with probability zero.
    pub(crate) fn settle_below(
        &mut self,
        threshold: impl Fn(u32) -> Enclosure,
        rng: &mut impl CryptoRng,
    ) -> bool {
        loop {
            if let Some(answer) = self.is_below(&threshold(self.bits)) {
                return answer;
            }
            self.refine(rng);
        }
    }
}
