//! What can be said of a study before a record is touched, and of a model by any reader.

use std::ops::ControlFlow;

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use serde::Serialize;
use sprifed::{
    AUTO, Backend, BackendRequest, ColumnScalesRequest, Document, Error, NoGuarantee, PlanRequest,
    ProofAnswer, SchemaFacts, Simulation, TrialGuarantee, WorldSize, centred_omp, keep,
    parse_correlation,
};
use sprifed_paper::{AnyMethod, Contender, certified_setting};
use sprifed_privacy::{ApproxDp, NoiseOrigin};
use sprifed_recovery::Setting;
use sprifed_simulate::{
    Absence, Certified, Method as _, Reading, Summary, WorldOutcome, WorldSites,
};

use crate::budget::quantity;
use crate::choices;
use crate::error::{Refusal, raise};
use crate::matrix::{Matrix, require_aligned};
use crate::threads::on_living_threads;

/// The size and kind of generated data, as Python gives it.
type World = (
    usize,
    usize,
    usize,
    Option<usize>,
    Option<usize>,
    Option<f64>,
    Option<f64>,
    String,
);

fn world_size(world: World) -> Result<WorldSize, Refusal> {
    let (records, features, sparsity, support, clients, error_std, population_r2, correlation) =
        world;
    let correlation = parse_correlation(&correlation)?;
    Ok(WorldSize {
        records,
        features,
        sparsity,
        support,
        clients,
        error_std,
        population_r2,
        correlation,
        reading: Reading::Clean,
        outcome: WorldOutcome::Linear,
        sites: WorldSites::NONE,
    })
}

/// Tells the watcher, between two trials; what it raises ends the work.
fn tell(watch: Option<&Py<PyAny>>, stopped: &mut Option<PyErr>) -> ControlFlow<()> {
    let told = Python::attach(|py| {
        py.check_signals()?;
        watch.map_or(Ok(()), |watch| watch.call0(py).map(drop))
    });
    match told {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            *stopped = Some(error);
            ControlFlow::Break(())
        }
    }
}

/// The plan of a study and, if `trials` is not zero, what simulation says of it, as JSON.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "keywords, in Python")]
fn plan_study(
    py: Python<'_>,
    world: World,
    exactly: bool,
    robust: bool,
    inference: &str,
    procedure: &str,
    epsilon: f64,
    delta: Option<f64>,
    neighbours: &str,
    answering: Answering,
    trials: u64,
    watch: Option<Py<PyAny>>,
) -> PyResult<String> {
    let refuse = |refusal: Refusal| raise(py, refusal);
    let request = PlanRequest {
        procedure: choices::procedure(procedure).map_err(refuse)?,
        backend: answering_request(answering).map_err(refuse)?,
        world: world_size(world).map_err(refuse)?,
        keep: keep(exactly),
        robust,
        inference: choices::inference(inference).map_err(refuse)?,
        epsilon: quantity(py, epsilon)?,
        delta: delta.map(|delta| quantity(py, delta)).transpose()?,
        column_scales: ColumnScalesRequest::Never,
        neighbours: choices::neighbours(neighbours).map_err(refuse)?,
        schema: SchemaFacts::NONE,
    };
    let planned = request.plan().map_err(|error| raise(py, error))?;
    let mut stopped = None;
    let run = || planned.forecast(trials, |_| tell(watch.as_ref(), &mut stopped));
    let forecast = py.detach(|| on_living_threads(run)?.map_err(Refusal::from));
    let forecast = forecast.map_err(|failure| stopped.unwrap_or_else(|| refuse(failure)))?;
    // There is no clock here: Python measures, if a user asks.
    let answer = planned.answer(forecast);
    Ok(to_json(&answer.map_err(|error| raise(py, error))?))
}

/// Who adds up: the backend, its quorum and colluders.
type Answering = (String, Option<u32>, Option<u32>);

fn answering_request((backend, quorum, colluders): Answering) -> Result<BackendRequest, Refusal> {
    Ok(BackendRequest {
        backend: choices::backend(&backend)?,
        quorum,
        colluders,
    })
}

