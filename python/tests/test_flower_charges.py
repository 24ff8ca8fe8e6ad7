"""A party that is asked is charged first, and opens its table only then."""

import json
import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from by_hand import FEW_SUMS, SMALL, Engine

UNUSABLE = "its table cannot be used in this study"
"""What a coordinator hears of a table, whatever is wrong with it."""


@pytest.fixture
def engine(tmp_path) -> Engine:
    """A study whose parties are asked for the first sum next."""
    few = replace(SMALL, **FEW_SUMS)
    engine = Engine(few.write(tmp_path / "study"), few)
    while engine.coordinator.phase()[0] != "upload":
        engine.run_phase()
    return engine


@pytest.fixture
def ask(engine) -> bytes:
    """The first question to party 0, which has been told everything else."""
    *before, ask = engine.orders()[0]
    assert is_ask(ask)
    engine.exchange(0, before)
    return ask


def is_ask(order: bytes) -> bool:
    return order[:2] == b"\x03\x02" and len(order) == 70


def table_of(engine: Engine) -> Path:
    return engine.parties / "0" / "data.csv"


def sealed_by(engine: Engine) -> Path:
    (sealed,) = (engine.parties / "0" / "flower").glob("study-*/party.sealed")
    return sealed


class Pipe:
    """A pipe in the place of a table: it shows when it is opened, and has no content."""

    def __init__(self, table: Path) -> None:
        self.table = table
        table.unlink()
        os.mkfifo(table)

    def watch(self, call: Callable, at_open: Callable[[], None] = lambda: None) -> tuple:
        """What `call` returns, and how often it opens the table; `at_open` runs before it can read."""
        returned, n_opened = [], 0
        worker = threading.Thread(target=lambda: returned.append(call()), daemon=True)
        worker.start()
        while worker.is_alive():
            try:
                end = os.open(self.table, os.O_WRONLY | os.O_NONBLOCK)
            except OSError:
                # It is not opened now.
                time.sleep(0.001)
                continue
            n_opened += 1
            at_open()
            os.close(end)
        return returned, n_opened


WRONG = {
    "another sum": lambda ask: ask[:2] + b"\xff" * 4 + ask[6:],
    "another transcript": lambda ask: ask[:6] + bytes(32) + ask[38:],
    "another question": lambda ask: ask[:38] + bytes(32),
}
REASONS = {
    "another sum": "sum 4294967295 was asked with",
    "another transcript": "was asked after the transcript",
    "another question": "the coordinator derives the question",
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_question_is_refused_for_its_own_reason_and_opens_no_table(engine, ask, wrong):
    pipe = Pipe(table_of(engine))
    returned, n_opened = pipe.watch(lambda: engine.tell(0, [WRONG[wrong](ask)]))
    assert n_opened == 0
    ((_, refusals),) = returned
    assert REASONS[wrong] in refusals[0]


def test_a_question_that_was_answered_is_answered_again_without_the_table(engine, ask):
    (upload,) = engine.exchange(0, [ask])
    pipe = Pipe(table_of(engine))
    returned, n_opened = pipe.watch(lambda: engine.tell(0, [ask]))
    assert n_opened == 0
    assert returned == [([upload], [])]


def test_a_question_about_a_released_sum_opens_no_table(engine, ask):
    engine.hand_over(0, engine.exchange(0, [ask])[0])
    for place in range(1, SMALL.parties):
        engine.coordinator.returned(place)
    for _ in range(3):
        engine.run_phase()
    engine.exchange(0, [order for order in engine.orders()[0] if not is_ask(order)])
    pipe = Pipe(table_of(engine))
    returned, n_opened = pipe.watch(lambda: engine.tell(0, [ask]))
    assert n_opened == 0
    ((reports, refusals),) = returned
    assert reports == [] and "sums are answered in order" in refusals[0]


def test_the_charge_is_sealed_before_the_table_is_opened(engine, ask):
    sealed, pipe = sealed_by(engine), Pipe(table_of(engine))
    before, seen = sealed.read_bytes(), []
    returned, n_opened = pipe.watch(
        lambda: engine.exchange(0, [ask]), lambda: seen.append(sealed.read_bytes())
    )
    assert n_opened > 0 and before not in seen
    ((report,),) = returned
    assert UNUSABLE.encode() in report


def damage(table: Path, how: str) -> None:
    header, *rows = table.read_text().splitlines()
    if how == "is absent":
        table.unlink()
        return
    if how == "has a bad cell":
        rows[6] = "sekret," + rows[6].split(",", 1)[1]
    elif how == "has too many records":
        rows += rows[:2]
    elif how == "lacks a column":
        header = header.replace("x3,", "sekret,")
    table.write_text("\n".join([header, *rows]) + "\n")


@pytest.mark.parametrize(
    ("how", "logged"),
    [
        ("is absent", "No such file"),
        ("has a bad cell", "column `x0`, line 8: text where a number is required"),
        ("has too many records", "62 privacy units"),
        ("lacks a column", "x3"),
    ],
)
def test_whatever_is_wrong_with_a_table_the_charge_stands_and_the_words_are_the_same(
    engine, ask, how, logged, caplog
):
    damage(table_of(engine), how)
    (report,) = engine.exchange(0, [ask])
    assert str(engine.parties).encode() not in report and b"sekret" not in report
    assert logged in caplog.text, "the party's own log has the details"
    engine.coordinator.receive(0, report)
    assert engine.coordinator.status()[1] == [(0, UNUSABLE)]
    for place in range(1, SMALL.parties):
        engine.coordinator.returned(place)
    receipt = engine.run()
    assert receipt["sums"][0]["outcome"]["unmasked"]["survivors"] == [1, 2, 3, 4, 5]
    (own,) = (engine.parties / "0" / "flower").glob("study-*/receipt.json")
    charged = json.loads(own.read_text())["statement"]["ledger"]["entries"]
    assert len(charged) == 1, "once, and never again"
