//! What a backend holds: records in bounded units, and which of them belong to one privacy unit.

use core::ops::Range;

/// Records that can not be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IllegalRecords {
    /// The matrix and the response do not fit together.
    #[error(
        "{values} feature values and {responses} responses do not make records of {features} features"
    )]
    Shape {
        /// Values in the matrix.
        values: usize,
        /// Responses.
        responses: usize,
        /// Features of a record.
        features: usize,
    },
    /// There is nothing to learn from.
    #[error("there are no records or no features; at least one of each is required")]
    Empty,
    /// The units do not cover the records in order.
    #[error(
        "the privacy units must cover all {records} records one after the other, without empty ones"
    )]
    Units {
        /// How many records there are.
        records: usize,
    },
}

/// One record: its features and its response, in bounded units. What is not a finite number counts
/// as zero.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// x: one value for each feature.
    pub features: &'a [f32],
    /// y.
    pub response: f32,
}

/// Records in rows, grouped into privacy units.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    features: &'a [f32],
    responses: &'a [f32],
    n_features: usize,
    units: Option<Vec<Range<usize>>>,
}

impl<'a> Records<'a> {
    /// Rows of `n_features` values and a response each; every record is a privacy unit.
    ///
    /// # Errors
    /// When the lengths do not fit or there is nothing.
    pub fn each_a_unit(
        features: &'a [f32],
        responses: &'a [f32],
        n_features: usize,
    ) -> Result<Self, IllegalRecords> {
        if features.len() != responses.len().saturating_mul(n_features) {
            let (values, responses) = (features.len(), responses.len());
            return Err(IllegalRecords::Shape {
                values,
                responses,
                features: n_features,
            });
        }
        if responses.is_empty() || n_features == 0 {
            return Err(IllegalRecords::Empty);
        }
        Ok(Self {
            features,
            responses,
            n_features,
            units: None,
        })
    }

    /// The same records with privacy units of several consecutive ones.
    ///
    /// # Errors
    /// When the units do not cover the records in order.
    pub fn grouped(self, units: Vec<Range<usize>>) -> Result<Self, IllegalRecords> {
        let records = self.responses.len();
        let ends = units.iter().try_fold(0, |start, unit| {
            (unit.start == start && unit.end > unit.start).then_some(unit.end)
        });
        if ends != Some(records) {
            return Err(IllegalRecords::Units { records });
        }
        Ok(Self {
            units: Some(units),
            ..self
        })
    }

    /// Whether somebody said which records make a privacy unit.
    #[must_use]
    pub const fn are_grouped(&self) -> bool {
        self.units.is_some()
    }

    /// n: how many records.
    #[must_use]
    pub fn n_records(&self) -> usize {
        self.responses.len()
    }

    /// p: how many features.
    #[must_use]
    pub const fn n_features(&self) -> usize {
        self.n_features
    }

    /// How many privacy units.
    #[must_use]
    pub fn n_units(&self) -> usize {
        self.units.as_ref().map_or(self.responses.len(), Vec::len)
    }

    /// The records of one unit.
    pub fn unit(&self, index: usize) -> impl Iterator<Item = Record<'a>> + use<'a> {
        let range = self
            .units
            .as_ref()
            .map_or(index..index + 1, |units| units[index].clone());
        let (features, responses, width) = (self.features, self.responses, self.n_features);
        range.map(move |row| Record {
            features: &features[row * width..(row + 1) * width],
            response: responses[row],
        })
    }

    /// All records, in order.
    pub fn iter(&self) -> impl Iterator<Item = Record<'a>> + use<'a> {
        let responses = self.responses;
        self.features
            .chunks_exact(self.n_features)
            .zip(responses)
            .map(|(features, response)| Record {
                features,
                response: *response,
            })
    }
}
