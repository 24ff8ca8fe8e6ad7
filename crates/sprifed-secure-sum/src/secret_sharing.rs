//! Shamir's sharing of byte strings over GF(2^8).
//!
//! Points of evaluation and Lagrange coefficients are public, so every product has one public
//! factor: it is made by shifts and additions of the secret one, whole strings at a time, without
//! a table that a cache could reveal.

use crate::keys::DealingSeed;
use crate::mask::Stream;
use sprifed_crypto::secret;

#[cfg(test)]
mod tests;

secret! {
    /// One share of a secret, or the secret itself: a value of the polynomial.
    pub(crate) struct Share([u8; 32])
}

/// The most shares there can be: the points of GF(2^8) without zero.
pub(crate) const MOST_SHARES: u32 = 255;

/// One share for each of the points 1 to `n_shares`; any `threshold` of them give `secret`, fewer
/// reveal nothing.
pub(crate) fn deal(
    secret: &[u8],
    threshold: u32,
    n_shares: u32,
    seed: &DealingSeed,
) -> Vec<zeroize::Zeroizing<Vec<u8>>> {
    let mut stream = Stream::new(seed.expose());
    let coefficients: Vec<zeroize::Zeroizing<Vec<u8>>> = (1..threshold)
        .map(|_| {
            let mut coefficient = zeroize::Zeroizing::new(vec![0; secret.len()]);
            stream.fill(&mut coefficient);
            coefficient
        })
        .collect();
    let points = 1..=u8::try_from(n_shares.min(MOST_SHARES)).unwrap_or(u8::MAX);
    points
        .map(|point| {
            let mut value = zeroize::Zeroizing::new(vec![0; secret.len()]);
            for coefficient in coefficients.iter().rev() {
                add(&mut value, coefficient);
                scale(&mut value, point);
            }
            add(&mut value, secret);
            value
        })
        .collect()
}

/// The polynomial through some shares, which have different points.
pub(crate) struct Polynomial<'s> {
    shares: &'s [(u8, Share)],
    /// 1 / ∏ (xᵢ − xⱼ) over the other shares.
    weights: Vec<u8>,
}

impl<'s> Polynomial<'s> {
    pub(crate) fn through(shares: &'s [(u8, Share)]) -> Self {
        let weights = shares.iter().map(|(own, _)| {
            let others = shares
                .iter()
                .map(|(other, _)| *other)
                .filter(|other| other != own);
            inverse(others.fold(1, |all, other| product(all, own ^ other)))
        });
        Self {
            shares,
            weights: weights.collect(),
        }
    }

    /// The value at a point that none of the shares has.
    pub(crate) fn at(&self, point: u8) -> Share {
        let all = self
            .shares
            .iter()
            .fold(1, |all, (own, _)| product(all, point ^ own));
        Share::filled(|value| {
            for ((own, share), weight) in self.shares.iter().zip(&self.weights) {
                let mut term = zeroize::Zeroizing::new(*share.expose());
                scale(
                    &mut *term,
                    product(product(all, *weight), inverse(point ^ own)),
                );
                add(value, &*term);
            }
        })
    }
}

fn add(value: &mut [u8], more: &[u8]) {
    for (byte, more) in value.iter_mut().zip(more) {
        *byte ^= more;
    }
}

/// Multiplies secret bytes by a public `factor`.
fn scale(bytes: &mut [u8], factor: u8) {
    for part in bytes.chunks_mut(64) {
        let mut scaled = zeroize::Zeroizing::new([0u8; 64]);
        for bit in 0..8 {
            if factor >> bit & 1 == 1 {
                add(&mut *scaled, part);
            }
            for byte in part.iter_mut() {
                *byte = doubled(*byte);
            }
        }
        part.copy_from_slice(scaled.split_at(part.len()).0);
    }
}

/// x·b modulo x^8 + x^4 + x^3 + x + 1, without a branch on b.
const fn doubled(byte: u8) -> u8 {
    (byte << 1) ^ ((byte >> 7) * 0x1b)
}

/// The product of two public bytes.
fn product(left: u8, right: u8) -> u8 {
    if left == 0 || right == 0 {
        return 0;
    }
    power(u16::from(log(left)) + u16::from(log(right)))
}

/// The inverse of a public byte that is not zero.
fn inverse(byte: u8) -> u8 {
    power(255 - u16::from(log(byte)))
}

fn log(byte: u8) -> u8 {
    LOGARITHMS.get(usize::from(byte)).copied().unwrap_or(0)
}

fn power(exponent: u16) -> u8 {
    POWERS
        .get(usize::from(exponent % 255))
        .copied()
        .unwrap_or(1)
}

/// Powers of the generator 3, for public bytes only.
const POWERS: [u8; 255] = {
    let (mut powers, mut power, mut exponent) = ([0; 255], 1u8, 0);
    while exponent < 255 {
        #[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
        {
            powers[exponent] = power;
        }
        power ^= doubled(power);
        exponent += 1;
    }
    powers
};

#[expect(
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "evaluated by the compiler"
)]
const LOGARITHMS: [u8; 256] = {
    let (mut logarithms, mut exponent) = ([0; 256], 0);
    while exponent < 255 {
        logarithms[POWERS[exponent] as usize] = exponent as u8;
        exponent += 1;
    }
    logarithms
};
