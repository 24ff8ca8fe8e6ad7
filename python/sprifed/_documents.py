"""Plans, forecasts, simulations and receipts: questions to the core, answered as dictionaries."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sprifed import _core
from sprifed._arguments import (
    LARGEST_SEED,
    LARGEST_SIZE,
    RECEIPT,
    budget_number,
    flag,
    real,
    real_or_none,
    refused,
    text,
    whole,
    whole_or_none,
)
from sprifed._progress import counting, watching


def _world(asked: dict[str, Any]) -> tuple[Any, ...]:
    """The size and kind of generated data, for the core."""
    return (
        whole("records", asked["records"], most=LARGEST_SIZE),
        whole("features", asked["features"], most=LARGEST_SIZE),
        whole("sparsity", asked["sparsity"], most=LARGEST_SIZE),
        whole_or_none("support", asked["support"], most=LARGEST_SIZE),
        whole_or_none("clients", asked["clients"], most=LARGEST_SIZE),
        real_or_none("error_std", asked["error_std"]),
        real_or_none("population_r2", asked["population_r2"]),
        text("correlation", asked["correlation"]),
    )


def _answering(asked: dict[str, Any]) -> tuple[str, int | None, int | None]:
    """Who adds up, for the core."""
    return (
        text("backend", asked["backend"]),
        whole_or_none("quorum", asked["quorum"]),
        whole_or_none("colluders", asked["colluders"]),
    )


def _plan(trials: int, progress: Any, asked: dict[str, Any]) -> dict[str, Any]:
    delta = asked["delta"]
    with watching(progress, "forecast") as watch:
        answer = _core.plan_study(
            _world(asked),
            flag("exactly", asked["exactly"]),
            flag("robust", asked["robust"]),
            text("inference", asked["inference"]),
            text("procedure", asked["procedure"]),
            budget_number("epsilon", asked["epsilon"]),
            None if delta is None else budget_number("delta", delta),
            text("neighbours", asked["neighbours"]),
            _answering(asked),
            trials,
            counting(watch, 8 * trials),
        )
    return json.loads(answer)


def plan(
    *,
    records: int,
    features: int,
    sparsity: int,
    support: int | None = None,
    exactly: bool = False,
    robust: bool = False,
    inference: str = "selective",
    epsilon: float,
    delta: float | None = None,
    procedure: str = "auto",
    neighbours: str = "zero-out",
    clients: int | None = None,
    backend: str = "curator",
    quorum: int | None = None,
    colluders: int | None = None,
    error_std: float | None = None,
    population_r2: float | None = None,
    correlation: str = "none",
) -> dict[str, Any]:
    """What a study of this size will ask, with which noise, at what cost; no record is touched.

    ``sparsity`` is how many features are sought at most, ``exactly`` keeps all of them; ``support`` is how many are true in a
    forecast. ``robust`` lets intervals and p-values allow for errors of unequal variance, at 5 % of the budget.

    The answer is that of ``sprifed plan --json --forecast-trials 0``.
    """
    return _plan(0, False, locals())


def forecast(
    *,
    records: int,
    features: int,
    sparsity: int,
    support: int | None = None,
    exactly: bool = False,
    robust: bool = False,
    inference: str = "selective",
    epsilon: float,
    delta: float | None = None,
    procedure: str = "auto",
    neighbours: str = "zero-out",
    clients: int | None = None,
    backend: str = "curator",
    quorum: int | None = None,
    colluders: int | None = None,
    error_std: float | None = None,
    population_r2: float | None = None,
    correlation: str = "none",
    trials: int = 6,
    progress: Any = None,
) -> dict[str, Any]:
    """The plan, and under ``forecast`` what ``trials`` simulated studies of each procedure found.

    State ``population_r2``, the share of variance that the best model explains: without it four values are shown side by
    side in ``forecast["rows"]``. With it, ``forecast["records_for_90_percent"]`` is how many records it takes to find nine
    tenths of the features on average, on data like those that are simulated; None if more than were tried.
    ``forecast`` is None if the study has too few records for any feature (``floor["is_below"]``).
    """
    asked = locals()
    return _plan(whole("trials", trials), progress, asked)


def simulate(
    procedure: str = "auto",
    *,
    records: int,
    features: int,
    sparsity: int,
    support: int | None = None,
    exactly: bool = False,
    robust: bool = False,
    inference: str = "selective",
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

    ``sparsity`` is how many features are sought at most, ``support`` how many are true (as many by default), and ``exactly``
    keeps all that are sought. ``robust`` lets intervals and p-values allow for errors of unequal variance, at 5 % of the
    budget. The answer says how many true features were kept, the share of false ones among the kept,
    and how often reported intervals contain their target.

    ``procedure`` is a certified one, such as grad or dp-sgd, or a reference without noise, such as non-private-omp; an
    unknown name is refused with the list of all names. The noise is repeatable and protects no record.
    """
    asked = locals()
    trials = whole("trials", trials, least=1)
    with watching(progress, "trials") as watch:
        answer = _core.simulate_trials(
            _world(asked),
            flag("exactly", exactly),
            flag("robust", robust),
            text("inference", inference),
            text("procedure", procedure),
            budget_number("epsilon", epsilon),
            budget_number("delta", delta),
            text("neighbours", neighbours),
            _answering(asked),
            real("dropouts", dropouts),
            trials,
            whole("seed", seed, most=LARGEST_SEED),
            counting(watch, trials),
        )
    return json.loads(answer)


def verify_receipt(
    receipt: Mapping[str, Any] | str | bytes | os.PathLike[str],
) -> dict[str, Any]:
    """Compute the guarantee of a receipt again; raise ``ReceiptError`` if it does not hold.

    ``receipt`` is ``receipt_`` of a fitted estimator, the text of a receipt or model file, or its path.
    The answer has the guarantee that was computed, not the one that was read.
    """
    return json.loads(_core.verify_document(_text_of(receipt)))


def _text_of(receipt: Any) -> str:
    """The text of a receipt, wherever it is."""
    try:
        if isinstance(receipt, Mapping):
            return json.dumps(receipt)
        if isinstance(receipt, (bytes, bytearray)):
            return bytes(receipt).decode("utf-8")
        if isinstance(receipt, str) and receipt.lstrip()[:1] in ("{", "[", ""):
            return receipt
        if isinstance(receipt, (str, os.PathLike)):
            return Path(receipt).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, TypeError, ValueError) as error:
        found = f"{type(receipt).__name__} that cannot be read ({error})"
        raise _core.refusal(
            *RECEIPT,
            f"the receipt is a {found}; required: a document, its text or its path",
            "name the file that a fit or a study wrote",
        ) from error
    required = "a document, its text or its path"
    raise refused("the receipt", receipt, required, RECEIPT)
