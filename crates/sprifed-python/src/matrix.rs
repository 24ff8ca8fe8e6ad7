//! A numpy matrix as records: read where it lies, a few rows at a time, never copied.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use numpy::ndarray::{ArrayView2, Axis};
use numpy::{Element, PyReadonlyArray2};
use pyo3::prelude::*;
use sprifed_query::{Record, RecordSource};
use sprifed_schema::Coding;
use sprifed_tables::Enrolment;

use crate::error::{Refusal, raise};

/// A matrix of either precision, as Python hands it over.
#[derive(FromPyObject, Debug)]
pub(crate) enum Matrix<'py> {
    /// Of double precision.
    Double(PyReadonlyArray2<'py, f64>),
    /// Of single precision.
    Single(PyReadonlyArray2<'py, f32>),
}

impl Matrix<'_> {
    /// Refuses a matrix whose numbers lie where the machine cannot read them.
    pub(crate) fn require_aligned(&self, py: Python<'_>) -> PyResult<()> {
        match self {
            Self::Double(values) => require_aligned(py, values.as_any()),
            Self::Single(values) => require_aligned(py, values.as_any()),
        }
    }
}

/// Refuses an array whose numbers lie where the machine cannot read them.
///
/// # Why
/// A view of numbers promises that they are aligned and a whole number of them apart; numpy makes arrays
/// that are not, from fields of records and from buffers.
pub(crate) fn require_aligned(py: Python<'_>, array: &Bound<'_, PyAny>) -> PyResult<()> {
    if array.getattr("flags")?.getattr("aligned")?.extract()? {
        return Ok(());
    }
    Err(raise(py, Refusal::Alignment))
}

/// The numbers that matrices are made of.
pub(crate) trait Number: Element + Copy + Into<f64> + Sync {}

impl Number for f32 {}
impl Number for f64 {}

/// The rows of a matrix within the cap, each a unit of its own; those without a response do not count.
#[derive(Debug)]
pub(crate) struct MatrixRows<'a, T> {
    values: ArrayView2<'a, T>,
    enrolment: &'a Enrolment,
    /// How many rows are read at a time: one where a row is in one piece, a few where a column is.
    at_a_time: usize,
    /// Whether the features are all columns in their order.
    is_whole: bool,
    /// Told apart from other matrices by this number.
    number: u64,
}

/// A cache line of a column in single precision.
const ROWS_OF_A_LINE: usize = 16;

/// Numbers for matrices.
static NEXT: AtomicU64 = AtomicU64::new(1);

impl<'a, T> MatrixRows<'a, T> {
    pub(crate) fn new(values: ArrayView2<'a, T>, enrolment: &'a Enrolment) -> Self {
        let is_in_rows = values.strides().get(1) == Some(&1);
        let features = enrolment.features().iter().copied();
        Self {
            is_whole: features.eq(0..values.ncols()),
            values,
            enrolment,
            at_a_time: if is_in_rows { 1 } else { ROWS_OF_A_LINE },
            number: NEXT.fetch_add(1, Ordering::Relaxed),
        }
    }
}

/// A few rows in bounded units, for each thread that adds up.
#[derive(Debug, Default)]
struct Bounded {
    /// Whose they are.
    matrix: u64,
    units: Range<usize>,
    values: Vec<f32>,
}

thread_local! {
    static BOUNDED: RefCell<Bounded> = RefCell::default();
}

impl<T: Number> MatrixRows<'_, T> {
    /// Reads the units from `first` on.
    fn read(&self, first: usize, bounded: &mut Bounded) {
        let end = (first + self.at_a_time).min(self.n_units());
        let width = self.n_features();
        bounded.matrix = self.number;
        bounded.units = first..end;
        bounded.values.resize((end - first) * width, 0.0);
        let columns = self.enrolment.features();
        let rows = &self.enrolment.rows()[first..end];
        if let [row] = rows {
            let row = self.values.index_axis(Axis(0), *row);
            let mapping = self.enrolment.mapping();
            if self.is_whole {
                let values = row.iter().map(|value| (*value).into());
                return mapping.features_to_units(values, &mut bounded.values);
            }
            let values = columns.iter().map(|at| row[*at].into());
            return mapping.features_to_units(values, &mut bounded.values);
        }
        let coded = self.enrolment.mapping().columns();
        for (feature, (at, coded)) in columns.iter().zip(coded).enumerate() {
            let column = self.values.index_axis(Axis(1), *at);
            // An enrolment has columns of numbers only.
            let Coding::Number(number) = &coded.coding else {
                continue;
            };
            for (place, row) in rows.iter().enumerate() {
                bounded.values[place * width + feature] = number.to_unit(column[*row].into());
            }
        }
    }
}

impl<T: Number> RecordSource for MatrixRows<'_, T> {
    fn n_features(&self) -> usize {
        self.enrolment.features().len()
    }

    fn n_units(&self) -> usize {
        self.enrolment.rows().len()
    }

    fn visit_unit(&self, unit: usize, visit: &mut dyn FnMut(Record<'_>)) {
        let mut bounded = BOUNDED.take();
        if bounded.matrix != self.number || !bounded.units.contains(&unit) {
            self.read(unit, &mut bounded);
        }
        let width = self.n_features();
        let start = (unit - bounded.units.start) * width;
        visit(Record {
            features: &bounded.values[start..start + width],
            response: self.enrolment.response()[unit],
            is_present: self.enrolment.present()[unit],
        });
        BOUNDED.set(bounded);
    }
}
