"""Carries a coordinator's requests to nodes and their answers back, one message to a node at a time.

Which party is at which node, what is sent next and how long is waited is decided by `sprifed._core.Exchange`; here are
Flower's messages and the clock.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from flwr.app import ConfigRecord, Message, MessageType, RecordDict
from flwr.serverapp import Grid

from sprifed._core import CoordinatorMachine
from sprifed._core import Exchange as Rules

RECORD = "sprifed"
LOG = logging.getLogger("flwr")
"""Flower's own log, which `flwr log` shows."""

Watch = Callable[[str, int | None], None]
"""Is told the kind of each phase and the sum it belongs to, before its orders are sent."""


@dataclass(frozen=True)
class Patience:
    """How many seconds are waited: for parties to appear, and for answers in each phase."""

    enrolment: float
    phase: float
    between_looks: float = 0.2
    between_censuses: float = 5.0
    before_asking_again: float = 60.0


@dataclass(frozen=True)
class PhaseRecord:
    """One phase as the coordinator saw it."""

    phase: str
    sum: int | None
    seconds: float
    messages: int
    answers: int
    bytes_out: int
    bytes_in: int


class Exchange:
    """The messages of one study, over a grid of Flower."""

    def __init__(
        self, grid: Grid, machine: CoordinatorMachine, patience: Patience, watch: Watch | None
    ) -> None:
        self.grid = grid
        self.machine = machine
        self.between_looks = patience.between_looks
        self.watch = watch or (lambda phase, number: None)
        self.phases: list[PhaseRecord] = []
        self._rules = Rules(
            machine,
            enrolment=patience.enrolment,
            phase=patience.phase,
            between_censuses=patience.between_censuses,
            before_asking_again=patience.before_asking_again,
        )
        self._numbers: dict[str, int] = {}

    def run(self) -> bytes:
        """Runs the study to its end and returns the receipt."""
        while self.machine.phase()[0] != "over":
            self._run_phase()
        receipt = self.machine.receipt()
        assert receipt is not None, "a study that is over has a receipt"
        return receipt

    def _run_phase(self) -> None:
        phase, number = self.machine.phase()
        self.watch(phase, number)
        started = time.monotonic()
        self._rules.begin_phase(started, list(self.grid.get_node_ids()))
        self._push()
        while self._rules.is_waiting(time.monotonic()):
            if self._pull():
                continue
            time.sleep(self.between_looks)
            if self._rules.is_census_due(time.monotonic()):
                self._rules.census(time.monotonic(), list(self.grid.get_node_ids()))
                self._push()
        counts = self._rules.end_phase(time.monotonic())
        self.phases.append(PhaseRecord(phase, number, time.monotonic() - started, *counts))
        self._log()

    def _push(self) -> None:
        """Sends what is to be sent."""
        messages, numbers = [], []
        for node, number, request in self._rules.messages(time.time_ns()):
            content = RecordDict({RECORD: ConfigRecord({"request": request})})
            messages.append(Message(content, node, MessageType.QUERY, ttl=self._rules.limit()))
            numbers.append(number)
        identifiers = self.grid.push_messages(messages) if messages else []
        for identifier, number in zip(identifiers, numbers, strict=True):
            if identifier:
                self._numbers[identifier] = number
            else:
                self._rules.not_sent(number)
        self._log()

    def _pull(self) -> bool:
        """Takes what has arrived; false if nothing has."""
        if not self._numbers:
            return False
        replies = list(self.grid.pull_messages(list(self._numbers)))
        for reply in replies:
            number = self._numbers.pop(reply.metadata.reply_to_message_id, None)
            if number is None:
                continue
            if reply.has_error():
                self._rules.fail(time.monotonic(), number, reply.error.reason)
            else:
                self._rules.take(number, _answer(reply))
        self._push()
        return bool(replies)

    def _log(self) -> None:
        for is_warning, line in self._rules.log():
            LOG.log(logging.WARNING if is_warning else logging.INFO, "%s", line)


def _answer(reply: Message) -> bytes:
    """The answer in a reply; nothing, which no party signs, if there is none."""
    try:
        answer = reply.content[RECORD]["answer"]
    except (KeyError, TypeError):
        return b""
    return answer if isinstance(answer, bytes) else b""
