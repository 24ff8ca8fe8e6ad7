//! The arithmetic of contributions: total for every record, and the same steps for each.

use crate::feature_set::FeatureSet;
use crate::kernels::{self, finite};
use crate::limit::Limit;
use crate::records::Record;
use crate::work;

/// How often `largest` is halved down to `size`; infinite for zero.
pub(super) fn halvings(size: f64, largest: Limit) -> f64 {
    -(size / largest.get()).log2()
}

/// Bucket b holds what lies between b and b + 1; the first takes everything below, the last
/// everything above.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "limited to the number of buckets, which is small"
)]
pub(super) fn bucket_of(position: f64, buckets: usize) -> usize {
    let last = buckets.saturating_sub(1) as f64;
    // The smaller of the two is `last` if the position is not a number.
    position.floor().min(last).max(0.0) as usize
}

/// Adds `counted` to one of the places; every place is written.
pub(super) fn add_one(out: &mut [f32], bucket: usize, counted: f32) {
    work::touch(out.len());
    for (index, place) in out.iter_mut().enumerate() {
        *place += if index == bucket { counted } else { 0.0 };
    }
}

/// The weighted upper triangle of z·zᵀ, row by row: its norm is the square of z's.
pub(super) fn upper_triangle(z: &[f64]) -> impl Iterator<Item = f64> + '_ {
    z.iter().enumerate().flat_map(move |(row, left)| {
        let rest = z.iter().skip(row).enumerate();
        rest.map(move |(distance, right)| {
            let weight = if distance == 0 {
                1.0
            } else {
                core::f64::consts::SQRT_2
            };
            weight * left * right
        })
    })
}

pub(crate) fn value(record: Record<'_>, feature: u32) -> f64 {
    record
        .features
        .get(feature as usize)
        .copied()
        .map_or(0.0, |value| f64::from(finite(value)))
}

pub(super) fn response(record: Record<'_>) -> f64 {
    f64::from(finite(record.response))
}

pub(super) fn clip(value: f64, limit: Limit) -> f64 {
    let value = if value.is_nan() { 0.0 } else { value };
    value.max(-limit.get()).min(limit.get())
}

pub(super) fn length(values: &[f64]) -> f64 {
    work::touch(values.len());
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "normalised values are small"
)]
pub(super) fn add(out: &mut [f32], counted: f32, values: impl IntoIterator<Item = f64>) {
    work::touch(out.len());
    for (place, value) in out.iter_mut().zip(values) {
        *place += counted * finite(value as f32);
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a weight of single precision is enough"
)]
pub(super) fn add_products(
    features: &FeatureSet,
    record: Record<'_>,
    limit: f64,
    weight: f64,
    out: &mut [f32],
) {
    work::touch(out.len());
    let (limit, weight) = (limit as f32, weight as f32);
    let mut rest = out;
    for run in features.runs_of(record.features) {
        let (places, following) = rest.split_at_mut(run.len().min(rest.len()));
        kernels::add_products(run, limit, weight, places);
        rest = following;
    }
}

/// Σ x² over runs of a row, where x is zero if it is not a number and [`WIDEST`](kernels::WIDEST) if it is wider.
pub(super) fn tamed_squared_norm<'a>(runs: impl Iterator<Item = &'a [f32]>) -> f64 {
    runs.fold(0.0, |total, run| {
        work::touch(run.len());
        kernels::add_tamed_squares(total, run)
    })
}
