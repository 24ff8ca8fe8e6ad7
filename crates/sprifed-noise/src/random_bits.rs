//! Random bits in bulk, and uniform integers made from them.
//!
//! A sampler spends one or two words per draw, so the fixed cost of asking a generator for eight
//! bytes shows. [`RandomBits`] asks for four kibibytes at a time and is itself a [`CryptoRng`], so
//! the same sampler code serves single draws (unbuffered) and fills (buffered).
//!
//! It deliberately has no seed, no state beyond unread bytes, and no way to build a generator.

use num_bigint::BigUint;
use rand_core::{CryptoRng, Infallible, TryCryptoRng, TryRng};

/// A buffered view of a generator that hands out its bytes in order.
///
/// Bytes left unread are dropped with the view: they are never used twice.
pub struct RandomBits<'generator, R> {
    generator: &'generator mut R,
    buffer: [u8; BUFFER_BYTES],
    position: usize,
}

impl<'generator, R: CryptoRng> RandomBits<'generator, R> {
    /// A view with an empty buffer; nothing is drawn before the first request.
    pub fn new(generator: &'generator mut R) -> Self {
        Self {
            generator,
            buffer: [0; BUFFER_BYTES],
            position: BUFFER_BYTES,
        }
    }

    #[inline]
    fn take<const WIDTH: usize>(&mut self) -> [u8; WIDTH] {
        if self.position + WIDTH > BUFFER_BYTES {
            self.refill();
        }
        let mut bytes = [0; WIDTH];
        bytes.copy_from_slice(&self.buffer[self.position..self.position + WIDTH]);
        self.position += WIDTH;
        bytes
    }

    #[cold]
    fn refill(&mut self) {
        self.generator.fill_bytes(&mut self.buffer);
        self.position = 0;
    }
}

impl<R: CryptoRng> TryRng for RandomBits<'_, R> {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(u32::from_le_bytes(self.take()))
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(u64::from_le_bytes(self.take()))
    }

    fn try_fill_bytes(&mut self, destination: &mut [u8]) -> Result<(), Infallible> {
        for byte in destination {
            *byte = self.take::<1>()[0];
        }
        Ok(())
    }
}

impl<R: CryptoRng> TryCryptoRng for RandomBits<'_, R> {}

/// Does not print the buffer: unread bits become noise, and noise is secret.
impl<R> std::fmt::Debug for RandomBits<'_, R> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("RandomBits").finish_non_exhaustive()
    }
}

/// A uniform integer in `0..bound`, by rejecting the bit strings that are too large.
///
/// Each round keeps at least half of the strings, so two rounds are expected at most.
pub(crate) fn uniform_below(bound: &BigUint, rng: &mut impl CryptoRng) -> BigUint {
    debug_assert!(bound.bits() > 0, "nothing lies below zero");
    let n_bits = (bound - 1u8).bits();
    loop {
        let candidate = uniform_bits(n_bits, rng);
        if candidate < *bound {
            return candidate;
        }
    }
}

/// A uniform integer in `0..2^n_bits`.
fn uniform_bits(n_bits: u64, rng: &mut impl CryptoRng) -> BigUint {
    let mut value = BigUint::ZERO;
    let mut missing = n_bits;
    while missing > 0 {
        let taken = missing.min(64);
        value = (value << taken) | BigUint::from(rng.next_u64() >> (64 - taken));
        missing -= taken;
    }
    value
}

/// Sixteen ChaCha blocks of the widest implementation; more does not measurably help.
const BUFFER_BYTES: usize = 4096;

#[cfg(test)]
mod tests;
