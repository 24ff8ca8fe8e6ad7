//! The questions a procedure may ask, as data, and what one record contributes to each.
//!
//! Contributions are in *normalised* units: within [−1, 1] for each coordinate of a box, of norm at
//! most one for a ball. The limits that normalise them are public or earlier private answers.
//! Nothing here has to be trusted for privacy: the integers made of a contribution are bounded
//! again, exactly, when they enter a sum.

use serde::{Deserialize, Serialize};

use crate::feature_set::FeatureSet;
use crate::model::LinearModel;
use crate::records::Record;

#[cfg(test)]
mod tests;

/// How many buckets a residual-scale question has; each halves the scale.
pub const SCALE_BUCKETS: usize = 14;

/// How many buckets a row-scale question has; two of them halve the scale.
pub const ROW_BUCKETS: usize = 24;

/// A vector of sums over records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Question {
    /// x_j·y for each feature.
    ResponseCorrelation {
        /// Which features.
        features: FeatureSet,
        /// Limit on |x_j|.
        feature_limit: f64,
        /// Limit on |y|.
        response_limit: f64,
    },
    /// x_j·x_l for each feature.
    FeatureCorrelation {
        /// l.
        feature: u32,
        /// Which features j.
        features: FeatureSet,
        /// Limit on |x|.
        feature_limit: f64,
    },
    /// x_j·clip(residual) for each feature, every factor limited on its own.
    BoxedGradient {
        /// The model already released.
        model: LinearModel,
        /// Which features.
        features: FeatureSet,
        /// Limit on |x_j|.
        feature_limit: f64,
        /// Limit on the absolute residual.
        residual_limit: f64,
    },
    /// u_j·clip(residual/c) with the row u clipped to a norm: bounded for any model and any y.
    RowClippedGradient {
        /// The model already released.
        model: LinearModel,
        /// The public candidates.
        features: FeatureSet,
        /// Norm to which the row of candidates is clipped.
        row_norm: f64,
        /// c.
        residual_limit: f64,
    },
    /// Which power of two the absolute residual falls under: a one among [`SCALE_BUCKETS`] zeros.
    ResidualScale {
        /// The model already released.
        model: LinearModel,
        /// Upper end of the first bucket.
        largest: f64,
    },
    /// clip(y).
    ResponseMean {
        /// Limit on |y|.
        response_limit: f64,
    },
    /// x_l·clip(y), every factor limited on its own.
    SupportResponse {
        /// l.
        feature: u32,
        /// Limit on |x|.
        feature_limit: f64,
        /// Limit on |y|.
        response_limit: f64,
    },
    /// x_l·x_k for k in the support, the square x_l² last.
    SupportRow {
        /// l.
        feature: u32,
        /// The features chosen before l.
        earlier: Vec<u32>,
        /// Limit on |x|.
        feature_limit: f64,
    },
    /// Which half power of two the root mean square of the features falls under: a one among
    /// [`ROW_BUCKETS`] zeros.
    RowScale {
        /// Upper end of the first bucket.
        largest: f64,
    },
    /// x_l·z and z·clip(residual) for every z of (1?, x_S), l the last of S; the whole clipped to a
    /// norm.
    SupportUpdate {
        /// The support, the feature just chosen last.
        support: Vec<u32>,
        /// Whether z starts with a one.
        intercept: bool,
        /// The model that the residual is measured against.
        model: LinearModel,
        /// What one unit of each variable is.
        scales: Scales,
        /// Limit on the absolute residual, in units of its scale.
        residual_limit: f64,
        /// Norm to which the contribution is clipped.
        norm: f64,
    },
    /// The upper triangle of z·zᵀ, off-diagonals weighted by √2, with z = (1?, x_S, residual)
    /// clipped to a norm.
    SecondMoment {
        /// S.
        support: Vec<u32>,
        /// Whether z starts with a one.
        intercept: bool,
        /// The model that the residual is measured against.
        model: LinearModel,
        /// What one unit of each variable is.
        scales: Scales,
        /// Norm to which z is clipped.
        norm: f64,
    },
}

/// What one unit of a variable is, where variables of different size meet in one norm.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scales {
    /// One unit of a feature.
    pub feature: f64,
    /// One unit of the residual.
    pub residual: f64,
}

