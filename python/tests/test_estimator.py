"""Manners: scikit-learn's checks, pipelines, searches, names, pickles."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import make_table
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import estimator_checks_generator

from sprifed import BudgetError, NonPrivateOMP, SparsePrivateClassifier, SparsePrivateRegressor

# Checks that may fail, by estimator, each with its reason. Today none does.
EXPECTED = {
    SparsePrivateClassifier: {},
    SparsePrivateRegressor: {},
    NonPrivateOMP: {},
}


def public(**changes):
    """An estimator whose noise can be repeated, with room for the arrays of the checks."""
    arguments = dict(
        epsilon=30.0, sparsity=1, bounds=(-5, 5), response_bounds=(-5, 5), simulate_noise=1
    )
    return SparsePrivateRegressor(**(arguments | changes))


def cases():
    classifier = SparsePrivateClassifier(epsilon=30.0, sparsity=1, bounds=(-5, 5), simulate_noise=1)
    for estimator in (public(), classifier, NonPrivateOMP()):
        expected = EXPECTED[type(estimator)]
        for instance, check in estimator_checks_generator(
            estimator, expected_failed_checks=expected, mark="xfail"
        ):
            name = check.func.__name__ if hasattr(check, "func") else str(check)
            yield pytest.param(instance, check, id=f"{type(instance).__name__}-{name}")


@pytest.mark.parametrize(("estimator", "check"), list(cases()))
def test_scikit_learn_is_content(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


def test_checks_that_fit_a_clone_are_refused_with_secret_noise():
    secret = public(simulate_noise=None)
    refused = 0
    for instance, check in estimator_checks_generator(secret):
        if check.func.__name__ in ("check_fit_score_takes_y", "check_estimators_overwrite_params"):
            with pytest.raises(BudgetError, match="is a copy"):
                check(instance)
            refused += 1
    assert refused == 2


def test_the_list_of_exceptions_is_short_and_gives_reasons():
    for expected in EXPECTED.values():
        assert len(expected) <= 5 and all(expected.values())


def test_features_are_found_and_the_intercept_with_them():
    X, y = make_table(4000, 12)
    model = public(epsilon=20, sparsity=3, bounds=(-3, 3), response_bounds=(-8, 8)).fit(X, y)
    assert set(model.support_) == {1, 4, 7}
    assert model.coef_[1] == pytest.approx(2, abs=0.2)
    assert model.intercept_ == pytest.approx(0.5, abs=0.2)
    assert model.coef_[0] == 0 and model.coef_.shape == (12,)
    fresh_X, fresh_y = make_table(1000, 12, seed=1)
    assert model.score(fresh_X, fresh_y) > 0.9


def test_secret_noise_is_certified_and_differs_from_fit_to_fit(table):
    X, y = table
    arguments = dict(epsilon=2.0, sparsity=2, bounds=(-3, 3), response_bounds=(-6, 6))
    first, second = (SparsePrivateRegressor(**arguments).fit(X, y) for _ in range(2))
    assert first.guarantee_.is_private and first.guarantee_.epsilon <= 2.0
    assert first.guarantee_.provenance != "simulated"
    assert str(first.guarantee_).startswith("Privacy   epsilon = ")
    assert first.intercept_ != second.intercept_
    simulated = SparsePrivateRegressor(**arguments, simulate_noise=1).fit(X, y)
    assert simulated.guarantee_.epsilon is None
    assert str(simulated.guarantee_).startswith("Privacy   NOT PRIVATE")


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
def test_names_come_from_frames(table, library):
    X, y = table
    names = [f"gene{column}" for column in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names)
    if library == "polars":
        frame = pl.DataFrame({name: X[:, column] for column, name in enumerate(names)})
    if library == "arrow":
        frame = pa.table({name: X[:, column] for column, name in enumerate(names)})
    model = public(sparsity=3, bounds=(-3, 3), response_bounds=(-6, 6)).fit(frame, y)
    assert model.receipt_["features"][0]["name"].startswith("gene")
    assert list(model.feature_names_in_) == names
    plain = public(sparsity=3, bounds=(-3, 3), response_bounds=(-6, 6)).fit(X, y)
    assert list(plain.coef_) == list(model.coef_)
    assert not hasattr(plain, "feature_names_in_")
    assert list(plain.predict(X)) == list(model.predict(frame))


def test_layout_and_precision_of_the_matrix_do_not_matter(table):
    X, y = table
    X = X.astype(np.float32).astype(np.float64)
    estimator = public(sparsity=3, bounds=(-3, 3), response_bounds=(-6, 6))
    expected = list(estimator.fit(X, y).coef_)
    wide = np.zeros((X.shape[0] * 2, X.shape[1] * 2))
    wide[::2, ::2] = X
    for other in (np.asfortranarray(X), wide[::2, ::2], X.astype(np.float32), X.tolist()):
        assert list(estimator.fit(other, y).coef_) == expected


def test_it_works_at_the_end_of_a_pipeline(table):
    X, y = table
    pipeline = make_pipeline(
        FunctionTransformer(np.tanh), public(sparsity=2, bounds=(-1, 1), response_bounds=(-6, 6))
    )
    assert pipeline.fit(X, y).predict(X).shape == y.shape
    secret = make_pipeline(
        FunctionTransformer(np.tanh),
        SparsePrivateRegressor(epsilon=2, sparsity=2, bounds=(-1, 1), response_bounds=(-6, 6)),
    )
    assert secret.fit(X, y)[-1].guarantee_.is_private


def secret_estimator(**changes):
    return SparsePrivateRegressor(
        epsilon=1.0, sparsity=2, bounds=(-3, 3), response_bounds=(-6, 6), **changes
    )


@pytest.mark.filterwarnings("ignore:.*fits failed")
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_search_is_refused_with_what_it_costs(table, n_jobs):
    X, y = table
    search = GridSearchCV(secret_estimator(), {"sparsity": [1, 2]}, cv=3, n_jobs=n_jobs)
    with pytest.raises(ValueError, match="25 fits cost epsilon = "):
        search.fit(X, y)
    with pytest.raises(BudgetError, match="every fit of the same records spends the whole budget"):
        cross_val_score(secret_estimator(), X, y, error_score="raise")


def test_a_search_that_says_so_and_a_search_with_public_noise_go_on(table):
    X, y = table
    search = GridSearchCV(secret_estimator(allow_repeated_fits=True), {"sparsity": [1, 2]}, cv=2)
    assert search.fit(X, y).best_estimator_.guarantee_.is_private
    assert GridSearchCV(public(), {"sparsity": [1, 2]}, cv=2).fit(X, y).best_estimator_.status_


def test_the_second_fit_of_one_estimator_is_refused(table):
    X, y = table
    model = secret_estimator().fit(X, y)
    before = model.receipt_
    with pytest.raises(BudgetError, match="was fitted before") as refused:
        model.fit(X, y)
    assert refused.value.code == "sprifed::ledger::repeated"
    assert model.receipt_ is before
    with pytest.raises(BudgetError, match="is a copy"):
        clone(model).fit(X, y)


def test_a_model_survives_pickling(table):
    X, y = table
    model = public(sparsity=2).fit(X, y)
    twin = pickle.loads(pickle.dumps(model))
    assert list(twin.predict(X)) == list(model.predict(X))
    assert twin.guarantee_ == model.guarantee_ and twin.receipt_ == model.receipt_


def test_predictions_stay_within_the_public_bounds(table):
    X, y = table
    model = public(sparsity=2, bounds=(-1, 1), response_bounds=(-0.5, 0.5)).fit(X, y)
    predictions = model.predict(1000 * X)
    assert predictions.min() >= -0.5 and predictions.max() <= 0.5


def test_the_non_private_reference_is_scikit_learn_s(table):
    from sklearn.linear_model import OrthogonalMatchingPursuit

    X, y = table
    ours = NonPrivateOMP(sparsity=3).fit(X, y)
    theirs = OrthogonalMatchingPursuit(n_nonzero_coefs=3).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-4)
