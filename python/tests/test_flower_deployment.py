"""Whole studies over a real Flower deployment on this machine: SuperLink, SuperNodes, TLS.

Two studies always run. One has three trustees and is undisturbed. The other is of secure sums: a node was not invited, the
first run fails, and in the second two nodes are killed. Each exchange starts a process at each node, so Flower carries the
first and last sums of the other study; the test carries those between. SPRIFED_SLOW=1 adds
studies that Flower carries from end to end, with its own waits: one with killed nodes, an undisturbed one, one in
the simulation engine, and one of 20 SuperNodes that authenticate themselves.
"""

import json
import re
import shutil
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("flwr", reason="flwr==1.41.0 is not installed: no study over Flower is tested")

from by_hand import EXAMPLE, FEW_SUMS, Engine  # noqa: E402
from loopback import Loopback  # noqa: E402
from make_rehearsal import Rehearsal, write_private  # noqa: E402
from with_trustees import WithTrustees  # noqa: E402

from sprifed._core import rehearse, simulated_identity  # noqa: E402

# One at a time: they share the cores.
pytestmark = pytest.mark.xdist_group("deployment")

# Twelve sums, forty exchanges: no procedure has fewer. Two may leave, and one of the others may collude with the coordinator.
SMALL = Rehearsal(parties=6, records=60, features=12, quorum=4, **FEW_SUMS)
HURRIED = (sys.executable, str(Path(__file__).with_name("hurried_supernode.py")))

SERVER_WITH_ACCIDENTS = '''
import json
import os
import signal

from flwr.serverapp import ServerApp

from sprifed.flower.server import run_study, settings

app = ServerApp()


@app.main()
def main(grid, context):
    folder, patience, listen = settings(context)
    accidents = json.loads((folder / "accidents.json").read_text())

    def watch(phase, number):
        accident = accidents.pop(f"{phase} {number}", None)
        if accident == "the run fails":
            raise RuntimeError(accident)
        if accident is not None:
            os.killpg(accident, signal.SIGKILL)

    run_study(grid, folder, patience, watch, listen=listen)
'''


def start_parties(fleet: Loopback, rehearsal: Rehearsal, folder: Path) -> None:
    for place in range(rehearsal.parties):
        home = folder / "parties" / str(place)
        configuration = {
            "identity": str(home),
            "data": str(home / "data.csv"),
            "simulate-noise": rehearsal.seed,
        }
        fleet.start_node(f"party-{place}", configuration)


def start_stranger(fleet: Loopback, folder: Path) -> str:
    """A SuperNode with files of its own, all in order, that the study does not invite."""
    shutil.copytree(folder / "parties" / "0", folder / "stranger")
    secret, public = simulated_identity(4321)
    write_private(folder / "stranger" / "identity.key", secret)
    home = folder / "stranger"
    configuration = {"identity": str(home), "data": str(home / "data.csv"), "simulate-noise": 1}
    fleet.start_node("stranger", configuration)
    return public


def in_one_process(rehearsal: Rehearsal, study: Path, tables: list[Path], departures=()) -> dict:
    invitation = study / "invitation.json"
    return json.loads(rehearse(invitation, tables, rehearsal.seed, list(departures)))


def receipt_of(study: Path, log: str) -> dict:
    file = study / "receipt.json"
    assert file.exists(), f"no receipt; the log says\n{log}"
    return json.loads(file.read_text())["receipt"]


def waits(study: Path) -> dict:
    """No live party is dropped: only what the SuperLink says is gone is not waited for."""
    return {"study": str(study), "enrolment-seconds": 900, "patience-seconds": 600}


def run_with(fleet: Loopback, study: Path, accidents: dict) -> str:
    """Runs the study with what happens before some of its phases; the log of the run."""
    app = fleet.folder / "app-with-accidents"
    if not app.exists():
        shutil.copytree(EXAMPLE, app)
        (app / "flower_study" / "server_app.py").write_text(SERVER_WITH_ACCIDENTS)
    (study / "accidents.json").write_text(json.dumps(accidents))
    return fleet.run(app, waits(study), seconds=1800)


def carry_by_hand(study: Path, last: tuple[str, int]) -> None:
    """Goes on from the state of the coordinator and the states of the parties, up to this phase."""
    engine = Engine(study, SMALL)
    # As over Flower, numbers of requests grow with the clock.
    engine.number = time.time_ns()
    for place in range(SMALL.parties):
        engine.coordinator.returned(place)
    while engine.coordinator.phase() != last:
        engine.run_phase()


def assert_two_were_killed_in(killed_in: int, study: Path, log: str) -> None:
    """Party 1 before its upload to this sum, party 3 before its unmasking."""
    receipt = receipt_of(study, log)
    departures = [(1, killed_in, "upload"), (3, killed_in, "unmask")]
    assert receipt["fit"] == in_one_process(SMALL, study, SMALL.tables(study), departures)
    survivors = [sum["outcome"]["unmasked"]["survivors"] for sum in receipt["sums"]]
    before, after = killed_in, len(survivors) - killed_in - 1
    assert after > 0
    assert survivors == [[0, 1, 2, 3, 4, 5]] * before + [[0, 2, 3, 4, 5]] + [[0, 2, 4, 5]] * after
    signatures = json.loads((study / "receipt.json").read_text())["parties"]
    assert [party for party, _ in signatures] == [0, 2, 4, 5]
    for place in (0, 2, 4, 5):
        assert list((study / "parties" / str(place) / "flower").glob("study-*/receipt.json"))


def assert_refused(stranger: str, study: Path, log: str) -> None:
    assert f"is a stranger: the study does not invite {stranger}" in log
    assert not list((study / "stranger" / "flower").glob("study-*/party.sealed"))


