"""Sparse linear models under differential privacy, with guarantees that any reader can recompute.

The first fit::

    from sprifed import SparsePrivateRegressor

    model = SparsePrivateRegressor(
        epsilon=3, sparsity=5, bounds=(-1, 1), response_bounds=(-10, 10)
    ).fit(X, y)
    print(model.guarantee_)
"""

from sprifed._core import (
    Budget,
    BudgetError,
    DataError,
    ReceiptError,
    Schema,
    SchemaError,
    SprifedError,
    StudyError,
    __version__,
    compose,
    epsilon_from_mu,
    epsilon_from_rho,
    log_delta_from_mu,
    mu_from_epsilon,
    rho_from_epsilon,
)
from sprifed._arguments import SprifedWarning, UnreliableModelWarning
from sprifed._documents import forecast, plan, simulate, verify_receipt
from sprifed._guarantee import Guarantee

# What needs scikit-learn is imported when it is used, so that a node of a fleet starts fast.
_LATER = {
    "NonPrivateOMP": "sprifed._estimators",
    "SparsePrivateClassifier": "sprifed._classifier",
    "SparsePrivateRegressor": "sprifed._estimators",
    "plot_report": "sprifed._plot",
}


def __getattr__(name: str):
    if name in _LATER:
        from importlib import import_module

        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(_LATER))


__all__ = [
    "Budget",
    "BudgetError",
    "DataError",
    "Guarantee",
    "NonPrivateOMP",
    "ReceiptError",
    "Schema",
    "SchemaError",
    "SparsePrivateClassifier",
    "SparsePrivateRegressor",
    "SprifedError",
    "SprifedWarning",
    "StudyError",
    "UnreliableModelWarning",
    "__version__",
    "compose",
    "epsilon_from_mu",
    "epsilon_from_rho",
    "forecast",
    "log_delta_from_mu",
    "mu_from_epsilon",
    "plan",
    "plot_report",
    "rho_from_epsilon",
    "simulate",
    "verify_receipt",
]