/// Repeated trials on generated data, as JSON.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "keywords, in Python")]
fn simulate_trials(
    py: Python<'_>,
    world: World,
    exactly: bool,
    robust: bool,
    inference: &str,
    procedure: &str,
    epsilon: f64,
    delta: f64,
    neighbours: &str,
    answering: Answering,
    dropouts: f64,
    trials: u64,
    seed: u64,
    watch: Option<Py<PyAny>>,
) -> PyResult<String> {
    let refuse = |refusal: Refusal| raise(py, refusal);
    let asked = answering_request(answering).map_err(refuse)?;
    let world = world_size(world).map_err(refuse)?;
    let request = world.request();
    let request = request.map_err(|error| raise(py, error))?;
    let relation = choices::neighbours(neighbours).map_err(refuse)?;
    let budget = ApproxDp::new(quantity(py, epsilon)?, quantity(py, delta)?);
    let origin = asked.origin(world.clients());
    let origin = origin.map_err(|error| raise(py, error))?;
    let contender = if procedure == AUTO {
        let choice = world.choose(asked, budget, relation);
        Contender::Certified(choice.map_err(|error| raise(py, error))?.procedure)
    } else {
        choices::contender(procedure).map_err(refuse)?
    };
    let inference = choices::inference(inference).map_err(refuse)?;
    let absence = Absence::of(dropouts).map_err(|error| raise(py, error))?;
    if origin == NoiseOrigin::Curator && dropouts != 0.0 {
        return Err(raise(py, Error::DropoutsOfCurator));
    }
    let planned_for = |procedure| {
        certified_setting(procedure, &request, budget, relation).map(|setting| Setting {
            choice: keep(exactly),
            robust,
            inference,
            ..setting
        })
    };
    let method = match (contender, origin) {
        (Contender::Certified(procedure), NoiseOrigin::Curator) => {
            planned_for(procedure).and_then(|setting| AnyMethod::certified(procedure, setting))
        }
        (Contender::Certified(procedure), NoiseOrigin::Shares(participation)) => {
            planned_for(procedure).and_then(|setting| {
                AnyMethod::federated(procedure, setting, participation, absence)
            })
        }
        (Contender::Certified(procedure), NoiseOrigin::Trustees) => {
            let clients = u32::try_from(world.clients()).unwrap_or(u32::MAX);
            planned_for(procedure)
                .and_then(|setting| AnyMethod::by_trustees(procedure, setting, clients, absence))
        }
        (Contender::NonPrivate(_), _) if robust => {
            let name = contender.name();
            return Err(refuse(Refusal::NotRobust { name }));
        }
        (Contender::NonPrivate(reference), _) => Ok(AnyMethod::Reference(reference)),
        _ => unreachable!("only certified methods and references have a name in Python"),
    };
    let method = method.map_err(|error| raise(py, error))?;
    let simulation = Simulation {
        procedure: contender.name(),
        backend: Backend::of(origin),
        dropouts,
        inference,
        seeking: method.seeking().map_err(|error| raise(py, error))?,
        world,
        trials,
        seed,
    };
    let mut outcomes = Vec::new();
    for trial in 0..trials {
        let run = || method.run(request, seed.wrapping_add(trial));
        let outcome = py.detach(|| on_living_threads(run)).map_err(refuse)?;
        outcomes.push(outcome.map_err(|error| raise(py, error))?);
        py.check_signals()?;
        if let Some(watch) = &watch {
            watch.call0(py)?;
        }
    }
    let summary = Summary::of(&outcomes, request.support);
    Ok(match &method {
        AnyMethod::Certified(Certified { plan, .. }) => {
            let spending = plan.spending().map_err(|error| raise(py, error))?;
            let guarantee = TrialGuarantee::of(&spending, plan.origin, budget.delta(), relation);
            to_json(&simulation.answer(guarantee, &summary, None))
        }
        _ => to_json(&simulation.answer(NoGuarantee::REFERENCE, &summary, None)),
    })
}

/// What a receipt promises, computed again, as JSON: of a model, of a study, or of one of its parties.
#[pyfunction]
fn verify_document(py: Python<'_>, text: &str) -> PyResult<String> {
    let name = "the receipt";
    let proof = Document::parse(text, name).and_then(|document| document.verify(name));
    let proof = proof.map_err(|error| raise(py, error))?;
    Ok(to_json(&ProofAnswer::from(proof)))
}

/// An answer as Python reads it.
fn to_json(answer: &impl Serialize) -> String {
    serde_json::to_string(answer).unwrap_or_default()
}

/// Orthogonal matching pursuit on the records themselves: chosen columns, coefficients, intercept.
/// NOT PRIVATE.
#[pyfunction]
fn fit_exactly(
    py: Python<'_>,
    matrix: Matrix<'_>,
    responses: PyReadonlyArray1<'_, f64>,
    sparsity: usize,
) -> PyResult<(Vec<u32>, Vec<f64>, f64)> {
    matrix.require_aligned(py)?;
    require_aligned(py, responses.as_any())?;
    let responses: Vec<f64> = responses.as_array().iter().copied().collect();
    let model = match &matrix {
        Matrix::Double(values) => {
            let values = values.as_array();
            let at = |row, column| values[[row, column]];
            let run = || centred_omp(values.ncols(), &responses, sparsity, at);
            py.detach(|| on_living_threads(run)?.map_err(Refusal::from))
        }
        Matrix::Single(values) => {
            let values = values.as_array();
            let at = |row, column| f64::from(values[[row, column]]);
            let run = || centred_omp(values.ncols(), &responses, sparsity, at);
            py.detach(|| on_living_threads(run)?.map_err(Refusal::from))
        }
    };
    let model = model.map_err(|failure| raise(py, failure))?;
    let (columns, coefficients) = model.terms.into_iter().unzip();
    Ok((columns, coefficients, model.intercept))
}

/// Adds the functions to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(plan_study, module)?)?;
    module.add_function(wrap_pyfunction!(simulate_trials, module)?)?;
    module.add_function(wrap_pyfunction!(verify_document, module)?)?;
    module.add_function(wrap_pyfunction!(fit_exactly, module)?)
}
