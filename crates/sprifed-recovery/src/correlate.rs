//! Xᵀv at the speed of memory: the one loop that all exact correlations are made of.

use multiversion::multiversion;
use rayon::iter::{IndexedParallelIterator, ParallelIterator};
use rayon::slice::ParallelSlice;

#[cfg(test)]
mod tests;

/// Rows that are read side by side, so that an accumulator is loaded once for all of them.
const ROWS: usize = 8;

/// Rows of one parallel task. Fixed, so that the result does not depend on the number of threads.
const TASK_ROWS: usize = 256;

/// Xᵀv for a matrix of rows of `n_features` values and one weight for each row.
///
/// # Why
/// Products and sums are in double precision: features of single precision are exact in it, so the
/// result is as good as that of a matrix of doubles at half the memory traffic.
#[must_use]
pub fn correlate(features: &[f32], weights: &[f64], n_features: usize) -> Vec<f64> {
    let rows: Vec<&[f32]> = features.chunks_exact(n_features.max(1)).collect();
    correlate_rows(&rows, weights, n_features)
}

/// The same for rows that are found one by one.
#[must_use]
pub fn correlate_rows(rows: &[&[f32]], weights: &[f64], n_features: usize) -> Vec<f64> {
    in_tasks(rows, weights, n_features, add_rows)
}

/// The same with every single product clipped at ±`limit`.
#[must_use]
pub fn correlate_clipped_rows(
    rows: &[&[f32]],
    weights: &[f64],
    n_features: usize,
    limit: f64,
) -> Vec<f64> {
    in_tasks(rows, weights, n_features, |rows, weights, sums| {
        for (row, weight) in rows.iter().zip(weights) {
            for (sum, value) in sums.iter_mut().zip(*row) {
                *sum += (weight * f64::from(*value)).max(-limit).min(limit);
            }
        }
    })
}

fn in_tasks(
    rows: &[&[f32]],
    weights: &[f64],
    n_features: usize,
    add: impl Fn(&[&[f32]], &[f64], &mut [f64]) + Sync,
) -> Vec<f64> {
    let tasks = rows
        .par_chunks(TASK_ROWS)
        .zip(weights.par_chunks(TASK_ROWS));
    let parts: Vec<Vec<f64>> = tasks
        .map(|(rows, weights)| {
            let mut sums = vec![0.0; n_features];
            add(rows, weights, &mut sums);
            sums
        })
        .collect();
    let mut parts = parts.into_iter();
    let mut total = parts.next().unwrap_or_else(|| vec![0.0; n_features]);
    for part in parts {
        for (sum, value) in total.iter_mut().zip(part) {
            *sum += value;
        }
    }
    total
}

fn add_rows(rows: &[&[f32]], weights: &[f64], sums: &mut [f64]) {
    let (groups, rest) = rows.as_chunks::<ROWS>();
    let (group_weights, rest_weights) = weights.as_chunks::<ROWS>();
    for (group, weights) in groups.iter().zip(group_weights) {
        add_group(group, weights, sums);
    }
    for (row, weight) in rest.iter().zip(rest_weights) {
        for (sum, value) in sums.iter_mut().zip(*row) {
            *sum += weight * f64::from(*value);
        }
    }
}

/// Eight rows at once, written so that every bound is checked before the loop. Every version has the same operations in the
/// same order, so all give the same bits.
#[multiversion(
    targets("x86_64+avx512bw+avx512dq+avx512f+avx512vl", "x86_64+avx2"),
    dispatcher = "direct"
)]
fn add_group(rows: &[&[f32]; ROWS], weights: &[f64; ROWS], sums: &mut [f64]) {
    let length = rows
        .iter()
        .fold(sums.len(), |least, row| least.min(row.len()));
    let [a, b, c, d, e, f, g, h] = rows.map(|row| &row[..length]);
    let [wa, wb, wc, wd, we, wf, wg, wh] = *weights;
    for (index, sum) in sums[..length].iter_mut().enumerate() {
        let first = wa * f64::from(a[index]) + wb * f64::from(b[index]);
        let second = wc * f64::from(c[index]) + wd * f64::from(d[index]);
        let third = we * f64::from(e[index]) + wf * f64::from(f[index]);
        let fourth = wg * f64::from(g[index]) + wh * f64::from(h[index]);
        *sum += (first + second) + (third + fourth);
    }
}
