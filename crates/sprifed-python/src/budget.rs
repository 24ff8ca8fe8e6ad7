//! Budgets and the accountant's questions.

use pyo3::prelude::*;
use pyo3::types::PyBool;
use sprifed::{CertifiedProcedure, ProcedureRequest, RepeatedFit, Repetition, recommended_delta};
use sprifed_privacy::{
    ApproxDp, Delta, Epsilon, IllegalQuantity, Mu, RangeBound, Rho, compose_selections,
};

use crate::choices;
use crate::error::{Refusal, raise};

/// An (epsilon, delta) pair. The two never travel alone.
#[pyclass(frozen, eq, module = "sprifed")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Budget(pub(crate) ApproxDp);

/// A number, and nothing that merely becomes one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Real(f64);

impl<'py> FromPyObject<'_, 'py> for Real {
    type Error = PyErr;

    fn extract(found: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if !found.is_instance_of::<PyBool>()
            && let Ok(number) = found.extract()
        {
            return Ok(Self(number));
        }
        Err(not_what_is_required("an argument", &found, "a number"))
    }
}

/// Several of them.
#[derive(Clone, Debug, Default)]
struct Reals(Vec<Real>);

impl<'py> FromPyObject<'_, 'py> for Reals {
    type Error = PyErr;

    fn extract(found: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let numbers = found.extract().map(Self);
        numbers.map_err(|_| not_what_is_required("an argument", &found, "numbers in a list"))
    }
}

impl From<Real> for f64 {
    fn from(number: Real) -> Self {
        number.0
    }
}

fn not_what_is_required(
    what: &'static str,
    found: &Bound<'_, PyAny>,
    required: &'static str,
) -> PyErr {
    let words = found
        .repr()
        .map_or_else(|_| "?".to_owned(), |words| words.to_string());
    let refusal = Refusal::NotANumber {
        what,
        found: words,
        required,
    };
    raise(found.py(), refusal)
}

/// `number` as a quantity.
pub(crate) fn quantity<Q: TryFrom<f64, Error = IllegalQuantity>>(
    py: Python<'_>,
    number: impl Into<f64>,
) -> PyResult<Q> {
    Q::try_from(number.into()).map_err(|error| raise(py, error))
}

#[pymethods]
impl Budget {
    #[new]
    fn new(py: Python<'_>, epsilon: Real, delta: Real) -> PyResult<Self> {
        let epsilon: Epsilon = quantity(py, epsilon)?;
        Ok(Self(ApproxDp::new(epsilon, quantity(py, delta)?)))
    }

    /// The epsilon of the pair.
    #[getter]
    const fn epsilon(&self) -> f64 {
        self.0.epsilon().get()
    }

    /// The delta of the pair.
    #[getter]
    const fn delta(&self) -> f64 {
        self.0.delta().get()
    }

    /// The largest mu of Gaussian DP within the pair, rounded down.
    fn mu(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.to_mu(py)?.get())
    }

    /// What `times` studies of this budget cost together, if every answer of theirs is a sum: mu
    /// composes in quadrature, at the same delta.
    fn repeated(&self, py: Python<'_>, times: &Bound<'_, PyAny>) -> PyResult<Self> {
        let found = (!times.is_instance_of::<PyBool>()).then(|| times.extract().ok());
        let required = "a whole number from 1 to 4294967295";
        let refuse = || not_what_is_required("times", times, required);
        let times = found.flatten().ok_or_else(refuse)?;
        let mu = self.to_mu(py)?.repeated(times);
        Ok(Self(mu.to_approx_dp(self.0.delta())))
    }

    fn __repr__(&self) -> String {
        format!(
            "Budget(epsilon={}, delta={:e})",
            self.epsilon(),
            self.delta()
        )
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let arguments = (self.epsilon(), self.delta());
        Ok((py.get_type::<Self>(), arguments)
            .into_pyobject(py)?
            .into_any())
    }
}

impl Budget {
    fn to_mu(self, py: Python<'_>) -> PyResult<Mu> {
        Mu::largest_within(self.0).map_err(|error| raise(py, error))
    }
}

/// The epsilon that mu of Gaussian DP gives at delta, rounded up.
#[pyfunction]
fn epsilon_from_mu(py: Python<'_>, mu: Real, delta: Real) -> PyResult<f64> {
    let mu: Mu = quantity(py, mu)?;
    Ok(mu.to_approx_dp(quantity(py, delta)?).epsilon().get())
}

