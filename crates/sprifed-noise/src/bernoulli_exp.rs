//! Coins that land heads with probability `exp(-x)`, from integer comparisons alone.
//!
//! The loop of Canonne, Kamath and Steinke needs no approximation of the exponential: it unrolls
//! the Taylor series of `exp(-x)` into fair rational coins. It is the root of the reference
//! samplers, which share no code with the table samplers they are compared with.

use num_bigint::BigUint;
use num_integer::Integer;
use num_rational::Ratio;
use rand_core::CryptoRng;

use crate::random_bits::uniform_below;

/// Heads with probability `exp(-exponent)`.
///
/// # Guarantee
/// The answer is `true` with probability exactly `exp(-exponent)`, for every exponent `≥ 0`.
///
/// # Why
/// [CKS20, Section 5, Algorithm 1].
///
/// # Panics
/// If the exponent was made by `Ratio::new_raw` with denominator zero.
pub fn bernoulli_exp(exponent: Ratio<u128>, rng: &mut impl CryptoRng) -> bool {
    assert!(
        *exponent.denom() > 0,
        "an exponent of {exponent} is not a fraction"
    );
    bernoulli_exp_fraction(
        &BigUint::from(*exponent.numer()),
        &BigUint::from(*exponent.denom()),
        rng,
    )
}

/// [`bernoulli_exp`] for a fraction of any size.
///
/// `exp(-x) = exp(-1)^⌊x⌋ · exp(-(x - ⌊x⌋))`: all factors must come up heads. The first tails ends
/// it, so the expected number of coins is below two however large the exponent is.
pub(crate) fn bernoulli_exp_fraction(
    numerator: &BigUint,
    denominator: &BigUint,
    rng: &mut impl CryptoRng,
) -> bool {
    let (mut whole, rest) = numerator.div_rem(denominator);
    let one = BigUint::from(1u8);
    while whole > BigUint::ZERO {
        if !bernoulli_exp_at_most_one(&one, &one, rng) {
            return false;
        }
        whole -= 1u8;
    }
    bernoulli_exp_at_most_one(&rest, denominator, rng)
}

/// The alternating-factorial loop, for exponents in `[0, 1]`.
///
/// The loop passes round `i` with probability `x/i`, so it stops in round `i` with probability
/// `x^(i-1)/(i-1)! - x^i/i!`; the odd rounds add up to `exp(-x)`.
fn bernoulli_exp_at_most_one(
    numerator: &BigUint,
    denominator: &BigUint,
    rng: &mut impl CryptoRng,
) -> bool {
    let mut round = 1u64;
    while uniform_below(&(denominator * round), rng) < *numerator {
        round += 1;
    }
    round % 2 == 1
}
