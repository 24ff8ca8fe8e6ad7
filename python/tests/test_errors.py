"""Errors that say what was found, what is required, and what to do."""

import numpy as np
import pandas as pd
import pytest

import sprifed
from sprifed import Schema, SparsePrivateClassifier, SparsePrivateRegressor


def estimator(**changes):
    arguments = dict(
        epsilon=5.0, sparsity=2, bounds=(-3, 3), response_bounds=(-6, 6), simulate_noise=1
    )
    return SparsePrivateRegressor(**(arguments | changes))


def by_schema(schema):
    return dict(schema=schema, bounds=None, response_bounds=None)


def test_the_family_is_small_and_its_classes_are_value_errors():
    family = [sprifed.BudgetError, sprifed.SchemaError, sprifed.DataError, sprifed.StudyError]
    assert all(issubclass(error, sprifed.SprifedError) for error in [*family, sprifed.ReceiptError])
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


def test_an_estimator_refuses_the_other_outcome(table):
    X, y = table
    features = "[features]\nlower = -3\nupper = 3\n"
    levels = Schema.from_toml(f'[response]\nname = "y"\noutcome = "binary"\nlevels = [0, 1]\n{features}')
    with pytest.raises(sprifed.SchemaError, match='explains "linear"'):
        estimator(**by_schema(levels)).fit(X, (y > 0).astype(float))
    number = Schema.from_toml(f'[response]\nname = "y"\nlower = 0\nupper = 1\n{features}')
    with pytest.raises(sprifed.SchemaError, match='explains "binary"'):
        SparsePrivateClassifier(epsilon=1, sparsity=2, schema=number).fit(X, y > 0)


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
        (dict(procedure="lasso"), sprifed.StudyError, "required: one of auto, grad, sieve, argmax"),
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
    assert "nothing was spent" in str(refused.value)
    parts = [refused.value.message, refused.value.help, refused.value.code]
    assert str(refused.value) == f"{parts[0]}\n help: {parts[1]}" and parts[2].startswith("sprifed::")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        *[(dict(sparsity=value), "sparsity is .*; required: a whole number from 1")
          for value in (0, -1, 2.5, "2", None, True, 2**40)],
        *[(dict(clients=value), "clients is .*; required: a whole number from 1")
          for value in (0, -1, 1.5, "a", True)],
        *[(dict(simulate_noise=value), "simulate_noise is .*; required: a whole number from 0")
          for value in (-1, 2**64, "a", 1.0, True)],
        *[(dict(quorum=value), "quorum is .*; required: a whole number") for value in (-1, "a")],
        *[(dict(epsilon=value), "epsilon is .*; required: a number")
          for value in ("3", None, True, [3.0], np.array([3.0]))],
        *[(dict(delta=value), "delta is .*; required: a number") for value in ("1e-6", True)],
        *[(dict(bounds=value), "bounds is .*; required: a number, or one number for each column")
          for value in ((False, True), ("-3", "3"), (-3, [[3] * 6] * 2), (None, None), (1j, 2))],
        *[(dict(bounds=value), r"bounds is .*; required: a pair \(lower, upper\)")
          for value in ("ab", {"a": 1, "b": 2}, {-3, 3}, (-3, 3, 4))],
        *[(dict(response_bounds=value), "response_bounds is .*; required: a number")
          for value in ((False, True), ("a", "b"), ([1, 2], [3, 4]), (None, 1))],
        *[(dict(allow_repeated_fits=value), "allow_repeated_fits is .*; required: True or False")
          for value in ("no", 1, None)],
        *[(dict(procedure=value), "procedure is .*; required: a text") for value in (None, 3)],
        *[(dict(progress=value), "progress is .*; required: a callable") for value in (3, "yes")],
        (dict(schema=3, bounds=None, response_bounds=None), "schema is 3; required: a Schema or a path"),
        (dict(schema=Schema.from_bounds((-6, 6), -3, 3)), "schema was given together with bounds"),
    ],
    ids=str,
)  # fmt: skip
def test_arguments_of_the_wrong_kind_are_refused(table, changes, message):
    with pytest.raises(sprifed.SprifedError, match=message) as refused:
        estimator(**changes).fit(*table)
    assert refused.value.message and refused.value.help and refused.value.code