impl Question {
    /// Whether it asks only about features below `n_features`.
    ///
    /// Privacy does not need this: a feature that does not exist contributes zero. It tells a
    /// question of another study from one of this.
    #[must_use]
    pub fn fits(&self, n_features: u32) -> bool {
        let of_model = |model: &LinearModel| model.terms.iter().all(|(f, _)| *f < n_features);
        let of_list = |features: &[u32]| features.iter().all(|feature| *feature < n_features);
        match self {
            Self::ResponseCorrelation { features, .. } => features.end() <= n_features,
            Self::FeatureCorrelation {
                feature, features, ..
            } => *feature < n_features && features.end() <= n_features,
            Self::BoxedGradient {
                model, features, ..
            }
            | Self::RowClippedGradient {
                model, features, ..
            } => of_model(model) && features.end() <= n_features,
            Self::ResidualScale { model, .. } => of_model(model),
            Self::ResponseMean { .. } | Self::RowScale { .. } => true,
            Self::SupportResponse { feature, .. } => *feature < n_features,
            Self::SupportRow {
                feature, earlier, ..
            } => *feature < n_features && of_list(earlier),
            Self::SupportUpdate { support, model, .. }
            | Self::SecondMoment { support, model, .. } => of_list(support) && of_model(model),
        }
    }

    /// How many coordinates the answer has.
    #[must_use]
    pub fn coordinates(&self) -> usize {
        match self {
            Self::ResponseCorrelation { features, .. }
            | Self::FeatureCorrelation { features, .. }
            | Self::BoxedGradient { features, .. }
            | Self::RowClippedGradient { features, .. } => features.len(),
            Self::ResidualScale { .. } => SCALE_BUCKETS,
            Self::ResponseMean { .. } | Self::SupportResponse { .. } => 1,
            Self::SupportRow { earlier, .. } => earlier.len() + 1,
            Self::RowScale { .. } => ROW_BUCKETS,
            Self::SupportUpdate {
                support, intercept, ..
            } => 2 * (support.len() + usize::from(*intercept)),
            Self::SecondMoment {
                support, intercept, ..
            } => {
                let size = support.len() + 1 + usize::from(*intercept);
                size * (size + 1) / 2
            }
        }
    }

    /// Adds what `record` contributes, in normalised units, to `out`.
    ///
    /// # Caller must
    /// pass as many places as there are [`Self::coordinates`].
    pub fn add_contribution(&self, record: Record<'_>, out: &mut [f32]) {
        match self {
            Self::ResponseCorrelation {
                features,
                feature_limit,
                response_limit,
            } => {
                let weight = clip(response(record), *response_limit) / response_limit;
                add_products(
                    features,
                    record,
                    *feature_limit,
                    weight / feature_limit,
                    out,
                );
            }
            Self::FeatureCorrelation {
                feature,
                features,
                feature_limit,
            } => {
                let weight = clip(value(record, *feature), *feature_limit) / feature_limit;
                add_products(
                    features,
                    record,
                    *feature_limit,
                    weight / feature_limit,
                    out,
                );
            }
            Self::BoxedGradient {
                model,
                features,
                feature_limit,
                residual_limit,
            } => {
                let weight = clip(model.residual(record), *residual_limit) / residual_limit;
                add_products(
                    features,
                    record,
                    *feature_limit,
                    weight / feature_limit,
                    out,
                );
            }
            Self::RowClippedGradient {
                model,
                features,
                row_norm,
                residual_limit,
            } => {
                let weight = clip(model.residual(record), *residual_limit) / residual_limit;
                let norm = finite_squared_norm(|| features.runs_of(record.features)).sqrt();
                add_products(
                    features,
                    record,
                    f64::MAX,
                    weight / norm.max(*row_norm),
                    out,
                );
            }
            Self::ResidualScale { model, largest } => {
                let residual = model.residual(record).abs();
                add_one(out, bucket_of(halvings(residual, *largest), SCALE_BUCKETS));
            }
            Self::ResponseMean { response_limit } => {
                add(
                    out,
                    [clip(response(record), *response_limit) / response_limit],
                );
            }
            Self::SupportResponse {
                feature,
                feature_limit,
                response_limit,
            } => {
                let response = clip(response(record), *response_limit) / response_limit;
                add(
                    out,
                    [clip(value(record, *feature), *feature_limit) / feature_limit * response],
                );
            }
            Self::SupportRow {
                feature,
                earlier,
                feature_limit,
            } => {
                let limited = |k: u32| clip(value(record, k), *feature_limit) / feature_limit;
                let own = limited(*feature);
                add(
                    out,
                    earlier.iter().chain([feature]).map(|k| own * limited(*k)),
                );
            }
            Self::RowScale { largest } => {
                let squares = finite_squared_norm(|| core::iter::once(record.features));
                #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 features")]
                let count = record.features.len().max(1) as f64;
                let position = 2.0 * halvings((squares / count).sqrt(), *largest);
                add_one(out, bucket_of(position, ROW_BUCKETS));
            }
            Self::SupportUpdate {
                support,
                intercept,
                model,
                scales,
                residual_limit,
                norm,
            } => {
                let scaled = |k: &u32| value(record, *k) / scales.feature;
                let newest = support.last().map_or(0.0, scaled);
                let residual = clip(model.residual(record) / scales.residual, *residual_limit);
                let one = intercept.then_some(1.0);
                let z: Vec<f64> = one.into_iter().chain(support.iter().map(scaled)).collect();
                let row: Vec<f64> = [newest, residual]
                    .iter()
                    .flat_map(|factor| z.iter().map(move |value| factor * value))
                    .collect();
                let length = length(&row).max(*norm);
                add(out, row.into_iter().map(|entry| entry / length));
            }
            Self::SecondMoment {
                support,
                intercept,
                model,
                scales,
                norm,
            } => {
                let one = intercept.then_some(1.0);
                let values = support.iter().map(|k| value(record, *k) / scales.feature);
                let residual = model.residual(record) / scales.residual;
                let z: Vec<f64> = one.into_iter().chain(values).chain([residual]).collect();
                let length = length(&z).max(*norm);
                let z: Vec<f64> = z.into_iter().map(|entry| entry / length).collect();
                add(out, upper_triangle(&z));
            }
        }
    }
}

