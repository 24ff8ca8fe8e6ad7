//! How far some columns of the design are from orthonormal, at least.

use sprifed_query::Records;

use sprifed_recovery::SquareMatrix;
use sprifed_recovery::columns::{Matrix, add_multiple, dot};

#[cfg(test)]
mod tests;

/// A lower bound on a restricted isometry constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IsometryEstimate {
    /// ζ is at least this. The true constant is a maximum over all supports and can be far larger.
    pub at_least: f64,
    /// The same from random supports alone.
    pub at_random: f64,
    /// How many columns are looked at together: s + 1 in the theorems.
    pub order: usize,
    /// How many supports were looked at.
    pub supports: usize,
}

/// How often a search for a worse support continues from its result.
const ASCENTS: usize = 10;

/// Steps towards the direction in which all columns together vary most.
const POWER_STEPS: usize = 20;

/// The largest distance from one of an eigenvalue of X_SᵀX_S/n, over `sampled` random supports of
/// `order` columns and two searches for worse ones [SPRIFED, Assumption 1].
///
/// NOT PRIVATE: it reads the records. Features have to be in standard units.
///
/// # Why
/// Any support gives a lower bound; an upper bound would need all of them, which is out of reach.
/// Random supports miss correlated columns almost surely, so one search continues from the worst of
/// them and another starts from the direction in which all columns vary most: the `order` columns
/// most correlated with a direction are a support, its own leading direction the next.
#[must_use]
pub fn estimate_isometry(
    records: &Records<'_>,
    order: usize,
    sampled: usize,
    seed: u64,
) -> IsometryEstimate {
    let matrix = Matrix::of(records);
    let order = order.clamp(1, matrix.n_features());
    let mut draws = Draws { state: seed };
    let mut worst = Support::new(&matrix, draws.subset(matrix.n_features(), order));
    for _ in 1..sampled {
        let support = Support::new(&matrix, draws.subset(matrix.n_features(), order));
        worst = if support.distance > worst.distance {
            support
        } else {
            worst
        };
    }
    let mut found = IsometryEstimate {
        at_least: worst.distance,
        at_random: worst.distance,
        order,
        supports: sampled.max(1),
    };
    let direction = worst.direction();
    ascend(&matrix, direction, &mut found);
    ascend(&matrix, common_direction(&matrix, &mut draws), &mut found);
    found
}

/// From a direction to the columns most correlated with it, to their own leading direction.
fn ascend(matrix: &Matrix<'_>, mut direction: Vec<f64>, found: &mut IsometryEstimate) {
    let mut features = Vec::new();
    for _ in 0..ASCENTS {
        let next = strongest(&matrix.correlate(&direction), found.order);
        if next == features {
            return;
        }
        let support = Support::new(matrix, next.clone());
        found.supports += 1;
        found.at_least = found.at_least.max(support.distance);
        direction = support.direction();
        features = next;
    }
}

/// Nearly the direction in which all columns together vary most, by repeated multiplication.
fn common_direction(matrix: &Matrix<'_>, draws: &mut Draws) -> Vec<f64> {
    let sign = |draw: u64| if draw & 1 == 0 { 1.0 } else { -1.0 };
    let mut direction: Vec<f64> = matrix
        .responses
        .iter()
        .map(|_| sign(draws.next()))
        .collect();
    for _ in 0..POWER_STEPS {
        let mut weights = matrix.correlate(&direction);
        let length = dot(&weights, &weights).sqrt().max(f64::MIN_POSITIVE);
        weights.iter_mut().for_each(|weight| *weight /= length);
        direction = matrix.combine(&weights);
    }
    direction
}

/// The features of largest absolute correlation, in increasing order.
fn strongest(correlations: &[f64], count: usize) -> Vec<usize> {
    let mut ranked: Vec<usize> = (0..correlations.len()).collect();
    let size = |feature: &usize| correlations[*feature].abs();
    ranked.sort_by(|left, right| size(right).total_cmp(&size(left)));
    ranked.truncate(count);
    ranked.sort_unstable();
    ranked
}

struct Support {
    columns: Vec<Vec<f64>>,
    distance: f64,
    /// The direction of the largest eigenvalue.
    leading: Vec<f64>,
}

impl Support {
    fn new(matrix: &Matrix<'_>, features: Vec<usize>) -> Self {
        let size = features.len();
        let columns: Vec<Vec<f64>> = features
            .into_iter()
            .map(|feature| matrix.column(feature))
            .collect();
        #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 records")]
        let records = matrix.responses.len() as f64;
        let gram = SquareMatrix::from_fn(size, |row, column| {
            dot(&columns[row], &columns[column]) / records
        });
        let eigen = gram.symmetric_eigen();
        let (largest, smallest) = eigen.extremes();
        let column = eigen.values.iter().position(|value| *value >= largest);
        let column = column.unwrap_or(0);
        let leading = (0..size).map(|row| eigen.vectors[(row, column)]).collect();
        let distance = (largest - 1.0).max(1.0 - smallest);
        Self {
            columns,
            distance,
            leading,
        }
    }

    /// The sum of columns that varies most.
    fn direction(&self) -> Vec<f64> {
        let mut direction = vec![0.0; self.columns.first().map_or(0, Vec::len)];
        for (column, weight) in self.columns.iter().zip(&self.leading) {
            add_multiple(&mut direction, column, *weight);
        }
        direction
    }
}

/// SplitMix64: repeatable choices of supports, not noise.
struct Draws {
    state: u64,
}

impl Draws {
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// `size` different numbers below `bound`, in increasing order (Floyd's method).
    fn subset(&mut self, bound: usize, size: usize) -> Vec<usize> {
        let mut chosen: Vec<usize> = Vec::with_capacity(size);
        for last in bound - size..bound {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "the remainder is below the bound"
            )]
            let drawn = (self.next() % (last as u64 + 1)) as usize;
            chosen.push(if chosen.contains(&drawn) { last } else { drawn });
        }
        chosen.sort_unstable();
        chosen
    }
}
