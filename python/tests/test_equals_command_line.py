"""The package and the command line are the same program."""

import json

import numpy as np
import pandas as pd
import pytest
from conftest import SCHEMA, make_table

import sprifed
from sprifed import Schema, SparsePrivateRegressor

CASES = [
    dict(procedure="grad", backend="curator"),
    dict(procedure="sieve", backend="curator", neighbours="replace-one"),
    dict(procedure="argmax", backend="curator"),
    dict(procedure="grad", backend="curator", clients=100),
    dict(procedure="grad", backend="secure-sum", clients=20),
    dict(procedure="argmax", backend="trustees", clients=20),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case.values())))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_fit_with_the_same_seed_is_the_same_fit(csv, cli, tmp_path, case, dtype):
    data, schema, X, y, names = csv
    if dtype == np.float32:
        # What single precision can hold, so that the file says the same numbers.
        X = X.astype(np.float32)
        frame = pd.DataFrame(X.astype(np.float64), columns=names).assign(y=y)
        frame.to_csv(data, index=False, float_format="%.17g")
    flags = [f"--{key}={value}" for key, value in case.items()]
    out = tmp_path / "model.json"
    code, answer, words = cli(
        "fit", data, "--schema", schema, "--target", "y", "--sparsity", 3, "--epsilon", 4,
        "--simulate-noise", 7, "--out", out, "--json", *flags,
    )  # fmt: skip
    assert code == (0 if answer["reliable"] else 5), words
    model = SparsePrivateRegressor(
        epsilon=4, sparsity=3, schema=Schema.read(schema), simulate_noise=7, **case
    ).fit(pd.DataFrame(X, columns=names), y)
    assert [names[column] for column in model.support_] == answer["support"]
    assert list(model.coef_[model.support_]) == answer["coefficients"]
    assert model.intercept_ == answer["intercept"]
    assert model.status_ == answer["status"]
    assert str(model.guarantee_) == answer["guarantee"]["statement"]
    assert model.receipt_ == json.loads(out.read_text()), "every byte of the document"


def test_labelled_clients_are_enrolled_as_in_a_file(cli, tmp_path):
    X, y = make_table(300, 8)
    labels = [f"ward{row % 40}" for row in range(300)]
    names = [f"f{column}" for column in range(8)]
    frame = pd.DataFrame(X, columns=names)
    frame.assign(y=y, ward=labels).to_csv(tmp_path / "data.csv", index=False, float_format="%.17g")
    text = SCHEMA + '[record]\nclient = "ward"\nmax_per_client = 5\nunit = "client"\n'
    (tmp_path / "schema.toml").write_text(text)
    code, answer, words = cli(
        "fit", "data.csv", "--schema", "schema.toml", "--sparsity", 2, "--epsilon", 8,
        "--simulate-noise", 3, "--json", cwd=tmp_path,
    )  # fmt: skip
    assert code == (0 if answer["reliable"] else 5), words
    model = SparsePrivateRegressor(
        epsilon=8, sparsity=2, schema=Schema.from_toml(text), simulate_noise=3
    ).fit(frame, y, clients=labels)
    assert model.guarantee_.unit == "client"
    assert list(model.coef_[model.support_]) == answer["coefficients"]
    assert model.receipt_ == json.loads((tmp_path / "model.json").read_text())


def test_bounds_given_as_numbers_are_the_schema_in_a_file(csv):
    _, schema, X, y, names = csv
    arguments = dict(epsilon=4, sparsity=3, simulate_noise=7)
    by_file = SparsePrivateRegressor(schema=schema, **arguments).fit(X, y)
    by_pair = SparsePrivateRegressor(bounds=(-3, 3), response_bounds=(-6, 6), **arguments).fit(X, y)
    lower = np.full(X.shape[1], -3.0)
    by_column = SparsePrivateRegressor(bounds=(lower, -lower), response_bounds=(-6, 6), **arguments)
    by_column.fit(X, y)
    assert list(by_file.coef_) == list(by_pair.coef_) == list(by_column.coef_)


def test_plans_are_the_same(cli):
    code, answer, words = cli(
        "plan", "--records", 1000, "--features", 200, "--sparsity", 4, "--epsilon", 2, "--procedure", "sieve",
        "--forecast-trials", 0, "--json",
    )  # fmt: skip
    assert code == 0, words
    assert sprifed.plan(records=1000, features=200, sparsity=4, epsilon=2, procedure="sieve") == answer


