"""Whole studies over a real Flower deployment on this machine: SuperLink, SuperNodes, TLS.

One study always runs, in which two nodes are killed and one was not invited. SPRIFED_SLOW=1 adds an undisturbed study,
the simulation engine and 20 SuperNodes that authenticate themselves.
"""

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("flwr", reason="flwr==1.41.0 is not installed: no study over Flower is tested")

EXAMPLE = Path(__file__).parents[2] / "examples" / "flower_study"
sys.path.insert(0, str(EXAMPLE))

from loopback import Loopback  # noqa: E402
from make_rehearsal import Rehearsal, write_private  # noqa: E402

from sprifed._core import rehearse, simulated_identity  # noqa: E402

# Each exchange takes some seconds here, so the procedure with the fewest sums: twelve of them, forty exchanges.
FEW_SUMS = {"procedure": "sieve", "sparsity": 1, "intercept": "absent", "epsilon": 50.0}
# Two may leave, and one of the others may collude with the coordinator.
SMALL = Rehearsal(parties=6, records=60, features=12, quorum=4, **FEW_SUMS)
only_slow = pytest.mark.skipif(
    os.environ.get("SPRIFED_SLOW") != "1", reason="set SPRIFED_SLOW=1 for this study"
)

SERVER_THAT_KILLS = '''
import json
import os
import signal

from flwr.serverapp import ServerApp

from sprifed.flower.server import run_study, settings

app = ServerApp()


@app.main()
def main(grid, context):
    folder, patience = settings(context)
    deaths = json.loads((folder / "deaths.json").read_text())

    def watch(phase, number):
        group = deaths.pop(f"{phase} {number}", None)
        if group is not None:
            os.killpg(group, signal.SIGKILL)

    run_study(grid, folder, patience, watch)
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


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Six parties and a stranger, all at work."""
    folder = tmp_path_factory.mktemp("flower")
    SMALL.write(folder / "first")
    with Loopback(folder / "fleet") as fleet:
        start_parties(fleet, SMALL, folder / "first")
        stranger = start_stranger(fleet, folder / "first")
        yield fleet, folder, stranger


def test_nodes_killed_before_upload_and_unmasking_leave_the_right_result_and_a_stranger_is_refused(
    world,
):
    fleet, folder, stranger = world
    study = folder / "first"
    app = folder / "app-that-kills"
    shutil.copytree(EXAMPLE, app)
    (app / "flower_study" / "server_app.py").write_text(SERVER_THAT_KILLS)
    deaths = {
        "upload 0": fleet.nodes["party-1"].pid,
        "unmask 0": fleet.nodes["party-3"].pid,
    }
    (study / "deaths.json").write_text(json.dumps(deaths))
    log = fleet.run(app, waits(study), seconds=1800)
    receipt = receipt_of(study, log)
    departures = [(1, 0, "upload"), (3, 0, "unmask")]
    assert receipt["fit"] == in_one_process(SMALL, study, SMALL.tables(study), departures)
    assert receipt["sums"][0]["outcome"]["unmasked"]["survivors"] == [0, 2, 3, 4, 5]
    assert receipt["sums"][1]["outcome"]["unmasked"]["survivors"] == [0, 2, 4, 5]
    signatures = json.loads((study / "receipt.json").read_text())["parties"]
    assert [party for party, _ in signatures] == [0, 2, 4, 5]
    assert f"is a stranger: the study does not invite {stranger}" in log
    for place in (0, 2, 4, 5):
        assert list((study / "parties" / str(place) / "flower").glob("study-*/receipt.json"))
    assert not list((study / "stranger" / "flower").glob("study-*/party.sealed"))


@only_slow
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


@only_slow
@pytest.mark.skipif(find_spec("ray") is None, reason="flwr[simulation] is not installed")
def test_the_same_app_runs_in_the_simulation_engine(tmp_path):
    study = SMALL.write(tmp_path / "study")
    waits = {"enrolment-seconds": 900, "patience-seconds": 600}
    folder = {"rehearsal-folder": str(study), "rehearsal-seed": SMALL.seed}
    with Loopback(tmp_path / "fleet", simulated=SMALL.parties) as fleet:
        log = fleet.run(EXAMPLE, {**folder, **waits}, seconds=1800)
    receipt = receipt_of(study, log)
    assert receipt["fit"] == in_one_process(SMALL, study, SMALL.tables(study))


@only_slow
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
