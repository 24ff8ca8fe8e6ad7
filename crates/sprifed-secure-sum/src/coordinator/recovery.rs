//! Recovers a secret from shares, some of which may be wrong.

use crate::mask::Stream;
use crate::secret_sharing::{Polynomial, Share};

/// A secret that fits, and the points whose shares do not lie on its polynomial.
pub(super) struct Recovered {
    pub(super) secret: Share,
    pub(super) wrong_points: Vec<u8>,
}

/// How many choices of shares are tried before a secret is given up.
const MOST_TRIALS: u32 = 200;

/// The secret that `fits`, from some `threshold` of the shares.
///
/// With honest shares the first choice fits. Wrong ones are found by trying others: with one wrong
/// share of 2t, each trial has half a chance.
pub(super) fn recover(
    shares: &[(u8, Share)],
    threshold: u32,
    fits: impl Fn(&Share) -> bool,
) -> Option<Recovered> {
    let threshold = threshold as usize;
    if shares.len() < threshold {
        return None;
    }
    let mut order = shares.to_vec();
    // Shares come in the order of arrival; the secret must not depend on it.
    order.sort_unstable_by_key(|(point, _)| *point);
    let mut stream = Stream::new(&[0; 32]);
    for _ in 0..MOST_TRIALS {
        let (chosen, others) = order.split_at(threshold);
        let polynomial = Polynomial::through(chosen);
        let secret = polynomial.at(0);
        if fits(&secret) {
            let wrong = others
                .iter()
                .filter(|(point, share)| polynomial.at(*point) != *share);
            let wrong_points = wrong.map(|(point, _)| *point).collect();
            return Some(Recovered {
                secret,
                wrong_points,
            });
        }
        if others.is_empty() {
            return None;
        }
        for last in (1..order.len()).rev() {
            let other = stream.below(last as u64 + 1);
            order.swap(last, usize::try_from(other).unwrap_or(last));
        }
    }
    None
}