def test_plans_of_secure_sums_are_the_same(cli):
    size = dict(records=1000, features=200, sparsity=4, epsilon=2.0, clients=100)
    asked = size | dict(backend="secure-sum", quorum=80, colluders=4)
    flags = [f"--{key}={value}" for key, value in asked.items()]
    code, answer, words = cli("plan", *flags, "--forecast-trials", 0, "--json")
    assert code == 0, words
    ours = sprifed.plan(**asked)
    assert ours["secure_sums"]["clients"] == 100
    assert ours == answer
    assert ours["steps"] != sprifed.plan(**size)["steps"]
    with pytest.raises(sprifed.StudyError, match="a curator adds all the noise alone"):
        sprifed.plan(**size, quorum=80)


def test_forecasts_know_the_backend():
    size = dict(records=2000, features=30, sparsity=2, epsilon=4.0, clients=50)
    planned = sprifed.forecast(**size, backend="secure-sum", trials=1)
    assert planned["forecast"]["trials"] == 1
    assert planned["steps"] == sprifed.plan(**size, backend="secure-sum")["steps"]


def test_forecasts_are_the_same(cli):
    size = dict(records=200, features=30, sparsity=2, epsilon=4.0)
    flags = [f"--{key}={value}" for key, value in size.items()]
    code, answer, words = cli("plan", *flags, "--procedure", "argmax", "--forecast-trials", 2, "--json")
    assert code == 0, words
    ours = sprifed.forecast(**size, procedure="argmax", trials=2)
    # The command line holds a stopwatch.
    answer["forecast"].pop("seconds_per_study"), ours["forecast"].pop("seconds_per_study")
    assert ours == answer


@pytest.mark.parametrize("procedure", ["grad", "non-private-omp"])
def test_simulations_are_the_same(cli, procedure):
    size = dict(records=300, features=40, sparsity=2)
    flags = [f"--{key}={value}" for key, value in size.items()]
    code, answer, words = cli("simulate", "--procedure", procedure, *flags, "--trials", 2, "--json")
    assert code == 0, words
    ours = sprifed.simulate(procedure, **size, trials=2)
    answer.pop("seconds_per_trial"), ours.pop("seconds_per_trial")
    assert ours == answer


@pytest.mark.parametrize(
    ("question", "ours"),
    [
        (["epsilon", "--mu", 1, "--delta", 1e-6], lambda: sprifed.epsilon_from_mu(1, 1e-6)),
        (["epsilon", "--rho", 0.1, "--delta", 1e-6], lambda: sprifed.epsilon_from_rho(0.1, 1e-6)),
        (["mu", "--epsilon", 1, "--delta", 1e-6], lambda: sprifed.mu_from_epsilon(1, 1e-6)),
        (["compose", "--mu", "0.4x3", "--range", 0.5, "--delta", 1e-6],
         lambda: sprifed.compose([0.4, 0.4, 0.4], 1e-6, ranges=[0.5]).epsilon),
    ],
)  # fmt: skip
def test_the_accountant_is_the_same(cli, question, ours):
    code, answer, words = cli("account", *question, "--json")
    assert code == 0, words
    assert ours() == pytest.approx(answer[question[0] if question[0] != "compose" else "epsilon"], rel=1e-15)


def test_errors_are_those_of_the_command_line_in_the_words_of_python(csv, cli, tmp_path):
    data, schema, X, y, _ = csv
    _, answer, words = cli("fit", data, "--sparsity", 3, "--epsilon", 4, "--json")
    with pytest.raises(sprifed.SchemaError) as refused:
        SparsePrivateRegressor(epsilon=4, sparsity=3).fit(X, y)
    assert refused.value.code == answer["error"]["code"]
    assert "--schema" in answer["error"]["message"] and "--schema" in words
    # A user of Python passes keywords, so no option of the command line is named.
    assert "--" not in str(refused.value) and "`response_bounds`" in refused.value.help

    _, answer, words = cli(
        "fit", data, "--schema", schema, "--sparsity", 12, "--epsilon", 4, "--json", cwd=tmp_path
    )
    with pytest.raises(sprifed.BudgetError) as refused:
        SparsePrivateRegressor(epsilon=4, sparsity=12, schema=schema).fit(X, y)
    assert refused.value.message == answer["error"]["message"]
