//! A generator with the output that a test sets, for paths of probability 2⁻⁵⁰.

use std::collections::VecDeque;

use rand_core::{Infallible, TryCryptoRng, TryRng};

/// Yields the given words, then repeats one word without end.
#[derive(Debug)]
pub(crate) struct Scripted {
    words: VecDeque<u64>,
    afterwards: u64,
    n_drawn: usize,
}

impl Scripted {
    pub(crate) fn new(words: impl IntoIterator<Item = u64>, afterwards: u64) -> Self {
        Self {
            words: words.into_iter().collect(),
            afterwards,
            n_drawn: 0,
        }
    }

    /// How many words have been drawn so far.
    pub(crate) fn n_drawn(&self) -> usize {
        self.n_drawn
    }
}

impl TryRng for Scripted {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.try_next_u64().map(|word| (word >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.n_drawn += 1;
        Ok(self.words.pop_front().unwrap_or(self.afterwards))
    }

    fn try_fill_bytes(&mut self, destination: &mut [u8]) -> Result<(), Infallible> {
        for chunk in destination.chunks_mut(8) {
            let bytes = self.try_next_u64()?.to_le_bytes();
            chunk.copy_from_slice(&bytes[..chunk.len()]);
        }
        Ok(())
    }
}

impl TryCryptoRng for Scripted {}

/// The bits 0 and 1 without end.
pub(crate) const ZEROS: u64 = 0;
pub(crate) const ONES: u64 = u64::MAX;
