//! A private fit of arrays, and the model it ends with.

use std::ops::ControlFlow;
use std::path::PathBuf;

use numpy::ndarray::ArrayView2;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use sprifed::{
    Backend, BackendRequest, ColumnScalesRequest, Model, Receipt, Request, Role, Run, Secret,
    Stated, Study, keep,
};
use sprifed_tables::{DataError, Enrolment};

use crate::budget::quantity;
use crate::choices;
use crate::entropy::fresh_bits;
use crate::error::{Refusal, raise, with_ledger};
use crate::fit_ledger::FitEntry;
use crate::matrix::{Matrix, MatrixRows, Number, require_aligned};
use crate::schema::Schema;
use crate::spent_fit::SpentFit;
use crate::threads::on_living_threads;

/// What is said of one feature: see [`PrivateModel::reported`].
type Reported = (
    usize,
    bool,
    f64,
    Option<f64>,
    Option<(f64, f64)>,
    f64,
    Option<f64>,
    Option<f64>,
);

/// A fitted model, applied to matrices with the columns it was fitted on.
#[pyclass(frozen, module = "sprifed._core")]
#[derive(Debug)]
struct PrivateModel {
    model: Model,
    /// The column of each feature that predicts.
    columns: Vec<usize>,
    n_columns: usize,
    delta_note: Option<String>,
    warnings: Vec<String>,
}

#[pymethods]
impl PrivateModel {
    /// One coefficient for each column, as predictions use it; zero for those not chosen.
    #[getter]
    fn coef<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let mut dense = vec![0.0; self.n_columns];
        for (column, term) in self.columns.iter().zip(&self.model.features) {
            dense[*column] = term.coefficient;
        }
        PyArray1::from_vec(py, dense)
    }

    /// What is said of each reported feature: column, whether it is always in the model, estimate, standard error, ends of
    /// the interval, its level, p-value, share of the variance that is due to privacy.
    #[getter]
    fn reported(&self) -> Vec<Reported> {
        let column = |name: &str| {
            let mut features = self.model.features.iter();
            let place = features.position(|term| term.name == name)?;
            self.columns.get(place).copied()
        };
        let terms = self.model.reported().into_iter();
        let reported = terms.filter_map(|term| {
            Some((
                column(&term.name)?,
                term.role == Role::Always,
                term.estimate,
                term.std_error,
                term.interval.map(|interval| (interval.low, interval.high)),
                term.level,
                term.p_value,
                term.privacy_share,
            ))
        });
        reported.collect()
    }

    /// Why the model is no more than the mean, or must not be interpreted.
    #[getter]
    fn alarm(&self) -> Option<String> {
        self.model.alarm()
    }

    /// How to read estimates, intervals and p-values.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.model.notes()
    }

    /// How many features were kept and what is expected of them, if that is known.
    #[getter]
    fn kept_words(&self) -> Option<String> {
        self.model.inference.kept_words()
    }

    /// The response, after its transform, where all features are zero.
    #[getter]
    const fn intercept(&self) -> f64 {
        self.model.intercept
    }

    /// How the fit ended, in one word.
    #[getter]
    fn status(&self) -> &'static str {
        self.model.status_name()
    }

    /// How the fit ended, and what would help.
    #[getter]
    fn status_words(&self) -> String {
        self.model.status_words()
    }

    /// What a person must hear before using the model.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// What a person should know about the delta.
    #[getter]
    fn delta_note(&self) -> Option<&str> {
        self.delta_note.as_deref()
    }

    /// The whole model with its guarantee and receipt, as the command line writes it.
    fn document(&self, py: Python<'_>) -> PyResult<String> {
        self.model.to_text().map_err(|failure| raise(py, failure))
    }

    /// Predictions in the units of the response, or probabilities of the event.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        matrix: Matrix<'py>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        matrix.require_aligned(py)?;
        let predictions = match &matrix {
            Matrix::Double(values) => self.predict_rows(py, values.as_array()),
            Matrix::Single(values) => self.predict_rows(py, values.as_array()),
        };
        Ok(PyArray1::from_vec(py, predictions?))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let restore = py.get_type::<Self>().getattr("_restore")?;
        let columns = self.columns.clone();
        let parts = (
            self.document(py)?,
            columns,
            self.n_columns,
            self.delta_note.clone(),
            self.warnings.clone(),
        );
        Ok((restore, parts).into_pyobject(py)?.into_any())
    }

    #[staticmethod]
    fn _restore(
        py: Python<'_>,
        document: &str,
        columns: Vec<usize>,
        n_columns: usize,
        delta_note: Option<String>,
        warnings: Vec<String>,
    ) -> PyResult<Self> {
        let model =
            Model::parse(document, "the pickled model").map_err(|failure| raise(py, failure))?;
        let is_inside = columns.iter().all(|column| *column < n_columns);
        if !is_inside || columns.len() != model.features.len() {
            let features = model.features.len();
            let refusal = Refusal::Pickle {
                columns,
                n_columns,
                features,
            };
            return Err(raise(py, refusal));
        }
        Ok(Self {
            warnings,
            model,
            columns,
            n_columns,
            delta_note,
        })
    }
}

