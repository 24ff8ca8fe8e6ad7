//! From bounded units back to the units of the table, intercept included.

use crate::schema::{Schema, Transform};
use crate::units::Units;

/// The public change of units between a table and the bounded matrix made from it.
#[derive(Debug, Clone, PartialEq)]
pub struct Mapping {
    features: Vec<Units>,
    response: Units,
    transform: Transform,
}

/// A sparse linear model of bounded response on bounded features.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitModel {
    /// Positions of the chosen features.
    pub support: Vec<usize>,
    /// One coefficient for each chosen feature.
    pub coefficients: Vec<f64>,
    /// The bounded response where all bounded features are zero.
    pub intercept: f64,
}

/// The same model in the units of the table.
///
/// With a transform the model is linear on the transformed scale; [`OriginalModel::predict`] goes
/// all the way back.
#[derive(Debug, Clone, PartialEq)]
pub struct OriginalModel {
    /// Positions of the chosen features.
    pub support: Vec<usize>,
    /// One coefficient for each chosen feature, per unit of its column.
    pub coefficients: Vec<f64>,
    /// The response (after its transform) where all features are zero.
    pub intercept: f64,
    /// The change of scale of the response.
    pub transform: Transform,
}

impl Mapping {
    /// The mapping for features that `schema` bounds, in this order; `None` if it bounds not all.
    pub fn for_features<'a>(
        schema: &Schema,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Option<Self> {
        let features = names
            .into_iter()
            .map(|name| schema.units_of(name).copied())
            .collect::<Option<_>>()?;
        let response = schema.response();
        Some(Self {
            features,
            response: *response.units(),
            transform: response.transform(),
        })
    }

    /// The units of each feature.
    pub fn features(&self) -> &[Units] {
        &self.features
    }

    /// The units of the response, on the scale after its transform.
    pub const fn response(&self) -> &Units {
        &self.response
    }

    /// The change of scale of the response.
    pub const fn transform(&self) -> Transform {
        self.transform
    }

    /// The largest absolute value any feature of any record can have: `X_M` of the sensitivities.
    pub fn feature_bound(&self) -> f64 {
        self.features.iter().map(Units::bound).fold(0.0, f64::max)
    }

    /// The largest absolute value the response of any record can have: `y_M` of the sensitivities.
    pub fn response_bound(&self) -> f64 {
        self.response.bound()
    }

    /// A response of the table in bounded units; not a number becomes the midpoint.
    pub fn response_to_unit(&self, value: f64) -> f32 {
        self.response.to_unit(self.transform.apply(value))
    }

    /// Writes the features of one record in bounded units; not a number becomes the midpoint.
    pub fn features_to_units(&self, values: impl Iterator<Item = f64>, bounded: &mut [f32]) {
        for ((place, units), value) in bounded.iter_mut().zip(&self.features).zip(values) {
            *place = units.to_unit(value);
        }
    }

    /// `model` in the units of the table.
    ///
    /// # Why
    /// Substitute `x = (v - center) / scale` for each feature and solve for the response. Inside
    /// the bounds both models predict the same; outside them bounded units are clipped and the
    /// returned model extrapolates.
    ///
    /// # Panics
    /// If `model` has a feature this mapping does not have.
    pub fn to_original(&self, model: &UnitModel) -> OriginalModel {
        let mut intercept = self.response.from_unit(model.intercept);
        let mut coefficients = Vec::with_capacity(model.coefficients.len());
        for (&feature, &coefficient) in model.support.iter().zip(&model.coefficients) {
            let units = &self.features[feature];
            let slope = coefficient * self.response.scale() / units.scale();
            intercept -= slope * units.center();
            coefficients.push(slope);
        }
        OriginalModel {
            support: model.support.clone(),
            coefficients,
            intercept,
            transform: self.transform,
        }
    }
}

impl UnitModel {
    /// The model with these features and coefficients.
    pub fn from_terms(terms: &[(u32, f64)], intercept: f64) -> Self {
        Self {
            support: terms.iter().map(|(feature, _)| *feature as usize).collect(),
            coefficients: terms.iter().map(|(_, coefficient)| *coefficient).collect(),
            intercept,
        }
    }

    /// The bounded response predicted for a bounded row.
    ///
    /// # Panics
    /// If `row` is shorter than the support asks for.
    pub fn predict(&self, row: &[f32]) -> f64 {
        let terms = self.support.iter().zip(&self.coefficients);
        self.intercept
            + terms
                .map(|(&at, slope)| slope * f64::from(row[at]))
                .sum::<f64>()
    }
}

impl OriginalModel {
    /// The response predicted, in the units of its column, from the chosen features in the order of
    /// [`Self::support`].
    pub fn predict(&self, chosen: &[f64]) -> f64 {
        let terms = self.coefficients.iter().zip(chosen);
        self.transform
            .invert(self.intercept + terms.map(|(slope, value)| slope * value).sum::<f64>())
    }
}

#[cfg(test)]
mod tests;
