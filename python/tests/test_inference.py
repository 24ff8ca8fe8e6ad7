"""Estimates, intervals, p-values and the summary: what a statistician reads of a fit."""

import json
import warnings

import numpy as np
import pytest
from conftest import make_table

import sprifed
from sprifed import Schema, SparsePrivateRegressor, UnreliableModelWarning

TRUTH = {1: 2.0, 4: -1.5, 7: 1.0}


def fitted(**changes):
    X, y = make_table(4000, 12)
    arguments = dict(epsilon=20, sparsity=6, bounds=(-3, 3), response_bounds=(-8, 8), simulate_noise=1)
    return SparsePrivateRegressor(**(arguments | changes)).fit(X, y)


def test_significant_features_are_kept_and_exactly_keeps_all():
    model = fitted(procedure="argmax")
    assert set(model.support_) == set(TRUTH)
    inference = model.receipt_["inference"]
    assert (inference["kept"], inference["sought"], inference["false_share"]) == (3, 6, 0.1)
    # Predictions use all features that were chosen.
    assert np.count_nonzero(model.coef_) == len(model.receipt_["features"]) == 6
    exactly = fitted(procedure="argmax", exactly=True)
    assert len(exactly.support_) == 6
    assert exactly.receipt_["keep"] == "exactly"
    with pytest.raises(sprifed.StudyError, match="exactly is 'no'; required: True or False"):
        fitted(exactly="no")


def test_robust_intervals_are_said_and_are_part_of_the_receipt():
    plain, robust = fitted(procedure="argmax"), fitted(procedure="argmax", robust=True)
    assert set(robust.support_) == set(TRUTH)
    assert "residual_moment_noise" not in plain.receipt_["inference"]
    assert robust.receipt_["inference"]["residual_moment_noise"] > 0
    assert "variance depends on the features" in " ".join(str(robust.summary()).split())
    planned = sprifed.plan(records=2000, features=100, sparsity=3, epsilon=5, robust=True)
    assert planned["robust_mu"] > 0
    with pytest.raises(sprifed.StudyError, match="robust is 'no'; required: True or False"):
        fitted(robust="no")
    with pytest.raises(sprifed.StudyError, match="non-private-omp has no intervals"):
        sprifed.simulate("non-private-omp", records=200, features=20, sparsity=2, trials=1, robust=True)


def test_intervals_hold_the_true_coefficients_and_arrays_are_aligned():
    model = fitted(procedure="argmax")
    size = len(model.support_)
    assert model.intervals_.shape == (size, 2)
    for values in (model.estimates_, model.std_errors_, model.p_values_, model.privacy_shares_, model.is_always_):
        assert values.shape == (size,)
    for column, estimate, (low, high), p_value, share in zip(
        model.support_, model.estimates_, model.intervals_, model.p_values_, model.privacy_shares_
    ):
        assert low < estimate < high
        assert low < TRUTH[column] < high
        assert 0 <= p_value < 0.05 and 0 <= share <= 1
    assert not model.is_always_.any()


def test_the_summary_is_a_table_that_users_of_statsmodels_know():
    model = fitted(procedure="argmax")
    text = str(model.summary())
    assert text.splitlines()[0].strip() == "Sparse private regression"
    for words in ("coef", "std err", "p-value", "[0.025", "0.975]", "Intercept", "Notes:", "[1] Up to 6 features"):
        assert words in text, words
    row = next(line for line in text.splitlines() if line.startswith("x1 "))
    assert float(row.split()[1]) == pytest.approx(model.estimates_[list(model.support_).index(1)], rel=1e-3)
    assert all(len(line) <= 88 for line in text.splitlines())
    html = model.summary()._repr_html_()
    assert "<table>" in html and "[0.025" in html
    assert repr(model.summary()) == text


def test_a_useless_model_is_a_warning_of_its_own_class():
    X, y = make_table(60, 12)
    estimator = SparsePrivateRegressor(
        epsilon=0.01, sparsity=3, bounds=(-3, 3), response_bounds=(-8, 8), simulate_noise=5
    )
    with pytest.warns(UnreliableModelWarning, match="NOTHING SOUGHT: 60 records are too few"):
        estimator.fit(X, y)
    assert estimator.status_ == "too-few-records"
    assert estimator.warning_.startswith("NOTHING SOUGHT")
    assert str(estimator.summary()).startswith("NOTHING SOUGHT")
    assert issubclass(UnreliableModelWarning, sprifed.SprifedWarning)


