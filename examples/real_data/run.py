"""The fits of docs/real-data.md: five splits, three budgets, every procedure, and references without noise.

    python3 run.py references --data DATA --out references.csv
    python3 run.py fits --data DATA --sprifed PATH --out fits.csv
    python3 run.py tables references.csv fits.csv

The protocol is README.md beside this file. It was written before the first fit. Rows that are already in a file are
not run again. Needs numpy.
"""

import argparse
import csv
import dataclasses
import gzip
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import tomllib

import numpy as np

SPLITS = [15001, 15002, 15003, 15004, 15005]
BUDGETS = [1, 3, 8]
PROCEDURES = ["auto", "argmax", "sieve", "grad"]
THIN = 20
HERE = pathlib.Path(__file__).resolve().parent


@dataclasses.dataclass
class Problem:
    """A table, its schema, how many features are sought at most, and whether neighbouring columns are near copies."""

    name: str
    table: str
    sparsity: int
    later: str | None = None
    is_dense: bool = False


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


class Part:
    """Lines of a table, header apart."""

    def __init__(self, header, lines):
        self.header = header
        self.lines = lines

    def write(self, path):
        path.write_text("\n".join([",".join(self.header), *self.lines]) + "\n")

    def take(self, places):
        return Part(self.header, [self.lines[place] for place in places])


def read(path):
    with gzip.open(path, "rt") as file:
        header, *lines = file.read().splitlines()
    return Part(header.split(","), lines)


def with_response(part, name):
    """Without the records that have no response: neither fitted nor scored."""
    place = part.header.index(name)
    from_the_end = len(part.header) - place
    kept = [line for line in part.lines if line.rsplit(",", from_the_end)[1] != ""]
    return Part(part.header, kept)


def split(data, problem, schema, seed):
    """The fitted and the kept-apart records."""
    whole = with_response(read(data / problem.table), schema["response"]["name"])
    if problem.later is not None:
        return whole, read(data / problem.later)
    order = list(range(len(whole.lines)))
    random.Random(seed).shuffle(order)
    fifth = len(order) // 5
    return whole.take(sorted(order[fifth:])), whole.take(sorted(order[:fifth]))


# --- References without noise -----------------------------------------------------------------------------------------


def moved(values, limits):
    """Between the bounds, after the transform of the schema."""
    values = np.clip(values, limits["lower"], limits["upper"])
    if limits.get("transform") == "log1p":
        return np.sign(values) * np.log1p(np.abs(values))
    return values


def arrays(part, schema):
    """Candidates, columns that stay in the model, and the response on the fitted scale."""
    cells = [line.split(",") for line in part.lines]
    always = schema["features"].get("always", [])
    features = [place for place, name in enumerate(part.header) if name.startswith("x_")]
    own = schema.get("feature", {})
    candidates = np.array([[float(row[place]) for place in features] for row in cells])
    for column, place in enumerate(features):
        limits = own.get(part.header[place], schema["features"])
        candidates[:, column] = moved(candidates[:, column], limits)
    stay = [np.ones(len(cells))]
    for name in always:
        text = [row[part.header.index(name)] for row in cells]
        if "levels" in own[name]:
            stay += [np.array([cell == level for cell in text], float) for level in own[name]["levels"][1:]]
        else:
            stay.append(np.array(text, float))
    response = np.array([float(row[part.header.index(schema["response"]["name"])]) for row in cells])
    return candidates, np.column_stack(stay), moved(response, schema["response"])


def omp(features, response, sparsity):
    """Orthogonal matching pursuit on standardised columns."""
    chosen, residual, solution = [], response, np.zeros(0)
    for _ in range(sparsity):
        score = np.abs(features.T @ residual)
        score[chosen] = -1
        chosen.append(int(score.argmax()))
        solution = np.linalg.lstsq(features[:, chosen], response, rcond=None)[0]
        residual = response - features[:, chosen] @ solution
    coefficients = np.zeros(features.shape[1])
    coefficients[chosen] = solution
    return coefficients


def lasso_path(features, response, penalties):
    """Coefficients for each penalty in turn, from the largest down; columns of squared length n."""
    records, count = features.shape
    gram = features.T @ features / records if count < records else None
    coefficients = np.zeros(count)
    gradient = features.T @ response / records
    residual = response.copy()
    for penalty in penalties:
        while True:
            active = np.flatnonzero((np.abs(gradient) > penalty * (1 + 1e-4)) | (coefficients != 0))
            for _ in range(1000):
                largest = 0.0
                for place in active:
                    column = features[:, place]
                    slope = gradient[place] if gram is not None else column @ residual / records
                    total = coefficients[place] + slope
                    value = np.sign(total) * max(abs(total) - penalty, 0.0)
                    step = value - coefficients[place]
                    if step != 0.0:
                        coefficients[place] = value
                        largest = max(largest, abs(step))
                        if gram is not None:
                            gradient -= step * gram[place]
                        else:
                            residual -= step * column
                if largest < 1e-4 * penalties[0]:
                    break
            if gram is None:
                gradient = features.T @ residual / records
            wrong = (np.abs(gradient) > penalty * (1 + 1e-3)) & (coefficients == 0)
            if not np.isin(np.flatnonzero(wrong), active, invert=True).any():
                break
        yield coefficients


