//! A numpy matrix as records: read where it lies, a row at a time, never copied.

use std::cell::RefCell;

use numpy::ndarray::{ArrayView2, Axis};
use numpy::{Element, PyReadonlyArray2};
use pyo3::prelude::*;
use sprifed_data::Enrolment;
use sprifed_query::{Record, RecordSource};

/// A matrix of either precision, as Python hands it over.
#[derive(FromPyObject, Debug)]
pub(crate) enum Matrix<'py> {
    /// Of double precision.
    Double(PyReadonlyArray2<'py, f64>),
    /// Of single precision.
    Single(PyReadonlyArray2<'py, f32>),
}

/// The numbers that matrices are made of.
pub(crate) trait Number: Element + Copy + Into<f64> + Sync {}

impl Number for f32 {}
impl Number for f64 {}

/// The rows of a matrix that take part, each a unit of its own.
#[derive(Debug)]
pub(crate) struct MatrixRows<'a, T> {
    values: ArrayView2<'a, T>,
    enrolment: &'a Enrolment,
    takes_all_columns: bool,
}

impl<'a, T> MatrixRows<'a, T> {
    pub(crate) fn new(values: ArrayView2<'a, T>, enrolment: &'a Enrolment) -> Self {
        let takes_all_columns = enrolment.features().len() == values.ncols();
        Self {
            values,
            enrolment,
            takes_all_columns,
        }
    }
}

thread_local! {
    /// One row in bounded units, for each thread that adds up.
    static ROW: RefCell<Vec<f32>> = const { RefCell::new(Vec::new()) };
}

impl<T: Number> RecordSource for MatrixRows<'_, T> {
    fn n_features(&self) -> usize {
        self.enrolment.features().len()
    }

    fn n_units(&self) -> usize {
        self.enrolment.rows().len()
    }

    fn visit_unit(&self, unit: usize, visit: &mut dyn FnMut(Record<'_>)) {
        let row = self.values.index_axis(Axis(0), self.enrolment.rows()[unit]);
        let mut bounded = ROW.take();
        bounded.resize(self.n_features(), 0.0);
        let mapping = self.enrolment.mapping();
        match row.as_slice().filter(|_| self.takes_all_columns) {
            Some(values) => {
                mapping.features_to_units(values.iter().map(|value| (*value).into()), &mut bounded);
            }
            None => {
                let columns = self.enrolment.features().iter();
                mapping.features_to_units(columns.map(|at| row[*at].into()), &mut bounded);
            }
        }
        visit(Record {
            features: &bounded,
            response: self.enrolment.response()[unit],
        });
        ROW.set(bounded);
    }
}
