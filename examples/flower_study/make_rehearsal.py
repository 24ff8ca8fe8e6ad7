"""Makes a study of made-up parties and records, to try everything without real data.

NOT PRIVATE: keys and noise come from a seed that anyone can repeat.

    python make_rehearsal.py rehearsal --parties 5

The folder is what `sprifed study init` writes, with the identity and the table of each party beside it.
"""

import argparse
import csv
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sprifed._core import draft_invitation, simulated_identity

POLICY = """coordinators = ["{coordinator}"]
purposes = ["{purpose}"]
columns = ["x*", "y"]
expires = "2999-12-31"
largest-epsilon-per-study = {epsilon}
largest-epsilon-in-total = {total}
largest-delta = 1e-5
largest-delta-in-total = 1e-4
smallest-quorum = 2
largest-colluder-share = 0.0
procedures = ["{procedure}"]
units = ["record"]
neighbours = ["zero-out"]
trustees = []
largest-trustee-coalition = 1
allow-simulated-noise = true

[parties]
{parties}
"""

PURPOSE = "trying out"

SCHEMA = """[response]
name = "y"
lower = -6
upper = 6

[features]
lower = -2
upper = 2
center = 0
scale = 1
"""


@dataclass(frozen=True)
class Rehearsal:
    """How large the invented study is."""

    parties: int = 5
    records: int = 200
    features: int = 30
    sparsity: int = 2
    quorum: int = 4
    colluders: int = 1
    epsilon: float = 8.0
    procedure: str = "sieve"
    intercept: str = "estimated"
    seed: int = 1
    noise: str = "simulated"

    def write(self, folder: Path) -> Path:
        """Writes the study and its parties into `folder`."""
        _, public = simulated_identity(self.seed)
        for place in range(self.parties):
            self._write_party(folder / "parties" / str(place), place, public)
        return self.write_study(folder)

    def write_study(self, folder: Path) -> Path:
        """Writes one more study of the same parties into `folder`."""
        folder.mkdir(parents=True, exist_ok=True)
        secret, _ = simulated_identity(self.seed)
        terms = {
            "title": "a rehearsal",
            "purpose": PURPOSE,
            "parties": [self._public(place) for place in range(self.parties)],
            "data": {"schema": SCHEMA, "features": self.columns()[:-1]},
            "sparsity": self.sparsity,
            "epsilon": self.epsilon,
            "delta": 1e-6,
            "procedure": self.procedure,
            "intercept": self.intercept,
            "neighbours": "zero-out",
            "quorum": self.quorum,
            "colluders": self.colluders,
            "noise": self.noise,
        }
        (folder / "invitation.json").write_bytes(draft_invitation(json.dumps(terms), secret))
        write_private(folder / "coordinator.key", secret)
        return folder

    def tables(self, folder: Path) -> list[Path]:
        """The table of each party."""
        return [folder / "parties" / str(place) / "data.csv" for place in range(self.parties)]

    def columns(self) -> list[str]:
        """The header of every table."""
        return [f"x{feature}" for feature in range(self.features)] + ["y"]

    def _public(self, place: int) -> dict:
        _, public = simulated_identity(self.seed, place)
        simulated = self.noise == "simulated"
        return {"name": f"party-{place}", "identity": public, "records": self.records, "simulated": simulated}

    def _write_party(self, folder: Path, place: int, coordinator: str) -> None:
        folder.mkdir(parents=True)
        secret, _ = simulated_identity(self.seed, place)
        write_private(folder / "identity.key", secret)
        (folder / "party.json").write_text(json.dumps(self._public(place)))
        limits = {"epsilon": self.epsilon, "total": 10 * self.epsilon}
        others = (self._public(other) for other in range(self.parties) if other != place)
        parties = "\n".join(f'{other["name"]} = "{other["identity"]}"' for other in others)
        policy = POLICY.format(
            coordinator=coordinator, procedure=self.procedure, purpose=PURPOSE, parties=parties, **limits
        )
        (folder / "policy.toml").write_text(policy)
        with (folder / "data.csv").open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(self.columns())
            rows.writerows(self._records(place).tolist())

    def _records(self, place: int) -> np.ndarray:
        """Two features matter; all values are rounded to keep the files small."""
        random = np.random.default_rng([self.seed, place])
        x = random.uniform(-1.7, 1.7, (self.records, self.features)).round(3)
        noise = random.normal(0, 0.1, self.records)
        y = 2.0 * x[:, 4] - 1.5 * x[:, self.features // 2] + noise
        return np.column_stack([x, y.round(3)])


def write_private(path: Path, text: str) -> None:
    """A file that only its owner reads."""
    path.touch(mode=0o600)
    path.write_text(text + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description="Makes a rehearsal. NOT PRIVATE.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--parties", type=int, default=5)
    parser.add_argument("--records", type=int, default=200, help="of each party")
    parser.add_argument("--features", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rehearsal = Rehearsal(
        parties=given.parties,
        records=given.records,
        features=given.features,
        quorum=(given.parties + 1) // 2 + 1,
        seed=given.seed,
    )
    rehearsal.write(given.folder)
    print(f"{given.folder}: {given.parties} parties with {given.records} invented records each")


if __name__ == "__main__":
    main()
