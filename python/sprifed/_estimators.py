"""Estimators of numbers, with scikit-learn's manners."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d, validate_data

from sprifed import _core
from sprifed._arguments import bound, pair, whole
from sprifed._private import FLOATS, LEAST, SparsePrivateEstimator, _finiteness


class SparsePrivateRegressor(RegressorMixin, SparsePrivateEstimator):
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

    _instead_of_schema = ("bounds", "response_bounds")

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

    def predict(self, X: Any) -> np.ndarray:
        """Predictions in the units of the response, within its public bounds."""
        return self._predicted(X)

    def _validated(
        self, X: Any, y: Any, schema: _core.Schema | None
    ) -> tuple[np.ndarray, np.ndarray, None]:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        if schema is not None and schema.drops_missing_response:
            X = self._validated_features(X, schema)
            y = column_or_1d(
                check_array(y, ensure_2d=False, ensure_all_finite="allow-nan", dtype=np.float64)
            )
            if len(y) != len(X):
                raise ValueError(f"X has {len(X)} records, but y has {len(y)}")
        else:
            finiteness = _finiteness(schema)
            X, y = validate_data(self, X, y, y_numeric=True, ensure_all_finite=finiteness, **LEAST)
        # A field of records lies between others, where its numbers cannot be read in place.
        return np.require(X, requirements="A"), np.require(y, dtype=np.float64, requirements="A"), None

    def _schema_of_bounds(self, names: list[str], classes: None) -> _core.Schema:
        if self.bounds is None or self.response_bounds is None:
            raise _core.refuse_without_schema()
        response = pair("response_bounds", self.response_bounds)
        return self._schema_of(tuple(bound("response_bounds", part) for part in response), names)

    def _keep_classes(self, classes: None) -> None:
        """There are none."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
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
