"""Every fit with secret noise counts, however it starts and ends."""

import copy
import json
import pickle
import sqlite3
import threading
import warnings

import pytest
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from sprifed import Budget, BudgetError, SparsePrivateRegressor, SprifedWarning, verify_receipt


def estimator(**changes):
    arguments = dict(epsilon=1.0, sparsity=2, bounds=(-3, 3), response_bounds=(-6, 6), delta=1e-6)
    return SparsePrivateRegressor(**(arguments | changes))


def stop_at(step, error=KeyboardInterrupt):
    def watch(done, total):
        if done == (total if step == "last" else step):
            raise error

    return watch


def entries(error):
    return json.loads(error.ledger)["entries"]


def test_an_interrupted_fit_counts_as_a_fit(table):
    model = estimator(progress=stop_at(2))
    with pytest.raises(KeyboardInterrupt) as stopped:
        model.fit(*table)
    assert len(entries(stopped.value)) == 2
    model.progress = False
    with pytest.raises(BudgetError, match="was fitted before"):
        model.fit(*table)
    # With leave, the interrupted one is in the receipt and in what all cost.
    with pytest.warns(SprifedWarning, match="2 fits of this estimator"):
        model.set_params(allow_repeated_fits=True).fit(*table)
    (earlier,) = model.receipt_["earlier_receipts"]
    assert earlier["ledger"]["entries"] == entries(stopped.value)


def test_an_exception_without_attributes_loses_no_mark(table):
    class Bare(Exception):
        def __setattr__(self, name, value):
            if not name.startswith("__"):
                raise AttributeError(name)
            super().__setattr__(name, value)

    model = estimator(progress=stop_at(1, Bare()))
    with pytest.raises(Bare):
        model.fit(*table)
    with pytest.raises(BudgetError, match="was fitted before"):
        model.set_params(progress=False).fit(*table)


def test_what_spent_nothing_does_not_count(table):
    X, y = table
    model = estimator(progress=stop_at(0))
    with pytest.raises(KeyboardInterrupt) as stopped:
        model.fit(X, y)
    assert entries(stopped.value) == []
    with pytest.raises(BudgetError):
        model.set_params(progress=False, sparsity=12).fit(X, y)
    with pytest.raises(ValueError, match="inconsistent"):
        model.set_params(sparsity=2).fit(X[:5], y)
    model.fit(X, y)
    assert model.guarantee_.is_private and model.receipt_["earlier_receipts"] == []


def test_an_interrupt_after_the_last_answer_loses_neither_model_nor_ledger(table):
    X, y = table
    model = estimator(progress=stop_at("last"))
    with pytest.raises(KeyboardInterrupt) as stopped:
        model.fit(X, y)
    assert entries(stopped.value) == model.receipt_["receipts"][0]["ledger"]["entries"]
    assert model.predict(X).shape == y.shape and verify_receipt(model.receipt_)
    with pytest.raises(BudgetError, match="was fitted before"):
        model.set_params(progress=False).fit(X, y)


@pytest.mark.parametrize("threads", ["threading", "joblib"])
def test_of_several_threads_one_fits(table, threads):
    model, ended = estimator(), []

    def fit():
        try:
            ended.append(model.fit(*table).intercept_)
        except BudgetError as refused:
            ended.append(refused)

    if threads == "joblib":
        Parallel(n_jobs=4, backend="threading")(delayed(fit)() for _ in range(4))
    else:
        started = [threading.Thread(target=fit) for _ in range(6)]
        [thread.start() for thread in started], [thread.join() for thread in started]
    assert sum(not isinstance(end, BudgetError) for end in ended) == 1


def test_a_callback_does_not_fit_the_estimator_that_is_being_fitted(table):
    model = estimator()
    model.progress = lambda done, total: model.fit(*table)
    with pytest.raises(BudgetError, match="was fitted before"):
        model.fit(*table)


COPIES = [
    copy.copy,
    copy.deepcopy,
    lambda model: pickle.loads(pickle.dumps(model)),
    clone,
]


@pytest.mark.parametrize("twin", COPIES, ids=["copy", "deepcopy", "pickle", "clone"])
def test_a_copy_refuses_to_be_fitted_and_predicts(table, twin):
    X, y = table
    model = estimator()
    with pytest.raises(BudgetError, match="is a copy"):
        twin(model).fit(X, y)
    model.fit(X, y)
    with pytest.raises(BudgetError, match="is a copy"):
        twin(model).fit(X, y)
    if twin is not clone:
        assert list(twin(model).predict(X)) == list(model.predict(X))


@pytest.mark.parametrize("twin", COPIES, ids=["copy", "deepcopy", "pickle", "clone"])
def test_a_copy_with_leave_knows_what_was_spent_before(table, twin):
    model = estimator(allow_repeated_fits=True).fit(*table)
    assert model.warning_ is None or "fits of this estimator" not in model.warning_
    other = twin(model)
    with pytest.warns(SprifedWarning, match="2 fits of this estimator"):
        other.fit(*table)
    assert other.receipt_["earlier_receipts"] == model.receipt_["receipts"]
    assert verify_receipt(other.receipt_)


