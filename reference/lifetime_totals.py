"""Writes vectors/lifetime_totals.json: what several studies cost together, by mpmath.

    python lifetime_totals.py VECTORS

VECTORS is the folder vectors/. Needs mpmath. Inputs are doubles, written so that they are read back
as the same doubles; the expected values are exact functions of these doubles, rounded down to 40 digits.
"""

import hashlib
import json
import pathlib
import platform
import random
import sys

import mpmath

# So many that every sum of these doubles is exact.
mpmath.mp.dps = 400
CHANGES = {
    # (found, wanted): how many changes of the kind found make up one change of the kind wanted.
    ("record/zero-out", "record/zero-out"): 1,
    ("record/zero-out", "record/replace-one"): 2,
    ("record/replace-one", "record/zero-out"): 1,
    ("record/replace-one", "record/replace-one"): 1,
    ("client/zero-out", "client/zero-out"): 1,
    ("client/zero-out", "client/replace-one"): 2,
    ("client/replace-one", "client/zero-out"): 1,
    ("client/replace-one", "client/replace-one"): 1,
    ("client/zero-out", "record/zero-out"): 2,
    ("client/zero-out", "record/replace-one"): 2,
    ("client/replace-one", "record/zero-out"): 1,
    ("client/replace-one", "record/replace-one"): 1,
}
KINDS = sorted({kind for pair in CHANGES for kind in pair})


def rounded_down(number):
    """The number with 40 significant digits, never above it."""
    if number == 0:
        return "0"
    exponent = int(mpmath.floor(mpmath.log10(number)))
    scale = mpmath.mpf(10) ** (39 - exponent)
    digits = int(mpmath.floor(number * scale))
    return f"{digits}e{exponent - 39}"


def over(epsilon, delta, changes):
    """Group privacy: k epsilon, and delta (1 + e^epsilon + … + e^((k-1) epsilon))."""
    epsilon, delta = mpmath.mpf(epsilon), mpmath.mpf(delta)
    factor = mpmath.fsum(mpmath.exp(step * epsilon) for step in range(changes))
    return changes * epsilon, delta * factor


def expected(pairs):
    epsilon = mpmath.fsum(epsilon for epsilon, _ in pairs)
    delta = mpmath.fsum(delta for _, delta in pairs)
    return {"eps": rounded_down(epsilon), "delta": rounded_down(min(delta, mpmath.mpf(1)))}


def composition(costs):
    inputs = {"costs": [[repr(epsilon), repr(delta)] for epsilon, delta in costs]}
    pairs = [over(epsilon, delta, 1) for epsilon, delta in costs]
    return {"group": "composition", "inputs": inputs, "expected": expected(pairs)}


def group_privacy(epsilon, delta, changes):
    inputs = {"eps": repr(epsilon), "delta": repr(delta), "changes": changes}
    pairs = [over(epsilon, delta, changes)]
    return {"group": "group_privacy", "inputs": inputs, "expected": expected(pairs)}


def total(wanted, costs):
    listed = [[kind, repr(epsilon), repr(delta)] for kind, epsilon, delta in costs]
    pairs = [
        over(epsilon, delta, CHANGES[kind, wanted])
        for kind, epsilon, delta in costs
        if (kind, wanted) in CHANGES
    ]
    inputs = {"wanted": wanted, "costs": listed}
    return {"group": "total", "inputs": inputs, "expected": expected(pairs)}


def vectors():
    generator = random.Random(13)

    def cost():
        return (
            round(generator.choice([0.01, 0.5, 1.0, 3.0, 8.0]) * generator.uniform(0.5, 1.5), 6),
            10.0 ** -generator.randint(4, 14) * generator.randint(1, 9),
        )

    yield composition([(1.5, 1e-6), (1.5, 1e-6)])
    yield composition([(0.1, 1e-6), (0.2, 1e-6)])
    yield composition([(0.1, 1e-7)] * 10)
    yield composition([(1.0, 0.75), (1.0, 0.5)])
    yield composition([(1e-300, 1e-300), (3.0, 1e-6)])
    for length in (2, 3, 5, 20, 100):
        for _ in range(6):
            yield composition([cost() for _ in range(length)])
    for epsilon in (0.0, 1e-12, 0.01, 0.5, 1.0, 3.0, 10.0, 300.0):
        for delta in (0.0, 1e-300, 1e-15, 1e-6, 0.25):
            for changes in (1, 2, 3, 10):
                yield group_privacy(epsilon, delta, changes)
    for _ in range(20):
        yield group_privacy(*cost(), generator.randint(2, 40))
    for wanted in KINDS:
        for kind in KINDS:
            yield total(wanted, [(kind, *cost())])
        for length in (4, 30):
            for _ in range(4):
                costs = [(generator.choice(KINDS), *cost()) for _ in range(length)]
                yield total(wanted, costs)


def main():
    script = pathlib.Path(__file__)
    listed = list(vectors())
    for number, vector in enumerate(listed):
        vector["id"] = f"lifetime_totals-{number:04}"
    meta = {
        "name": "lifetime_totals",
        "description": "cost of several studies over the same records: composition and group privacy",
        "formula": "composition: (sum eps, sum delta); k changes: (k eps, delta (1 + e^eps + … + e^((k-1) eps)));"
        " total: each cost converted by its number of changes, then added; a delta above 1 is 1",
        "generator": {
            "script": f"reference/{script.name}",
            "script_sha256": hashlib.sha256(script.read_bytes()).hexdigest(),
            "mp_decimal_digits": mpmath.mp.dps,
            "python": platform.python_version(),
        },
        "library_versions": {"mpmath": mpmath.__version__},
        "tolerance": {
            "kind": "upper bound",
            "rule": "never below the expected value, and above it by at most a relative 1e-12"
            " (or the smallest double)",
        },
        "number_format": "inputs are the shortest decimals of doubles and stand for the doubles;"
        " expected values are rounded down to 40 digits",
        "total": len(listed),
        "notes": [],
        "split": "public",
        "count": len(listed),
    }
    path = pathlib.Path(sys.argv[1]) / "lifetime_totals.json"
    text = json.dumps({"meta": meta, "vectors": listed}, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
