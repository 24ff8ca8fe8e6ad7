"""What a fit costs: no copy of X, little time in Python, and it can be stopped."""

import os
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import time
import tracemalloc

import numpy as np
import pytest
from conftest import make_table

from sprifed import SparsePrivateRegressor


def estimator(**changes):
    arguments = dict(
        epsilon=5.0, sparsity=2, bounds=(-3, 3), response_bounds=(-6, 6), simulate_noise=1
    )
    return SparsePrivateRegressor(**(arguments | changes))


PEAK = """
import resource, sys
import numpy as np
from sprifed import SparsePrivateRegressor

dtype = np.dtype(sys.argv[1])
small = np.random.default_rng(0).standard_normal((50, 20)).astype(dtype)
model = SparsePrivateRegressor(epsilon=5, sparsity=2, bounds=(-3, 3), response_bounds=(-6, 6), simulate_noise=1)
model.fit(small, small[:, 0])
X = np.zeros((2000, 10_000), dtype=dtype)
X[:] = np.random.default_rng(0).standard_normal(10_000)
y = np.linspace(-1, 1, 2000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
model.fit(X, y)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print((after - before) * 1024, X.nbytes)
"""


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_matrix_in_c_order_is_not_copied(dtype):
    ended = subprocess.run(
        [sys.executable, "-c", PEAK, dtype], capture_output=True, text=True, check=True
    )
    grown, size = map(int, ended.stdout.split())
    assert grown < size / 4, f"the peak grew by {grown} bytes beside a matrix of {size}"


def test_python_allocates_nothing_of_the_size_of_the_matrix():
    X, y = make_table(2000, 1000)
    model = estimator()
    tracemalloc.start()
    model.fit(X, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < X.nbytes / 4


def test_progress_is_told_step_by_step(table):
    received = []
    model = estimator(progress=lambda done, total: received.append((done, total))).fit(*table)
    total = len(model.receipt_["plan"]["steps"])
    assert received == [(done, total) for done in range(total + 1)]


def test_a_callback_that_raises_ends_the_fit_and_says_what_was_spent(table):
    def stop(done, total):
        if done == 1:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough") as stopped:
        estimator(progress=stop).fit(*table)
    assert '"spent"' in stopped.value.ledger
    if sys.version_info >= (3, 11):
        assert "was spent in 1 steps" in stopped.value.__notes__[0]


INTERRUPTED = """
import os, signal, sys
import numpy as np
from sprifed import SparsePrivateRegressor

def interrupt(done, total):
    if done == 1:
        os.kill(os.getpid(), signal.SIGINT)

X = np.random.default_rng(0).standard_normal((500, 50))
model = SparsePrivateRegressor(epsilon=5, sparsity=3, bounds=(-3, 3), response_bounds=(-6, 6), progress=interrupt)
try:
    model.fit(X, X[:, 0])
except KeyboardInterrupt as error:
    print("interrupted", hasattr(model, "coef_"), '"entries":[' in error.ledger)
"""


def test_an_interrupt_ends_the_fit_between_two_steps():
    ended = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=True
    )
    assert ended.stdout.split() == ["interrupted", "False", "True"], ended


def test_other_threads_run_while_a_fit_runs():
    X, y = make_table(2000, 2000)
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    model = estimator()
    steps = []
    model.set_params(progress=lambda done, total: steps.append(len(ticks))).fit(X, y)
    done.set()
    thread.join()
    # Between the first step and the last, without the GIL, the other thread was received.
    assert steps[-1] > steps[0]
