//! Gauss-Legendre quadrature on one panel.

/// Positive nodes and weights of the 8-point Gauss-Legendre rule on [−1, 1].
const NODES: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_27),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_48),
    (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
];

/// ∫ `of` from `low` to `high` by eight points.
pub(super) fn panel((low, high): (f64, f64), of: impl Fn(f64) -> f64) -> f64 {
    let (middle, half) = (f64::midpoint(low, high), (high - low) / 2.0);
    let mut sum = 0.0;
    for (node, weight) in NODES {
        sum += weight * (of(middle - half * node) + of(middle + half * node));
    }
    half * sum
}
