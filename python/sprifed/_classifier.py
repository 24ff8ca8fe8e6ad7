"""An estimator of two classes, with scikit-learn's manners."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from sprifed import _core
from sprifed._arguments import SCHEMA, TABLE, pair
from sprifed._private import LEAST, SparsePrivateEstimator, _finiteness

# Labels that are public without being named: these two stand for no and yes everywhere.
USUAL = (0, 1)


class SparsePrivateClassifier(ClassifierMixin, SparsePrivateEstimator):
    """A sparse logistic model of two classes under differential privacy.

    Features are selected by the linear procedure on zeros and ones; one private Newton step then gives the logarithm of the
    odds of the event.

    Parameters
    ----------
    epsilon, sparsity, exactly, inference, delta, bounds, feature_transform, procedure, backend, clients, neighbours
        As those of ``SparsePrivateRegressor``.
    quorum, colluders, simulate_noise, allow_repeated_fits, ledger, progress
        As those of ``SparsePrivateRegressor``.
    robust : bool
        Must be False: robust intervals are not built for two classes.
    classes : (other, event), optional
        The two labels, the one that counts as the event last. They are public, as bounds are: labels are not read off the
        data. 0 and 1, or False and True, if it is not given. Only where the noise is simulated, which is not private, are
        two others taken from ``y``.
    schema : Schema or path, optional
        Bounds, classes and more, instead of ``bounds`` and ``classes``: its response has ``outcome = "binary"``.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The two labels, the event last.
    coef_, intercept_, estimates_, std_errors_, intervals_
        As those of ``SparsePrivateRegressor``, of the logarithm of the odds of the event: ``exp(estimates_)`` are odds ratios.
    support_, is_always_, p_values_, privacy_shares_, n_features_in_, feature_names_in_
        As those of ``SparsePrivateRegressor``.
    guarantee_, status_words_, warning_, receipt_
        As those of ``SparsePrivateRegressor``.
    status_ : str
        One more than there: "almost-separated". The features almost separate the classes, and there are no intervals.

    Notes
    -----
    ``score`` adds no noise: it is a statistic of the records it is given, which the guarantee does not
    cover. Score on other records than those that were fitted.
    """

    _outcome = "binary"
    _instead_of_schema = ("bounds", "classes")

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
        classes: Any = None,
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
        self.classes = classes
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

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probabilities of the two classes, the event last."""
        event = self._predicted(X)
        return np.column_stack([1.0 - event, event])

    def predict(self, X: Any) -> np.ndarray:
        """The label with the larger probability."""
        event = self._predicted(X)
        return self.classes_[(event > 0.5).astype(np.intp)]

    def _validated(
        self, X: Any, y: Any, schema: _core.Schema | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        if schema is not None and schema.drops_missing_response:
            X, y = self._validated_features(X, schema), column_or_1d(y)
            check_consistent_length(X, y)
            is_missing = np.array([label is None or label != label for label in y], dtype=bool)
        else:
            X, y = validate_data(self, X, y, ensure_all_finite=_finiteness(schema), **LEAST)
            is_missing = np.zeros(len(y), dtype=bool)
        check_classification_targets(y[~is_missing])
        classes = self._classes_of(y[~is_missing], schema)
        codes = np.full(len(y), np.nan)
        for code, label in enumerate(classes):
            codes[y == label] = code
        if np.isnan(codes[~is_missing]).any():
            raise _core.refusal(
                *TABLE,
                f"y has a label that is none of the two classes {classes.tolist()}",
                "correct the label, or name both classes, which are public; nothing was spent",
            )
        return np.require(X, requirements="A"), codes, classes

    def _classes_of(self, labels: np.ndarray, schema: _core.Schema | None) -> np.ndarray:
        """The two public labels, of the kind that ``labels`` are."""
        if schema is not None:
            return _like(labels, schema.response_levels)
        if self.classes is not None:
            return np.array(pair("classes", self.classes))
        if self.simulate_noise is None:
            return np.array(USUAL, dtype=labels.dtype if labels.dtype.kind in "biuf" else None)
        found = np.unique(labels)
        if len(found) > 2:
            kind = type_of_target(labels)
            raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
        if len(found) < 2:
            raise ValueError(f"y has {len(found)} class; required: two, or the argument classes")
        return found

    def _schema_of_bounds(self, names: list[str], classes: np.ndarray) -> _core.Schema:
        if self.bounds is None:
            raise _core.refuse_without_schema()
        other, event = (str(label) for label in classes.tolist())
        return self._schema_of((other, event), names)

    def _keep_classes(self, classes: np.ndarray) -> None:
        self.classes_ = classes

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True
        return tags


def _like(labels: np.ndarray, levels: list[str]) -> np.ndarray:
    """The levels of a schema as labels of the kind that ``labels`` are."""
    if labels.dtype.kind not in "biuf":
        return np.array(levels)
    truths = {"false": 0.0, "true": 1.0}
    try:
        numbers = [truths[level.lower()] if level.lower() in truths else float(level) for level in levels]
    except ValueError:
        raise _core.refusal(
            *SCHEMA,
            f"y has numbers as labels, but the levels of the schema are {levels}",
            "give y with the labels of the schema; nothing was spent",
        ) from None
    return np.array(numbers).astype(labels.dtype)