def test_after_a_failed_run_another_goes_on_and_nodes_killed_in_it_leave_the_right_result(tmp_path):
    study = SMALL.write(tmp_path / "study")
    with Loopback(tmp_path / "fleet", node_command=HURRIED) as fleet:
        start_parties(fleet, SMALL, study)
        stranger = start_stranger(fleet, study)
        log = run_with(fleet, study, {"confirm 0": "the run fails"})
        assert "upload of sum 0: 6 answers" in log and "confirm of sum 0" not in log, log
        assert not (study / "receipt.json").exists()
        assert_refused(stranger, study, log)
        # The next run has to find all six parties again before two of them may leave.
        carry_by_hand(study, ("unmask", 9))
        deaths = {
            "upload 10": fleet.nodes["party-1"].pid,
            "unmask 10": fleet.nodes["party-3"].pid,
        }
        log = run_with(fleet, study, deaths)
    assert re.search(r"unmask of sum 9: \d+ answers in [\d.]+ s$", log, re.MULTILINE), log
    assert_two_were_killed_in(10, study, log)
    assert_refused(stranger, study, log)


def test_parties_at_nodes_and_trustees_beside_flower_equal_one_process(cli, tmp_path):
    with (
        WithTrustees(cli, tmp_path / "stage", sparsity=1) as stage,
        Loopback(tmp_path / "fleet", node_command=HURRIED) as fleet,
    ):
        for place in range(stage.parties):
            fleet.start_node(f"party-{place}", stage.node(place))
        stage.start_trustees()
        log = fleet.run(EXAMPLE, {**waits(stage.study), "listen": stage.listen}, seconds=1800)
        receipt = receipt_of(stage.study, log)
        for place, trustee in stage.trustees.items():
            assert trustee.wait(timeout=60) == 0, stage.log_of(place).read_text()
    assert receipt["fit"] == stage.fit_in_one_process()
    assert [feature for feature, _ in receipt["fit"]["model"]["terms"]] == [3]
    assert {tuple(sum["outcome"]["opened"]["clients"]) for sum in receipt["sums"]} == {(0, 1, 2)}
    signed = json.loads((stage.study / "receipt.json").read_text())
    assert [place for place, _ in signed["parties"]] == [0, 1, 2]
    assert [place for place, _ in signed["trustees"]] == [0, 1, 2]


@pytest.mark.slow
def test_nodes_killed_before_upload_and_unmasking_leave_the_right_result_and_a_stranger_is_refused(
    tmp_path,
):
    study = SMALL.write(tmp_path / "study")
    with Loopback(tmp_path / "fleet") as fleet:
        start_parties(fleet, SMALL, study)
        stranger = start_stranger(fleet, study)
        deaths = {
            "upload 0": fleet.nodes["party-1"].pid,
            "unmask 0": fleet.nodes["party-3"].pid,
        }
        log = run_with(fleet, study, deaths)
    assert_two_were_killed_in(0, study, log)
    assert_refused(stranger, study, log)


@pytest.mark.slow
def test_an_undisturbed_study_equals_the_one_in_one_process(tmp_path):
    study = SMALL.write(tmp_path / "study")
    with Loopback(tmp_path / "fleet") as fleet:
        start_parties(fleet, SMALL, study)
        log = fleet.run(EXAMPLE, waits(study), seconds=1800)
    receipt = receipt_of(study, log)
    assert receipt["fit"] == in_one_process(SMALL, study, SMALL.tables(study))
    assert [feature for feature, _ in receipt["fit"]["model"]["terms"]] == [4]
    survivors = [sum["outcome"]["unmasked"]["survivors"] for sum in receipt["sums"]]
    assert survivors == [[0, 1, 2, 3, 4, 5]] * len(survivors)
    signatures = json.loads((study / "receipt.json").read_text())["parties"]
    assert [party for party, _ in signatures] == [0, 1, 2, 3, 4, 5]


def test_a_client_process_imports_little():
    """Each message starts a process, so that what it imports is paid for each time."""
    heavy = ["sklearn", "scipy", "pandas", "matplotlib", "sprifed.flower.server"]
    program = (
        "import sys, sprifed.flower.client\n"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ray") is None, reason="flwr[simulation] is not installed")
def test_the_same_app_runs_in_the_simulation_engine(tmp_path):
    study = SMALL.write(tmp_path / "study")
    waits = {"enrolment-seconds": 900, "patience-seconds": 600}
    folder = {"rehearsal-folder": str(study), "rehearsal-seed": SMALL.seed}
    with Loopback(tmp_path / "fleet", simulated=SMALL.parties) as fleet:
        log = fleet.run(EXAMPLE, {**folder, **waits}, seconds=1800)
    receipt = receipt_of(study, log)
    assert receipt["fit"] == in_one_process(SMALL, study, SMALL.tables(study))


@pytest.mark.slow
def test_twenty_authenticated_nodes_equal_one_process(tmp_path):
    large = Rehearsal(parties=20, records=30, features=12, quorum=15, **FEW_SUMS)
    study = large.write(tmp_path / "study")
    with Loopback(tmp_path / "fleet", authenticate=True) as fleet:
        start_parties(fleet, large, study)
        log = fleet.run(EXAMPLE, {**waits(study), "enrolment-seconds": 900}, seconds=3600)
    receipt = receipt_of(study, log)
    assert receipt["fit"] == in_one_process(large, study, large.tables(study))
    survivors = [sum["outcome"]["unmasked"]["survivors"] for sum in receipt["sums"]]
    assert survivors == [list(range(20))] * len(survivors)
