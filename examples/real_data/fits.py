"""The private fits: one process of `sprifed fit` for each, several at a time, with fresh noise."""

import concurrent.futures
import hashlib
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from protocol import BUDGETS, FITS, SPLITS, THIN, Rows, label, split

KEYS = ["problem", "split", "epsilon", "procedure"]
COLUMNS = [*KEYS, "r2", "mse", "ran", "status", "sought", "kept", "exit", "seconds", "program", "note"]


def fit(program, problem, files, epsilon, procedure, options=()):
    """One private fit as a row. If the plan refuses as many features, it is made with fewer."""
    name, is_thinned = procedure
    start = time.monotonic()
    for sparsity in range(problem.sparsity, 0, -1):
        with tempfile.TemporaryDirectory() as folder:
            command = [program, "fit", files[0], "--schema", problem.schema_path()]
            command += ["--sparsity", sparsity, "--epsilon", epsilon, "--delta", "1e-6", "--procedure", name]
            command += ["--thin", THIN] if is_thinned else []
            command += options
            command += ["--out", pathlib.Path(folder) / "model.json", "--evaluate", files[1], "--json"]
            # Several fits run at a time, so each uses one thread.
            ended = subprocess.run(
                [str(word) for word in command],
                capture_output=True,
                text=True,
                check=False,
                env={**os.environ, "RAYON_NUM_THREADS": "1"},
            )
        answer = json.loads(ended.stdout)
        if "evaluation" in answer:
            break
    seconds = f"{time.monotonic() - start:.1f}"
    if "evaluation" not in answer:
        return {"status": "refused", "exit": ended.returncode, "seconds": seconds, "note": answer["message"]}
    score = answer["evaluation"]["score"]
    return {
        "mse": (score.get("on_fitted_scale") or score)["mse"],
        "ran": answer["procedure"],
        "status": answer["status"],
        "sought": sparsity,
        "kept": (answer["inference"] or {}).get("kept", len(answer["support"])),
        "exit": ended.returncode,
        "seconds": seconds,
    }


def responses(part, limits):
    """The response on the fitted scale."""
    moved = (min(max(float(cell), limits["lower"]), limits["upper"]) for cell in part.column(limits["name"]))
    if limits.get("transform") == "log1p":
        return [math.copysign(math.log1p(abs(value)), value) for value in moved]
    return list(moved)


def null_error(fitted, apart, limits):
    """The mean squared error of the mean of the fitted records on those that were kept apart."""
    fitted, apart = responses(fitted, limits), responses(apart, limits)
    mean = math.fsum(fitted) / len(fitted)
    return math.fsum((value - mean) ** 2 for value in apart) / len(apart)


def run(data, problems, program, jobs, progress):
    """Adds what is missing to the file of fits."""
    rows = Rows(FITS, COLUMNS, KEYS)
    digest = hashlib.sha256(pathlib.Path(program).read_bytes()).hexdigest()[:12]
    if any(row["program"] != digest for row in rows.rows):
        sys.exit(f"{FITS}: holds fits of another program; move it away, or pass that program")
    cells = [
        (problem, seed, epsilon, procedure)
        for problem in problems
        for seed in SPLITS
        for epsilon in BUDGETS
        for procedure in problem.procedures()
        if not rows.has(problem.name, seed, epsilon, label(procedure))
    ]
    start, done = time.monotonic(), 0
    for problem, seed in dict.fromkeys((problem, seed) for problem, seed, *_ in cells):
        own = [(epsilon, procedure) for one, other, epsilon, procedure in cells if (one, other) == (problem, seed)]
        with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            fitted, apart = split(data, problem, seed)
            files = [pathlib.Path(folder) / name for name in ("fitted.csv", "apart.csv")]
            fitted.write(files[0])
            apart.write(files[1])
            null = null_error(fitted, apart, problem.schema()["response"])
            running = {pool.submit(fit, program, problem, files, *cell): cell for cell in own}
            for future in concurrent.futures.as_completed(running):
                epsilon, procedure = running[future]
                found = future.result()
                row = {"problem": problem.name, "split": seed, "epsilon": epsilon, "procedure": label(procedure)}
                if "mse" in found:
                    row["r2"] = f"{1 - found['mse'] / null:.4f}"
                    found["mse"] = f"{found['mse']:.6g}"
                rows.add({**row, **found, "program": digest})
                done += 1
                left = (time.monotonic() - start) / done * (len(cells) - done) / 60
                progress(
                    f"fits {done} of {len(cells)}, about {left:.0f} min left: {problem.name}, split {seed}, "
                    f"epsilon {epsilon}, {label(procedure)}: R2 {row.get('r2', '-')}, {found['status']}"
                )