/// How often `largest` is halved down to `size`; infinite for zero.
fn halvings(size: f64, largest: f64) -> f64 {
    -(size / largest).log2()
}

/// Bucket b holds what lies between b and b + 1; the first takes everything below, the last
/// everything above.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "clamped to the number of buckets, which is small"
)]
fn bucket_of(position: f64, buckets: usize) -> usize {
    let last = buckets.saturating_sub(1) as f64;
    if position.is_nan() {
        last as usize
    } else {
        position.floor().clamp(0.0, last) as usize
    }
}

fn add_one(out: &mut [f32], bucket: usize) {
    if let Some(place) = out.get_mut(bucket) {
        *place += 1.0;
    }
}

/// The weighted upper triangle of z·zᵀ, row by row: its norm is the square of z's.
fn upper_triangle(z: &[f64]) -> impl Iterator<Item = f64> + '_ {
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

fn value(record: Record<'_>, feature: u32) -> f64 {
    record
        .features
        .get(feature as usize)
        .copied()
        .map_or(0.0, |value| f64::from(finite(value)))
}

fn response(record: Record<'_>) -> f64 {
    f64::from(finite(record.response))
}

#[inline]
fn finite(value: f32) -> f32 {
    if value.is_finite() { value } else { 0.0 }
}

fn clip(value: f64, limit: f64) -> f64 {
    if value.is_nan() {
        0.0
    } else {
        value.clamp(-limit, limit)
    }
}

fn length(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "normalised values are small"
)]
fn add(out: &mut [f32], values: impl IntoIterator<Item = f64>) {
    for (place, value) in out.iter_mut().zip(values) {
        *place += value as f32;
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a weight of single precision is enough"
)]
fn add_products(
    features: &FeatureSet,
    record: Record<'_>,
    limit: f64,
    weight: f64,
    out: &mut [f32],
) {
    let (limit, weight) = (limit.min(f64::from(f32::MAX)) as f32, weight as f32);
    let mut rest = out;
    for run in features.runs_of(record.features) {
        let (places, following) = rest.split_at_mut(run.len().min(rest.len()));
        for (place, value) in places.iter_mut().zip(run) {
            *place += finite(*value).clamp(-limit, limit) * weight;
        }
        rest = following;
    }
}

/// Σ x² over runs of a row; where single precision overflows or meets what is not a number, again
/// in double precision over the finite values.
fn finite_squared_norm<'a, I: Iterator<Item = &'a [f32]>>(runs: impl Fn() -> I) -> f64 {
    let fast = squared_norm(runs());
    if fast.is_finite() {
        return fast;
    }
    runs()
        .flatten()
        .map(|value| f64::from(finite(*value)).powi(2))
        .sum()
}

/// Σ x² over runs of a row, in sixteen lanes of single precision each summed in double.
pub(crate) fn squared_norm<'a>(runs: impl Iterator<Item = &'a [f32]>) -> f64 {
    let mut total = 0.0;
    for run in runs {
        for block in run.chunks(1024) {
            let mut lanes = [0f32; 16];
            let groups = block.chunks_exact(16);
            let tail: f32 = groups.remainder().iter().map(|value| value * value).sum();
            for group in groups {
                for (lane, value) in lanes.iter_mut().zip(group) {
                    *lane += value * value;
                }
            }
            total += f64::from(lanes.iter().sum::<f32>() + tail);
        }
    }
    total
}