impl PrivateModel {
    fn predict_rows<T: Number>(
        &self,
        py: Python<'_>,
        values: ArrayView2<'_, T>,
    ) -> PyResult<Vec<f64>> {
        let (found, required) = (values.ncols(), self.n_columns);
        if found != required {
            return Err(raise(py, Refusal::Columns { found, required }));
        }
        Ok(py.detach(|| {
            let row = |row: numpy::ndarray::ArrayView1<'_, T>| {
                let chosen: Vec<f64> = self.columns.iter().map(|at| row[*at].into()).collect();
                self.model.predict(&chosen).unwrap_or(f64::NAN)
            };
            values.rows().into_iter().map(row).collect()
        }))
    }
}

/// A private fit: `watch(done, total)` is called before every step and may raise. `spent_fit` is told what was
/// spent, whatever the end is; `earlier` are the receipts of fits before this one.
///
/// Comes back with the model and, if the user interrupted after the last step, when there was nothing left to
/// save, with the exception.
#[pyfunction]
#[pyo3(signature = (matrix, responses, names, schema, *, sparsity, exactly, robust, inference, epsilon, delta, procedure, neighbours, backend,
    quorum, colluders, clients, labels, simulate_noise, watch, earlier, spent_fit, ledger=None))]
#[expect(clippy::too_many_arguments, reason = "keywords, in Python")]
fn fit_private(
    py: Python<'_>,
    matrix: Matrix<'_>,
    responses: PyReadonlyArray1<'_, f64>,
    names: Vec<String>,
    schema: &Bound<'_, Schema>,
    sparsity: u32,
    exactly: bool,
    robust: bool,
    inference: &str,
    epsilon: f64,
    delta: Option<f64>,
    procedure: &str,
    neighbours: &str,
    backend: &str,
    quorum: Option<u32>,
    colluders: Option<u32>,
    clients: Option<usize>,
    labels: Option<Vec<String>>,
    simulate_noise: Option<u64>,
    watch: Option<Py<PyAny>>,
    earlier: Vec<String>,
    spent_fit: &Bound<'_, SpentFit>,
    ledger: Option<PathBuf>,
) -> PyResult<(PrivateModel, Option<PyErr>)> {
    matrix.require_aligned(py)?;
    require_aligned(py, responses.as_any())?;
    let refuse = |refusal: Refusal| raise(py, refusal);
    let request = Request {
        sparsity,
        keep: keep(exactly),
        robust,
        inference: choices::inference(inference).map_err(refuse)?,
        epsilon: quantity(py, epsilon)?,
        delta: delta.map(|delta| quantity(py, delta)).transpose()?,
        procedure: choices::procedure(procedure).map_err(refuse)?,
        stated: Stated::NOTHING,
        column_scales: ColumnScalesRequest::Never,
        neighbours: choices::neighbours(neighbours).map_err(refuse)?,
        backend: BackendRequest {
            backend: choices::backend(backend).map_err(refuse)?,
            quorum,
            colluders,
        },
        clients,
    };
    let schema = &schema.get().inner;
    if labels.is_some() && schema.client().is_none() {
        return Err(refuse(Refusal::Labels));
    }
    let earlier = earlier_receipts(&earlier);
    let earlier = earlier.map_err(|error| refuse(Refusal::EarlierReceipt(error)))?;
    let responses = responses.as_array();
    let responses: Vec<f64> = responses.iter().copied().collect();
    let enrolment = Enrolment::of(&names, schema, &responses, labels.as_deref())
        .map_err(|error: DataError| refuse(error.into()))?;
    let study = Study::prepare(&request, schema, enrolment.outline());
    let study = study.map_err(|error| raise(py, error))?;
    let secret = secret(request.backend.backend, simulate_noise);
    let secret = secret.map_err(|error| raise(py, error))?;
    let fitting = Fitting {
        study: &study,
        enrolment: &enrolment,
        watch: watch.as_ref(),
        earlier,
        spent_fit: spent_fit.get(),
        ledger: ledger.as_deref(),
        responses: &responses,
    };
    let Fitted {
        model,
        support,
        interrupt,
    } = match &matrix {
        Matrix::Double(values) => fitting.run(py, values.as_array(), secret)?,
        Matrix::Single(values) => fitting.run(py, values.as_array(), secret)?,
    };
    let warnings = [
        model.guarantee.warning(),
        study.delta_warning(),
        fitting.cost_of_all(&model),
    ];
    let model = PrivateModel {
        model,
        warnings: warnings.into_iter().flatten().collect(),
        columns: support.iter().map(|at| enrolment.features()[*at]).collect(),
        n_columns: names.len(),
        delta_note: study.delta_note(),
    };
    Ok((model, interrupt))
}

