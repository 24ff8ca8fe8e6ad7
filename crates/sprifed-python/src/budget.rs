//! Budgets and the accountant's questions.

use std::num::NonZeroU32;

use pyo3::prelude::*;
use sprifed_fit::{Failure, Repetition, recommended_delta, repeated_fit};
use sprifed_privacy::{
    ApproxDp, Delta, Epsilon, IllegalQuantity, Mu, RangeBound, Rho, compose_selections,
};

use crate::choices::fitted_procedure;
use crate::error::raise;

/// An (epsilon, delta) pair. The two never travel alone.
#[pyclass(frozen, eq, module = "sprifed")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Budget(pub(crate) ApproxDp);

/// `number` as a quantity.
pub(crate) fn quantity<Q: TryFrom<f64, Error = IllegalQuantity>>(
    py: Python<'_>,
    number: f64,
) -> PyResult<Q> {
    Q::try_from(number).map_err(|error| raise(py, &Failure::from(error)))
}

#[pymethods]
impl Budget {
    #[new]
    fn new(py: Python<'_>, epsilon: f64, delta: f64) -> PyResult<Self> {
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
    fn repeated(&self, py: Python<'_>, times: NonZeroU32) -> PyResult<Self> {
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
        Mu::largest_within(self.0).map_err(|error| raise(py, &Failure::from(error)))
    }
}

/// The epsilon that mu of Gaussian DP gives at delta, rounded up.
#[pyfunction]
fn epsilon_from_mu(py: Python<'_>, mu: f64, delta: f64) -> PyResult<f64> {
    let mu: Mu = quantity(py, mu)?;
    Ok(mu.to_approx_dp(quantity(py, delta)?).epsilon().get())
}

/// The epsilon that rho of zCDP gives at delta, rounded up.
#[pyfunction]
fn epsilon_from_rho(py: Python<'_>, rho: f64, delta: f64) -> PyResult<f64> {
    let rho: Rho = quantity(py, rho)?;
    Ok(rho.to_approx_dp(quantity(py, delta)?).epsilon().get())
}

/// The natural logarithm of the delta that mu of Gaussian DP gives at epsilon.
#[pyfunction]
fn log_delta_from_mu(py: Python<'_>, mu: f64, epsilon: f64) -> PyResult<f64> {
    let mu: Mu = quantity(py, mu)?;
    Ok(mu.log_delta(quantity(py, epsilon)?))
}

/// The largest mu of Gaussian DP within (epsilon, delta), rounded down.
#[pyfunction]
fn mu_from_epsilon(py: Python<'_>, epsilon: f64, delta: f64) -> PyResult<f64> {
    Budget::new(py, epsilon, delta)?.mu(py)
}

/// The largest rho of zCDP within (epsilon, delta), rounded down.
#[pyfunction]
fn rho_from_epsilon(py: Python<'_>, epsilon: f64, delta: f64) -> PyResult<f64> {
    let target = Budget::new(py, epsilon, delta)?.0;
    let rho = Rho::largest_within(target).map_err(|error| raise(py, &Failure::from(error)))?;
    Ok(rho.get())
}

/// The budget of several releases together: Gaussian ones by their mu, selections by their range.
#[pyfunction]
#[pyo3(signature = (mu, delta, ranges=Vec::new()))]
fn compose(py: Python<'_>, mu: Vec<f64>, delta: f64, ranges: Vec<f64>) -> PyResult<Budget> {
    let releases: PyResult<Vec<Mu>> = mu.into_iter().map(|mu| quantity(py, mu)).collect();
    let gaussian = releases?.into_iter().reduce(Mu::compose);
    let ranges: PyResult<Vec<(RangeBound, u32)>> = ranges
        .into_iter()
        .map(|range| Ok((quantity(py, range)?, 1)))
        .collect();
    let (ranges, delta): (_, Delta) = (ranges?, quantity(py, delta)?);
    Ok(Budget(match gaussian {
        Some(mu) if ranges.is_empty() => mu.to_approx_dp(delta),
        None if ranges.is_empty() => {
            let message = "no release was given, but at least one mu or range is required";
            let help = "for example: compose([0.4, 0.4], delta=1e-6)";
            let code = "sprifed::privacy::nothing-to-compose";
            return Err(raise(py, &Failure::usage(code, message.to_owned(), help)));
        }
        _ => compose_selections(&ranges, gaussian, delta),
    }))
}

/// Raises, with what several fits cost, because nobody said that the estimator may be fitted again.
#[pyfunction]
fn refuse_repeated_fit(
    py: Python<'_>,
    is_clone: bool,
    epsilon: f64,
    delta: Option<f64>,
    n_records: u32,
    procedure: &str,
) -> PyResult<()> {
    let refuse = |failure: Failure| raise(py, &failure);
    let delta = match delta {
        Some(delta) => quantity(py, delta)?,
        None => recommended_delta(f64::from(n_records)).map_err(|error| refuse(error.into()))?,
    };
    let budget = ApproxDp::new(quantity(py, epsilon)?, delta);
    let procedure = fitted_procedure(procedure).map_err(refuse)?;
    let repetition = if is_clone {
        Repetition::Clone
    } else {
        Repetition::Again
    };
    let failure =
        repeated_fit(repetition, budget, procedure).map_err(|error| refuse(error.into()))?;
    Err(refuse(failure))
}

/// Adds the class and the functions to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Budget>()?;
    module.add_function(wrap_pyfunction!(epsilon_from_mu, module)?)?;
    module.add_function(wrap_pyfunction!(epsilon_from_rho, module)?)?;
    module.add_function(wrap_pyfunction!(log_delta_from_mu, module)?)?;
    module.add_function(wrap_pyfunction!(mu_from_epsilon, module)?)?;
    module.add_function(wrap_pyfunction!(rho_from_epsilon, module)?)?;
    module.add_function(wrap_pyfunction!(refuse_repeated_fit, module)?)?;
    module.add_function(wrap_pyfunction!(compose, module)?)
}
