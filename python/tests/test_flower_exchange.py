"""Whole studies through the ServerApp's and the ClientApp's own code, with a grid that is a list of nodes."""

import json
import logging

import pytest

pytest.importorskip("flwr", reason="flwr==1.41.0 is not installed: no study over Flower is tested")

from by_hand import FEW_SUMS  # noqa: E402
from flwr.app import Context, Message, RecordDict  # noqa: E402
from flwr.supercore.task_identity import TaskIdentity  # noqa: E402
from make_rehearsal import Rehearsal  # noqa: E402

from sprifed._core import rehearse  # noqa: E402
from sprifed.flower.client import FAILED, app  # noqa: E402
from sprifed.flower.exchange import Patience  # noqa: E402
from sprifed.flower.server import run_study  # noqa: E402

SMALL = Rehearsal(parties=6, records=60, features=12, quorum=4, **FEW_SUMS)
PATIENCE = Patience(enrolment=5, phase=5, between_looks=0.01)


class Nodes:
    """A grid whose nodes, with these configurations, answer when they are told."""

    def __init__(self, nodes: dict[int, dict]) -> None:
        self.replies: dict[str, Message] = {}
        self.sent = 0
        self.nodes = nodes

    def get_node_ids(self) -> list[int]:
        return list(self.nodes)

    def push_messages(self, messages: list[Message]) -> list[str]:
        names = []
        for message in messages:
            self.sent += 1
            name = str(self.sent)
            message.metadata.__dict__["_message_id"] = name
            node = message.metadata.dst_node_id
            context = Context(1, node, self.nodes[node], RecordDict(), {})
            self.replies[name] = app(message, context)
            names.append(name)
        return names

    def pull_messages(self, names: list[str]) -> list[Message]:
        return [self.replies.pop(name) for name in names if name in self.replies]


def nodes_of(study, changes: dict[int, dict]) -> Nodes:
    """Node 100 + i is party i; some have other configurations."""
    homes = [study / "parties" / str(place) for place in range(SMALL.parties)]
    nodes = {
        100 + place: {
            "identity": str(home),
            "data": str(home / "data.csv"),
            "simulate-noise": SMALL.seed,
            **changes.get(place, {}),
        }
        for place, home in enumerate(homes)
    }
    return Nodes(nodes)


@pytest.fixture
def run(tmp_path, caplog):
    """Runs a study whose nodes are changed so, and returns its receipt and the coordinator's log."""
    TaskIdentity.task_id, TaskIdentity.run_id, TaskIdentity.node_id = 1, 1, 1
    study = SMALL.write(tmp_path / "study")

    def run(changes=None):
        with caplog.at_level(logging.INFO, logger="flwr"):
            receipt = json.loads(run_study(nodes_of(study, changes or {}), study, PATIENCE))["receipt"]
        lines = [r.getMessage() for r in caplog.records if r.name == "flwr"]
        return receipt, "\n".join(lines)

    run.study = study
    return run


def test_a_whole_study_equals_the_one_in_one_process(run):
    receipt, _ = run()
    fit = rehearse(run.study / "invitation.json", SMALL.tables(run.study), SMALL.seed)
    assert receipt["fit"] == json.loads(fit)


def test_a_party_that_declines_is_in_the_log_once_with_its_reason(run):
    table = run.study / "parties" / "2" / "data.csv"
    table.write_text(table.read_text().replace("x3,", "sekret,", 1))
    receipt, log = run()
    assert receipt["sums"][0]["outcome"]["unmasked"]["survivors"] == [0, 1, 3, 4, 5]
    assert log.count("party-2 declined: its table cannot be used in this study") == 1
    assert "sekret" not in log


def test_a_node_that_fails_is_in_the_log_with_fixed_words_and_the_others_go_on(run):
    # Without its identity folder it is not known which party is at the node.
    receipt, log = run({3: {"identity": "/srv/sekret"}})
    assert receipt["sums"][0]["outcome"]["unmasked"]["survivors"] == [0, 1, 2, 4, 5]
    assert f"node 103 failed: {FAILED}" in log and "sekret" not in log
