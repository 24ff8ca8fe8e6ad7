"""Tables, the command line and the place of temporary folders, for all tests."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]

SCHEMA = """
[response]
name = "y"
lower = -6
upper = 6

[features]
lower = -3
upper = 3
"""

MEMORY = Path("/dev/shm")
"""Where Linux keeps files in memory."""

ENOUGH_MEMORY = 1 << 30
"""Bytes that must be free there; a run of all tests writes 40 MB, and the last three runs are kept."""


def pytest_configure(config):
    """Names the mark of slow tests, and keeps the folders of tests in memory, where there is enough of it.

    A party syncs its state before each answer, so a study by hand would mostly wait for the disk. No test cuts the power.
    """
    config.addinivalue_line("markers", "slow: runs with SPRIFED_SLOW=1 only")
    if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= ENOUGH_MEMORY:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


def pytest_collection_modifyitems(items):
    """Skips slow tests where there is no time. The longest test is first: with two workers the others run beside it."""
    if os.environ.get("SPRIFED_SLOW") != "1":
        for item in items:
            if item.get_closest_marker("slow"):
                item.add_marker(pytest.mark.skip(reason="set SPRIFED_SLOW=1 for this study"))
    items.sort(key=lambda item: item.path.name != "test_flower_deployment.py")


def make_table(n_records: int = 400, n_features: int = 12, seed: int = 0):
    """Three active features, standard normal columns."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n_records, n_features))
    y = 2.0 * X[:, 1] - 1.5 * X[:, 4] + X[:, 7] + 0.1 * random.standard_normal(n_records) + 0.5
    return X, y


@pytest.fixture
def table():
    return make_table()


@pytest.fixture
def csv(tmp_path):
    """The same table as a file with its schema: (data, schema, X, y, names)."""
    X, y = make_table()
    names = [f"f{column}" for column in range(X.shape[1])]
    data, schema = tmp_path / "data.csv", tmp_path / "schema.toml"
    lines = [",".join([*names, "y"])]
    lines += [",".join(repr(float(value)) for value in [*row, response]) for row, response in zip(X, y)]
    data.write_text("\n".join(lines) + "\n")
    schema.write_text(SCHEMA)
    return data, schema, X, y, names


@pytest.fixture(scope="session")
def cli():
    """Runs `sprifed`: the program that SPRIFED_CLI names, which `cargo xtask python` has built."""
    program = os.environ.get("SPRIFED_CLI")
    if not program:
        pytest.fail("SPRIFED_CLI is not set; run the tests with `cargo xtask python`")

    def run(*arguments, cwd=None):
        command = [program, *map(str, arguments)]
        ended = subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)
        answer = json.loads(ended.stdout) if ended.stdout.strip() else None
        if answer is not None:
            assert answer.pop("schema_version") == 1
        return ended.returncode, answer, ended.stderr

    return run
