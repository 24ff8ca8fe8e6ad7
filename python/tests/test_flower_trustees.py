"""Studies with three trustees: parties are nodes of Flower, and trustees are processes that connect to the ServerApp."""

import json
import time
from types import SimpleNamespace

import pytest

pytest.importorskip("flwr", reason="flwr==1.41.0 is not installed: no study over Flower is tested")

from flwr.supercore.task_identity import TaskIdentity  # noqa: E402
from test_flower_exchange import Nodes  # noqa: E402
from with_trustees import WithTrustees  # noqa: E402

from sprifed._core import CoordinatorMachine  # noqa: E402
from sprifed.flower import exchange  # noqa: E402
from sprifed.flower.exchange import Exchange, Patience  # noqa: E402
from sprifed.flower.server import run_study  # noqa: E402

PATIENCE = Patience(enrolment=300, phase=300, between_looks=0.01)
"""No phase of these tests ends because time is over, unless the test says so."""


@pytest.fixture(autouse=True)
def task():
    """What Flower's messages are numbered by."""
    TaskIdentity.task_id, TaskIdentity.run_id, TaskIdentity.node_id = 1, 1, 1


@pytest.fixture
def stage(cli, tmp_path):
    with WithTrustees(cli, tmp_path / "stage") as stage:
        yield stage


def nodes_of(stage: WithTrustees) -> Nodes:
    return Nodes({100 + place: stage.node(place) for place in range(stage.parties)})


def outcomes(receipt: dict) -> list[str]:
    return [next(iter(sum["outcome"])) for sum in receipt["sums"]]


def verified(stage: WithTrustees) -> dict:
    study = stage.study
    code, _, said = stage.cli("verify", study / "receipt.json", "--transcript", study / "transcript.json", "--json")
    assert code == 0, said
    return json.loads((study / "receipt.json").read_text())["receipt"]


def test_a_party_leaves_a_trustee_is_killed_and_a_run_fails_and_the_model_is_that_of_one_process(stage):
    nodes = nodes_of(stage)
    stage.start_trustees()
    seen = []

    def watch(phase: str, number: int | None) -> None:
        seen.append(phase)
        if (phase, number) == ("uploads", 1):
            # All three have drawn their noise for this attempt.
            stage.kill_trustee(1)
            stage.start_trustee(1)
        if (phase, number) == ("noise", 3):
            nodes.nodes.pop(102)
        if (phase, number) == ("running", 3):
            raise InterruptedError("the run fails")

    with pytest.raises(InterruptedError):
        run_study(nodes, stage.study, PATIENCE, watch, listen=stage.listen)
    assert not (stage.study / "receipt.json").exists()
    receipt = json.loads(run_study(nodes, stage.study, PATIENCE, listen=stage.listen))["receipt"]
    assert receipt["ending"] == "complete"
    assert verified(stage) == receipt
    assert receipt["fit"] == stage.fit_in_one_process()
    assert sorted(feature for feature, _ in receipt["fit"]["model"]["terms"]) == [3, 5]
    # The attempt of the trustee that was killed opened nothing, and was not charged again.
    assert outcomes(receipt)[:3] == ["opened", "unopened", "opened"], outcomes(receipt)
    last = receipt["sums"][-1]["outcome"]["opened"]
    assert last["clients"] == [0, 1], last
    for place in stage.trustees:
        assert stage.trustees[place].wait(timeout=60) == 0, stage.log_of(place).read_text()
        assert stage.status(stage.trustee(place))["erased"] is True
    for place in (0, 1):
        assert list((stage.party(place) / "flower").glob("study-*/receipt.json"))
    names = {row["phase"] for row in json.loads((stage.study / "exchanges.json").read_text())}
    assert names <= {"keys", "noise", "uploads", "running", "abandoning", "receipts"}


def test_a_trustee_that_is_lost_before_a_choice_ends_the_study_and_no_party_is_asked(
    cli, tmp_path, monkeypatch
):
    with WithTrustees(cli, tmp_path / "stage", seed=None) as stage:
        stage.start_trustees()
        machine = CoordinatorMachine(stage.study, listen=stage.listen)
        lost = stage.parties + 1
        is_lost = False
        ahead = 0.0

        class LateNodes(Nodes):
            def pull_messages(self, names: list[str]) -> list:
                """Parties enrol after all trustees, of whom one is lost in between."""
                nonlocal is_lost
                if not is_lost:
                    if any(seat >= stage.parties for seat in machine.waits_for()):
                        return []
                    stage.kill_trustee(1)
                    is_lost = True
                return super().pull_messages(names)

        def sleep(seconds: float) -> None:
            """Time passes quickly once the study waits only for the trustee that is lost."""
            nonlocal ahead
            if machine.waits_for() == [lost]:
                ahead += PATIENCE.phase
            time.sleep(seconds)

        clock = SimpleNamespace(monotonic=lambda: time.monotonic() + ahead, sleep=sleep, time_ns=time.time_ns)
        monkeypatch.setattr(exchange, "time", clock)
        phases = []
        nodes = LateNodes({100 + place: stage.node(place) for place in range(stage.parties)})
        study = Exchange(nodes, machine, PATIENCE, lambda *phase: phases.append(phase))
        receipt = json.loads(study.run())["receipt"]
        assert phases == [("keys", None), ("noise", 0), ("abandoning", 0), ("receipts", None)]
        assert receipt["ending"] == 'trustee "t1" did not answer' and receipt["fit"] is None
        assert [sum["outcome"] for sum in receipt["sums"]] == [{"abandoned": {"reason": receipt["ending"]}}]
        for place in range(stage.parties):
            status = stage.status(stage.party(place))
            assert (status["sums_answered"], status["epsilon_counted"], status["settled"]) == (0, 0.0, True)
        for place in (0, 2):
            assert stage.trustees[place].wait(timeout=60) == 1, stage.log_of(place).read_text()
            status = stage.status(stage.trustee(place))
            assert status["state"] == f"over: {receipt['ending']}"
            assert (status["opened"], status["erased"]) == (0, True)
