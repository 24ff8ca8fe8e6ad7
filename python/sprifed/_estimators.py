"""Estimators with scikit-learn's manners. What they do is done in the core."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d, validate_data

from sprifed import _core
from sprifed._account import account_of, claimed
from sprifed._arguments import (
    LARGEST_COUNT,
    LARGEST_SEED,
    SCHEMA,
    UNUSABLE_LEDGER,
    SprifedWarning,
    UnreliableModelWarning,
    bound,
    bounds,
    budget_number,
    flag,
    pair,
    refused,
    text,
    whole,
    whole_or_none,
)
from sprifed._guarantee import Guarantee
from sprifed._progress import watching
from sprifed._summary import Summary

FLOATS = [np.float64, np.float32]

# The environment variable that names the folder of the ledger, for every runtime.
LEDGER = "SPRIFED_LEDGER"

# With more, it takes many seconds to play the clients of secure sums in one process.
MANY_CLIENTS = 50


class SparsePrivateRegressor(RegressorMixin, BaseEstimator):
    """A sparse linear model under differential privacy.

    Parameters
    ----------
    epsilon : float
        The privacy budget.
    sparsity : int
        How many features are sought at most; fewer than there are columns. Those are kept that are significant after the
        selection. Give at most twice as many as you believe in.
    exactly : bool
        Keep exactly ``sparsity`` features, significant or not.
    robust : bool
        Let intervals and p-values allow for errors of unequal variance. It takes 5 % of the budget.
    inference : {"selective", "split"}
        By which records the coefficients of the selected features are estimated. "selective": by all records, and
        intervals and p-values allow for the selection. "split": by every fourth record, which selects nothing;
        intervals and p-values are ordinary ones, and fewer features are found.
    delta : float, optional
        The delta of the budget; the smaller of 1e-6 and 1/(10 n) if it is not given.
    bounds : (lower, upper), optional
        Public bounds of the features: each a number, or one number for each column. They are known
        without looking at the records; values outside are moved to the nearest bound.
    response_bounds : (lower, upper), optional
        Public bounds of the response.
    feature_transform : {"identity", "log1p"}
        A public change of scale of all features, made before bounding: "log1p" is sign(x) ln(1 + |x|). Bounds stay in
        the units of the columns; coefficients are per unit after the change.
    schema : Schema or path, optional
        Bounds and more, instead of the three above.
    procedure : str
        How features are found, by name: "grad", for example. "auto" takes the one that is expected to do best, by public
        facts only; the receipt names it. An unknown name is refused with the list of all names.
    backend : str
        Who adds up and adds the noise, by name: one party that holds all records ("curator"), every client its
        share ("secure-sum"), or three trustees who choose and add up on shared bits ("trustees").
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
        Let copies of this estimator, as searches and cross-validation make them, and the estimator
        itself be fitted again. Every fit spends the whole budget once more: ``receipt_`` carries the
        receipts of earlier fits, as far as this process knows them, and ``warning_`` what all cost.
    ledger : path, optional
        The folder of a ledger, that of a party or a new one: the fit is entered there before a record is read, and
        refused if it would pass the limit of the ledger. The one that the environment variable
        ``SPRIFED_LEDGER`` names, or none, if it is not given.
    progress : callable, bool or None
        ``progress(done, total)`` before every step; True for a bar, False for silence; by default a
        bar in a terminal or notebook if tqdm is installed.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features_in_,)
        What predictions use, in the units of the columns: of all features that were chosen, kept or not, shrunk towards
        zero where noise outweighs what is known; zero for the others. Report ``estimates_`` instead.
    intercept_ : float
        What predictions use.
    support_ : ndarray of int
        The columns that are reported: those that were kept, then those that are always in the model.
    is_always_ : ndarray of bool
        Which columns of ``support_`` are always in the model: they were not selected.
    estimates_, std_errors_ : ndarray
        The coefficient of each column of ``support_`` without shrinkage, and its standard error.
    intervals_ : ndarray of shape (len(support_), 2)
        Confidence intervals of the columns of ``support_``; nan where they are not available.
    p_values_ : ndarray
        P-values of the columns of ``support_``; nan where they are not available. They allow for the selection.
    privacy_shares_ : ndarray
        The share of each estimate's variance that is due to the noise added for privacy.
    guarantee_ : Guarantee
        What was promised; ``print`` it first.
    status_ : str
        "complete", "no-feature-above-noise", "too-few-records" or "ill-conditioned".
    status_words_ : str
        The same, and what would help.
    warning_ : str or None
        What a user must know before the model is used; raised as ``SprifedWarning`` too. If the model is only the mean, or
        its coefficients must not be interpreted, the warning is an ``UnreliableModelWarning``.
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
        exactly: bool = False,
        robust: bool = False,
        inference: str = "selective",
        delta: float | None = None,
        bounds: Any = None,
        response_bounds: Any = None,
        feature_transform: str = "identity",
        schema: Any = None,
        procedure: str = "auto",
        backend: str = "curator",
        clients: int | None = None,
        neighbours: str = "zero-out",
        quorum: int | None = None,
        colluders: int | None = None,
        simulate_noise: int | None = None,
        allow_repeated_fits: bool = False,
        ledger: Any = None,
        progress: Any = None,
    ):
        self.epsilon = epsilon
        self.sparsity = sparsity
        self.exactly = exactly
        self.robust = robust
        self.inference = inference
        self.delta = delta
        self.bounds = bounds
        self.response_bounds = response_bounds
        self.feature_transform = feature_transform
        self.schema = schema
        self.procedure = procedure
        self.backend = backend
        self.clients = clients
        self.neighbours = neighbours
        self.quorum = quorum
        self.colluders = colluders
        self.simulate_noise = simulate_noise
        self.allow_repeated_fits = allow_repeated_fits
        self.ledger = ledger
        self.progress = progress

    def fit(self, X: Any, y: Any, clients: Any = None) -> SparsePrivateRegressor:
        """Fit privately; the budget is spent.

        ``clients`` labels the client of each record, where the schema has a client column.

        An interrupt or a failure after the first answer counts as a fit: its exception has a ``ledger``. After
        the last answer the model is kept, and the exception raised all the same.
        """
        asked = self._asked()
        repeatedly = flag("allow_repeated_fits", self.allow_repeated_fits)
        if asked["simulate_noise"] is not None:
            return self._fit(X, y, clients, asked, _core.SpentFit(), [])

        def refuse(is_copy: bool) -> None:
            epsilon, delta, procedure = (asked[name] for name in ("epsilon", "delta", "procedure"))
            _core.refuse_repeated_fit(is_copy, epsilon, delta, _n_records(X), procedure)

        # Before anything is looked at: a refusal leaves the model that there is.
        with claimed(self, repeatedly, refuse) as spent_fit:
            return self._fit(X, y, clients, asked, spent_fit, account_of(self).receipts())

    def _fit(
        self, X: Any, y: Any, clients: Any, asked: dict[str, Any], spent_fit: _core.SpentFit, earlier: list[str]
    ) -> SparsePrivateRegressor:
        with self._columns_as_they_were():
            given = self._given_schema()
            X, y = self._validated(X, y, given)
            names = self._names()
            schema = given if given is not None else self._schema_of_bounds(names)
            labels = _labels(clients, len(y))
            if asked["backend"] == "secure-sum" and asked["clients"] is None and schema.client is None:
                _warn_of_many_clients(len(y))
            with watching(self.progress, "fit") as watch:
                model, interrupt = _core.fit_private(
                    X,
                    y,
                    names,
                    schema,
                    labels=labels,
                    watch=watch,
                    earlier=earlier,
                    spent_fit=spent_fit,
                    ledger=self._ledger_folder(),
                    **asked,
                )
        self._model = model
        self._fitted_schema = schema
        self.coef_ = model.coef
        self._set_reported(model)
        self.intercept_ = model.intercept
        self.receipt_ = json.loads(model.document())
        self.guarantee_ = Guarantee(**self.receipt_["guarantee"])
        self.status_ = model.status
        self.status_words_ = model.status_words
        alarm = [] if model.alarm is None else [model.alarm]
        self.warning_ = "; ".join([*alarm, *model.warnings]) or None
        self.delta_note_ = model.delta_note
        if interrupt is not None:
            raise interrupt
        for words in alarm:
            warnings.warn(words, UnreliableModelWarning, stacklevel=3)
        for words in model.warnings:
            warnings.warn(words, SprifedWarning, stacklevel=3)
        return self

    def _set_reported(self, model: _core.PrivateModel) -> None:
        """What is said of the columns that are reported, an array each."""
        terms = model.reported
        self.support_ = np.array([term[0] for term in terms], dtype=np.intp)
        self.is_always_ = np.array([term[1] for term in terms], dtype=bool)
        self.estimates_ = _numbers(term[2] for term in terms)
        self.std_errors_ = _numbers(term[3] for term in terms)
        ends = [(np.nan, np.nan) if term[4] is None else term[4] for term in terms]
        self.intervals_ = np.array(ends, dtype=np.float64).reshape(len(terms), 2)
        self.p_values_ = _numbers(term[6] for term in terms)
        self.privacy_shares_ = _numbers(term[7] for term in terms)

    def summary(self) -> Summary:
        """The result as statsmodels users expect it: a table of coefficients with intervals and p-values, and notes.

        ``print`` it, or show it in a notebook.
        """
        check_is_fitted(self)
        return Summary.of(self)

    def predict(self, X: Any) -> np.ndarray:
        """Predictions in the units of the response, within its public bounds."""
        check_is_fitted(self)
        finiteness = _finiteness(self._fitted_schema)
        X = validate_data(self, X, dtype=FLOATS, ensure_all_finite=finiteness, reset=False)
        return self._model.predict(np.require(X, requirements="A"))

    def _asked(self) -> dict[str, Any]:
        """The parameters that the core is given, each of its kind."""
        return dict(
            sparsity=whole("sparsity", self.sparsity, least=1),
            exactly=flag("exactly", self.exactly),
            robust=flag("robust", self.robust),
            inference=text("inference", self.inference),
            epsilon=budget_number("epsilon", self.epsilon),
            delta=None if self.delta is None else budget_number("delta", self.delta),
            procedure=text("procedure", self.procedure),
            neighbours=text("neighbours", self.neighbours),
            backend=text("backend", self.backend),
            quorum=whole_or_none("quorum", self.quorum),
            colluders=whole_or_none("colluders", self.colluders),
            clients=whole_or_none("clients", self.clients, least=1),
            simulate_noise=whole_or_none("simulate_noise", self.simulate_noise, most=LARGEST_SEED),
        )

    def _ledger_folder(self) -> Path | None:
        """The folder of the ledger, if there is one."""
        chosen = self.ledger if self.ledger is not None else os.environ.get(LEDGER) or None
        if chosen is not None and not isinstance(chosen, (str, os.PathLike)):
            raise refused("ledger", chosen, "a path", UNUSABLE_LEDGER)
        return None if chosen is None else Path(chosen)

    @contextmanager
    def _columns_as_they_were(self) -> Iterator[None]:
        """A fit that fails leaves the columns of the model that there is."""
        known = ("n_features_in_", "feature_names_in_")
        before = {name: vars(self)[name] for name in known if name in vars(self)}
        try:
            yield
        except BaseException:
            for name in known:
                vars(self).pop(name, None)
            vars(self).update(before)
            raise

    def _validated(
        self, X: Any, y: Any, schema: _core.Schema | None
    ) -> tuple[np.ndarray, np.ndarray]:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        options = dict(dtype=FLOATS, ensure_min_features=2, ensure_min_samples=2)
        options["ensure_all_finite"] = _finiteness(schema)
        if schema is not None and schema.drops_missing_response:
            X = validate_data(self, X, **options)
            y = column_or_1d(
                check_array(y, ensure_2d=False, ensure_all_finite="allow-nan", dtype=np.float64)
            )
            if len(y) != len(X):
                raise ValueError(f"X has {len(X)} records, but y has {len(y)}")
        else:
            X, y = validate_data(self, X, y, y_numeric=True, **options)
        # A field of records lies between others, where its numbers cannot be read in place.
        return np.require(X, requirements="A"), np.require(y, dtype=np.float64, requirements="A")

    def _names(self) -> list[str]:
        named = getattr(self, "feature_names_in_", None)
        if named is None:
            return [f"x{column}" for column in range(self.n_features_in_)]
        return [str(name) for name in named]

    def _given_schema(self) -> _core.Schema | None:
        """The schema, read if it is a path; None if there are bounds instead."""
        if self.schema is None:
            return None
        changed = self.feature_transform != "identity"
        if self.bounds is not None or self.response_bounds is not None or changed:
            raise _core.refusal(
                *SCHEMA,
                "schema was given together with bounds, response_bounds or feature_transform; required: one or the other",
                "remove one of them; nothing was spent",
            )
        if isinstance(self.schema, _core.Schema):
            return self.schema
        if not isinstance(self.schema, (str, os.PathLike)):
            raise refused("schema", self.schema, "a Schema or a path", SCHEMA)
        return _core.Schema.read(Path(self.schema))

    def _schema_of_bounds(self, names: list[str]) -> _core.Schema:
        if self.bounds is None or self.response_bounds is None:
            raise _core.refuse_without_schema()
        lower, upper = (bounds("bounds", part) for part in pair("bounds", self.bounds))
        response = pair("response_bounds", self.response_bounds)
        response = tuple(bound("response_bounds", part) for part in response)
        return _core.Schema.from_bounds(
            response,
            lower,
            upper,
            names,
            response_name=_unused_name("y", names),
            feature_transform=self.feature_transform,
        )

    def __sklearn_clone__(self) -> SparsePrivateRegressor:
        parameters = {
            name: clone(value, safe=False) for name, value in self.get_params(deep=False).items()
        }
        twin = type(self)(**parameters)
        twin._is_copy = True
        twin._account = account_of(self)
        for kept in ("_metadata_request", "_sklearn_output_config"):
            if hasattr(self, kept):
                setattr(twin, kept, getattr(self, kept))
        return twin

    def __getstate__(self) -> dict[str, Any]:
        account_of(self)
        return super().__getstate__()

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A twin by copy, deepcopy or pickle is a copy as clones are."""
        super().__setstate__(state)
        self._is_copy = True

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def _allows_missing(self) -> bool:
        try:
            return _finiteness(self._given_schema()) == "allow-nan"
        except (ValueError, OSError):
            # What is wrong with the schema, a fit will say.
            return False

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self.simulate_noise is None
        tags.regressor_tags.poor_score = True
        tags.input_tags.allow_nan = self._allows_missing()
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
        sparsity = whole("sparsity", self.sparsity, least=1)
        X, y = validate_data(self, X, y, dtype=FLOATS, y_numeric=True, ensure_min_samples=2)
        X = np.require(X, requirements="A")
        y = np.require(y, dtype=np.float64, requirements="A")
        columns, coefficients, self.intercept_ = _core.fit_exactly(X, y, sparsity)
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


def _finiteness(schema: _core.Schema | None) -> bool | str:
    return "allow-nan" if schema is not None and schema.allows_missing else True


def _numbers(values: Iterable[float | None]) -> np.ndarray:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _labels(clients: Any, n_records: int) -> list[str] | None:
    if clients is None:
        return None
    try:
        labels = [str(label) for label in column_or_1d(clients)]
    except ValueError:
        raise refused("clients", clients, f"a label for each of the {n_records} records") from None
    if len(labels) != n_records:
        raise refused("clients", f"{len(labels)} labels", f"one for each of the {n_records} records")
    return labels


def _n_records(X: Any) -> int:
    """How many records there are, as far as its shape says."""
    try:
        return min(len(X), LARGEST_COUNT)
    except TypeError:
        return 1


def _warn_of_many_clients(n_records: int) -> None:
    if n_records > MANY_CLIENTS:
        warnings.warn(
            f"secure-sum without clients makes each of the {n_records} records a client that masks on its own, "
            "which is slow, and an interrupt has no effect before the first step; give clients, a number",
            SprifedWarning,
            stacklevel=4,
        )


def _unused_name(name: str, names: list[str]) -> str:
    while name in names:
        name = f"{name}_"
    return name
