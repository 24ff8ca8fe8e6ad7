"""A study whose messages are carried by hand: no Flower, no network."""

import json
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "flower_study"
sys.path.insert(0, str(EXAMPLE))

from make_rehearsal import Rehearsal  # noqa: E402

from sprifed._core import CoordinatorMachine, PartyMachine, StudyError, rehearse  # noqa: E402

SMALL = Rehearsal(parties=6, records=60, features=12, quorum=4, colluders=1)
FEW_SUMS = {"procedure": "sieve", "sparsity": 1, "intercept": "absent", "epsilon": 50.0}
PHASES = ["upload", "confirm", "unmask"]


class Engine:
    """Carries messages by hand; a party is rebuilt from its sealed state for each of them."""

    def __init__(self, folder: Path, rehearsal: Rehearsal = SMALL, parties: Path | None = None):
        self.folder, self.rehearsal = folder, rehearsal
        self.parties = (parties or folder) / "parties"
        self.number = 0
        self.refusals: list[str] = []
        self.coordinator = self.open_coordinator()

    def open_coordinator(self) -> CoordinatorMachine:
        return CoordinatorMachine(self.folder)

    def restart_coordinator(self) -> None:
        """As after a kill: what it had in memory is gone, and its lock with it."""
        self.coordinator = None
        self.coordinator = self.open_coordinator()

    def party(self, place: int, **options) -> PartyMachine:
        home = self.parties / str(place)
        if self.rehearsal.noise == "simulated":
            options.setdefault("simulate_noise", self.rehearsal.seed)
        return PartyMachine(home, home / "flower", home / "data.csv", **options)

    def request(self, place: int, orders: list[bytes], known: bool = True) -> bytes:
        self.number += 1
        party = place if known else None
        return self.coordinator.request(100 + place, self.number, orders, party=party)

    def exchange(self, place: int, orders: list[bytes], known: bool = True) -> list[bytes]:
        reports, refusals = self.tell(place, orders, known)
        assert refusals == []
        return reports

    def tell(
        self, place: int, orders: list[bytes], known: bool = True
    ) -> tuple[list[bytes], list[str]]:
        """The reports of a party that is told these orders, and why it refused some of them."""
        answer = self.party(place).answer(self.request(place, orders, known), 100 + place)
        party, reports, refusals = self.coordinator.open_answer(100 + place, self.number, answer)
        assert party == place
        return reports, refusals

    def orders(self) -> dict[int, list[bytes]]:
        return self.coordinator.orders()

    def run_phase(self, departures=()) -> None:
        phase, number = self.coordinator.phase()
        if phase == "keys":
            orders = {place: [] for place in range(self.rehearsal.parties)}
        else:
            orders = self.orders()
        for place, batch in orders.items():
            if not is_gone(place, phase, number, departures):
                for report in self.exchange(place, batch, known=phase != "keys"):
                    self.hand_over(place, report)
        self.coordinator.close_phase()

    def hand_over(self, place: int, report: bytes) -> None:
        try:
            self.coordinator.receive(place, report)
        except StudyError as refused:
            self.refusals.append(str(refused))

    def run(self, departures=()) -> dict:
        while self.coordinator.phase()[0] != "over":
            self.run_phase(departures)
        return json.loads(self.coordinator.receipt())["receipt"]

    def in_one_process(self, departures=()) -> dict:
        tables = [self.parties / str(p) / "data.csv" for p in range(self.rehearsal.parties)]
        fit = rehearse(
            self.folder / "invitation.json", tables, self.rehearsal.seed, list(departures)
        )
        return json.loads(fit)


def is_gone(place, phase, number, departures) -> bool:
    if number is None:
        return phase == "receipts" and any(place == party for party, _, _ in departures)
    now = (number, PHASES.index(phase))
    return any(place == p and now >= (s, PHASES.index(f)) for p, s, f in departures)