def test_numbers_of_numpy_are_numbers(table):
    model = estimator(sparsity=np.int64(2), epsilon=np.float32(5), simulate_noise=np.uint8(1))
    assert model.fit(*table).support_.size == 2


@pytest.mark.parametrize(
    ("ask", "changes"),
    [
        *[(sprifed.plan, {name: value}) for name in ("records", "features", "sparsity", "clients")
          for value in (-1, "a", 2.0)],
        (sprifed.plan, dict(epsilon="3")),
        (sprifed.plan, dict(quorum=-1)),
        (sprifed.forecast, dict(trials=-1)),
        (sprifed.simulate, dict(trials=-1)),
        (sprifed.simulate, dict(seed=-1)),
        (sprifed.simulate, dict(dropouts="a")),
        (sprifed.simulate, dict(procedure=None)),
        (sprifed.simulate, dict(correlation=3)),
    ],
    # The same in every worker: a function is named without its address.
    ids=lambda value: getattr(value, "__name__", str(value)),
)  # fmt: skip
def test_questions_of_the_wrong_kind_are_refused(ask, changes):
    asked = dict(records=200, features=20, sparsity=2, epsilon=3.0) | changes
    with pytest.raises(sprifed.SprifedError, match=f"{next(iter(changes))} is .*; required: a"):
        ask(**asked)


def test_an_error_with_words_alone_has_its_parts():
    error = sprifed.StudyError("words")
    assert (error.message, str(error)) == ("words", "words")
    assert error.help and error.code.startswith("sprifed::")


def test_labels_need_a_client_column(table):
    X, y = table
    with pytest.raises(sprifed.DataError, match="the schema has no client column") as refused:
        estimator().fit(X, y, clients=["one person"] * len(y))
    assert refused.value.code == "sprifed::data::labels"
    with pytest.raises(sprifed.SprifedError, match="required: a label for each of the 400 records"):
        estimator().fit(X, y, clients="abc")


def test_a_schema_in_a_file_obeys_its_own_rules(table, tmp_path):
    X, y = table
    X[3, 2], y[7] = np.nan, np.nan
    path = tmp_path / "schema.toml"
    path.write_text(
        '[response]\nname = "y"\nlower = -6\nupper = 6\n[features]\nlower = -3\nupper = 3\n'
        '[record]\nmissing = "midpoint"\nmissing_response = "drop"\n'
    )
    for given in (path, str(path), Schema.read(path)):
        model = estimator(**by_schema(given), epsilon=20)
        assert model.__sklearn_tags__().input_tags.allow_nan
        assert np.isfinite(model.fit(X, y).predict(X)).all()
    path.unlink()
    assert np.isfinite(model.predict(X)).all()
    with pytest.raises(sprifed.SprifedError, match="schema.toml"):
        estimator(**by_schema(path)).fit(X, y)


def test_many_clients_are_a_warning_before_the_fit(table):
    X, y = table
    few = estimator(backend="secure-sum", clients=20)
    with pytest.warns(sprifed.SprifedWarning) as received:
        few.fit(X, y)
    assert not any("is slow" in str(warning.message) for warning in received)
    with pytest.warns(sprifed.SprifedWarning, match="each of the 400 records a client"):
        with pytest.raises(sprifed.SprifedError):
            estimator(backend="secure-sum", procedure="argmax").fit(X, y)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (dict(sparsity=0), "sparsity is 0; required"),
        (dict(sparsity=-1), "sparsity is -1; required"),
        (dict(sparsity=13), "the sparsity is 13; required: from 1 to the 12 features"),
    ],
)
def test_the_reference_refuses_impossible_sparsities(table, changes, message):
    with pytest.raises(sprifed.SprifedError, match=message):
        sprifed.NonPrivateOMP(**changes).fit(*table)


def test_the_reference_refuses_what_single_precision_does_not_hold(table):
    X, y = table
    for matrix, response in ((X * 1e200, y), (X, y * 1e200)):
        with pytest.raises(sprifed.DataError, match="single precision"):
            sprifed.NonPrivateOMP(2).fit(matrix, response)


