"""A response of two classes: labels, probabilities, and the fit of the command line."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score

import sprifed
from sprifed import DataError, Schema, SparsePrivateClassifier

SCHEMA = """
[response]
name = "y"
outcome = "binary"
levels = ["no", "yes"]

[features]
lower = -3
upper = 3
"""


def make_odds(n_records, n_features=12, seed=0):
    """Normal features; the log odds of an event are 1.5 x1 - x4 + 0.5."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_records, n_features)).round(4)
    odds = 1.5 * X[:, 1] - X[:, 4] + 0.5
    return X, generator.uniform(size=n_records) < 1 / (1 + np.exp(-odds))


def classifier(**changes):
    return SparsePrivateClassifier(**(dict(epsilon=20.0, sparsity=2, bounds=(-3, 3), simulate_noise=1) | changes))


def test_odds_are_found_and_probabilities_are_calibrated():
    X, y = make_odds(4000)
    model = classifier().fit(X, y)
    assert set(model.support_) == {1, 4} and model.status_ == "complete"
    assert model.coef_[1] == pytest.approx(1.5, abs=0.2) and model.coef_[4] == pytest.approx(-1, abs=0.2)
    assert model.intercept_ == pytest.approx(0.5, abs=0.2)
    assert all(low < high for low, high in model.intervals_)
    assert list(model.classes_) == [False, True]
    fresh, events = make_odds(2000, seed=1)
    probabilities = model.predict_proba(fresh)
    assert probabilities.shape == (2000, 2)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(fresh), probabilities[:, 1] > 0.5)
    exact = LogisticRegression(C=np.inf).fit(X[:, [1, 4]], y).predict_proba(fresh[:, [1, 4]])
    assert log_loss(events, probabilities) < log_loss(events, exact) + 0.01
    assert roc_auc_score(events, probabilities[:, 1]) > roc_auc_score(events, exact[:, 1]) - 0.01
    assert "odds" in str(model.summary())


@pytest.mark.parametrize(
    "case",
    [
        dict(procedure="argmax", backend="curator"),
        dict(procedure="sieve", backend="curator", neighbours="replace-one"),
        dict(procedure="sieve", backend="secure-sum", clients=12),
        dict(procedure="argmax", backend="trustees", clients=12),
    ],
    ids=lambda case: "-".join(map(str, case.values())),
)
def test_a_fit_with_the_same_seed_is_that_of_the_command_line(cli, tmp_path, case):
    X, y = make_odds(1500)
    names = [f"f{column}" for column in range(X.shape[1])]
    labels = np.where(y, "yes", "no")
    frame = pd.DataFrame(X, columns=names)
    frame.assign(y=labels).to_csv(tmp_path / "data.csv", index=False, float_format="%.17g")
    (tmp_path / "schema.toml").write_text(SCHEMA)
    flags = [f"--{key}={value}" for key, value in case.items()]
    code, answer, words = cli(
        "fit", "data.csv", "--schema", "schema.toml", "--sparsity", 2, "--epsilon", 12,
        "--simulate-noise", 7, "--json", *flags, cwd=tmp_path,
    )  # fmt: skip
    assert code == (0 if answer["reliable"] else 5), words
    model = SparsePrivateClassifier(
        epsilon=12, sparsity=2, schema=Schema.from_toml(SCHEMA), simulate_noise=7, **case
    ).fit(frame, labels)
    assert model.receipt_ == json.loads((tmp_path / "model.json").read_text()), "every byte of the document"
    assert list(model.classes_) == ["no", "yes"]
    assert sprifed.verify_receipt(model.receipt_)["guarantee"]["unit"] == "record"
    code, predicted, words = cli("predict", "model.json", "data.csv", "--json", cwd=tmp_path)
    assert code == 0, words
    assert list(model.predict_proba(frame)[:, 1]) == predicted["predictions"]


def test_labels_of_any_kind_are_the_same_fit():
    X, y = make_odds(600)
    expected = list(classifier().fit(X, y).coef_)
    for labels, classes in [
        (y.astype(int), None),
        (y.astype(float), None),
        (np.where(y, "sick", "healthy"), ("healthy", "sick")),
        (np.where(y, 1, -1), (-1, 1)),
        (np.where(y, -1, 1), (1, -1)),
    ]:
        model = classifier(classes=classes).fit(X, labels)
        assert list(model.coef_) == expected
        assert set(model.predict(X)) <= set(labels)
        twin = pickle.loads(pickle.dumps(model))
        assert list(twin.predict(X)) == list(model.predict(X))


def test_the_levels_of_a_schema_are_labels_of_the_kind_that_were_given():
    X, y = make_odds(600)
    numbers = Schema.from_toml(SCHEMA.replace('["no", "yes"]', "[0, 1]"))
    arguments = dict(epsilon=20, sparsity=2, simulate_noise=1)
    for labels in (y, y.astype(int), y.astype(np.float32)):
        model = SparsePrivateClassifier(schema=numbers, **arguments).fit(X, labels)
        assert model.classes_.dtype == labels.dtype
    by_text = SparsePrivateClassifier(schema=Schema.from_toml(SCHEMA), **arguments)
    with pytest.raises(sprifed.SchemaError, match="numbers as labels"):
        by_text.fit(X, y)
    with pytest.raises(sprifed.SchemaError, match="schema was given together with bounds, classes"):
        classifier(schema=numbers).fit(X, y)


def test_records_without_a_label_are_left_out_where_the_schema_says_so():
    X, y = make_odds(600)
    schema = Schema.from_toml(SCHEMA + '[record]\nmissing_response = "drop"\n')
    labels = np.where(y, "yes", "no").astype(object)
    labels[:40] = None
    arguments = dict(epsilon=20, sparsity=2, simulate_noise=1)
    model = SparsePrivateClassifier(schema=schema, **arguments).fit(X, labels)
    assert list(model.classes_) == ["no", "yes"]
    labels[:40] = "no"
    other = SparsePrivateClassifier(schema=schema, **arguments).fit(X, labels)
    assert list(model.coef_) != list(other.coef_)


def test_secret_noise_takes_no_labels_from_the_records():
    X, y = make_odds(400)
    for labels in (np.where(y, "sick", "healthy"), np.where(y, 1, -1)):
        with pytest.raises(DataError, match="none of the two classes"):
            classifier(simulate_noise=None).fit(X, labels)
    with pytest.raises(DataError, match="none of the two classes"):
        classifier(classes=("a", "b")).fit(X, np.where(y, "a", "c"))
    with pytest.raises(sprifed.SchemaError, match="the same value"):
        classifier(classes=(1, 1)).fit(X, np.ones(400))
    secret = classifier(simulate_noise=None).fit(X, y)
    assert secret.guarantee_.is_private
    # No record of one class is no news.
    assert list(classifier(simulate_noise=None).fit(X, np.zeros(400)).classes_) == [0, 1]


def test_what_is_not_built_is_refused():
    X, y = make_odds(400)
    with pytest.raises(sprifed.BudgetError, match="robust intervals"):
        classifier(robust=True).fit(X, y)