def lasso(features, response, seed):
    """The Lasso, its penalty chosen by five-fold cross-validation within the fitted records.

    The search ends when four penalties in a row bring no smaller error.
    """
    records = len(response)
    largest = np.abs(features.T @ response).max() / records
    penalties = largest * np.geomspace(1, 0.05, 30)
    order = list(range(records))
    random.Random(seed).shuffle(order)
    folds = []
    for fold in range(5):
        apart = np.zeros(records, bool)
        apart[order[fold::5]] = True
        center = response[~apart].mean()
        path = lasso_path(features[~apart], response[~apart] - center, penalties)
        folds.append((path, features[apart], response[apart] - center))
    errors = []
    for _ in penalties:
        errors.append(sum(((y - x @ next(path)) ** 2).sum() for path, x, y in folds))
        if len(errors) - int(np.argmin(errors)) > 4:
            break
    path = lasso_path(features, response, penalties)
    for _ in range(int(np.argmin(errors))):
        next(path)
    return next(path)


def references(data, problem, schema, seed):
    """R2 of each reference on the records that were kept apart."""
    fitted, apart = split(data, problem, schema, seed)
    features, stay, response = arrays(fitted, schema)
    new_features, new_stay, new_response = arrays(apart, schema)
    null = ((new_response - response.mean()) ** 2).mean()
    # Candidates are freed of the columns that stay in the model, and standardised, by the fitted records.
    of_features = np.linalg.lstsq(stay, features, rcond=None)[0]
    of_response = np.linalg.lstsq(stay, response, rcond=None)[0]
    features = features - stay @ of_features
    scale = features.std(axis=0)
    scale[scale < 1e-9] = np.inf
    features /= scale
    new_features = (new_features - new_stay @ of_features) / scale
    rest = response - stay @ of_response
    low, high = (moved(np.array(schema["response"][end], float), schema["response"]) for end in ("lower", "upper"))

    def score(coefficients):
        predicted = np.clip(new_stay @ of_response + new_features @ coefficients, low, high)
        return 1 - ((new_response - predicted) ** 2).mean() / null

    found = {"null": 0.0}
    if stay.shape[1] > 1:
        found["covariates only"] = score(np.zeros(features.shape[1]))
    found["OMP"] = score(omp(features, rest, problem.sparsity))
    if problem.is_dense:
        thin = np.zeros(features.shape[1])
        thin[::THIN] = omp(features[:, ::THIN], rest, problem.sparsity)
        found[f"OMP, every {THIN}th"] = score(thin)
    found["lasso"] = score(lasso(features, rest, seed))
    return [(name, value, null) for name, value in found.items()]


# --- Private fits -----------------------------------------------------------------------------------------------------


def fit(options, problem, files, epsilon, procedure):
    """One private fit with fresh noise, as a row. If the plan refuses as many features, it is made with fewer."""
    name, thin = procedure
    for sparsity in range(problem.sparsity, 0, -1):
        with tempfile.TemporaryDirectory() as folder:
            command = [options.sprifed, "fit", files[0], "--schema", HERE / f"{problem.name}.toml"]
            command += ["--sparsity", sparsity, "--epsilon", epsilon, "--procedure", name, "--backend", options.backend]
            command += ["--thin", THIN] if thin else []
            command += ["--out", pathlib.Path(folder) / "model.json", "--evaluate", files[1], "--json"]
            ended = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
        answer = json.loads(ended.stdout)
        if "evaluation" in answer:
            break
    else:
        return {"status": "refused", "exit": ended.returncode, "note": answer["message"]}
    score = answer["evaluation"]["score"]
    error = (score.get("on_fitted_scale") or score)["mse"]
    return {
        "mse": error,
        "ran": answer["procedure"],
        "status": answer["status"],
        "sought": sparsity,
        "kept": answer["inference"].get("kept", len(answer["support"])),
        "exit": ended.returncode,
    }


def procedures(problem):
    plain = [(name, False) for name in PROCEDURES]
    return plain + ([("sieve", True), ("grad", True)] if problem.is_dense else [])


def label(procedure):
    name, thin = procedure
    return f"{name}, every {THIN}th" if thin else name


# --- Files ------------------------------------------------------------------------------------------------------------


class Rows:
    """A CSV that grows by a row at a time."""

    def __init__(self, path, columns, keys):
        self.path, self.columns, self.keys = pathlib.Path(path), columns, keys
        self.rows = list(csv.DictReader(self.path.open())) if self.path.exists() else []
        if not self.rows:
            self.path.write_text(",".join(columns) + "\n")
        self.done = {tuple(row[key] for key in keys) for row in self.rows}

    def has(self, *values):
        return tuple(str(value) for value in values) in self.done

    def add(self, row):
        with self.path.open("a", newline="") as file:
            csv.DictWriter(file, self.columns, lineterminator="\n").writerow(row)


