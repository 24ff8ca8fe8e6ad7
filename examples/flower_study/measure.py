"""Measures what the way through Flower costs against the same study in one process.

    python measure.py --parties 20 --features 10000

Prints a table of exchanges and one of totals. NOT PRIVATE: it is a rehearsal of invented records.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path

from loopback import APP, Loopback
from make_rehearsal import Rehearsal

from sprifed._core import rehearse


def main() -> None:
    parser = argparse.ArgumentParser(description="Measures a study over Flower on this machine.")
    parser.add_argument("--parties", type=int, default=20)
    parser.add_argument("--records", type=int, default=50, help="of each party")
    parser.add_argument("--features", type=int, default=10_000)
    parser.add_argument("--procedure", default="sieve", help="sieve or grad; sieve has fewer sums")
    parser.add_argument("--simulation", action="store_true", help="Flower's simulation engine")
    given = parser.parse_args()
    rehearsal = Rehearsal(
        parties=given.parties,
        records=given.records,
        features=given.features,
        sparsity=1,
        intercept="absent",
        epsilon=50.0,
        procedure=given.procedure,
        quorum=max(given.parties * 3 // 4, (given.parties + 1) // 2 + 1),
    )
    with tempfile.TemporaryDirectory() as home:
        measure(rehearsal, Path(home), rehearsal.parties if given.simulation else 0)


def measure(rehearsal: Rehearsal, home: Path, simulated: int) -> None:
    """Runs the study both ways and prints both."""
    study = rehearsal.write(home / "study")
    started = time.monotonic()
    fit = rehearse(study / "invitation.json", rehearsal.tables(study), rehearsal.seed)
    in_process = time.monotonic() - started
    configuration = {"enrolment-seconds": 1800, "patience-seconds": 1800}
    with Loopback(home / "fleet", simulated=simulated) as fleet:
        started = time.monotonic()
        if simulated:
            configuration |= {"rehearsal-folder": str(study), "rehearsal-seed": rehearsal.seed}
        else:
            configuration |= {"study": str(study)}
            start_nodes(fleet, rehearsal, study)
        log = fleet.run(APP, configuration, seconds=7200)
        over_flower = time.monotonic() - started
    if not (study / "receipt.json").exists():
        raise SystemExit(f"the study did not end:\n{log}")
    receipt = json.loads((study / "receipt.json").read_text())["receipt"]
    assert receipt["fit"] == json.loads(fit), "both ways must give the same model"
    show(json.loads((study / "exchanges.json").read_text()), in_process, over_flower)


def start_nodes(fleet: Loopback, rehearsal: Rehearsal, study: Path) -> None:
    """A SuperNode for each party."""
    for place in range(rehearsal.parties):
        party = study / "parties" / str(place)
        names = {"identity": str(party), "data": str(party / "data.csv")}
        fleet.start_node(f"party-{place}", {**names, "simulate-noise": rehearsal.seed})


def show(exchanges: list[dict], in_process: float, over_flower: float) -> None:
    """Both tables."""
    print("| exchange | seconds | bytes out | bytes in |")
    print("|---|---|---|---|")
    for e in exchanges:
        about = e["phase"] if e["sum"] is None else f"{e['phase']} of sum {e['sum']}"
        print(f"| {about} | {e['seconds']:.1f} | {e['bytes_out']:,} | {e['bytes_in']:,} |")
    inside = sum(e["seconds"] for e in exchanges)
    print()
    print("| way | seconds |")
    print("|---|---|")
    print(f"| in one process, tables read, all parties | {in_process:.2f} |")
    print(f"| over Flower, from the start of the nodes to the receipt | {over_flower:.1f} |")
    print(f"| of that in exchanges | {inside:.1f} |")


if __name__ == "__main__":
    main()
