"""Errors that say what was found, what is required, and what to do."""

import numpy as np
import pandas as pd
import pytest

import sprifed
from sprifed import Schema, SparsePrivateRegressor


def estimator(**changes):
    arguments = dict(
        epsilon=5.0, sparsity=2, bounds=(-3, 3), response_bounds=(-6, 6), simulate_noise=1
    )
    return SparsePrivateRegressor(**(arguments | changes))


def test_the_family_is_small_and_its_members_are_value_errors():
    family = [sprifed.BudgetError, sprifed.SchemaError, sprifed.DataError, sprifed.StudyError]
    assert all(issubclass(member, sprifed.SprifedError) for member in [*family, sprifed.ReceiptError])
    assert issubclass(sprifed.SprifedError, ValueError)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda X: np.where(X == X[3, 2], np.nan, X), "Input X contains NaN"),
        (lambda X: np.where(X == X[3, 2], np.inf, X), "Input X contains infinity"),
        (lambda X: np.array([["a"] * X.shape[1]] * X.shape[0], dtype=object), "could not convert string"),
        (lambda X: X[:, 0], "Expected 2D array, got 1D array instead"),
        (lambda X: X[:, :1], r"1 feature\(s\)"),
        (lambda X: X[:5], "inconsistent numbers of samples"),
        (lambda X: X[:1], r"1 sample\(s\)"),
        (lambda X: X[:, :, None], "dim 3"),
    ],
)  # fmt: skip
def test_bad_matrices_get_the_words_that_scikit_learn_uses(table, spoil, message):
    X, y = table
    with pytest.raises(ValueError, match=message):
        estimator().fit(spoil(X), y)


def test_bad_responses_too(table):
    X, y = table
    y[5] = np.nan
    with pytest.raises(ValueError, match="Input y contains NaN"):
        estimator().fit(X, y)
    with pytest.raises(ValueError, match="requires y to be passed"):
        estimator().fit(X, None)


def test_other_columns_at_prediction(table):
    X, y = table
    model = estimator().fit(X, y)
    with pytest.raises(ValueError, match="expecting 12 features"):
        model.predict(X[:, :5])
    frame = pd.DataFrame(X, columns=list("abcdefghijkl"))
    model = estimator().fit(frame, y)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame.rename(columns={"a": "z"}))


@pytest.mark.parametrize(
    ("changes", "kind", "message"),
    [
        (dict(epsilon=-1.0), sprifed.BudgetError, "epsilon is -1, but it must be"),
        (dict(delta=2.0), sprifed.BudgetError, "delta is 2, but it must be"),
        (dict(sparsity=12), sprifed.BudgetError, "a sparsity of 12 for 12 features"),
        (dict(bounds=None), sprifed.SchemaError, "cannot be read off the data"),
        (dict(response_bounds=None), sprifed.SchemaError, "cannot be read off the data"),
        (dict(bounds=(3, -3)), sprifed.SchemaError, "lower"),
        (dict(bounds=3), sprifed.SchemaError, r"required: a pair \(lower, upper\)"),
        (dict(bounds=([0.0] * 5, 1.0)), sprifed.SchemaError, "one for each of the 12 columns"),
        (dict(procedure="lasso"), sprifed.StudyError, "required: one of grad, sieve, argmax"),
        (dict(backend="cloud"), sprifed.StudyError, "required: one of curator, secure-sum"),
        (dict(neighbours="add-remove"), sprifed.StudyError, "required: one of zero-out"),
        (dict(clients=1000), sprifed.DataError, "1000 clients"),
        (dict(quorum=5), sprifed.StudyError, "a curator adds all the noise alone"),
        (dict(procedure="argmax", backend="secure-sum", clients=20), sprifed.StudyError, "argmax needs"),
        (dict(epsilon=1e-9), sprifed.SprifedError, "epsilon|budget"),
    ],
)  # fmt: skip
def test_wrong_parameters_are_refused_when_they_are_used(table, changes, kind, message):
    X, y = table
    with pytest.raises(kind, match=message) as refused:
        estimator(**changes).fit(X, y)
    assert "nothing was spent" in str(refused.value) or isinstance(changes.get("bounds"), int)


def test_a_client_column_needs_labels(table):
    X, y = table
    schema = Schema.from_bounds((-6, 6), -3, 3, client="ward", max_per_client=20)
    with pytest.raises(sprifed.DataError, match="the client column"):
        estimator(schema=schema).fit(X, y)
    with pytest.raises(ValueError, match="3 labels"):
        estimator(schema=schema).fit(X, y, clients=["a", "b", "c"])
    labels = [f"w{row % 40}" for row in range(len(y))]
    model = estimator(schema=schema, epsilon=20).fit(X, y, clients=labels)
    assert model.guarantee_.client["most_records"] == 20


def test_gaps_are_filled_only_if_the_schema_says_so(table):
    X, y = table
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        estimator().fit(X, y)
    schema = Schema.from_bounds((-6, 6), -3, 3, missing="midpoint", missing_response="drop")
    y[7] = np.nan
    model = estimator(schema=schema, epsilon=20).fit(X, y)
    assert model.receipt_["train_size"] == len(y)
    assert np.isfinite(model.predict(X)).all()


def test_receipts_are_recomputed_and_lies_found(table):
    X, y = table
    for changes in (dict(), dict(procedure="argmax"), dict(backend="secure-sum", clients=20)):
        model = estimator(**changes).fit(X, y)
        verified = sprifed.verify_receipt(model.receipt_)
        assert verified["guarantee"] == model.receipt_["guarantee"]
    lie = model.receipt_ | {"guarantee": model.receipt_["guarantee"] | {"mu": 0.001}}
    with pytest.raises(sprifed.ReceiptError, match="the guarantee"):
        sprifed.verify_receipt(lie)
    receipt = model.receipt_["receipts"][0]
    ledger = receipt["ledger"] | {"entries": receipt["ledger"]["entries"][:-1]}
    with pytest.raises(sprifed.ReceiptError, match="the ledger"):
        sprifed.verify_receipt(model.receipt_ | {"receipts": [receipt | {"ledger": ledger}]})
    with pytest.raises(sprifed.ReceiptError, match="not JSON"):
        sprifed.verify_receipt("{")


def test_schemas_compare_print_and_survive_pickling(csv):
    import pickle

    _, path, *_ = csv
    for schema in (
        Schema.read(path),
        Schema.from_bounds((0, 1), [0, 1], [2, 3], ["a", "b"], transform="log1p"),
    ):
        assert pickle.loads(pickle.dumps(schema)) == schema
    assert schema.bounds_of("b") == (1, 3) and schema.bounds_of("c") is None
    assert "from 0" in repr(schema)
    with pytest.raises(sprifed.SchemaError, match="unit"):
        Schema.from_bounds((0, 1), 0, 1, unit="person")


def test_budgets_refuse_nonsense():
    assert sprifed.Budget(1, 1e-6) == sprifed.Budget(1.0, 1e-6)
    with pytest.raises(sprifed.BudgetError, match="delta is 0"):
        sprifed.Budget(1, 0)
    with pytest.raises(sprifed.BudgetError, match="no release"):
        sprifed.compose([], 1e-6)
    one = sprifed.Budget(1, 1e-6)
    assert 1 < one.repeated(4).epsilon < 4
    assert one.repeated(1).epsilon == pytest.approx(1, rel=1e-9)