def schema_of(problem):
    return tomllib.loads((HERE / f"{problem.name}.toml").read_text())


def selected(names):
    return [problem for problem in PROBLEMS if not names or problem.name in names]


def run_references(options):
    rows = Rows(options.out, ["problem", "split", "reference", "r2", "null_mse"], ["problem", "split"])
    for problem in selected(options.problems):
        for seed in SPLITS[: 1 if problem.later else None]:
            if rows.has(problem.name, seed):
                continue
            for name, r2, null in references(options.data, problem, schema_of(problem), seed):
                row = {"problem": problem.name, "split": seed, "reference": name}
                rows.add({**row, "r2": f"{r2:.4f}", "null_mse": f"{null:.6g}"})


def run_fits(options):
    columns = ["problem", "split", "epsilon", "procedure", "r2", "mse", "ran", "status", "sought", "kept", "exit", "note"]
    rows = Rows(options.out, columns, columns[:4])
    for problem in selected(options.problems):
        schema = schema_of(problem)
        for seed in SPLITS:
            asked = [one for one in procedures(problem) if one[0] in (options.procedure or PROCEDURES)]
            cells = [(epsilon, procedure) for epsilon in options.budget or BUDGETS for procedure in asked]
            cells = [cell for cell in cells if not rows.has(problem.name, seed, cell[0], label(cell[1]))]
            if not cells:
                continue
            with tempfile.TemporaryDirectory() as folder:
                fitted, apart = split(options.data, problem, schema, seed)
                files = [pathlib.Path(folder) / name for name in ("fitted.csv", "apart.csv")]
                fitted.write(files[0])
                apart.write(files[1])
                place = fitted.header.index(schema["response"]["name"])
                responses = [
                    moved(np.array([float(line.split(",")[place]) for line in part.lines]), schema["response"])
                    for part in (fitted, apart)
                ]
                null = ((responses[1] - responses[0].mean()) ** 2).mean()
                for epsilon, procedure in cells:
                    found = fit(options, problem, files, epsilon, procedure)
                    row = {"problem": problem.name, "split": seed, "epsilon": epsilon, "procedure": label(procedure)}
                    if "mse" in found:
                        row["r2"] = f"{1 - found['mse'] / null:.4f}"
                        found["mse"] = f"{found['mse']:.6g}"
                    rows.add({**row, **found})


def spread(values):
    """The median, then the least and the most."""
    if len(values) == 1:
        return f"{values[0]:.3f}"
    return f"{statistics.median(values):.3f} ({min(values):.3f} to {max(values):.3f})"


def counts(texts):
    return ", ".join(f"{texts.count(text)} {text}" for text in sorted(set(texts), key=texts.count, reverse=True))


def run_tables(options):
    known = list(csv.DictReader(options.references.open()))
    fits = list(csv.DictReader(options.fits.open())) if options.fits else []
    for problem in PROBLEMS:
        own = [row for row in known if row["problem"] == problem.name]
        if not own:
            continue
        print(f"### {problem.name}\n")
        names = list(dict.fromkeys(row["reference"] for row in own))
        shown = (spread([float(row["r2"]) for row in own if row["reference"] == name]) for name in names)
        print("Not private: " + "; ".join(f"{name} {text}" for name, text in zip(names, shown)) + ".\n")
        print("| procedure | epsilon | R2: median (least to most) | each split | kept | status |")
        print("|---|---|---|---|---|---|")
        for procedure in map(label, procedures(problem)):
            for epsilon in map(str, BUDGETS):
                cell = [row for row in fits if row["problem"] == problem.name and row["epsilon"] == epsilon]
                cell = [row for row in cell if row["procedure"] == procedure]
                if not cell:
                    continue
                values = [float(row["r2"]) for row in cell if row["r2"]]
                kept = ", ".join(row["kept"] for row in cell)
                ran = {row["ran"] for row in cell if row["ran"]}
                title = f"{procedure} ({', '.join(sorted(ran))})" if procedure == "auto" else procedure
                each = ", ".join(f"{value:.3f}" for value in values)
                status = counts([row["status"] for row in cell])
                print(f"| {title} | {epsilon} | {spread(values) if values else '–'} | {each} | {kept} | {status} |")
        print()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    for name, action in (("references", run_references), ("fits", run_fits)):
        command = commands.add_parser(name)
        command.set_defaults(action=action)
        command.add_argument("--data", type=pathlib.Path, required=True)
        command.add_argument("--out", required=True)
        command.add_argument("problems", nargs="*", help="only these")
        if name == "fits":
            command.add_argument("--sprifed", default="sprifed")
            command.add_argument("--backend", default="curator", help="write each backend into a file of its own")
            command.add_argument("--budget", type=int, action="append", help="only these epsilons")
            command.add_argument("--procedure", action="append", help="only these")
    tables = commands.add_parser("tables")
    tables.set_defaults(action=run_tables)
    tables.add_argument("references", type=pathlib.Path)
    tables.add_argument("fits", type=pathlib.Path, nargs="?")
    options = parser.parse_args()
    options.action(options)


if __name__ == "__main__":
    sys.exit(main())
