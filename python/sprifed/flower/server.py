"""The ServerApp: the coordinator, whose messages Flower carries."""

import json
import time
from pathlib import Path

from flwr.app import Context
from flwr.serverapp import Grid, ServerApp

from sprifed._core import CoordinatorMachine, files_of_receipt
from sprifed.flower.exchange import Exchange, Patience, Watch


def run_study(
    grid: Grid, folder: Path, patience: Patience, watch: Watch | None = None
) -> bytes:
    """Runs the study in `folder` to its end and returns its receipt.

    `folder` is what `sprifed study init` wrote: `invitation.json` and `coordinator.key`. What the coordinator
    is told is kept in `flower.journal` there; after a crash the same call goes on. `watch` is called
    before each exchange with the kind of phase and the sum it belongs to.
    """
    machine = CoordinatorMachine(
        (folder / "invitation.json").read_bytes(),
        (folder / "coordinator.key").read_text(),
        journal=folder / "flower.journal",
    )
    exchange = Exchange(grid, machine, patience, watch)
    receipt = exchange.run()
    for name, content in files_of_receipt(receipt):
        (folder / name).write_bytes(content)
    (folder / "exchanges.json").write_text(json.dumps([vars(e) for e in exchange.phases], indent=1))
    return receipt


def settings(context: Context) -> tuple[Path, Patience]:
    """What the run's configuration says."""
    run = context.run_config
    folder = run.get("rehearsal-folder") or run.get("study")
    if not folder:
        raise ValueError("the run configuration has no `study`; give the folder of `study init`")
    patience = Patience(
        enrolment=float(run.get("enrolment-seconds", 600)),
        phase=float(run.get("patience-seconds", 600)),
    )
    return Path(str(folder)), patience


app = ServerApp()


@app.main()
def main(grid: Grid, context: Context) -> None:
    """One run is one study."""
    folder, patience = settings(context)
    started = time.monotonic()
    receipt = json.loads(run_study(grid, folder, patience))["receipt"]
    seconds = time.monotonic() - started
    print(f"{receipt['ending']} after {seconds:.0f} s\n{receipt['guarantee']['statement']}")
    if receipt["fit"] is None:
        raise RuntimeError(f"the study ended without a model: {receipt['ending']}")
