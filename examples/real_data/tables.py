"""Writes the results into docs/real-data.md, between two markers. Every cell of the protocol is shown, missing ones too.

    python3 tables.py            writes the page
    python3 tables.py --check    ends with exit code 1 if the page is not what the files say
"""

import csv
import statistics
import sys

from protocol import BUDGETS, FITS, PAGE, PROBLEMS, REFERENCES, SPLITS, label

BEGIN = "<!-- written by examples/real_data/tables.py: begin -->\n"
END = "<!-- written by examples/real_data/tables.py: end -->\n"
GOAL = -0.05


def rows_of(path):
    return list(csv.DictReader(path.open())) if path.exists() else []


def scores(rows):
    return [float(row["r2"]) for row in rows if row["r2"]]


def spread(values):
    """The median, then the least and the most."""
    if not values:
        return "–"
    if len(values) == 1:
        return f"{values[0]:.3f}"
    return f"{statistics.median(values):.3f} ({min(values):.3f} to {max(values):.3f})"


def counts(texts):
    return ", ".join(f"{texts.count(text)} {text}" for text in sorted(set(texts), key=lambda t: (-texts.count(t), t)))


def in_order(rows):
    return sorted(rows, key=lambda row: int(row["split"]))


def cell_of(fits, problem, epsilon, procedure):
    key = (problem.name, str(epsilon), procedure)
    return in_order(row for row in fits if (row["problem"], row["epsilon"], row["procedure"]) == key)


def missing(rows):
    """What a cell says of splits that were not run."""
    lacking = len(SPLITS) - len(rows)
    return [f"{lacking} not run"] if lacking else []


def summary(references, fits):
    """The goal: no median of `auto` below -0.05."""
    lines = ["| problem | " + " | ".join(f"`auto`, epsilon {budget}" for budget in BUDGETS) + " | OMP | lasso |"]
    lines.append("|---" * (len(BUDGETS) + 3) + "|")
    missed, unseen = [], 0
    for problem in PROBLEMS:
        cells = []
        for epsilon in BUDGETS:
            rows = cell_of(fits, problem, epsilon, "auto")
            values = scores(rows)
            unseen += len(values) < len(SPLITS)
            if not values:
                cells.append("–")
                continue
            median = statistics.median(values)
            is_missed = median < GOAL
            cell = f"{problem.name} at epsilon {epsilon}"
            missed += [f"{cell} ({median:.3f})"] if is_missed else []
            ran = ", ".join(dict.fromkeys(row["ran"] for row in rows))
            cells.append(f"**{median:.3f}** ({ran})" if is_missed else f"{median:.3f} ({ran})")
        own = [row for row in references if row["problem"] == problem.name]
        for name in ("OMP", "lasso"):
            values = scores([row for row in own if row["reference"] == name])
            cells.append(f"{statistics.median(values):.3f}" if values else "–")
        lines.append(f"| {problem.name} | " + " | ".join(cells) + " |")
    all_cells = len(PROBLEMS) * len(BUDGETS)
    verdict = f"The goal is missed in {len(missed)} of {all_cells} cells: {', '.join(missed)}." if missed else ""
    if unseen:
        verdict += f" {unseen} of {all_cells} cells of `auto` are not complete, so nothing is said of the goal there."
    return [verdict.strip() or f"The goal holds in all {all_cells} cells.", "", *lines, ""]


def details(problem, references, fits):
    lines = [f"### {problem.name}", ""]
    own = [row for row in references if row["problem"] == problem.name]
    names = dict.fromkeys(row["reference"] for row in own)
    shown = [f"{name} {spread(scores([row for row in own if row['reference'] == name]))}" for name in names]
    lines += ["Not private: " + ("; ".join(shown) or "not run") + ".", ""]
    lines += [
        "| procedure | epsilon | R2: median (least to most) | each split | kept of sought | status |",
        "|---|---|---|---|---|---|",
    ]
    for procedure in map(label, problem.procedures()):
        for epsilon in BUDGETS:
            rows = cell_of(fits, problem, epsilon, procedure)
            ran = ", ".join(dict.fromkeys(row["ran"] for row in rows if row["ran"]))
            title = f"auto ({ran})" if procedure == "auto" and ran else procedure
            each = ", ".join(f"{value:.3f}" for value in scores(rows)) or "–"
            kept = ", ".join(f"{row['kept']} of {row['sought']}" for row in rows if row["kept"]) or "–"
            status = ", ".join([counts([row["status"] for row in rows]), *missing(rows)]).strip(", ")
            lines.append(f"| {title} | {epsilon} | {spread(scores(rows))} | {each} | {kept} | {status} |")
    return [*lines, ""]


def section():
    references, fits = rows_of(REFERENCES), rows_of(FITS)
    programs = ", ".join(dict.fromkeys(row["program"] for row in fits))
    run = f"{len(fits)} fits by the program with the SHA-256 digest {programs}…" if fits else "The fits were not run yet."
    lines = [run, "", *summary(references, fits)]
    for problem in PROBLEMS:
        lines += details(problem, references, fits)
    return "\n" + "\n".join(lines)


def main():
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    wanted = before + BEGIN + section() + END + after
    if "--check" in sys.argv[1:]:
        return page != wanted
    PAGE.write_text(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
