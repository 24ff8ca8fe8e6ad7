//! Numbers modulo a Mersenne prime M = 2^b − 1.
//!
//! Proofs use b = 61 ([`Number`]): a product has 122 bits, so 63 of them are added before one
//! reduction, and a reduction is shifts and additions. Tests enumerate over b = 7.

use zeroize::DefaultIsZeroes;

/// 2^61 − 1.
pub(crate) const PRIME: u64 = (1 << 61) - 1;

/// A number of a proof.
pub(crate) type Number = Residue<PRIME>;

/// A number modulo M, below M.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Residue<const M: u64>(u64);

impl<const M: u64> DefaultIsZeroes for Residue<M> {}

impl<const M: u64> Residue<M> {
    const BITS: u32 = M.count_ones();
    /// So often at most the bits above the lowest b are added to these until none are left.
    const FOLDS: u32 = 128 / (Self::BITS - 1) + 2;

    pub(crate) const ZERO: Self = Self(0);
    pub(crate) const ONE: Self = Self(1);

    /// The number, if it is below M.
    pub(crate) const fn new(number: u64) -> Option<Self> {
        if number < M { Some(Self(number)) } else { None }
    }

    /// A small number.
    pub(crate) fn small(number: usize) -> Self {
        Self::reduced(number as u128)
    }

    /// Any number, modulo M; without a branch that depends on it.
    pub(crate) const fn reduced(number: u128) -> Self {
        let mut number = number;
        let mut fold = 0;
        while fold < Self::FOLDS {
            number = (number & M as u128) + (number >> Self::BITS);
            fold += 1;
        }
        // Now at most M, and M itself is zero.
        #[expect(
            clippy::cast_possible_truncation,
            reason = "at most M, which has 61 bits"
        )]
        let number = number as u64;
        Self(number - M * ((number + 1) >> Self::BITS))
    }

    /// A difference of two counts.
    pub(crate) fn signed(number: i64) -> Self {
        let size = Self::reduced(u128::from(number.unsigned_abs()));
        if number < 0 { Self::ZERO - size } else { size }
    }

    pub(crate) const fn get(self) -> u64 {
        self.0
    }

    /// Σ xᵢ yᵢ over at most 63 terms.
    pub(crate) fn dot(left: &[Self], right: &[Self]) -> Self {
        debug_assert!(left.len() <= 63, "the sum fits in 128 bits");
        let both = left.iter().zip(right);
        Self::reduced(both.map(|(left, right)| left.product(*right)).sum())
    }

    /// The product before it is reduced: below M².
    pub(crate) const fn product(self, other: Self) -> u128 {
        self.0 as u128 * other.0 as u128
    }

    /// 1/x, and zero for zero.
    pub(crate) fn inverse(self) -> Self {
        let mut power = Self::ONE;
        for bit in (0..Self::BITS).rev() {
            power = power * power;
            if ((M - 2) >> bit) & 1 == 1 {
                power = power * self;
            }
        }
        power
    }
}

impl<const M: u64> core::ops::Add for Residue<M> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let sum = self.0 + other.0;
        let sum = (sum & M) + (sum >> Self::BITS);
        Self(sum - M * ((sum + 1) >> Self::BITS))
    }
}

impl<const M: u64> core::ops::Sub for Residue<M> {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        let sum = self.0 + (M - other.0);
        let sum = (sum & M) + (sum >> Self::BITS);
        Self(sum - M * ((sum + 1) >> Self::BITS))
    }
}

impl<const M: u64> core::ops::Mul for Residue<M> {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self::reduced(self.product(other))
    }
}

impl<const M: u64> core::iter::Sum for Residue<M> {
    fn sum<I: Iterator<Item = Self>>(numbers: I) -> Self {
        numbers.fold(Self::ZERO, |sum, number| sum + number)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn all_numbers_modulo_127_are_a_field() {
        type Small = Residue<127>;
        let all: Vec<Small> = (0..127)
            .map(|one| Small::new(one).expect("small"))
            .collect();
        assert_eq!(Small::new(127), None);
        for x in &all {
            if *x != Small::ZERO {
                assert_eq!(*x * x.inverse(), Small::ONE);
            }
            for y in &all {
                assert_eq!((*x + *y).get(), (x.get() + y.get()) % 127);
                assert_eq!((*x - *y).get(), (127 + x.get() - y.get()) % 127);
                assert_eq!((*x * *y).get(), x.get() * y.get() % 127);
            }
        }
    }

    #[test]
    fn the_largest_numbers_are_reduced() {
        for number in [0, 1, PRIME - 1, PRIME, PRIME + 1, u64::MAX] {
            let number = u128::from(number);
            for wide in [number, number * number, u128::MAX - number] {
                let expected = wide % u128::from(PRIME);
                assert_eq!(u128::from(Number::reduced(wide).get()), expected);
            }
        }
        let largest = [Number::new(PRIME - 1).expect("below"); 63];
        assert_eq!(Number::dot(&largest, &largest), Number::small(63));
        assert_eq!(Number::signed(-3) + Number::small(3), Number::ZERO);
        assert_eq!(
            Number::signed(i64::MIN) + Number::signed(i64::MAX),
            Number::signed(-1)
        );
    }

    fn number() -> impl Strategy<Value = Number> {
        prop_oneof![0..PRIME, 0..3u64, PRIME - 3..PRIME]
            .prop_map(|one| Number::new(one).expect("below"))
    }

    proptest! {
        #[test]
        fn arithmetic_is_that_of_wide_integers(x in number(), y in number(), wide in any::<u128>()) {
            let (p, a, b) = (u128::from(PRIME), u128::from(x.get()), u128::from(y.get()));
            prop_assert_eq!(u128::from((x + y).get()), (a + b) % p);
            prop_assert_eq!(u128::from((x - y).get()), (a + p - b) % p);
            prop_assert_eq!(u128::from((x * y).get()), a * b % p);
            prop_assert_eq!(u128::from(Number::reduced(wide).get()), wide % p);
            prop_assert_eq!(x == Number::ZERO || x * x.inverse() == Number::ONE, true);
        }
    }
}
