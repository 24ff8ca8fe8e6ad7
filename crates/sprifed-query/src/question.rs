//! The questions a procedure may ask, as data, and what one record contributes to each.
//!
//! Contributions are in *normalised* units: within [−1, 1] for each coordinate of a box, of norm at
//! most one for a ball. The limits that normalise them are public or earlier private answers.
//! Nothing here has to be trusted for privacy: the integers made of a contribution are bounded
//! again, exactly, when they enter a sum.
//!
//! A question that exists is legal: its limits are [`Limit`]s, its models [`ReleasedModel`]s, its
//! lists name a feature once. What a record contributes is then a number, whatever bits the record
//! holds, and takes the same steps to compute for every record.

use serde::{Deserialize, Serialize};

use self::arithmetic::{
    add, add_one, add_products, bucket_of, clip, halvings, length, response, tamed_squared_norm,
    upper_triangle,
};
use crate::columns::ReleasedColumns;
use crate::constant::Constant;
use crate::feature_list::FeatureList;
use crate::feature_set::FeatureSet;
use crate::kernels::WIDEST;
use crate::limit::Limit;
use crate::model::{LinearModel, ReleasedModel};
use crate::records::Record;

mod arithmetic;

pub(crate) use self::arithmetic::value;

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
        feature_limit: Limit,
        /// Limit on |y|.
        response_limit: Limit,
    },
    /// x_j·x_l for each feature.
    FeatureCorrelation {
        /// l.
        feature: u32,
        /// Which features j.
        features: FeatureSet,
        /// Limit on |x|.
        feature_limit: Limit,
    },
    /// x_j·clip(residual) for each feature, every factor limited on its own.
    BoxedGradient {
        /// The model already released.
        model: ReleasedModel,
        /// Which features.
        features: FeatureSet,
        /// Limit on |x_j|.
        feature_limit: Limit,
        /// Limit on the absolute residual.
        residual_limit: Limit,
    },
    /// u_j·clip(residual/c) with the row u clipped to a norm: bounded for any model and any y.
    RowClippedGradient {
        /// The model already released.
        model: ReleasedModel,
        /// The public candidates.
        features: FeatureSet,
        /// Norm to which the row of candidates is clipped.
        row_norm: Limit,
        /// c.
        residual_limit: Limit,
    },
    /// Which power of two the absolute residual falls under: a one among [`SCALE_BUCKETS`] zeros.
    ResidualScale {
        /// The model already released.
        model: ReleasedModel,
        /// Upper end of the first bucket.
        largest: Limit,
    },
    /// clip(y).
    ResponseMean {
        /// Limit on |y|.
        response_limit: Limit,
    },
    /// x_l·clip(y), every factor limited on its own.
    SupportResponse {
        /// l.
        feature: u32,
        /// Limit on |x|.
        feature_limit: Limit,
        /// Limit on |y|.
        response_limit: Limit,
    },
    /// x_l·x_k for k in the support, l its last, so that the square x_l² comes last.
    SupportRow {
        /// The support, the feature just chosen last.
        support: FeatureList,
        /// Limit on |x|.
        feature_limit: Limit,
    },
    /// Which half power of two the root mean square of the features falls under: a one among
    /// [`ROW_BUCKETS`] zeros.
    RowScale {
        /// How many features, the first ones of a record.
        features: u32,
        /// Upper end of the first bucket.
        largest: Limit,
    },
    /// x_l·z and z·clip(residual) for every z of (constant, x_S), l the last of S; the whole clipped to a
    /// norm.
    SupportUpdate {
        /// The support, the feature just chosen last.
        support: FeatureList,
        /// What z starts with.
        constant: Constant,
        /// The model that the residual is measured against.
        model: ReleasedModel,
        /// What one unit of each variable is.
        scales: Scales,
        /// Limit on the absolute residual, in units of its scale.
        residual_limit: Limit,
        /// Norm to which the contribution is clipped.
        norm: Limit,
    },
    /// The upper triangle of z·zᵀ, off-diagonals weighted by √2, with z = (constant, x_S, residual)
    /// clipped to a norm.
    SecondMoment {
        /// S.
        support: FeatureList,
        /// What z starts with.
        constant: Constant,
        /// The model that the residual is measured against.
        model: ReleasedModel,
        /// What one unit of each variable is.
        scales: Scales,
        /// Norm to which z is clipped.
        norm: Limit,
    },
    /// The upper triangle of u·uᵀ, off-diagonals weighted by √2, with u = 2·residual·(constant, x_S) divided by the
    /// square of the larger of |z| and a norm, z = (constant, x_S, residual): how much the residual varies where
    /// which variable is large.
    ResidualMoment {
        /// S.
        support: FeatureList,
        /// What z starts with.
        constant: Constant,
        /// The model that the residual is measured against.
        model: ReleasedModel,
        /// What one unit of each variable is.
        scales: Scales,
        /// Norm to which z is clipped.
        norm: Limit,
    },
    /// x_j for each feature, the row clipped to a norm.
    ColumnMeans {
        /// Which features.
        features: FeatureSet,
        /// Norm to which the row is clipped.
        row_norm: Limit,
    },
    /// x_j² for each feature, the row of squares clipped to a norm.
    ColumnSquares {
        /// Which features.
        features: FeatureSet,
        /// Norm to which the row of squares is clipped.
        row_norm: Limit,
    },
    /// Another question, about records some of whose columns are in units that were released.
    Standardised {
        /// These columns.
        columns: ReleasedColumns,
        /// The question.
        question: Box<Self>,
    },
}

