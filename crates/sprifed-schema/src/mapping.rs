//! From bounded units back to the units of the table, intercept included.

use core::ops::Range;

use crate::coding::Coding;
use crate::covariates::Covariates;
use crate::reading::FeatureReading;
use crate::schema::{MissingPolicy, Schema, SiteColumn, Transform};
use crate::units::Units;

/// The public change of units between a table and the bounded matrix made from it.
#[derive(Debug, Clone, PartialEq)]
pub struct Mapping {
    columns: Vec<CodedColumn>,
    names: Vec<String>,
    features: Vec<Units>,
    response: Units,
    transform: Transform,
    /// What stands in for gaps where a column does not say it.
    missing: MissingPolicy,
    /// How many of the features, the last ones, are indicators of sites.
    n_sites: usize,
}

/// A column of the table, and the columns of the matrix that it becomes.
#[derive(Debug, Clone, PartialEq)]
pub struct CodedColumn {
    /// Its name in the table.
    pub name: String,
    /// How it is read.
    pub coding: Coding,
    /// The columns of the matrix.
    pub features: Range<usize>,
    /// Whether it is always in the model.
    pub is_always: bool,
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
    /// One coefficient for each chosen feature, per unit of its column after the column's transform.
    pub coefficients: Vec<f64>,
    /// The response (after its transform) where all features are zero.
    pub intercept: f64,
    /// The change of scale of the response.
    pub transform: Transform,
}

impl Mapping {
    /// The mapping for columns that `schema` bounds, in this order; `None` if it bounds not all.
    pub fn for_features<'a>(
        schema: &Schema,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Option<Self> {
        let response = schema.response();
        let mut mapping = Self {
            columns: Vec::new(),
            names: Vec::new(),
            features: Vec::new(),
            response: *response.units(),
            transform: response.transform(),
            missing: schema.missing(),
            n_sites: 0,
        };
        let site_column = schema.sites().map(SiteColumn::name);
        for name in names {
            let coding = schema.coding_of(name)?.clone();
            let start = mapping.features.len();
            mapping.names.extend(coding.names(name));
            mapping.features.extend(coding.units());
            mapping.columns.push(CodedColumn {
                name: name.to_owned(),
                coding,
                features: start..mapping.features.len(),
                is_always: schema.is_always(name),
            });
            if site_column == Some(name) {
                mapping.n_sites = mapping.features.len() - start;
            }
        }
        Some(mapping)
    }

    /// The columns of the table, in the order of the matrix.
    pub fn columns(&self) -> &[CodedColumn] {
        &self.columns
    }

    /// The name of each feature: of its column, or of its column and its level.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How many of the features, the last ones, are indicators of sites and no features of a model.
    #[must_use]
    pub const fn n_sites(&self) -> usize {
        self.n_sites
    }

    /// How many features a model can have.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.features.len() - self.n_sites
    }

    /// The units of each feature.
    pub fn features(&self) -> &[Units] {
        &self.features
    }

    /// The columns that are always in the model, and what they became.
    #[must_use]
    pub fn covariates(&self) -> Covariates {
        let always = self.columns.iter().filter(|column| column.is_always);
        Covariates::new(always)
    }

    /// The features of each category that is one candidate, ascending; a category of one feature is a single candidate.
    pub fn categories(&self) -> impl Iterator<Item = Range<u32>> + '_ {
        let candidates = self.columns.iter().filter(|column| {
            let is_site = column.features.start >= self.n_features();
            let is_together =
                matches!(&column.coding, Coding::Levels(levels) if levels.is_together());
            !column.is_always && !is_site && is_together
        });
        candidates.filter_map(|column| {
            let range = u32::try_from(column.features.start)
                .ok()
                .zip(u32::try_from(column.features.end).ok());
            range
                .map(|(start, end)| start..end)
                .filter(|range| range.len() > 1)
        })
    }

    /// Whether every column of numbers has a public centre and scale of its own, so that its units are standard ones.
    /// Zeros and ones count neither for nor against it.
    #[must_use]
    pub fn has_public_scales(&self) -> bool {
        let mut units = self
            .columns
            .iter()
            .filter_map(|column| match &column.coding {
                Coding::Number(number) => Some(number.units()),
                Coding::Levels(_) => None,
            });
        units.clone().next().is_some() && units.all(Units::has_public_scale)
    }

    /// The features that are numbers without a public scale of their own, and the largest size that one of them can have.
    /// Zeros and ones of levels and of indicators stay as they are.
    #[must_use]
    pub fn columns_without_scales(&self) -> (Vec<u32>, f64) {
        let mut bound = 0.0f64;
        let numbers = self
            .columns
            .iter()
            .filter_map(|column| match &column.coding {
                Coding::Number(number) if !number.units().has_public_scale() => {
                    bound = bound.max(number.units().bound());
                    u32::try_from(column.features.start).ok()
                }
                Coding::Number(_) | Coding::Levels(_) => None,
            });
        let columns = numbers.collect();
        (columns, bound)
    }

    /// How the feature at `place` is read from a table.
    ///
    /// # Panics
    /// If there is no such feature.
    #[must_use]
    pub fn reading(&self, place: usize) -> FeatureReading {
        let column = self.coded(place);
        FeatureReading::of(column, place - column.features.start)
    }

    /// The name of the column of the table that became the feature at `place`.
    ///
    /// # Panics
    /// If there is no such feature.
    #[must_use]
    pub fn column_of(&self, place: usize) -> &str {
        &self.coded(place).name
    }

    fn coded(&self, place: usize) -> &CodedColumn {
        let is_of = |column: &&CodedColumn| column.features.contains(&place);
        let column = self.columns.iter().find(is_of);
        column.expect("each feature is of a column")
    }

    /// How the feature at `place` is read, unless it is the number of the column of its name, as it is, and gaps are
    /// treated as everywhere.
    ///
    /// # Panics
    /// If there is no such feature.
    #[must_use]
    pub fn special_reading(&self, place: usize) -> Option<FeatureReading> {
        let reading = self.reading(place);
        let units = &self.features[place];
        let usual = match self.missing {
            MissingPolicy::Midpoint => Some(units.lower() / 2.0 + units.upper() / 2.0),
            _ => None,
        };
        let plain = FeatureReading::Number {
            column: self.names[place].clone(),
            transform: Transform::Identity,
            missing: usual,
        };
        (reading != plain).then_some(reading)
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
        let features = self.features.iter().take(self.n_features());
        features.map(Units::bound).fold(0.0, f64::max)
    }

    /// The largest absolute value the response of any record can have: `y_M` of the sensitivities.
    pub fn response_bound(&self) -> f64 {
        self.response.bound()
    }

    /// A response of the table in bounded units; not a number becomes the midpoint.
    pub fn response_to_unit(&self, value: f64) -> f32 {
        self.response.to_unit(self.transform.apply(value))
    }

    /// Writes the numbers of one record in bounded units, where each column is read as one number; what is not a number
    /// becomes what stands in for it, or the middle of the bounds.
    pub fn features_to_units(&self, values: impl Iterator<Item = f64>, bounded: &mut [f32]) {
        for ((place, column), value) in bounded.iter_mut().zip(&self.columns).zip(values) {
            if let Coding::Number(number) = &column.coding {
                *place = number.to_unit(value);
            }
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
    /// [`Self::support`], after their transforms.
    pub fn predict(&self, chosen: &[f64]) -> f64 {
        let terms = self.coefficients.iter().zip(chosen);
        self.transform
            .invert(self.intercept + terms.map(|(slope, value)| slope * value).sum::<f64>())
    }
}

#[cfg(test)]
mod tests;
