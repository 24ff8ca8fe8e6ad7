"""The ServerApp: the coordinator, whose messages Flower carries."""

import json
import time
from pathlib import Path

from flwr.app import Context
from flwr.serverapp import Grid, ServerApp

from sprifed._core import CoordinatorMachine
from sprifed.flower.exchange import Exchange, Patience, Watch


LISTEN = "0.0.0.0:8443"
"""Where the trustees of a study connect, as for `sprifed coordinate`."""

FAREWELL = 30.0
"""The longest time in seconds that trustees are given to fetch the receipt."""


def run_study(
    grid: Grid,
    folder: Path,
    patience: Patience,
    watch: Watch | None = None,
    *,
    listen: str = LISTEN,
) -> bytes:
    """Runs the study in `folder` to its end and returns its receipt.

    `folder` is what `sprifed study init` wrote. What the coordinator is told is kept in `state.sqlite` there;
    after a crash the same call goes on. The trustees of a study that has them connect to `listen`. `watch` is
    called before each exchange with the kind of phase and the sum it belongs to.
    """
    machine = CoordinatorMachine(folder, listen=listen)
    exchange = Exchange(grid, machine, patience, watch)
    receipt = exchange.run()
    for name, content in machine.files():
        (folder / name).write_bytes(content)
    machine.farewell(FAREWELL)
    (folder / "exchanges.json").write_text(json.dumps([vars(e) for e in exchange.phases], indent=1))
    return receipt


def settings(context: Context) -> tuple[Path, Patience, str]:
    """What the run's configuration says."""
    run = context.run_config
    folder = run.get("rehearsal-folder") or run.get("study")
    if not folder:
        raise ValueError("the run configuration has no `study`; give the folder of `study init`")
    patience = Patience(
        enrolment=float(run.get("enrolment-seconds", 600)),
        phase=float(run.get("patience-seconds", 600)),
    )
    return Path(str(folder)), patience, str(run.get("listen", LISTEN))


app = ServerApp()


@app.main()
def main(grid: Grid, context: Context) -> None:
    """One run is one study."""
    folder, patience, listen = settings(context)
    started = time.monotonic()
    receipt = json.loads(run_study(grid, folder, patience, listen=listen))["receipt"]
    seconds = time.monotonic() - started
    print(f"{receipt['ending']} after {seconds:.0f} s\n{receipt['guarantee']['statement']}")
    if receipt["fit"] is None:
        raise RuntimeError(f"the study ended without a model: {receipt['ending']}")
