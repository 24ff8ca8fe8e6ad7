//! What is proved of a gate, as an inner product.
//!
//! Trustee i sends zᵢ = xᵢyᵢ ⊕ xᵢyᵢ₊₁ ⊕ xᵢ₊₁yᵢ ⊕ ρᵢ ⊕ ρᵢ₊₁. With a = xᵢ, b = yᵢ and e = zᵢ ⊕ xᵢyᵢ ⊕ ρᵢ, which the previous
//! trustee knows, and c = yᵢ₊₁, d = xᵢ₊₁ and f = ρᵢ₊₁, which the next one knows, it is right if and only if
//! e ⊕ f ⊕ ac ⊕ bd = 0, in signs (1−2e)(1−2f)(1−2ac)(1−2bd) = 1. This is the inner product of
//! (1−2e)(1, −2a, −2b, 4ab) and (1−2f)(1, c, d, cd), so 64 gates are 256 numbers on each side. The sum over N < M
//! gates is N modulo M if and only if every gate is right.
//!
//! Eight gates are the values of two polynomials at 0 … 31. A gate has eight possible values on each
//! side, so a polynomial at a fixed point is four look-ups, each of two gates, and three additions.

use zeroize::{DefaultIsZeroes, Zeroizing};

use crate::proof::interpolation::weights;
use crate::proof::residue::Residue;

/// Points of the polynomials of the first fold: four for each of eight gates.
pub(crate) const FIRST_POINTS: usize = 32;

/// What a trustee writes down of 64 gates: its shares, the masks and what the next trustee sent.
#[derive(Clone, Copy, Default)]
pub(crate) struct GateWord {
    /// The left factor: own share, and the next trustee's.
    pub(crate) x: [u64; 2],
    /// The right factor.
    pub(crate) y: [u64; 2],
    /// The masks of the link to the previous trustee, and of the link to the next one.
    pub(crate) pads: [u64; 2],
    /// The product's share that the next trustee sent.
    pub(crate) received: u64,
}

impl DefaultIsZeroes for GateWord {}

/// The bits of one side of 64 gates: the sign, and the two factors.
#[derive(Clone, Copy, Default)]
pub(crate) struct Bits {
    sign: u64,
    first: u64,
    second: u64,
}

impl DefaultIsZeroes for Bits {}

#[cfg(test)]
impl Bits {
    pub(crate) const fn sign(self) -> u64 {
        self.sign
    }
}

impl GateWord {
    /// The trustee's own gates: the side that the previous trustee knows.
    pub(crate) const fn own_left(self) -> Bits {
        let ([x_own, x_next], [y_own, y_next], [_, pad]) = (self.x, self.y, self.pads);
        Bits {
            sign: (x_own & y_next) ^ (x_next & y_own) ^ pad,
            first: x_own,
            second: y_own,
        }
    }

    /// The trustee's own gates: the side that the next trustee knows.
    pub(crate) const fn own_right(self) -> Bits {
        let ([_, x_next], [_, y_next], [_, pad]) = (self.x, self.y, self.pads);
        Bits {
            sign: pad,
            first: y_next,
            second: x_next,
        }
    }

    /// The next trustee's gates, as this trustee knows them.
    pub(crate) const fn left_of_next(self) -> Bits {
        let ([_, x_next], [_, y_next], [_, pad]) = (self.x, self.y, self.pads);
        Bits {
            sign: self.received ^ (x_next & y_next) ^ pad,
            first: x_next,
            second: y_next,
        }
    }

    /// The previous trustee's gates, as this trustee knows them.
    pub(crate) const fn right_of_previous(self) -> Bits {
        let ([x_own, _], [y_own, _], [pad, _]) = (self.x, self.y, self.pads);
        Bits {
            sign: pad,
            first: y_own,
            second: x_own,
        }
    }
}

/// Which of the two sides of the inner product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// (1−2e)(1, −2a, −2b, 4ab).
    Left,
    /// (1−2f)(1, c, d, cd).
    Right,
}

impl Side {
    /// Σ wⱼ uⱼ over the four numbers u of a gate whose sign and factors are the bits of `value`.
    fn block<const M: u64>(self, weights: &[Residue<M>], value: usize) -> Residue<M> {
        let bit = |place: usize, number: Residue<M>| match (value >> place) & 1 {
            1 => number,
            _ => Residue::ZERO,
        };
        let factors = bit(1, weights[1]) + bit(2, weights[2]);
        let both = bit(1, bit(2, weights[3]));
        let sum = match self {
            Self::Left => weights[0] - (factors + factors) + (both + both + both + both),
            Self::Right => weights[0] + factors + both,
        };
        sum - bit(0, sum + sum)
    }