def test_other_processes_need_leave(table):
    X, y = table
    with pytest.raises(BudgetError, match="is a copy"):
        Parallel(n_jobs=2)(delayed(estimator().fit)(X, y) for _ in range(2))
    leave = estimator(allow_repeated_fits=True)
    fitted = Parallel(n_jobs=2)(delayed(leave.fit)(X, y) for _ in range(2))
    assert all(model.guarantee_.is_private for model in fitted)


def test_repeated_fits_carry_their_receipts_and_say_what_all_cost(table):
    # Of sums only, whose costs compose as those of a budget do.
    model = estimator(allow_repeated_fits=True, procedure="grad")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SprifedWarning)
        for _ in range(4):
            model.fit(*table)
    assert len(model.receipt_["earlier_receipts"]) == 3
    assert model.guarantee_.epsilon <= 1
    said = float(model.warning_.split("epsilon = ")[1].split()[0])
    # Each fit spends a little less than its budget, and the slack of the discrete noise is on top.
    assert said == pytest.approx(Budget(1, 1e-6).repeated(4).epsilon, rel=0.02)


def test_a_search_with_leave_ends_with_what_all_its_fits_cost(table):
    search = GridSearchCV(estimator(allow_repeated_fits=True), {"sparsity": [1, 2]}, cv=2)
    with pytest.warns(SprifedWarning, match="5 fits of this estimator and its copies"):
        search.fit(*table)
    best = search.best_estimator_
    assert len(best.receipt_["earlier_receipts"]) == 4 and "5 fits" in best.warning_


def test_a_rehearsal_spends_nothing(table):
    X, y = table
    model = estimator(simulate_noise=1)
    with pytest.warns(SprifedWarning, match="NOT PRIVATE"):
        model.fit(X, y).fit(X, y)
    assert "NOT PRIVATE" in model.warning_
    model.set_params(simulate_noise=None).fit(X, y)
    assert model.guarantee_.is_private and model.receipt_["earlier_receipts"] == []
    with pytest.raises(BudgetError, match="was fitted before"):
        model.fit(X, y)


def test_a_delta_that_is_too_large_is_a_warning(table):
    with pytest.warns(SprifedWarning, match="delta times the number of records is 4"):
        model = estimator(delta=0.01).fit(*table)
    assert "at most 0.1 is recommended" in model.warning_


def test_costs_of_different_kinds_are_not_added_into_one_number(table):
    model = estimator(allow_repeated_fits=True).fit(*table)
    with pytest.warns(SprifedWarning, match="2 fits of this estimator"):
        model.set_params(neighbours="replace-one").fit(*table)
    kinds = model.warning_.split("cost together ")[1]
    assert kinds.count("epsilon = ") == 2
    assert "zero-out, and epsilon" in kinds and "replace-one" in kinds


def lines(folder):
    with sqlite3.connect(folder / "ledger.sqlite") as connection:
        entries = connection.execute("SELECT entry FROM entries ORDER BY number")
        return [json.loads(entry)["event"] for (entry,) in entries]


def kinds(folder):
    return [next(iter(event)) for event in lines(folder)]


def test_a_fit_with_a_ledger_is_entered_before_it_is_run_and_settled_after(table, tmp_path):
    def watch(done, total):
        # Charged before the first answer.
        assert kinds(tmp_path) == ["opened", "reserved"] or done == total

    estimator(ledger=tmp_path, progress=watch).fit(*table)
    assert kinds(tmp_path) == ["opened", "reserved", "settled"]
    _, reserved, settled = lines(tmp_path)
    assert reserved["reserved"]["protection"] == "secret"
    assert 0 < settled["settled"]["cost"]["epsilon"] <= reserved["reserved"]["cost"]["epsilon"] <= 1


def test_a_fit_that_spent_nothing_is_withdrawn_and_one_that_was_interrupted_is_settled(table, tmp_path):
    for step, end in [(0, "withdrawn"), (2, "settled")]:
        with pytest.raises(KeyboardInterrupt):
            estimator(ledger=tmp_path, progress=stop_at(step)).fit(*table)
        assert kinds(tmp_path)[-1] == end


def test_a_ledger_of_the_environment_is_used_and_a_broken_one_refuses(table, tmp_path, monkeypatch):
    monkeypatch.setenv("SPRIFED_LEDGER", str(tmp_path))
    estimator().fit(*table)
    assert kinds(tmp_path) == ["opened", "reserved", "settled"]
    with sqlite3.connect(tmp_path / "ledger.sqlite") as connection:
        connection.execute("UPDATE entries SET entry = replace(entry, 'settled', 'Settled')")
    model = estimator()
    with pytest.raises(BudgetError, match="is damaged"):
        model.fit(*table)
    # Nothing was spent: the estimator is as new.
    monkeypatch.delenv("SPRIFED_LEDGER")
    model.fit(*table)
    with pytest.raises(BudgetError, match="ledger is 3; required: a path"):
        estimator(ledger=3).fit(*table)
