"""A rehearsal with three trustees: folders and policies of all roles, and the processes of the trustees."""

import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from by_hand import EXAMPLE  # noqa: F401  # It finds the modules of the example.
from conftest import SCHEMA
from loopback import end, free_port
from make_rehearsal import POLICY

PURPOSE = "trying out"
FEATURES = 8
RECORDS = 60
TRUSTEES = range(3)

TRUSTEE_POLICY = """coordinators = ["{coordinator}"]
expires = "2999-12-31"
most-steps = 60
most-clients = 10
most-candidates = 1000
allow-simulated-noise = true

[trustees]
{others}
"""


@dataclass
class WithTrustees:
    """A study between parties that Flower reaches and trustees that connect to the ServerApp."""

    cli: object
    folder: Path
    parties: int = 3
    sparsity: int = 2
    seed: int | None = 11
    """None: secret noise, as in a study that protects records."""
    port: int = field(default_factory=free_port)
    trustees: dict[int, subprocess.Popen] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folder.mkdir(exist_ok=True)
        for place in range(self.parties):
            self._write_table(place)
            words = ("identity", f"p{place}", "--records", RECORDS, "--out", self.party(place))
            self.study_command(*words, *self._if_simulated("--simulate", self.seed, "--place", place))
        for place in TRUSTEES:
            words = ("trustee", f"t{place}", "--out", self.trustee(place))
            self.study_command(*words, *self._if_simulated("--simulate", self.seed, "--place", place))
        (self.folder / "schema.toml").write_text(SCHEMA)
        parties = [word for place in range(self.parties) for word in ("--party", self.party(place) / "party.json")]
        trustees = [word for place in TRUSTEES for word in ("--trustee", self.trustee(place) / "trustee.json")]
        self.study_command(
            "init", self.study, *parties, *trustees, "--schema", self.folder / "schema.toml",
            "--columns", self.tables()[0], "--sparsity", self.sparsity, "--epsilon", 20, "--delta", 1e-6,
            "--repeats", 2, "--address", self.listen, "--purpose", PURPOSE, *self._if_simulated("--simulate-noise"),
        )  # fmt: skip
        self._write_policies()

    def __enter__(self) -> "WithTrustees":
        return self

    def __exit__(self, *_) -> None:
        end(*self.trustees.values())

    @property
    def study(self) -> Path:
        """The coordinator's folder."""
        return self.folder / "study"

    @property
    def listen(self) -> str:
        """Where trustees connect."""
        return f"127.0.0.1:{self.port}"

    def party(self, place: int) -> Path:
        return self.folder / f"p{place}"

    def trustee(self, place: int) -> Path:
        return self.folder / f"t{place}"

    def tables(self) -> list[Path]:
        return [self.folder / f"p{place}.csv" for place in range(self.parties)]

    def node(self, place: int) -> dict:
        """The configuration of the node of a party."""
        node = {"identity": str(self.party(place)), "data": str(self.tables()[place])}
        return node if self.seed is None else {**node, "simulate-noise": self.seed}

    def start_trustees(self) -> None:
        for place in TRUSTEES:
            self.start_trustee(place)

    def start_trustee(self, place: int) -> None:
        command = [os.environ["SPRIFED_CLI"], "trustee", self.study / f"for-trustee-t{place}", "--json"]
        command += ["--identity", self.trustee(place), *self._if_simulated("--simulate-noise", self.seed)]
        with self.log_of(place).open("a") as log:
            self.trustees[place] = subprocess.Popen(
                [str(word) for word in command], stdout=log, stderr=log, start_new_session=True
            )

    def kill_trustee(self, place: int) -> None:
        self.trustees[place].kill()
        self.trustees[place].wait()

    def log_of(self, place: int) -> Path:
        """What a trustee has said."""
        return self.folder / f"t{place}.log"

    def status(self, home: Path) -> dict:
        """What `study status` says of the only study of a party or a trustee."""
        (study,) = self.study_command("status", home)["studies"]
        return study

    def fit_in_one_process(self) -> dict:
        """The model of the study that is over, once more in one process: the same attempts, seeds and parties in each."""
        data = [word for table in self.tables() for word in ("--data", table)]
        transcript = ("--transcript", self.study / "transcript.json")
        return self.study_command("rehearse", self.study, *data, "--seed", self.seed, *transcript)["fit"]

    def study_command(self, *words) -> dict:
        code, answer, said = self.cli("study", *words, "--json")
        assert code == 0, said
        return answer

    def _if_simulated(self, *words) -> tuple:
        return () if self.seed is None else words

    def _write_table(self, place: int) -> None:
        random = np.random.default_rng([11, place])
        rows = random.uniform(-2, 2, size=(RECORDS, FEATURES))
        response = 2 * rows[:, 3] - 1.5 * rows[:, 5] + 0.1 * random.standard_normal(RECORDS)
        header = ",".join([*(f"x{column}" for column in range(FEATURES)), "y"])
        rows = np.column_stack([rows, response])
        np.savetxt(self.tables()[place], rows, delimiter=",", header=header, comments="", fmt="%.6f")

    def _write_policies(self) -> None:
        """Everyone agrees to this study, and to little else."""
        coordinator = json.loads((self.study / "invitation.json").read_text())["agreement"]["coordinator"]
        parties = {f"p{place}": self._key(self.party(place) / "party.json") for place in range(self.parties)}
        trustees = {f"t{place}": self._key(self.trustee(place) / "trustee.json", "trustee") for place in TRUSTEES}
        accepted = ", ".join(f'"{key}"' for key in trustees.values())
        policy = POLICY.replace("trustees = []", f"trustees = [{accepted}]")
        policy = policy.replace("smallest-quorum = 2", "smallest-quorum = 1")
        for name in parties:
            text = policy.format(
                coordinator=coordinator, purpose=PURPOSE, procedure="argmax", epsilon=100, total=1000,
                parties=_others(parties, name),
            )  # fmt: skip
            (self.folder / name / "policy.toml").write_text(text)
        for name in trustees:
            text = TRUSTEE_POLICY.format(coordinator=coordinator, others=_others(trustees, name))
            (self.folder / name / "policy.toml").write_text(text)

    @staticmethod
    def _key(file: Path, *inside: str) -> str:
        document = json.loads(file.read_text())
        for name in inside:
            document = document[name]
        return document["identity"]


def _others(keys: dict[str, str], name: str) -> str:
    return "\n".join(f'{other} = "{key}"' for other, key in keys.items() if other != name)