    /// For each pair of gates and each of its 64 values: what it adds at these points.
    fn table<const M: u64, const K: usize>(self, weights: &[Vec<Residue<M>>; K]) -> Vec<[u64; K]> {
        let mut gates = [[Residue::ZERO; K]; 64];
        for (place, row) in gates.iter_mut().enumerate() {
            let (gate, value) = (place / 8, place % 8);
            for (number, weights) in row.iter_mut().zip(weights) {
                *number = self.block(&weights[4 * gate..], value);
            }
        }
        let mut table = vec![[0; K]; 4 * 64];
        for (place, row) in table.iter_mut().enumerate() {
            let (pair, value) = (place / 64, place % 64);
            // Two bits of the sign, two of the first factor, two of the second.
            let of_gate = |which: usize| {
                let bit = |number: usize| (value >> (2 * number + which)) & 1;
                8 * (2 * pair + which) + bit(0) + 2 * bit(1) + 4 * bit(2)
            };
            let both = gates[of_gate(0)].iter().zip(&gates[of_gate(1)]);
            for (number, (one, other)) in row.iter_mut().zip(both) {
                *number = (*one + *other).get();
            }
        }
        table
    }
}

/// The places in a table of the four pairs of gates in byte number `byte`.
fn places(bits: Bits, byte: usize) -> [usize; 4] {
    let [sign, first, second] =
        [bits.sign, bits.first, bits.second].map(|word| usize::from(word.to_le_bytes()[byte]));
    let two = |byte: usize, pair: usize| (byte >> (2 * pair)) & 3;
    core::array::from_fn(|pair| {
        let value = two(sign, pair) | two(first, pair) << 2 | two(second, pair) << 4;
        64 * pair + value
    })
}

/// The sum of four rows; below 2^63.
fn row<const K: usize>(table: &[[u64; K]], places: [usize; 4]) -> [u64; K] {
    let [first, second, third, fourth] = places.map(|place| &table[place]);
    core::array::from_fn(|point| first[point] + second[point] + third[point] + fourth[point])
}

/// The value at `x` of the polynomial of each eight gates.
pub(crate) fn evaluated<const M: u64>(side: Side, bits: &[Bits], x: Residue<M>) -> Vec<Residue<M>> {
    let table = Zeroizing::new(side.table(&[weights(FIRST_POINTS, x)]));
    let mut numbers = Vec::with_capacity(8 * bits.len());
    for word in bits {
        for byte in 0..8 {
            let [sum] = row(&table, places(*word, byte));
            numbers.push(Residue::reduced(u128::from(sum)));
        }
    }
    numbers
}

/// Σ U(x) V(x) at x = 0 … 62 over all parts of eight gates.
pub(crate) fn products<const M: u64>(left: &[Bits], right: &[Bits]) -> Vec<Residue<M>> {
    let mut products = at_points(left, right);
    products.extend(beyond_points(left, right));
    products
}

/// The values at 32 … 62.
fn beyond_points<const M: u64>(left: &[Bits], right: &[Bits]) -> Vec<Residue<M>> {
    const BEYOND: usize = FIRST_POINTS - 1;
    let point = |place: usize| Residue::<M>::small(FIRST_POINTS + place);
    let weights: [_; BEYOND] = core::array::from_fn(|place| weights(FIRST_POINTS, point(place)));
    let left_table = Side::Left.table(&weights);
    let right_table = Side::Right.table(&weights);
    let mut sums = [0u128; BEYOND];
    for (left, right) in left.iter().zip(right) {
        for byte in 0..8 {
            let u = row(&left_table, places(*left, byte));
            let v = row(&right_table, places(*right, byte));
            for (sum, (u, v)) in sums.iter_mut().zip(u.into_iter().zip(v)) {
                // Below 2^61 + 4 times below 2^63: eight of them and what was there fit.
                *sum += u128::from((u & M) + (u >> M.count_ones())) * u128::from(v);
            }
        }
        for sum in &mut sums {
            *sum = (*sum & u128::from(M)) + (*sum >> M.count_ones());
        }
    }
    sums.into_iter().map(Residue::reduced).collect()
}

/// The values at 0 … 31, which are counts.
fn at_points<const M: u64>(left: &[Bits], right: &[Bits]) -> Vec<Residue<M>> {
    let mut counts = Counts::default();
    for (left, right) in left.chunks(255).zip(right.chunks(255)) {
        let mut bytes = [[0u64; 8]; 7];
        for (left, right) in left.iter().zip(right) {
            let negative = left.sign ^ right.sign;
            let (first, second) = (left.first & right.first, left.second & right.second);
            let both = first & second;
            let all = [
                negative,
                first,
                first & negative,
                second,
                second & negative,
                both,
                both & negative,
            ];
            for (bytes, word) in bytes.iter_mut().zip(all) {
                for (gate, bytes) in bytes.iter_mut().enumerate() {
                    *bytes += (word >> gate) & 0x0101_0101_0101_0101;
                }
            }
        }
        counts.add(&bytes, left.len());
    }
    let mut products = Vec::with_capacity(FIRST_POINTS);
    for gate in 0..8 {
        let [
            negative,
            first,
            first_negative,
            second,
            second_negative,
            both,
            both_negative,
        ] = counts.ones.map(|ones| ones[gate]);
        products.extend(
            [
                counts.parts - 2 * negative,
                -2 * (first - 2 * first_negative),
                -2 * (second - 2 * second_negative),
                4 * (both - 2 * both_negative),
            ]
            .map(Residue::signed),
        );
    }
    products
}

