"""What every private estimator does: scikit-learn's manners, one fit, its receipt. The work is done in the core."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from sprifed import _core
from sprifed._account import account_of, claimed
from sprifed._arguments import (
    LARGEST_COUNT,
    LARGEST_SEED,
    SCHEMA,
    UNUSABLE_LEDGER,
    SprifedWarning,
    UnreliableModelWarning,
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

# What a matrix of features must be.
LEAST = dict(dtype=FLOATS, ensure_min_features=2, ensure_min_samples=2)

# The environment variable that names the folder of the ledger, for every runtime.
LEDGER = "SPRIFED_LEDGER"

# With more, it takes many seconds to play the clients of secure sums in one process.
MANY_CLIENTS = 50


Estimator = TypeVar("Estimator", bound="SparsePrivateEstimator")


class SparsePrivateEstimator(BaseEstimator):
    """A private fit of a linear predictor. The outcomes that there are add what a response is, and what is predicted."""

    # What a schema must say of the response.
    _outcome = "linear"

    # What a schema stands for.
    _instead_of_schema = ("bounds",)

    def fit(self: Estimator, X: Any, y: Any, clients: Any = None) -> Estimator:
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
        self: Estimator, X: Any, y: Any, clients: Any, asked: dict[str, Any], spent_fit: _core.SpentFit, earlier: list[str]
    ) -> Estimator:
        with self._columns_as_they_were():
            given = self._given_schema()
            X, y, classes = self._validated(X, y, given)
            names = self._names()
            schema = given if given is not None else self._schema_of_bounds(names, classes)
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
        self._keep_classes(classes)
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

    def _names(self) -> list[str]:
        named = getattr(self, "feature_names_in_", None)
        if named is None:
            return [f"x{column}" for column in range(self.n_features_in_)]
        return [str(name) for name in named]

    def _given_schema(self) -> _core.Schema | None:
        """The schema, read if it is a path; None if there are bounds instead."""
        if self.schema is None:
            return None
        given = [name for name in self._instead_of_schema if getattr(self, name) is not None]
        if given or self.feature_transform != "identity":
            instead = ", ".join(self._instead_of_schema)
            raise _core.refusal(
                *SCHEMA,
                f"schema was given together with {instead} or feature_transform; required: one or the other",
                "remove one of them; nothing was spent",
            )
        if not isinstance(self.schema, (_core.Schema, str, os.PathLike)):
            raise refused("schema", self.schema, "a Schema or a path", SCHEMA)
        is_read = isinstance(self.schema, _core.Schema)
        schema = self.schema if is_read else _core.Schema.read(Path(self.schema))
        outcome = "linear" if schema.response_levels is None else "binary"
        if outcome != self._outcome:
            raise _core.refusal(
                *SCHEMA,
                f'the schema has the outcome "{outcome}", but {type(self).__name__} explains "{self._outcome}"',
                "use SparsePrivateClassifier for two levels and SparsePrivateRegressor for numbers; nothing was spent",
            )
        return schema

    def _validated_features(self, X: Any, schema: _core.Schema | None) -> np.ndarray:
        """The features, where the response is looked at apart."""
        return validate_data(self, X, ensure_all_finite=_finiteness(schema), **LEAST)

    def _predicted(self, X: Any) -> np.ndarray:
        """What the core predicts: numbers in the units of the response, or probabilities of the event."""
        check_is_fitted(self)
        finiteness = _finiteness(self._fitted_schema)
        X = validate_data(self, X, dtype=FLOATS, ensure_all_finite=finiteness, reset=False)
        return self._model.predict(np.require(X, requirements="A"))

    def _schema_of(self, response: Any, names: list[str]) -> _core.Schema:
        """The schema of arrays with the bounds that were given; ``response`` are its bounds or levels."""
        lower, upper = (bounds("bounds", part) for part in pair("bounds", self.bounds))
        return _core.Schema.from_bounds(
            response,
            lower,
            upper,
            names,
            response_name=_unused_name("y", names),
            feature_transform=self.feature_transform,
        )

    def __sklearn_clone__(self) -> Estimator:
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
        tags.input_tags.allow_nan = self._allows_missing()
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