/// What one unit of a variable is, where variables of different size meet in one norm.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scales {
    /// One unit of a feature.
    pub feature: Limit,
    /// One unit of the residual.
    pub residual: Limit,
}

impl Question {
    /// Whether it asks only about features below `n_features`.
    ///
    /// Privacy does not need this: a feature that does not exist contributes zero. It tells a
    /// question of another study from one of this.
    #[must_use]
    pub fn fits(&self, n_features: u32) -> bool {
        let of_model = |model: &ReleasedModel| {
            let LinearModel { terms, .. } = model.as_model();
            terms.iter().all(|(feature, _)| *feature < n_features)
        };
        let of_list = |list: &FeatureList| list.iter().all(|feature| feature < n_features);
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
            Self::ResponseMean { .. } => true,
            Self::RowScale { features, .. } => *features <= n_features,
            Self::SupportResponse { feature, .. } => *feature < n_features,
            Self::SupportRow { support, .. } => of_list(support),
            Self::SupportUpdate {
                support,
                constant,
                model,
                ..
            }
            | Self::SecondMoment {
                support,
                constant,
                model,
                ..
            }
            | Self::ResidualMoment {
                support,
                constant,
                model,
                ..
            } => of_list(support) && of_model(model) && constant.end() <= n_features,
            Self::ColumnMeans { features, .. } | Self::ColumnSquares { features, .. } => {
                features.end() <= n_features
            }
            Self::Standardised { columns, question } => {
                columns.features().end() <= n_features && question.fits(n_features)
            }
        }
    }

    /// How many coordinates the answer has.
    #[must_use]
    pub fn coordinates(&self) -> usize {
        match self {
            Self::ResponseCorrelation { features, .. }
            | Self::FeatureCorrelation { features, .. }
            | Self::BoxedGradient { features, .. }
            | Self::RowClippedGradient { features, .. }
            | Self::ColumnMeans { features, .. }
            | Self::ColumnSquares { features, .. } => features.len(),
            Self::ResidualScale { .. } => SCALE_BUCKETS,
            Self::ResponseMean { .. } | Self::SupportResponse { .. } => 1,
            Self::SupportRow { support, .. } => support.len(),
            Self::RowScale { .. } => ROW_BUCKETS,
            Self::SupportUpdate {
                support, constant, ..
            } => 2 * (support.len() + constant.entries()),
            Self::SecondMoment {
                support, constant, ..
            } => {
                let size = support.len() + 1 + constant.entries();
                size.saturating_mul(size + 1) / 2
            }
            Self::ResidualMoment {
                support, constant, ..
            } => {
                let size = support.len() + constant.entries();
                size.saturating_mul(size + 1) / 2
            }
            Self::Standardised { question, .. } => question.coordinates(),
        }
    }

    /// Adds what `record` contributes, in normalised units, to `out`: zero if the record does not
    /// count.
    ///
    /// # Caller must
    /// pass as many places as there are [`Self::coordinates`].
    ///
    /// # Why
    /// No branch depends on what the record says: one that does not count goes through the same
    /// arithmetic and is weighted by zero at its end.
    pub fn add_contribution(&self, record: Record<'_>, out: &mut [f32]) {
        let counted: f32 = if record.is_present { 1.0 } else { 0.0 };
        match self {
            Self::ResponseCorrelation {
                features,
                feature_limit,
                response_limit,
            } => {
                let weight = clip(response(record), *response_limit) / response_limit.get();
                let weight = f64::from(counted) * weight / feature_limit.get();
                add_products(features, record, feature_limit.get(), weight, out);
            }
            Self::FeatureCorrelation {
                feature,
                features,
                feature_limit,
            } => {
                let weight = clip(value(record, *feature), *feature_limit) / feature_limit.get();
                let weight = f64::from(counted) * weight / feature_limit.get();
                add_products(features, record, feature_limit.get(), weight, out);
            }
            Self::BoxedGradient {
                model,
                features,
                feature_limit,
                residual_limit,
            } => {
                let weight = clip(model.residual(record), *residual_limit) / residual_limit.get();
                let weight = f64::from(counted) * weight / feature_limit.get();
                add_products(features, record, feature_limit.get(), weight, out);
            }
            Self::RowClippedGradient {
                model,
                features,
                row_norm,
                residual_limit,
            } => {
                let weight = clip(model.residual(record), *residual_limit) / residual_limit.get();
                let norm = tamed_squared_norm(features.runs_of(record.features)).sqrt();
                let weight = f64::from(counted) * weight / norm.max(row_norm.get());
                add_products(features, record, f64::from(WIDEST), weight, out);
            }
            Self::ResidualScale { model, largest } => {
                let residual = model.residual(record).abs();
                let bucket = bucket_of(halvings(residual, *largest), SCALE_BUCKETS);
                add_one(out, bucket, counted);
            }
            Self::ResponseMean { response_limit } => {
                let mean = clip(response(record), *response_limit) / response_limit.get();
                add(out, counted, [mean]);
            }
            Self::SupportResponse {
                feature,
                feature_limit,
                response_limit,
            } => {
                let response = clip(response(record), *response_limit) / response_limit.get();
                let own = clip(value(record, *feature), *feature_limit) / feature_limit.get();
                add(out, counted, [own * response]);
            }
            Self::SupportRow {
                support,
                feature_limit,
            } => {
                let limited = |feature: u32| {
                    clip(value(record, feature), *feature_limit) / feature_limit.get()
                };
                let own = support.last().map_or(0.0, limited);
                let row = support.iter().map(|feature| own * limited(feature));
                add(out, counted, row);
            }
            Self::RowScale { features, largest } => {
                let first = record.features.get(..*features as usize);
                let first = first.unwrap_or(record.features);
                let squares = tamed_squared_norm(core::iter::once(first));
                #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 features")]
                let count = first.len().max(1) as f64;
                let position = 2.0 * halvings((squares / count).sqrt(), *largest);
                add_one(out, bucket_of(position, ROW_BUCKETS), counted);
            }
            Self::SupportUpdate {
                support,
                constant,
                model,
                scales,
                residual_limit,
                norm,
            } => {
                let scaled = |feature: u32| value(record, feature) / scales.feature.get();
                let newest = support.last().map_or(0.0, scaled);
                let residual = model.residual(record) / scales.residual.get();
                let residual = clip(residual, *residual_limit);
                let features = support.iter().map(scaled);
                let z: Vec<f64> = constant.values(record).chain(features).collect();
                let row: Vec<f64> = [newest, residual]
                    .iter()
                    .flat_map(|factor| z.iter().map(move |value| factor * value))
                    .collect();
                let length = length(&row).max(norm.get());
                add(out, counted, row.into_iter().map(|entry| entry / length));
            }
            Self::SecondMoment {
                support,
                constant,
                model,
                scales,
                norm,
            } => {
                let z = clipped_variables(record, support, *constant, model, *scales, *norm);
                add(out, counted, upper_triangle(&z));
            }
            Self::ResidualMoment {
                support,
                constant,
                model,
                scales,
                norm,
            } => {
                let z = clipped_variables(record, support, *constant, model, *scales, *norm);
                // Twice a product is at most the sum of the squares: |u| = 2|r||x| ≤ |z|² ≤ 1.
                if let Some((residual, others)) = z.split_last() {
                    let u: Vec<f64> = others.iter().map(|value| 2.0 * residual * value).collect();
                    add(out, counted, upper_triangle(&u));
                }
            }
            Self::ColumnMeans { features, row_norm } => {
                let norm = tamed_squared_norm(features.runs_of(record.features)).sqrt();
                let weight = f64::from(counted) / norm.max(row_norm.get());
                add_products(features, record, f64::from(WIDEST), weight, out);
            }
            Self::ColumnSquares { features, row_norm } => {
                let values = features.iter().map(|feature| value(record, feature));
                let squares: Vec<f64> = values.map(|value| value * value).collect();
                let norm = length(&squares).max(row_norm.get());
                add(
                    out,
                    counted,
                    squares.into_iter().map(|square| square / norm),
                );
            }
            Self::Standardised { columns, question } => {
                let features = &columns.standardised(record.features);
                question.add_contribution(Record { features, ..record }, out);
            }
        }
    }
}

/// z = (constant, x_S, residual), each in its unit, divided by the larger of its length and `norm`.
fn clipped_variables(
    record: Record<'_>,
    support: &FeatureList,
    constant: Constant,
    model: &ReleasedModel,
    scales: Scales,
    norm: Limit,
) -> Vec<f64> {
    let scaled = |feature: u32| value(record, feature) / scales.feature.get();
    let values = support.iter().map(scaled);
    let residual = model.residual(record) / scales.residual.get();
    let constant = constant.values(record);
    let z: Vec<f64> = constant.chain(values).chain([residual]).collect();
    let length = length(&z).max(norm.get());
    z.into_iter().map(|entry| entry / length).collect()
}