/// The epsilon that rho of zCDP gives at delta, rounded up.
#[pyfunction]
fn epsilon_from_rho(py: Python<'_>, rho: Real, delta: Real) -> PyResult<f64> {
    let rho: Rho = quantity(py, rho)?;
    Ok(rho.to_approx_dp(quantity(py, delta)?).epsilon().get())
}

/// The natural logarithm of the delta that mu of Gaussian DP gives at epsilon.
#[pyfunction]
fn log_delta_from_mu(py: Python<'_>, mu: Real, epsilon: Real) -> PyResult<f64> {
    let mu: Mu = quantity(py, mu)?;
    Ok(mu.log_delta(quantity(py, epsilon)?))
}

/// The largest mu of Gaussian DP within (epsilon, delta), rounded down.
#[pyfunction]
fn mu_from_epsilon(py: Python<'_>, epsilon: Real, delta: Real) -> PyResult<f64> {
    Budget::new(py, epsilon, delta)?.mu(py)
}

/// The largest rho of zCDP within (epsilon, delta), rounded down.
#[pyfunction]
fn rho_from_epsilon(py: Python<'_>, epsilon: Real, delta: Real) -> PyResult<f64> {
    let target = Budget::new(py, epsilon, delta)?.0;
    let rho = Rho::largest_within(target).map_err(|error| raise(py, error))?;
    Ok(rho.get())
}

/// The guarantee for people, rounded towards the weaker claim: `(3, 1e-6)-DP`.
#[pyfunction]
fn shown_guarantee(py: Python<'_>, epsilon: Real, delta: Real) -> PyResult<String> {
    let Budget(pair) = Budget::new(py, epsilon, delta)?;
    Ok(format!(
        "({}, {})-DP",
        pair.epsilon().shown(),
        pair.delta().shown()
    ))
}

/// The budget of several releases together: Gaussian ones by their mu, selections by their range.
#[pyfunction]
#[pyo3(signature = (mu, delta, ranges=Reals::default()))]
fn compose(py: Python<'_>, mu: Reals, delta: Real, ranges: Reals) -> PyResult<Budget> {
    let releases: PyResult<Vec<Mu>> = mu.0.into_iter().map(|mu| quantity(py, mu)).collect();
    let gaussian = releases?.into_iter().reduce(Mu::compose);
    let ranges: PyResult<Vec<(RangeBound, u32)>> = ranges
        .0
        .into_iter()
        .map(|range| Ok((quantity(py, range)?, 1)))
        .collect();
    let (ranges, delta): (_, Delta) = (ranges?, quantity(py, delta)?);
    Ok(Budget(match gaussian {
        Some(mu) if ranges.is_empty() => mu.to_approx_dp(delta),
        None if ranges.is_empty() => {
            return Err(raise(py, Refusal::NothingToCompose));
        }
        _ => compose_selections(&ranges, gaussian, delta),
    }))
}

/// Raises, with what several fits cost, because the user did not allow another fit of the estimator.
#[pyfunction]
fn refuse_repeated_fit(
    py: Python<'_>,
    is_clone: bool,
    epsilon: f64,
    delta: Option<f64>,
    n_records: u32,
    procedure: &str,
) -> PyResult<()> {
    let delta = match delta {
        Some(delta) => quantity(py, delta)?,
        None => recommended_delta(f64::from(n_records)).map_err(|error| raise(py, error))?,
    };
    let budget = ApproxDp::new(quantity(py, epsilon)?, delta);
    let procedure = match choices::procedure(procedure).map_err(|error| raise(py, error))? {
        ProcedureRequest::Named(procedure) => procedure,
        // The choice is made later; costs of choices add up, which is the larger total.
        ProcedureRequest::Auto => CertifiedProcedure::ARGMAX,
    };
    let repetition = if is_clone {
        Repetition::Clone
    } else {
        Repetition::Again
    };
    let repeated = RepeatedFit::of(repetition, budget, procedure);
    Err(raise(py, repeated.map_err(|error| raise(py, error))?))
}

/// Adds the class and the functions to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Budget>()?;
    module.add_function(wrap_pyfunction!(epsilon_from_mu, module)?)?;
    module.add_function(wrap_pyfunction!(epsilon_from_rho, module)?)?;
    module.add_function(wrap_pyfunction!(log_delta_from_mu, module)?)?;
    module.add_function(wrap_pyfunction!(mu_from_epsilon, module)?)?;
    module.add_function(wrap_pyfunction!(rho_from_epsilon, module)?)?;
    module.add_function(wrap_pyfunction!(shown_guarantee, module)?)?;
    module.add_function(wrap_pyfunction!(refuse_repeated_fit, module)?)?;
    module.add_function(wrap_pyfunction!(compose, module)?)
}
