"""Plans, forecasts, simulations and receipts: questions to the core, answered as dictionaries."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sprifed import _core
from sprifed._progress import counting, watching


def _plan(trials: int, progress: Any, **asked: Any) -> dict[str, Any]:
    world = (
        asked["records"],
        asked["features"],
        asked["sparsity"],
        asked["clients"],
        asked["error_std"],
        asked["population_r2"],
        asked["correlation"],
    )
    with watching(progress, "forecast") as watch:
        answer = _core.plan_study(
            world,
            asked["procedure"],
            asked["epsilon"],
            asked["delta"],
            asked["neighbours"],
            trials,
            counting(watch, 8 * trials),
        )
    return json.loads(answer)


def plan(
    *,
    records: int,
    features: int,
    sparsity: int,
    epsilon: float,
    delta: float | None = None,
    procedure: str = "grad",
    neighbours: str = "zero-out",
    clients: int | None = None,
    error_std: float | None = None,
    population_r2: float | None = None,
    correlation: str = "none",
) -> dict[str, Any]:
    """What a study of this size will ask, with which noise, at what cost; no record is touched.

    The answer is that of ``sprifed plan --json --forecast-trials 0``.
    """
    return _plan(
        0,
        False,
        records=records,
        features=features,
        sparsity=sparsity,
        epsilon=epsilon,
        delta=delta,
        procedure=procedure,
        neighbours=neighbours,
        clients=clients,
        error_std=error_std,
        population_r2=population_r2,
        correlation=correlation,
    )


def forecast(
    *,
    records: int,
    features: int,
    sparsity: int,
    epsilon: float,
    delta: float | None = None,
    procedure: str = "grad",
    neighbours: str = "zero-out",
    clients: int | None = None,
    error_std: float | None = None,
    population_r2: float | None = None,
    correlation: str = "none",
    trials: int = 6,
    progress: Any = None,
) -> dict[str, Any]:
    """The plan, and under ``forecast`` what ``trials`` simulated studies a point found.

    ``forecast["records_for_90_percent"]`` is how many records it takes to find nine tenths of the
    features on average, on data like those that are simulated; None if more than were tried.
    """
    return _plan(
        trials,
        progress,
        records=records,
        features=features,
        sparsity=sparsity,
        epsilon=epsilon,
        delta=delta,
        procedure=procedure,
        neighbours=neighbours,
        clients=clients,
        error_std=error_std,
        population_r2=population_r2,
        correlation=correlation,
    )


def simulate(
    procedure: str = "grad",
    *,
    records: int,
    features: int,
    sparsity: int,
    epsilon: float = 5.34,
    delta: float = 1e-4,
    neighbours: str = "zero-out",
    clients: int | None = None,
    backend: str = "curator",
    quorum: int | None = None,
    colluders: int | None = None,
    dropouts: float = 0.0,
    error_std: float | None = None,
    population_r2: float | None = None,
    correlation: str = "none",
    trials: int = 20,
    seed: int = 1,
    progress: Any = None,
) -> dict[str, Any]:
    """Trials of a procedure on generated data, beside the null model, as ``sprifed simulate`` does them.

    ``procedure`` is a certified one (grad, sieve, argmax, honest-omp, honest-grad, dp-sgd, dp-gcd), or
    non-private-omp or non-private-lasso. The noise is repeatable and protects nobody.
    """
    world = (records, features, sparsity, clients, error_std, population_r2, correlation)
    parties = (backend, quorum, colluders, dropouts)
    with watching(progress, "trials") as watch:
        answer = _core.simulate_trials(
            world, procedure, epsilon, delta, neighbours, parties, trials, seed, counting(watch, trials)
        )
    return json.loads(answer)


def verify_receipt(receipt: Mapping[str, Any] | str | os.PathLike[str]) -> dict[str, Any]:
    """Compute the guarantee of a receipt again; raise ``ReceiptError`` if it does not hold.

    ``receipt`` is ``receipt_`` of a fitted estimator, the text of a receipt or model file, or its path.
    The answer has the guarantee that was computed, not the one that was read.
    """
    if isinstance(receipt, os.PathLike):
        receipt = Path(receipt).read_text(encoding="utf-8")
    text = receipt if isinstance(receipt, str) else json.dumps(receipt)
    return json.loads(_core.verify_document(text))
