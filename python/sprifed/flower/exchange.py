"""Carries a coordinator's orders to nodes and their reports back, one message to a node at a time."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from flwr.app import ConfigRecord, Message, MessageType, RecordDict
from flwr.serverapp import Grid

from sprifed._core import CoordinatorMachine, StudyError

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


@dataclass
class PhaseRecord:
    """One phase as the coordinator saw it."""

    phase: str
    sum: int | None
    seconds: float
    messages: int = 0
    answers: int = 0
    bytes_out: int = 0
    bytes_in: int = 0


@dataclass(frozen=True)
class Sent:
    """A message on its way. `party` is not known before the first answer from the node."""

    node: int
    number: int
    party: int | None


class Exchange:
    """The messages of one study.

    Which party is at a node is learnt from signed answers and from nothing else. A node that can not
    sign for a party of the roster is refused and left alone.
    """

    def __init__(
        self, grid: Grid, machine: CoordinatorMachine, patience: Patience, watch: Watch | None
    ) -> None:
        self.grid = grid
        self.machine = machine
        self.patience = patience
        self.watch = watch or (lambda phase, number: None)
        self.names = machine.parties
        self.node_of: dict[int, int] = {}
        self.strangers: dict[int, str] = {}
        self.phases: list[PhaseRecord] = []
        self._sent: dict[str, Sent] = {}
        self._returned: set[int] = set()
        self._number = 0
        self._present: set[int] = set()
        self._census_due = 0.0
        self._ask_again: dict[int, float] = {}
        self._is_enrolling = True
        self._n_declined = 0

    def run(self) -> bytes:
        """Runs the study to its end and returns the receipt."""
        while self.machine.phase()[0] != "over":
            self._run_phase()
            # Also a coordinator that goes on after a crash has to find its parties first.
            self._is_enrolling = False
            self.machine.close_phase()
        receipt = self.machine.receipt()
        assert receipt is not None, "a study that is over has a receipt"
        return receipt

    def _run_phase(self) -> None:
        phase, number = self.machine.phase()
        self.watch(phase, number)
        started = time.monotonic()
        record = PhaseRecord(phase, number, 0.0)
        self.phases.append(record)
        for party in self._returned:
            self.machine.returned(party)
        self._returned.clear()
        self._take_census()
        self._send(self._orders())
        self._introduce()
        while self.machine.waits_for() and time.monotonic() < started + self._limit():
            if self._look():
                continue
            if not self._is_enrolling and not self._may_still_come():
                break
            time.sleep(self.patience.between_looks)
            if time.monotonic() > self._census_due:
                self._take_census()
                self._introduce()
        missing = self.machine.waits_for()
        self._returned.update(missing)
        record.seconds = time.monotonic() - started
        about = phase if number is None else f"{phase} of sum {number}"
        absent = f"; without {', '.join(self.names[p] for p in missing)}" if missing else ""
        LOG.info("%s: %d answers in %.1f s%s", about, record.answers, record.seconds, absent)
        self._note_declined()

    def _limit(self) -> float:
        return self.patience.enrolment if self._is_enrolling else self.patience.phase

    def _may_still_come(self) -> bool:
        """Whether an answer that the phase lacks may still come from a node that is there."""
        missing = set(self.machine.waits_for())
        on_their_way = [sent for sent in self._sent.values() if sent.node in self._present]
        return any(sent.party is None or sent.party in missing for sent in on_their_way)

    def _take_census(self) -> None:
        self._present = set(self.grid.get_node_ids())
        self._census_due = time.monotonic() + self.patience.between_censuses

    def _introduce(self) -> None:
        """Asks nodes from which no answer has come who they are."""
        asked = {sent.node for sent in self._sent.values()}
        now = time.monotonic()
        failed = {node for node, due in self._ask_again.items() if now < due}
        known = set(self.node_of.values()) | set(self.strangers) | asked | failed
        self._push([(None, node, []) for node in sorted(self._present - known)])

    def _orders(self) -> dict[int, list[bytes]]:
        """Everything the machine wants said, by party."""
        orders: dict[int, list[bytes]] = {}
        while (effect := self.machine.poll()) is not None:
            kind, party, content = effect
            if kind == "send":
                orders.setdefault(party, []).append(content)
        return orders

    def _send(self, orders: dict[int, list[bytes]]) -> None:
        batches = []
        for party, batch in orders.items():
            node = self.node_of.get(party)
            if node in self._present:
                batches.append((party, node, batch))
            else:
                # Told again when it is back.
                self._returned.add(party)
        self._push(batches)

    def _push(self, batches: list[tuple[int | None, int, list[bytes]]]) -> None:
        if not batches:
            return
        messages, sent = [], []
        for party, node, orders in batches:
            # Nodes refuse numbers that do not grow, also over a restart of the coordinator.
            self._number = max(self._number + 1, time.time_ns())
            request = self.machine.request(node, self._number, orders, party=party)
            record = ConfigRecord({"request": request})
            content = RecordDict({RECORD: record})
            # What is not waited for any more must not be asked: it would be charged.
            messages.append(Message(content, node, MessageType.QUERY, ttl=self._limit()))
            sent.append(Sent(node, self._number, party))
            self.phases[-1].bytes_out += len(request)
        self.phases[-1].messages += len(messages)
        for identifier, about in zip(self.grid.push_messages(messages), sent, strict=True):
            if identifier:
                self._sent[identifier] = about

    def _look(self) -> bool:
        """Takes what has arrived; false if nothing has."""
        if not self._sent:
            return False
        replies = list(self.grid.pull_messages(list(self._sent)))
        back: set[int] = set()
        for reply in replies:
            sent = self._sent.pop(reply.metadata.reply_to_message_id, None)
            if sent is None:
                continue
            if reply.has_error():
                self._note_failure(reply, sent)
            else:
                back.update(self._take(reply, sent))
        if back:
            for party in back:
                self.machine.returned(party)
            self._send(self._orders())
        return bool(replies)

    def _take(self, reply: Message, sent: Sent) -> set[int]:
        """Hands an answer to the machine; the party that is new at its node, if it is."""
        phase = self.phases[-1]
        try:
            answer = reply.content[RECORD]["answer"]
            phase.bytes_in += len(answer)
            party, reports, refusals = self.machine.open_answer(sent.node, sent.number, answer)
        except (KeyError, TypeError, ValueError) as error:
            self._refuse(sent.node, str(error))
            return set()
        at = self.node_of.get(party)
        if at is not None and at != sent.node and at in self._present:
            self._refuse(sent.node, f"{self.names[party]} is at node {at} already")
            return set()
        phase.answers += 1
        for refusal in refusals:
            LOG.info("%s refused an order: %s", self.names[party], refusal)
        for report in reports:
            try:
                self.machine.receive(party, report)
            except StudyError as error:
                LOG.info("%s", error)
        if at == sent.node:
            return set()
        LOG.info("%s is at node %d", self.names[party], sent.node)
        self.node_of[party] = sent.node
        return {party}

    def _note_declined(self) -> None:
        """Says which parties have declined since this was last called, and why."""
        declined = self.machine.status()[1]
        for party, reason in declined[self._n_declined :]:
            LOG.info("%s declined: %s", self.names[party], reason)
        self._n_declined = len(declined)

    def _note_failure(self, reply: Message, sent: Sent) -> None:
        LOG.warning("node %d failed: %s", sent.node, reply.error.reason)
        if sent.party is None:
            self._ask_again[sent.node] = time.monotonic() + self.patience.before_asking_again
        else:
            self._returned.add(sent.party)

    def _refuse(self, node: int, why: str) -> None:
        LOG.warning("node %d is refused: %s", node, why)
        if node not in self.node_of.values():
            self.strangers[node] = why
