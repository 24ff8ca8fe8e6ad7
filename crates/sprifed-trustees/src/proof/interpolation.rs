//! Polynomials that are given by their values at 0, 1, 2, ….

use crate::proof::residue::Residue;

/// The weights wⱼ with f(x) = Σ wⱼ f(j) for all polynomials f of degree below `points`.
pub(crate) fn weights<const M: u64>(points: usize, x: Residue<M>) -> Vec<Residue<M>> {
    let one = Residue::ONE;
    let distance = |point: usize| x - Residue::small(point);
    // Products of the distances to all points before, and to all points after.
    let mut before = Vec::with_capacity(points);
    let mut factorial = one;
    let mut product = one;
    for point in 0..points {
        before.push(product);
        product = product * distance(point);
        if point > 0 {
            factorial = factorial * Residue::small(point);
        }
    }
    // 1/j! for all j.
    let mut inverses = vec![factorial.inverse(); points];
    for point in (1..points).rev() {
        let next = inverses[point] * Residue::small(point);
        inverses[point - 1] = next;
    }
    let mut after = one;
    let mut weights = vec![Residue::ZERO; points];
    for point in (0..points).rev() {
        let others = points - 1 - point;
        let size = before[point] * after * inverses[point] * inverses[others];
        weights[point] = if others.is_multiple_of(2) {
            size
        } else {
            Residue::ZERO - size
        };
        after = after * distance(point);
    }
    weights
}

/// Σ U(x) V(x) at x = 0 … 2n − 2 over all parts of n = `points` numbers of both sides, where U and V are the
/// polynomials through the numbers of a part.
pub(crate) fn products<const M: u64>(
    points: usize,
    left: &[Residue<M>],
    right: &[Residue<M>],
) -> Vec<Residue<M>> {
    let beyond: Vec<_> = (points..2 * points - 1)
        .map(|x| weights(points, Residue::small(x)))
        .collect();
    let mut sums = vec![0u128; 2 * points - 1];
    for (number, (left, right)) in left.chunks(points).zip(right.chunks(points)).enumerate() {
        let (known, extrapolated) = sums.split_at_mut(points);
        for (sum, (left, right)) in known.iter_mut().zip(left.iter().zip(right)) {
            *sum += left.product(*right);
        }
        for (sum, weights) in extrapolated.iter_mut().zip(&beyond) {
            *sum += Residue::dot(weights, left).product(Residue::dot(weights, right));
        }
        if number % 32 == 31 {
            for sum in &mut sums {
                *sum = u128::from(Residue::<M>::reduced(*sum).get());
            }
        }
    }
    sums.into_iter().map(Residue::reduced).collect()
}

/// The value at `x` of the polynomial through the numbers of each part of `points` numbers.
pub(crate) fn evaluated<const M: u64>(
    points: usize,
    numbers: &[Residue<M>],
    x: Residue<M>,
) -> Vec<Residue<M>> {
    let weights = weights(points, x);
    let parts = numbers.chunks(points);
    parts.map(|part| Residue::dot(&weights, part)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proof::residue::Number;

    fn power(x: usize, exponent: usize) -> Number {
        (0..exponent).fold(Number::ONE, |power, _| power * Number::small(x))
    }

    #[test]
    fn weights_reproduce_all_monomials_at_and_between_the_points() {
        for points in [1, 2, 8, 9, 15, 32, 63] {
            for x in [0, 3, points - 1, points, 1000, 1 << 40] {
                let weights = weights(points, Number::small(x));
                for exponent in 0..points {
                    let values: Vec<_> = (0..points).map(|at| power(at, exponent)).collect();
                    let expected = power(x, exponent);
                    assert_eq!(
                        Number::dot(&weights, &values),
                        expected,
                        "x^{exponent} at {x}"
                    );
                }
            }
        }
    }

    #[test]
    fn products_are_those_of_the_interpolated_polynomials() {
        let number = |seed: usize| Number::small(seed).inverse();
        let left: Vec<_> = (1..=80 * 8).map(number).collect();
        let right: Vec<_> = (1000..1000 + 80 * 8).map(number).collect();
        for x in [0, 7, 8, 14, 77] {
            let x = Number::small(x);
            let q = products(8, &left, &right);
            let (u, v) = (evaluated(8, &left, x), evaluated(8, &right, x));
            let expected: Number = u.iter().zip(&v).map(|(u, v)| *u * *v).sum();
            assert_eq!(Number::dot(&weights(15, x), &q), expected);
        }
    }
}
