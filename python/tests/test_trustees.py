"""Fits, plans and trials by three trustees: `backend="trustees"`."""

import json

import numpy as np
import pytest
from conftest import SCHEMA
from test_errors import change, estimator

import sprifed
from sprifed._core import rehearse

SIZE = dict(records=400, features=60, sparsity=2, epsilon=5.0, clients=20)


def by_trustees(**changes):
    return estimator(backend="trustees", clients=20, **changes)


def test_a_fit_by_trustees_takes_argmax_and_finds_the_features(table):
    model = by_trustees(sparsity=3).fit(*table)
    assert model.receipt_["procedure"] == "argmax"
    assert sorted(model.support_) == [1, 4, 7]
    # The same seed gives the same model, and another seed another one.
    again = by_trustees(sparsity=3).fit(*table)
    assert list(again.coef_) == list(model.coef_)
    other = by_trustees(sparsity=3, simulate_noise=2).fit(*table)
    assert list(other.coef_) != list(model.coef_)


def test_the_guarantee_names_the_trustees_and_the_process_that_played_them(table):
    guarantee = by_trustees(simulate_noise=None).fit(*table).guarantee_
    assert guarantee.is_private and guarantee.epsilon <= 5
    assert guarantee.backend == "trustees"
    for words in (
        "three trustees",
        "any two of them together see all contributions",
        "This run simulated all clients and trustees in one process",
    ):
        assert words in str(guarantee), str(guarantee)
    rehearsed = by_trustees().fit(*table).guarantee_
    assert not rehearsed.is_private and rehearsed.epsilon is None
    assert str(rehearsed).splitlines()[0].startswith("Privacy   NOT PRIVATE")


def test_receipts_of_trustees_are_recomputed_and_lies_found(table):
    receipt = by_trustees().fit(*table).receipt_
    for form in (receipt, json.dumps(receipt)):
        assert sprifed.verify_receipt(form)["guarantee"] == receipt["guarantee"]
    ledger = receipt["receipts"][0]["ledger"]
    shorter = change(receipt, "receipts", 0, "ledger", "entries", to=ledger["entries"][:-1])
    lies = [
        change(receipt, "guarantee", "mu", to=0.001),
        change(receipt, "guarantee", "backend", to="curator"),
        change(receipt, "plan", "origin", to="curator"),
        shorter,
    ]
    for lie in lies:
        with pytest.raises(sprifed.ReceiptError):
            sprifed.verify_receipt(lie)


def test_plans_of_trustees_are_those_of_the_command_line(cli):
    flags = [f"--{key}={value}" for key, value in SIZE.items()]
    code, answer, words = cli("plan", *flags, "--backend=trustees", "--forecast-trials", 0, "--json")
    assert code == 0, words
    ours = sprifed.plan(**SIZE, backend="trustees")
    assert ours == answer
    assert ours["procedure"] == "argmax" and ours["trustees"]["clients"] == 20
    assert ours["trustees"]["records_per_curator_record"] > 1
    assert "trustees" not in sprifed.plan(**SIZE)
    # Secure sums cannot choose.
    assert sprifed.plan(**SIZE, backend="secure-sum")["procedure"] != "argmax"


def test_trials_by_trustees_are_those_of_the_command_line(cli):
    flags = [f"--{key}={value}" for key, value in SIZE.items()]
    asked = ("--procedure=argmax", "--backend=trustees", "--dropouts=0.1", "--trials=2")
    code, answer, words = cli("simulate", *flags, *asked, "--json")
    assert code == 0, words
    ours = sprifed.simulate("argmax", **SIZE, backend="trustees", dropouts=0.1, delta=1e-4, trials=2)
    answer.pop("seconds_per_trial"), ours.pop("seconds_per_trial")
    assert ours == answer and ours["backend"] == "trustees"


@pytest.mark.parametrize(
    ("changes", "kind", "message"),
    [
        (dict(quorum=5), sprifed.StudyError, "trustees"),
        (dict(colluders=1), sprifed.StudyError, "trustees"),
        (dict(clients=1000), sprifed.DataError, "1000 clients"),
        (dict(epsilon=1000.0), sprifed.SprifedError, "epsilon"),
        (dict(epsilon=1e-9), sprifed.SprifedError, "epsilon|budget"),
    ],
    ids=str,
)
def test_what_trustees_cannot_do_is_refused_before_anything_is_spent(table, changes, kind, message):
    with pytest.raises(kind, match=message) as refused:
        estimator(**(dict(backend="trustees", clients=20) | changes)).fit(*table)
    assert "nothing was spent" in str(refused.value)
    assert refused.value.code.startswith("sprifed::") and "--" not in refused.value.help


def test_a_quorum_of_trustees_is_refused_in_plans_too():
    with pytest.raises(sprifed.StudyError, match="trustees"):
        sprifed.plan(**SIZE, backend="trustees", quorum=10)


SEED = 11


@pytest.fixture
def study(cli, tmp_path):
    """A study of three parties with three trustees and repeatable noise: its folder, and the tables."""

    def make(*words):
        code, _, said = cli("study", *words, "--json")
        assert code == 0, said

    random = np.random.default_rng(3)
    tables = []
    for party in range(3):
        rows = random.uniform(-2, 2, size=(60, 8))
        response = 2 * rows[:, 3] - 1.5 * rows[:, 5] + 0.1 * random.standard_normal(60)
        table = tmp_path / f"p{party}.csv"
        names = ",".join([*(f"x{column}" for column in range(8)), "y"])
        np.savetxt(table, np.column_stack([rows, response]), delimiter=",", header=names, comments="", fmt="%.6f")
        tables.append(table)
        make("identity", f"p{party}", "--records", 60, "--simulate", SEED, "--place", party, "--out", tmp_path / f"p{party}")
        make("trustee", f"t{party}", "--simulate", SEED, "--place", party, "--out", tmp_path / f"t{party}")
    (tmp_path / "schema.toml").write_text(SCHEMA.replace("6", "8"))
    parties = [word for party in range(3) for word in ("--party", tmp_path / f"p{party}" / "party.json")]
    trustees = [word for place in range(3) for word in ("--trustee", tmp_path / f"t{place}" / "trustee.json")]
    make(
        "init", tmp_path / "study", *parties, *trustees, "--schema", tmp_path / "schema.toml", "--columns", tables[0],
        "--sparsity", 2, "--epsilon", 20, "--delta", 1e-6, "--address", "localhost:1", "--purpose", "testing",
        "--simulate-noise",
    )  # fmt: skip
    return tmp_path / "study", tables


def test_a_rehearsal_with_trustees_is_that_of_the_command_line(cli, study):
    folder, tables = study
    data = [word for table in tables for word in ("--data", table)]
    code, answer, words = cli("study", "rehearse", folder, *data, "--seed", SEED, "--json")
    assert code == 0, words
    assert json.loads(rehearse(folder / "invitation.json", tables, SEED)) == answer["fit"]
    # From the second step on without one party it is another study.
    without = rehearse(folder / "invitation.json", tables, SEED, [(2, 1, "upload")])
    assert json.loads(without) != answer["fit"]
    with pytest.raises(sprifed.StudyError, match="has another key"):
        rehearse(folder / "invitation.json", tables, SEED + 1)
