"""Arrays and processes of every kind, and a model that stays what it is."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from sprifed import BudgetError, DataError, NonPrivateOMP, ReceiptError, SparsePrivateRegressor, _core


def estimator(**changes):
    arguments = dict(epsilon=5.0, sparsity=2, bounds=(-3, 3), response_bounds=(-6, 6))
    return SparsePrivateRegressor(**(arguments | changes))


def test_a_refused_fit_leaves_the_model_that_there_is(table):
    X, y = table
    model = estimator().fit(X, y)
    before = list(model.predict(X))
    with pytest.raises(BudgetError):
        model.fit(X[:, :3], y)
    assert list(model.predict(X)) == before
    with pytest.raises(ValueError, match="expecting 12 features"):
        model.predict(X[:, :3])


def test_a_failed_fit_leaves_the_columns_of_the_model_that_there_is(table):
    X, y = table
    frame = pd.DataFrame(X, columns=list("abcdefghijkl"))
    model = estimator(simulate_noise=1).fit(frame, y)
    before = list(model.predict(frame))
    with pytest.raises(BudgetError):
        model.set_params(sparsity=12).fit(frame[frame.columns[::-1]], y)
    assert list(model.predict(frame)) == before
    with pytest.raises(ValueError, match="same order"):
        model.predict(frame[frame.columns[::-1]])


def test_the_core_refuses_other_columns_and_made_up_models(table):
    X, y = table
    core = estimator(simulate_noise=1).fit(X, y)._model
    with pytest.raises(DataError, match="3 columns; required: the 12 of the fit"):
        core.predict(X[:, :3])
    for columns, n_columns in (([99, 1], 12), ([1], 12), ([0, 1], 1)):
        with pytest.raises(ReceiptError, match="the pickled model has the columns"):
            _core.PrivateModel._restore(core.document(), columns, n_columns, None, [])


def fields(values):
    """The same numbers as a field of records, where nothing is aligned."""
    shape = values.shape[1:]
    records = np.zeros(len(values), dtype=[("a", "u1"), ("values", values.dtype, shape)])
    records["values"] = values
    assert not records["values"].flags.aligned
    return records["values"]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_arrays_that_are_not_aligned_are_read_rightly(table, dtype):
    X, y = table
    X = X.astype(dtype)
    model = estimator(simulate_noise=1).fit(X, y)
    other = estimator(simulate_noise=1).fit(fields(X), fields(y))
    assert list(model.coef_) == list(other.coef_)
    assert list(model.predict(X)) == list(model.predict(fields(X)))
    exact = NonPrivateOMP(2).fit(X, y)
    assert list(exact.coef_) == list(NonPrivateOMP(2).fit(fields(X), fields(y)).coef_)


def test_the_core_refuses_arrays_that_are_not_aligned(table):
    X, y = table
    core = estimator(simulate_noise=1).fit(X, y)._model
    for look in (
        lambda: core.predict(fields(X)),
        lambda: _core.fit_exactly(fields(X), y, 2),
        lambda: _core.fit_exactly(X, fields(y), 2),
    ):
        with pytest.raises(DataError, match="not aligned"):
            look()


FORKED = """
import os, sys
import numpy as np
from sprifed import NonPrivateOMP, SparsePrivateRegressor, simulate

X = np.random.default_rng(0).standard_normal((3000, 300))
y = 2 * X[:, 3]

def fit():
    arguments = dict(epsilon=3, sparsity=2, bounds=(-3, 3), response_bounds=(-9, 9), simulate_noise=1)
    exact = NonPrivateOMP(1).fit(X, y).support_[0]
    share = simulate("grad", records=300, features=40, sparsity=2, trials=1)["recovered_share"]["mean"]
    return SparsePrivateRegressor(**arguments).fit(X, y).intercept_, exact, share

here = fit()
sys.stdout.flush()
child = os.fork()
if child == 0:
    grandchild = os.fork() if fit() == here else -1
    if grandchild == 0:
        os._exit(0 if fit() == here else 3)
    ended = 4 if grandchild < 0 else os.waitstatus_to_exitcode(os.waitpid(grandchild, 0)[1])
    os._exit(ended)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_forked_process_fits_too():
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED], capture_output=True, text=True, timeout=120
    )
    assert ended.returncode == 0, ended
