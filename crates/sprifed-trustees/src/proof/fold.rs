//! How an inner product is reduced, fold by fold, to one product: the arithmetic of prover and verifiers,
//! without keys and messages. The argument is in docs/proofs/trustees-gates.md.

use zeroize::Zeroizing;

use crate::proof::gates::{self, Bits, FIRST_POINTS, Side};
use crate::proof::interpolation::{evaluated, products, weights};
use crate::proof::residue::Residue;

/// Points of the polynomials of all folds but the first.
const POINTS: usize = 8;

/// One fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fold {
    /// 32 numbers, of eight gates.
    First,
    /// 8 numbers.
    Middle,
    /// The last 8 numbers, and a random one on each side that hides what is left.
    Last,
}

impl Fold {
    /// The folds of a proof of so many words of gates.
    pub(crate) fn all(words: usize) -> Vec<Self> {
        let mut folds = vec![Self::First];
        let mut left = 8 * words;
        while left > POINTS {
            left = left.div_ceil(POINTS);
            folds.push(Self::Middle);
        }
        folds.push(Self::Last);
        folds
    }

    /// Points whose values are added up: no challenge is one of them.
    pub(crate) const fn summed(self) -> usize {
        match self {
            Self::First => FIRST_POINTS,
            Self::Middle | Self::Last => POINTS,
        }
    }

    /// Points that a polynomial of one side goes through.
    const fn points(self) -> usize {
        match self {
            Self::First => FIRST_POINTS,
            Self::Middle => POINTS,
            Self::Last => POINTS + 1,
        }
    }

    /// Values that determine a product of two such polynomials.
    pub(crate) const fn sent(self) -> usize {
        2 * self.points() - 1
    }
}

/// The numbers of one side, as far as they were folded.
pub(crate) struct Vector<const M: u64> {
    side: Side,
    bits: Zeroizing<Vec<Bits>>,
    numbers: Zeroizing<Vec<Residue<M>>>,
    mask: Residue<M>,
}

impl<const M: u64> Vector<M> {
    /// One side of all gates, and the random number that is added in the last fold.
    pub(crate) fn new(side: Side, bits: Vec<Bits>, mask: Residue<M>) -> Self {
        Self {
            side,
            bits: Zeroizing::new(bits),
            numbers: Zeroizing::default(),
            mask,
        }
    }

    /// Makes the numbers ready for a fold.
    fn prepare(&mut self, fold: Fold) {
        match fold {
            Fold::First => {}
            Fold::Middle => {
                let whole = self.numbers.len().next_multiple_of(POINTS);
                self.numbers.resize(whole, Residue::ZERO);
            }
            Fold::Last => {
                self.numbers.resize(POINTS, Residue::ZERO);
                self.numbers.push(self.mask);
            }
        }
    }

    fn evaluate(&mut self, fold: Fold, challenge: Residue<M>) {
        let numbers = match fold {
            Fold::First => gates::evaluated(self.side, &self.bits, challenge),
            Fold::Middle | Fold::Last => evaluated(fold.points(), &self.numbers, challenge),
        };
        self.numbers = Zeroizing::new(numbers);
        self.bits = Zeroizing::default();
    }

    /// The number that is left.
    fn last(&self) -> Residue<M> {
        self.numbers.first().copied().unwrap_or_default()
    }
}

/// Who knows both sides.
pub(crate) struct Prover<const M: u64> {
    left: Vector<M>,
    right: Vector<M>,
}

impl<const M: u64> Prover<M> {
    pub(crate) const fn new(left: Vector<M>, right: Vector<M>) -> Self {
        Self { left, right }
    }

    /// The values at 0, 1, … of the polynomial that the fold is about.
    pub(crate) fn polynomial(&mut self, fold: Fold) -> Zeroizing<Vec<Residue<M>>> {
        self.left.prepare(fold);
        self.right.prepare(fold);
        let polynomial = match fold {
            Fold::First => gates::products(&self.left.bits, &self.right.bits),
            Fold::Middle | Fold::Last => {
                products(fold.points(), &self.left.numbers, &self.right.numbers)
            }
        };
        Zeroizing::new(polynomial)
    }

    pub(crate) fn fold(&mut self, fold: Fold, challenge: Residue<M>) {
        self.left.evaluate(fold, challenge);
        self.right.evaluate(fold, challenge);
    }
}

/// Who knows one side, and one of two shares of what the prover claims.
pub(crate) struct Verifier<const M: u64> {
    vector: Vector<M>,
    claim: Residue<M>,
    checks: Vec<Residue<M>>,
}

/// What a verifier tells the other one in the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Closing<const M: u64> {
    /// Its shares of numbers that must be zero, one for each fold.
    pub(crate) checks: Vec<Residue<M>>,
    /// What its side was reduced to.
    pub(crate) last: Residue<M>,
    /// Its share of the product of the last numbers of both sides.
    pub(crate) claim: Residue<M>,
}

impl<const M: u64> Verifier<M> {
    /// A verifier with its share of the sum: the number of gates, or zero.
    pub(crate) fn new(vector: Vector<M>) -> Self {
        let claim = match vector.side {
            Side::Left => Residue::small(64 * vector.bits.len()),
            Side::Right => Residue::ZERO,
        };
        Self {
            vector,
            claim,
            checks: Vec::new(),
        }
    }

    /// Takes a fold: its share of the polynomial's values, and the challenge that was drawn after them.
    pub(crate) fn take(&mut self, fold: Fold, share: &[Residue<M>], challenge: Residue<M>) {
        let sum: Residue<M> = share.iter().take(fold.summed()).copied().sum();
        self.checks.push(sum - self.claim);
        self.claim = Residue::dot(&weights(fold.sent(), challenge), share);
        self.vector.prepare(fold);
        self.vector.evaluate(fold, challenge);
    }

    pub(crate) fn closing(&self) -> Closing<M> {
        Closing {
            checks: self.checks.clone(),
            last: self.vector.last(),
            claim: self.claim,
        }
    }
}

impl<const M: u64> Closing<M> {
    /// Whether the proof holds, from what both verifiers have.
    pub(crate) fn holds(&self, other: &Self) -> bool {
        let are_zero = self.checks.iter().zip(&other.checks);
        let mut are_zero = are_zero.map(|(one, other)| *one + *other == Residue::ZERO);
        self.checks.len() == other.checks.len()
            && are_zero.all(core::convert::identity)
            && self.last * other.last == self.claim + other.claim
    }
}

#[cfg(test)]
mod tests;