/// How many gates at each of the eight places have each of seven properties.
#[derive(Default)]
struct Counts {
    ones: [[i64; 8]; 7],
    parts: i64,
}

impl Counts {
    fn add(&mut self, bytes: &[[u64; 8]; 7], words: usize) {
        self.parts += 8 * i64::try_from(words).unwrap_or(i64::MAX);
        for (ones, bytes) in self.ones.iter_mut().zip(bytes) {
            for (ones, bytes) in ones.iter_mut().zip(bytes) {
                let all = bytes.to_le_bytes().into_iter();
                *ones += all.map(i64::from).sum::<i64>();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proof::interpolation;
    use crate::proof::residue::Number;

    fn numbers(side: Side, bits: &[Bits]) -> Vec<Number> {
        let factors = match side {
            Side::Left => [1, -2, -2, 4],
            Side::Right => [1; 4],
        };
        let mut numbers = Vec::new();
        for word in bits {
            for gate in 0..64 {
                let bit = |word: u64| i64::from((word >> gate) & 1 == 1);
                let (first, second) = (bit(word.first), bit(word.second));
                let values = [1, first, second, first * second];
                for (factor, value) in factors.into_iter().zip(values) {
                    let sign = 1 - 2 * bit(word.sign);
                    numbers.push(Number::signed(sign * factor * value));
                }
            }
        }
        numbers
    }

    fn random(seed: u64, words: u64) -> Vec<Bits> {
        let word = |at: u64| {
            let mixed = (seed + at).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed ^ (mixed >> 32)
        };
        (0..words)
            .map(|at| Bits {
                sign: word(3 * at),
                first: word(3 * at + 1),
                second: word(3 * at + 2),
            })
            .collect()
    }

    #[test]
    fn tables_and_counts_give_the_polynomials_through_the_numbers() {
        for words in [1, 3, 300] {
            let (left, right) = (random(1, words), random(7000, words));
            let (u, v) = (numbers(Side::Left, &left), numbers(Side::Right, &right));
            assert_eq!(
                products::<{ crate::proof::residue::PRIME }>(&left, &right),
                interpolation::products(FIRST_POINTS, &u, &v)
            );
            let x = Number::small(123_456_789).inverse();
            for (side, bits, all) in [(Side::Left, &left, &u), (Side::Right, &right, &v)] {
                let expected = interpolation::evaluated(FIRST_POINTS, all, x);
                assert_eq!(evaluated(side, bits, x), expected);
            }
        }
    }

    #[test]
    fn the_inner_product_of_a_gate_is_one_exactly_if_the_relation_holds() {
        for bits in 0..64u64 {
            let bit = |place: u64| (bits >> place) & 1;
            let (a, b, e, c, d, f) = (bit(0), bit(1), bit(2), bit(3), bit(4), bit(5));
            let one = |sign, first, second| Bits {
                sign,
                first,
                second,
            };
            let (u, v) = (
                numbers(Side::Left, &[one(e, a, b)]),
                numbers(Side::Right, &[one(f, c, d)]),
            );
            let expected = match e ^ f ^ (a & c) ^ (b & d) {
                0 => Number::ONE,
                _ => Number::signed(-1),
            };
            assert_eq!(Number::dot(&u[..4], &v[..4]), expected);
        }
    }

    #[test]
    fn the_three_trustees_of_a_right_gate_know_the_sides_that_its_prover_has() {
        for all in 0..1u64 << 9 {
            let bit = |place: usize| (all >> place) & 1;
            let (x, y, pads) = (
                [bit(0), bit(1), bit(2)],
                [bit(3), bit(4), bit(5)],
                [bit(6), bit(7), bit(8)],
            );
            let next = |place: usize| (place + 1) % 3;
            let sent: Vec<u64> = (0..3)
                .map(|i| {
                    let j = next(i);
                    (x[i] & y[i]) ^ (x[i] & y[j]) ^ (x[j] & y[i]) ^ pads[i] ^ pads[j]
                })
                .collect();
            let logs: Vec<GateWord> = (0..3)
                .map(|i| GateWord {
                    x: [x[i], x[next(i)]],
                    y: [y[i], y[next(i)]],
                    pads: [pads[i], pads[next(i)]],
                    received: sent[next(i)],
                })
                .collect();
            for prover in 0..3 {
                let same = |one: Bits, other: Bits| {
                    one.sign == other.sign && one.first == other.first && one.second == other.second
                };
                let (previous, next) = (logs[(prover + 2) % 3], logs[next(prover)]);
                assert!(same(logs[prover].own_left(), previous.left_of_next()));
                assert!(same(logs[prover].own_right(), next.right_of_previous()));
                let (left, right) = (logs[prover].own_left(), logs[prover].own_right());
                let relation = left.sign
                    ^ right.sign
                    ^ (left.first & right.first)
                    ^ (left.second & right.second);
                assert_eq!(relation, 0);
            }
        }
    }
}