def test_a_useless_model_is_not_drawn():
    pytest.importorskip("matplotlib").use("Agg")
    X, y = make_table(60, 12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SparsePrivateRegressor(
            epsilon=0.01, sparsity=3, bounds=(-3, 3), response_bounds=(-8, 8), simulate_noise=5
        ).fit(X, y)
    assert not sprifed.plot_report(model).lines
    assert len(sprifed.plot_report(fitted()).lines) > 3


def test_columns_of_the_schema_that_stay_in_the_model_are_marked():
    X, y = make_table(4000, 12)
    schema = Schema.from_toml(
        '[response]\nname = "y"\nlower = -8\nupper = 8\n'
        '[features]\nlower = -3\nupper = 3\nalways = ["x7", "x2"]\n'
    )
    model = SparsePrivateRegressor(
        epsilon=20, sparsity=4, schema=schema, procedure="argmax", simulate_noise=1
    ).fit(X, y)
    assert set(model.support_[~model.is_always_]) == {1, 4}
    assert list(model.support_[model.is_always_]) == [2, 7]
    low, high = model.intervals_[list(model.support_).index(7)]
    assert low < 1.0 < high
    assert "x7 (always)" in str(model.summary())
    # The columns are found again in predictions, although they come first in the core.
    fresh_X, fresh_y = make_table(1000, 12, seed=1)
    assert model.score(fresh_X, fresh_y) > 0.9


def test_clients_as_the_unit_have_no_intervals():
    X, y = make_table(600, 8)
    schema = Schema.from_bounds((-8, 8), -3, 3, client="ward", max_per_client=10, unit="client")
    wards = [f"ward{row % 100}" for row in range(600)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SparsePrivateRegressor(epsilon=20, sparsity=2, schema=schema, simulate_noise=3).fit(X, y, clients=wards)
    assert np.isnan(model.intervals_).all() and np.isnan(model.p_values_).all()
    assert "not available: the unit of privacy is a client" in str(model.summary()).replace("\n    ", " ")


def test_simulations_count_what_is_kept():
    answer = sprifed.simulate("argmax", records=600, features=40, sparsity=6, support=3, trials=3)
    assert answer["sparsity"] == 6 and answer["support"] == 3
    assert answer["recovered_share"]["mean"] == 1
    for key in ("kept", "false_share", "coverage", "width"):
        assert set(answer[key]) >= {"mean", "std_error"}, key
    exactly = sprifed.simulate("argmax", records=600, features=40, sparsity=6, support=3, trials=3, exactly=True)
    assert exactly["kept"]["mean"] == 6 and exactly["false_share"]["mean"] == 0.5
    assert json.dumps(answer)


def test_split_estimates_by_records_that_selected_nothing():
    model = fitted(procedure="argmax", inference="split")
    report = model.receipt_["inference"]
    assert (report["inference"], report["records"], report["estimated_by"]) == ("split", 4000, 1000)
    assert set(TRUTH) <= set(model.support_)
    for column, (low, high) in zip(model.support_, model.intervals_):
        assert low < high
        if column in TRUTH:
            assert low < TRUTH[column] < high
    assert "the other 1000" in " ".join(str(model.summary()).split())
    assert fitted(procedure="argmax").receipt_["inference"]["inference"] == "selective"
    with pytest.raises(sprifed.StudyError, match="inference"):
        fitted(inference="half")
    with pytest.raises(sprifed.BudgetError, match="curator"):
        fitted(procedure="sieve", inference="split", backend="secure-sum", clients=40)


def test_plans_and_trials_split_too():
    study = dict(records=2000, features=40, sparsity=4)
    plan = sprifed.plan(**study, epsilon=3, procedure="argmax", inference="split")
    assert {step["part"] for step in plan["steps"]} == {"selection", "estimation"}
    assert plan["guarantee"]["epsilon"] <= 3
    trials = sprifed.simulate("argmax", **study, trials=2, inference="split")
    assert trials["inference"] == "split" and trials["coverage"] is not None
