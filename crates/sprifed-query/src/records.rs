//! What a backend holds: records in bounded units, and which of them belong to one privacy unit.

use core::ops::Range;

/// Records that cannot be used.
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
    /// The number of marks differs from the number of records.
    #[error("{found} marks say which of the {records} records count; one for each is required")]
    Presence {
        /// How many marks there are.
        found: usize,
        /// How many records there are.
        records: usize,
    },
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
    /// Whether it counts. A record that was left out, for example because its response is missing,
    /// keeps its place and contributes zero.
    pub is_present: bool,
}

/// Records by privacy unit, in memory or generated on demand.
///
/// # Implementor must
/// number the units by a public rule, such as the place in a file: the number decides how a unit is
/// rounded, so it must not depend on what records say. A record that does not count is shown all the
/// same, as one that is not present.
pub trait RecordSource: Sync {
    /// p: how many features a record has.
    fn n_features(&self) -> usize;

    /// How many privacy units there are.
    fn n_units(&self) -> usize;

    /// Shows the records of one unit, one after the other.
    fn visit_unit(&self, unit: usize, visit: &mut dyn FnMut(Record<'_>));

    /// Whether the records are grouped into privacy units. If not, every record is its own unit,
    /// and a study that protects clients does not start.
    fn is_grouped(&self) -> bool {
        false
    }
}

impl RecordSource for Records<'_> {
    fn n_features(&self) -> usize {
        self.n_features
    }

    fn n_units(&self) -> usize {
        self.n_units()
    }

    fn visit_unit(&self, unit: usize, visit: &mut dyn FnMut(Record<'_>)) {
        self.unit(unit).for_each(visit);
    }

    fn is_grouped(&self) -> bool {
        self.units.is_some()
    }
}

/// Some consecutive units of a source: what one party holds.
#[derive(Clone, Debug)]
pub struct Part<'a, S> {
    source: &'a S,
    units: Range<usize>,
}

impl<'a, S: RecordSource> Part<'a, S> {
    /// These units of `source`, as far as they exist.
    #[must_use]
    pub fn of(source: &'a S, units: Range<usize>) -> Self {
        let end = units.end.min(source.n_units());
        let units = units.start.min(end)..end;
        Self { source, units }
    }
}

impl<S: RecordSource> RecordSource for Part<'_, S> {
    fn n_features(&self) -> usize {
        self.source.n_features()
    }

    fn n_units(&self) -> usize {
        self.units.len()
    }

    fn visit_unit(&self, unit: usize, visit: &mut dyn FnMut(Record<'_>)) {
        self.source.visit_unit(self.units.start + unit, visit);
    }

    fn is_grouped(&self) -> bool {
        self.source.is_grouped()
    }
}

/// Records in rows, grouped into privacy units.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    features: &'a [f32],
    responses: &'a [f32],
    n_features: usize,
    present: Option<&'a [bool]>,
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
            present: None,
            units: None,
        })
    }

    /// The same records, where only those marked as present count; the others keep their places.
    ///
    /// # Errors
    /// When there is not one mark for each record.
    pub fn counting(self, present: &'a [bool]) -> Result<Self, IllegalRecords> {
        let (found, records) = (present.len(), self.responses.len());
        if found != records {
            return Err(IllegalRecords::Presence { found, records });
        }
        Ok(Self {
            present: Some(present),
            ..self
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
        let present = self.present;
        range.map(move |row| Record {
            features: &features[row * width..(row + 1) * width],
            response: responses[row],
            is_present: present.is_none_or(|present| present[row]),
        })
    }

    /// All records, in order.
    pub fn iter(&self) -> impl Iterator<Item = Record<'a>> + use<'a> {
        let (responses, present) = (self.responses, self.present);
        self.features
            .chunks_exact(self.n_features)
            .zip(responses)
            .enumerate()
            .map(move |(row, (features, response))| Record {
                features,
                response: *response,
                is_present: present.is_none_or(|present| present[row]),
            })
    }
}
