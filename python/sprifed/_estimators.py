"""Estimators with scikit-learn's manners. What they do is done in the core."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d, validate_data

from sprifed import _core
from sprifed._guarantee import Guarantee
from sprifed._progress import watching

FLOATS = [np.float64, np.float32]


class SparsePrivateRegressor(RegressorMixin, BaseEstimator):
    """A sparse linear model under differential privacy.

    Parameters
    ----------
    epsilon : float
        The privacy budget.
    sparsity : int
        How many features are chosen; fewer than there are columns.
    delta : float, optional
        The delta of the budget; the smaller of 1e-6 and 1/(10 n) if it is not given.
    bounds : (lower, upper), optional
        Public bounds of the features: each a number, or one number for each column. They are known
        without looking at the records; values outside are moved to the nearest bound.
    response_bounds : (lower, upper), optional
        Public bounds of the response.
    schema : Schema or path, optional
        Both bounds and more, instead of the two above.
    procedure : {"grad", "sieve", "argmax"}
        How features are found.
    backend : {"curator", "secure-sum"}
        Who adds up and adds the noise: one party that holds all records, or every client its share.
    clients : int, optional
        Over how many clients the records are split, in consecutive blocks; one record each if it is
        not given. Labels are an argument of ``fit``.
    neighbours : {"zero-out", "replace-one"}
        Which data sets the guarantee makes indistinguishable.
    quorum, colluders : int, optional
        Of secure sums: the fewest clients of a sum, and how many may pool what they know.
    simulate_noise : int, optional
        NOT PRIVATE: take the noise from this seed, for tests.
    allow_repeated_fits : bool
        Let clones of this estimator, as searches and cross-validation make them, and the estimator
        itself be fitted again. Every fit spends the whole budget once more.
    progress : callable, bool or None
        ``progress(done, total)`` before every step; True for a bar, False for silence; by default a
        bar where somebody looks and tqdm is installed.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features_in_,)
        In the units of the columns; zero for features that were not chosen.
    support_ : ndarray of int
        The chosen columns, in the order in which they were found.
    intercept_ : float
    guarantee_ : Guarantee
        What was promised; ``print`` it first.
    status_ : str
        "complete", "no-feature-above-noise" or "ill-conditioned".
    status_words_ : str
        The same, and what would help.
    warning_ : str or None
        What must be heard before the model is used.
    noise_std_ : ndarray
        The standard deviation that the noise alone gives each chosen coefficient; nan if unknown.
    receipt_ : dict
        Model, guarantee, plan and ledger, as ``sprifed fit`` writes them; see ``verify_receipt``.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if X has column names.

    Notes
    -----
    ``score`` adds no noise: it is a statistic of the records it is given, which the guarantee does not
    cover. Score on other records than those that were fitted.
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        sparsity: int = 1,
        *,
        delta: float | None = None,
        bounds: Any = None,
        response_bounds: Any = None,
        schema: Any = None,
        procedure: str = "grad",
        backend: str = "curator",
        clients: int | None = None,
        neighbours: str = "zero-out",
        quorum: int | None = None,
        colluders: int | None = None,
        simulate_noise: int | None = None,
        allow_repeated_fits: bool = False,
        progress: Any = None,
    ):
        self.epsilon = epsilon
        self.sparsity = sparsity
        self.delta = delta
        self.bounds = bounds
        self.response_bounds = response_bounds
        self.schema = schema
        self.procedure = procedure
        self.backend = backend
        self.clients = clients
        self.neighbours = neighbours
        self.quorum = quorum
        self.colluders = colluders
        self.simulate_noise = simulate_noise
        self.allow_repeated_fits = allow_repeated_fits
        self.progress = progress

    def fit(self, X: Any, y: Any, clients: Any = None) -> SparsePrivateRegressor:
        """Fit privately; the budget is spent.

        ``clients`` labels the client of each record, where the schema has a client column.
        """
        X, y = self._validated(X, y)
        names = self._names()
        schema = self._schema_for(names)
        labels = None if clients is None else [str(label) for label in column_or_1d(clients)]
        if labels is not None and len(labels) != len(y):
            raise ValueError(f"clients has {len(labels)} labels, but there are {len(y)} records")
        self._refuse_repeated_fit(X.shape[0])
        with watching(self.progress, "fit") as watch:
            model = _core.fit_private(
                X,
                y,
                names,
                schema,
                sparsity=self.sparsity,
                epsilon=self.epsilon,
                delta=self.delta,
                procedure=self.procedure,
                neighbours=self.neighbours,
                backend=self.backend,
                quorum=self.quorum,
                colluders=self.colluders,
                clients=self.clients,
                labels=labels,
                simulate_noise=self.simulate_noise,
                watch=watch,
            )
        self._model = model
        self._was_fitted = True
        self.coef_ = model.coef
        self.support_ = np.array(model.support, dtype=np.intp)
        self.intercept_ = model.intercept
        self.receipt_ = json.loads(model.document())
        self.guarantee_ = Guarantee(**self.receipt_["guarantee"])
        self.status_ = model.status
        self.status_words_ = model.status_words
        self.warning_ = model.warning
        self.delta_note_ = model.delta_note
        noise = [np.nan if value is None else value for value in model.noise_std_devs]
        self.noise_std_ = np.array(noise, dtype=np.float64)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predictions in the units of the response, within its public bounds."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=FLOATS, ensure_all_finite=self._finiteness(), reset=False)
        return self._model.predict(X)

    def _validated(self, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        options = dict(dtype=FLOATS, ensure_min_features=2, ensure_min_samples=2)
        schema = self.schema
        if isinstance(schema, _core.Schema) and schema.drops_missing_response:
            X = validate_data(self, X, ensure_all_finite=self._finiteness(), **options)
            y = column_or_1d(
                check_array(y, ensure_2d=False, ensure_all_finite="allow-nan", dtype=np.float64)
            )
            if len(y) != len(X):
                raise ValueError(f"X has {len(X)} records, but y has {len(y)}")
        else:
            X, y = validate_data(
                self, X, y, y_numeric=True, ensure_all_finite=self._finiteness(), **options
            )
        return X, np.asarray(y, dtype=np.float64)

    def _finiteness(self) -> bool | str:
        allowed = isinstance(self.schema, _core.Schema) and self.schema.allows_missing
        return "allow-nan" if allowed else True

    def _names(self) -> list[str]:
        named = getattr(self, "feature_names_in_", None)
        if named is None:
            return [f"x{column}" for column in range(self.n_features_in_)]
        return [str(name) for name in named]

    def _schema_for(self, names: list[str]) -> _core.Schema:
        if self.schema is not None:
            if isinstance(self.schema, _core.Schema):
                return self.schema
            return _core.Schema.read(Path(os.fspath(self.schema)))
        if self.bounds is None or self.response_bounds is None:
            raise _core.refuse_without_schema()
        lower, upper = (_one_or_many(bound) for bound in _pair(self.bounds, "bounds"))
        response = tuple(float(bound) for bound in _pair(self.response_bounds, "response_bounds"))
        return _core.Schema.from_bounds(
            response, lower, upper, names, response_name=_unused_name("y", names)
        )

    def _refuse_repeated_fit(self, n_records: int) -> None:
        """Every fit with secret noise spends the budget once more, which a search does not say."""
        if self.simulate_noise is not None or self.allow_repeated_fits:
            return
        is_clone = getattr(self, "_is_clone", False)
        if not is_clone and not getattr(self, "_was_fitted", False):
            return
        _core.refuse_repeated_fit(is_clone, self.epsilon, self.delta, n_records, self.procedure)

    def __sklearn_clone__(self) -> SparsePrivateRegressor:
        parameters = {
            name: clone(value, safe=False) for name, value in self.get_params(deep=False).items()
        }
        twin = type(self)(**parameters)
        twin._is_clone = True
        for kept in ("_metadata_request", "_sklearn_output_config"):
            if hasattr(self, kept):
                setattr(twin, kept, getattr(self, kept))
        return twin

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self.simulate_noise is None
        tags.regressor_tags.poor_score = True
        tags.input_tags.allow_nan = self._finiteness() != True  # noqa: E712
        return tags


class NonPrivateOMP(RegressorMixin, BaseEstimator):
    """Orthogonal matching pursuit on the records themselves. NOT PRIVATE.

    What a private model is measured against, or for data that need no protection. Columns are centred
    and not scaled; the centred matrix is a copy in single precision.
    """

    def __init__(self, sparsity: int = 1):
        self.sparsity = sparsity

    def fit(self, X: Any, y: Any) -> NonPrivateOMP:
        """Fit without noise."""
        X, y = validate_data(self, X, y, dtype=FLOATS, y_numeric=True, ensure_min_samples=2)
        y = np.asarray(y, dtype=np.float64)
        columns, coefficients, self.intercept_ = _core.fit_exactly(X, y, self.sparsity)
        self.support_ = np.array(columns, dtype=np.intp)
        self.coef_ = np.zeros(self.n_features_in_)
        self.coef_[self.support_] = coefficients
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predictions of the linear model."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=FLOATS, reset=False)
        return X[:, self.support_] @ self.coef_[self.support_] + self.intercept_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags


def _pair(bounds: Any, what: str) -> tuple[Any, Any]:
    try:
        lower, upper = bounds
    except (TypeError, ValueError):
        raise _core.SchemaError(
            f"{what} is {type(bounds).__name__}; required: a pair (lower, upper)"
        ) from None
    return lower, upper


def _one_or_many(bound: Any) -> float | list[float]:
    array = np.asarray(bound, dtype=np.float64)
    return float(array) if array.ndim == 0 else array.ravel().tolist()


def _unused_name(name: str, names: list[str]) -> str:
    while name in names:
        name = f"{name}_"
    return name