/// The receipts of earlier fits, as this package wrote them.
fn earlier_receipts(texts: &[String]) -> Result<Vec<Receipt>, serde_json::Error> {
    texts
        .iter()
        .map(|text| serde_json::from_str(text))
        .collect()
}

fn secret(backend: Backend, seed: Option<u64>) -> Result<Secret, crate::entropy::NoEntropy> {
    Ok(match seed {
        Some(seed) => Secret::simulated(backend, seed),
        None => Secret::assume_fresh_entropy(backend, fresh_bits()?),
    })
}

/// A fit that can begin.
struct Fitting<'a> {
    study: &'a Study<'a>,
    enrolment: &'a Enrolment,
    watch: Option<&'a Py<PyAny>>,
    earlier: Vec<Receipt>,
    spent_fit: &'a SpentFit,
    /// The folder of the ledger that the fit is entered into.
    ledger: Option<&'a std::path::Path>,
    responses: &'a [f64],
}

/// A fit that came to its end.
struct Fitted {
    model: Model,
    /// Which features it has, by place among the candidates.
    support: Vec<usize>,
    /// What was raised after the last step.
    interrupt: Option<PyErr>,
}

impl Fitting<'_> {
    fn run<T: Number>(
        &self,
        py: Python<'_>,
        values: ArrayView2<'_, T>,
        secret: Secret,
    ) -> PyResult<Fitted> {
        let refuse = |refusal: Refusal| raise(py, refusal);
        let guarantee = self.study.guarantee(secret.provenance());
        let guarantee = guarantee.map_err(|error| refuse(error.into()))?;
        let rows = MatrixRows::new(values, self.enrolment);
        let total = self.study.plan.steps.len();
        let mut stopped: Option<PyErr> = None;
        let mut watch = |done| match Python::attach(|py| self.go_on(py, done, total)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                stopped = Some(error);
                ControlFlow::Break(())
            }
        };
        let provenance = secret.provenance();
        let (ledger, responses) = (self.ledger, self.responses);
        let entry = FitEntry::reserve(py, ledger, self.study, provenance, values, responses)?;
        self.spent_fit.open();
        let run = || self.study.run(&rows, secret, &mut watch);
        let ended = py.detach(|| on_living_threads(run)?.map_err(Refusal::from));
        let Run { outcome, receipt } = match ended {
            Ok(run) => run,
            Err(failure) => {
                self.spent_fit.close();
                entry.settle(py, None)?;
                return Err(refuse(failure));
            }
        };
        self.spent_fit.count(&receipt);
        // If this fails, the model is kept and the exception raised: the ledger says too much, never too little.
        let settled = entry.settle(py, Some(&receipt));
        match outcome {
            Ok(fit) => {
                let support = fit.model.terms.iter().map(|(at, _)| *at as usize).collect();
                let earlier = self.earlier.clone();
                let interrupt = self.go_on(py, total, total).and(settled).err();
                let interrupt = interrupt.map(|error| with_ledger(py, error, &receipt.ledger));
                let model = self.study.to_model(&fit, guarantee, receipt, earlier);
                Ok(Fitted {
                    model,
                    support,
                    interrupt,
                })
            }
            Err(failure) => {
                let error = stopped.unwrap_or_else(|| raise(py, failure));
                Err(with_ledger(py, error, &receipt.ledger))
            }
        }
    }

    /// What this fit and those before it cost together, if there were some.
    fn cost_of_all(&self, model: &Model) -> Option<String> {
        let receipts = self.earlier.iter().chain(&model.receipts);
        let ledgers: Vec<_> = receipts.map(|receipt| receipt.ledger.clone()).collect();
        (ledgers.len() > 1).then(|| sprifed::cost_of_all(&ledgers))
    }

    /// Lets Python handle its signals, and tells the watcher.
    fn go_on(&self, py: Python<'_>, done: usize, total: usize) -> PyResult<()> {
        py.check_signals()?;
        match self.watch {
            Some(watch) => watch.call1(py, (done, total)).map(drop),
            None => Ok(()),
        }
    }
}

/// Adds the fit to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PrivateModel>()?;
    module.add_function(wrap_pyfunction!(fit_private, module)?)
}
