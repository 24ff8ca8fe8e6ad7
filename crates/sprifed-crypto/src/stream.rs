//! AES-256-CTR key streams, with the AES instructions of the processor where it has them; see
//! docs/decisions/0005-mask-cipher.md.

use aes::Aes256;
use aes::cipher::{KeyIvInit, StreamCipher};
use ctr::Ctr64LE;

/// One key stream.
pub struct Stream(Ctr64LE<Aes256>);

impl core::fmt::Debug for Stream {
    /// Only the name: the key is secret.
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.write_str("Stream(..)")
    }
}

impl Stream {
    /// The first stream of a key.
    #[must_use]
    pub fn new(key: &[u8; 32]) -> Self {
        Self::at(key, 0)
    }

    /// One of the 2^64 streams of a key, each of 2^68 bytes: the number is in the upper half of
    /// the counter block.
    #[must_use]
    pub fn at(key: &[u8; 32], number: u64) -> Self {
        let block = u128::from(number) << 64;
        Self(Ctr64LE::new(key.into(), &block.to_le_bytes().into()))
    }

    /// The next bytes.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        self.0.write_keystream(bytes);
    }

    /// A uniform number below `bound`, which is not zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        let unbiased = u64::MAX - u64::MAX % bound;
        loop {
            let mut bytes = [0; 8];
            self.fill(&mut bytes);
            let number = u64::from_le_bytes(bytes);
            if number < unbiased {
                return number % bound;
            }
        }
    }
}
