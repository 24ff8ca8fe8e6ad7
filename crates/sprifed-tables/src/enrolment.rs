//! Tables that are in memory already: which records take part and in which units, without a copy of
//! the values.

use sprifed_privacy::PrivacyUnit;
use sprifed_schema::{CellDefect, CodedColumn, Coding, Column, ColumnKind, Mapping, Schema};

use crate::assemble::{Admission, Bounding};
use crate::cell::{Defect, Place};
use crate::clients::{ClientIndex, count_rows};
use crate::error::{DataError, TableError};
use crate::markers::Markers;
use crate::table::{LoadCounts, Outline};

#[cfg(test)]
mod tests;

/// Which rows and columns of a matrix a study uses, whose they are, and the bounded response.
///
/// The same decisions as for a file: the cap looks at order only, and a record that is dropped for
/// want of a response keeps its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Enrolment {
    names: Vec<String>,
    features: Vec<usize>,
    rows: Vec<usize>,
    response: Vec<f32>,
    present: Vec<bool>,
    clients: ClientIndex,
    mapping: Mapping,
    markers: Markers,
    unit: PrivacyUnit,
    counts: LoadCounts,
}

impl Enrolment {
    /// The enrolment of a matrix with columns of these `names`, its `responses` and, where the schema
    /// has a client column, the label of each record. A response of two levels comes as zeros and ones.
    ///
    /// # Errors
    /// If the columns do not fit the schema, or a record is not usable.
    pub fn of(
        names: &[String],
        schema: &Schema,
        responses: &[f64],
        labels: Option<&[String]>,
    ) -> Result<Self, DataError> {
        let column = |name: &str| Column {
            name: name.to_owned(),
            kind: ColumnKind::Numeric,
        };
        let mut columns: Vec<Column> = names.iter().map(|name| column(name)).collect();
        columns.push(column(schema.response().name()));
        if let (Some(client), Some(_)) = (schema.client(), labels) {
            columns.push(column(client));
        }
        if let Some(event) = schema.response().event_time() {
            let column = event.column().to_owned();
            return Err(TableError::NotForArrays { column }.into());
        }
        let mut bounding = Bounding::new(&columns, schema)?;
        let is_number = |coded: &&CodedColumn| {
            matches!(coded.coding, Coding::Number(_)) && coded.coding.width() == 1
        };
        if let Some(coded) = bounding
            .mapping
            .columns()
            .iter()
            .find(|coded| !is_number(coded))
        {
            let column = coded.name.clone();
            return Err(TableError::NotForArrays { column }.into());
        }
        let mut admission = Admission::new(schema);
        bounding.counts.records_read = u64::from(count_rows(responses.len())?);
        let (mut rows, mut owners, mut response) = (Vec::new(), Vec::new(), Vec::new());
        for (row, raw) in responses.iter().enumerate() {
            let label = labels.and_then(|labels| labels.get(row));
            let place = Place::Record(row as u64 + 1);
            let label = label.map_or(&[][..], |label| label.as_bytes());
            let Some(client) = admission.admit(label, place)? else {
                continue;
            };
            let is_legal = schema.response().levels().is_none() || is_code(*raw);
            let raw = is_legal.then_some(*raw);
            let raw = raw.ok_or(Defect::from(CellDefect::UnknownLevel));
            response.push(bounding.response(raw, place));
            rows.push(row);
            owners.push(client);
        }
        bounding.check_cells()?;
        if rows.is_empty() {
            return Err(TableError::NoRecords.into());
        }
        bounding.counts.over_cap = admission.over_cap();
        Ok(Self {
            clients: admission.index(owners),
            names: bounding.mapping.names().to_vec(),
            features: bounding.selection.features,
            mapping: bounding.mapping,
            markers: bounding.markers,
            counts: bounding.counts,
            unit: schema.unit(),
            rows,
            present: response.iter().map(Option::is_some).collect(),
            response: response
                .into_iter()
                .map(Option::unwrap_or_default)
                .collect(),
        })
    }

    /// Everything but the rows.
    pub fn outline(&self) -> Outline<'_> {
        Outline {
            names: &self.names,
            mapping: &self.mapping,
            markers: &self.markers,
            clients: &self.clients,
            unit: self.unit,
            public_size: self.counts.records_read - self.counts.over_cap,
        }
    }

    /// The columns of the matrix that are features, in order.
    pub fn features(&self) -> &[usize] {
        &self.features
    }

    /// The rows of the matrix within the cap, in order.
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// The bounded response of each of these rows; zero for one that does not count.
    pub fn response(&self) -> &[f32] {
        &self.response
    }

    /// Which of these rows count: all but those without a response.
    pub fn present(&self) -> &[bool] {
        &self.present
    }

    /// The units of the matrix.
    pub const fn mapping(&self) -> &Mapping {
        &self.mapping
    }

    /// What happened to the records on their way in; clipped features are not counted, because the
    /// matrix is not looked at.
    pub const fn counts(&self) -> &LoadCounts {
        &self.counts
    }
}

/// Whether `raw` stands for one of two levels, or is missing.
fn is_code(raw: f64) -> bool {
    raw.is_nan() || [0.0, 1.0].contains(&raw)
}
