//! Public keys of small order: every agreement with them gives the same, known secret.
//!
//! X25519 multiplies by a multiple of eight, so a point whose order divides eight (or, on the
//! twist, four) becomes zero whatever the secret is. There are five such coordinates below the
//! prime, and two more that are written above it.

/// The bytes of those coordinates, least significant first, without the top bit, which X25519
/// ignores.
const SMALL_ORDER: [[u8; 32]; 7] = {
    let (mut one, mut before_prime) = ([0; 32], [0xff; 32]);
    one[0] = 1;
    before_prime[0] = 0xec;
    before_prime[31] = 0x7f;
    let (mut prime, mut after_prime) = (before_prime, before_prime);
    prime[0] = 0xed;
    after_prime[0] = 0xee;
    [
        [0; 32],
        one,
        [
            0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3, 0xfa, 0xf1, 0x9f,
            0xc4, 0x6a, 0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32, 0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16,
            0x5f, 0x49, 0xb8, 0x00,
        ],
        [
            0x5f, 0x9c, 0x95, 0xbc, 0xa3, 0x50, 0x8c, 0x24, 0xb1, 0xd0, 0xb1, 0x55, 0x9c, 0x83,
            0xef, 0x5b, 0x04, 0x44, 0x5c, 0xc4, 0x58, 0x1c, 0x8e, 0x86, 0xd8, 0x22, 0x4e, 0xdd,
            0xd0, 0x9f, 0x11, 0x57,
        ],
        before_prime,
        prime,
        after_prime,
    ]
};

/// Whether every agreement with `key` gives the same, known secret.
#[must_use]
pub fn has_small_order(key: &[u8; 32]) -> bool {
    let mut coordinate = *key;
    if let Some(top) = coordinate.last_mut() {
        *top &= 0x7f;
    }
    SMALL_ORDER.contains(&coordinate)
}

#[cfg(test)]
mod tests;
