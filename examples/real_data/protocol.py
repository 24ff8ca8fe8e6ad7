"""The protocol of README.md as data: problems, splits, budgets and procedures, and the files that hold what came out."""

import csv
import dataclasses
import fcntl
import gzip
import pathlib
import random
import sys
import tomllib

SPLITS = [15011, 15012, 15013, 15014, 15015]
BUDGETS = [1, 3, 8]
PROCEDURES = ["auto", "argmax", "sieve", "grad"]
THIN = 20
HERE = pathlib.Path(__file__).resolve().parent
REFERENCES = HERE / "references.csv"
FITS = HERE / "fits.csv"
PAGE = HERE.parents[1] / "docs" / "real-data.md"


@dataclasses.dataclass(frozen=True)
class Problem:
    """A table, how many features are sought at most, and whether neighbouring columns are near copies."""

    name: str
    table: str
    sparsity: int
    later: str | None = None
    is_dense: bool = False

    def schema_path(self):
        return HERE / f"{self.name}.toml"

    def schema(self):
        return tomllib.loads(self.schema_path().read_text())

    def reference_splits(self):
        """References have no noise: where the part that is kept apart is given, one split says all."""
        return SPLITS[:1] if self.later else SPLITS

    def procedures(self):
        """Pairs of a procedure and whether only every 20th column is a candidate."""
        plain = [(name, False) for name in PROCEDURES]
        return plain + ([("sieve", True), ("grad", True)] if self.is_dense else [])


PROBLEMS = [
    Problem("riboflavin", "riboflavin/data.csv.gz", 3),
    Problem("cookie", "cookie/data.csv.gz", 3),
    Problem("eyedata", "eyedata/data.csv.gz", 3),
    Problem("leukemia", "leukemia/data.csv.gz", 3),
    Problem("wheat", "wheat/data.csv.gz", 5),
    Problem("mice-alp", "mice/data.csv.gz", 5, is_dense=True),
    Problem("mice-hdl", "mice/data.csv.gz", 5, is_dense=True),
    Problem("mice-cholesterol", "mice/data.csv.gz", 5, is_dense=True),
    Problem("mice-weight", "mice/data.csv.gz", 5, is_dense=True),
    Problem("blogfeedback", "blogfeedback/train.csv.gz", 5, later="blogfeedback/test.csv.gz"),
]


def label(procedure):
    name, is_thinned = procedure
    return f"{name}, every {THIN}th" if is_thinned else name


def selected(names):
    return [problem for problem in PROBLEMS if not names or problem.name in names]


# --- Tables -----------------------------------------------------------------------------------------------------------


class Part:
    """Lines of a table, header apart."""

    def __init__(self, header, lines):
        self.header = header
        self.lines = lines

    def write(self, path):
        path.write_text("\n".join([",".join(self.header), *self.lines]) + "\n")

    def take(self, places):
        return Part(self.header, [self.lines[place] for place in places])

    def column(self, name):
        place = self.header.index(name)
        return [line.split(",")[place] for line in self.lines]


def read(path):
    with gzip.open(path, "rt") as file:
        header, *lines = file.read().splitlines()
    return Part(header.split(","), lines)


def with_response(part, name):
    """Without the records that have no response: neither fitted nor scored."""
    kept = [line for line, cell in zip(part.lines, part.column(name)) if cell != ""]
    return Part(part.header, kept)


def split(data, problem, seed):
    """The fitted and the kept-apart records."""
    whole = with_response(read(data / problem.table), problem.schema()["response"]["name"])
    if problem.later is not None:
        return whole, read(data / problem.later)
    order = list(range(len(whole.lines)))
    random.Random(seed).shuffle(order)
    fifth = len(order) // 5
    return whole.take(sorted(order[fifth:])), whole.take(sorted(order[:fifth]))


# --- Files of results -------------------------------------------------------------------------------------------------


class Rows:
    """A CSV that grows row by row and is written by one process at a time."""

    def __init__(self, path, columns, keys):
        self.path, self.columns = pathlib.Path(path), columns
        self.lock = self.path.open("a")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit(f"{self.path}: another run writes this file; wait until it ended")
        self.rows = list(csv.DictReader(self.path.open()))
        if not self.rows:
            self.path.write_text(",".join(columns) + "\n")
        elif list(self.rows[0]) != columns:
            sys.exit(f"{self.path}: its columns are not those of this protocol; move it away")
        self.done = {tuple(row[key] for key in keys) for row in self.rows}

    def has(self, *values):
        return tuple(str(value) for value in values) in self.done

    def add(self, row):
        with self.path.open("a", newline="") as file:
            csv.DictWriter(file, self.columns, lineterminator="\n").writerow(row)
        self.rows.append({column: str(row.get(column, "")) for column in self.columns})