def test_a_client_column_needs_labels(table):
    X, y = table
    schema = Schema.from_bounds((-6, 6), -3, 3, client="ward", max_per_client=20)
    with pytest.raises(sprifed.DataError, match="the client column"):
        estimator(**by_schema(schema)).fit(X, y)
    with pytest.raises(sprifed.SprifedError, match="3 labels"):
        estimator(**by_schema(schema)).fit(X, y, clients=["a", "b", "c"])
    labels = [f"w{row % 40}" for row in range(len(y))]
    model = estimator(**by_schema(schema), epsilon=20).fit(X, y, clients=labels)
    assert model.guarantee_.client["most_records"] == 20


def test_gaps_are_filled_only_if_the_schema_says_so(table):
    X, y = table
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        estimator().fit(X, y)
    schema = Schema.from_bounds((-6, 6), -3, 3, missing="midpoint", missing_response="drop")
    y[7] = np.nan
    model = estimator(**by_schema(schema), epsilon=20).fit(X, y)
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


def change(receipt, *path, to):
    """The receipt with another value at this path."""
    if not path:
        return to
    place, *rest = path
    changed = list(receipt) if isinstance(receipt, list) else dict(receipt)
    changed[place] = change(receipt[place], *rest, to=to)
    return changed


def test_forgers_are_refused_and_not_told_what_to_write(table):
    X, y = table
    simulated = estimator(clients=20).fit(X, y).receipt_
    secret = estimator(clients=20, simulate_noise=None).fit(X, y).receipt_["guarantee"]
    certified = simulated["guarantee"] | dict(
        mode="certified", provenance="cryptographic", nominal_epsilon=None,
        epsilon=simulated["guarantee"]["nominal_epsilon"],
        statement=secret["statement"], trust=secret["trust"],
    )  # fmt: skip
    forged = change(change(simulated, "receipts", to=[]), "guarantee", to=certified)
    lies = [
        forged,
        change(forged, "label", to=None),
        change(simulated, "label", to=None),
        change(simulated, "guarantee", "neighbours", to="replace-one"),
        change(simulated, "guarantee", "unit", to="client"),
        change(simulated, "guarantee", "delta", to=1e-9),
        change(simulated, "guarantee", "client", to=None),
        change(simulated, "receipts", to=simulated["receipts"] * 2),
        change(simulated, "plan", "relation", to="replace-one"),
        change(change(simulated, "guarantee", "client", to=None), "most_records", to=1),
    ]
    for lie in lies:
        with pytest.raises(sprifed.ReceiptError) as refused:
            sprifed.verify_receipt(lie)
        assert refused.value.code == "sprifed::receipt::wrong"
        assert "epsilon = " not in str(refused.value)


def test_receipts_are_read_from_wherever_they_are(table, tmp_path):
    import json

    receipt = estimator().fit(*table).receipt_
    path = tmp_path / "model.json"
    path.write_text(json.dumps(receipt))
    for form in (receipt, path, str(path), path.read_text(), path.read_bytes()):
        assert sprifed.verify_receipt(form)["kind"] == "model"
    for form in (None, 3, "[]", "null", "[" * 100_000, b"{}", b"\xff", tmp_path / "no.json", {1: {2}}):
        with pytest.raises(sprifed.ReceiptError) as refused:
            sprifed.verify_receipt(form)
        assert refused.value.code and refused.value.help


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
    for times in (0, -1, 2**32, 1.5, True, "2"):
        with pytest.raises(sprifed.BudgetError, match="times is .*; required: a whole number from 1"):
            one.repeated(times)
    for ask in (
        lambda: sprifed.Budget("1", 1e-6),
        lambda: sprifed.epsilon_from_mu(True, 1e-6),
        lambda: sprifed.compose(["a"], 1e-6),
        lambda: sprifed.compose(0.5, 1e-6),
        lambda: sprifed.compose("12", 1e-6),
    ):
        with pytest.raises(sprifed.BudgetError, match="required: a number|required: numbers"):
            ask()
