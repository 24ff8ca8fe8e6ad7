"""Checks docs/proofs/trustees.md with exact probabilities, and writes vectors/euler.json, by mpmath.

    python trustees.py VECTORS

VECTORS is the folder vectors/. Needs mpmath. Prints what was checked; ends with an error if a bound fails.
"""

import hashlib
import json
import pathlib
import platform
import random
import sys

import mpmath

mpmath.mp.dps = 40
mpf = mpmath.mpf


class Euler:
    """P(Z <= z) and P(Z = z) by the product, from the tail down."""

    def __init__(self, rate):
        self.q = mpmath.exp(-rate)
        self.reach = int(100 / rate) + 2
        at, self.cumulative = mpf(1), {}
        for z in range(self.reach, -1, -1):
            self.cumulative[z] = at
            at *= 1 - self.q**z

    def below(self, z):
        if z < 0:
            return mpf(0)
        return self.cumulative.get(z, mpf(1))

    def mass(self, z):
        return self.q**z * self.below(z) if z >= 0 else mpf(0)


def half_masses(rate, reach):
    """The half share by the recursion of its generating function; P(0) = prod (1 - q^k)^(1/2)."""
    q = mpmath.exp(-rate)
    odds = [q**m / (1 - q**m) for m in range(1, reach + 1)]
    masses = [mpmath.sqrt(Euler(rate).below(0))]
    for x in range(1, reach + 1):
        masses.append(mpmath.fdot(odds[:x], reversed(masses)) / (2 * x))
    return masses


def selection(law, scores):
    """Exact probabilities; a tie goes to the lowest index."""
    found = []
    for winner, own in enumerate(scores):
        total = mpf(0)
        for height in range(max(scores), max(scores) + law.reach):
            term = law.mass(height - own)
            for rival, score in enumerate(scores):
                if rival != winner:
                    term *= law.below(height - score - (1 if rival < winner else 0))
            total += term
        found.append(total)
    return found


class Half:
    """One half share as a law of its own."""

    def __init__(self, rate):
        self.masses = half_masses(rate, int(60 / rate))
        self.reach = len(self.masses)
        self.sums, total = [], mpf(0)
        for mass in self.masses:
            total += mass
            self.sums.append(total)

    def mass(self, z):
        return self.masses[z] if 0 <= z < self.reach else mpf(0)

    def below(self, z):
        return mpf(0) if z < 0 else self.sums[min(z, self.reach - 1)]


def losses(law, one, other):
    pairs = zip(selection(law, one), selection(law, other))
    return [mpmath.log(p / q) for p, q in pairs]


def check_lemma():
    for bits in range(1, 9):
        half = 1 << (bits - 1)

        def a(u):
            u = (u + half) % (2 * half) - half
            return max(u, -u - 1)

        assert all(abs(a(u + 1) - a(u)) <= 1 for u in range(-half, half))


def check_selection(n_instances, generator):
    """Both bounds of Theorem 2, and the range of moved scores. The largest excess over 2 lambda Delta."""
    worst = mpf(0)
    for _ in range(n_instances):
        rate = mpf(generator.choice([5, 10, 20, 50])) / 50
        law, moves = Euler(rate), generator.randint(1, 4)
        scores = [generator.randint(0, 12) for _ in range(generator.randint(2, 5))]
        low, high = max(scores), max(scores) + law.reach
        total = mpmath.fsum(
            law.q**h * mpmath.fprod(law.below(h - v) for v in scores) for h in range(low, high)
        )
        probabilities = selection(law, scores)
        assert abs(mpmath.fsum(probabilities) - 1) < mpf(10) ** -30
        for score, probability in zip(scores, probabilities):
            upper = mpmath.exp(rate * score) * total
            assert law.q * upper <= probability * (1 + mpf(10) ** -30)
            assert probability <= upper * (1 + mpf(10) ** -30)
        moved = [score + generator.choice([-moves, moves]) for score in scores]
        found = losses(law, scores, moved)
        spread = max(found) - min(found)
        assert spread <= 2 * rate * (moves + 1)
        worst = max(worst, (spread - 2 * rate * moves) / rate)
    return worst


def check_divisibility():
    for rate in (mpf(1), mpf(3) / 10, mpf(1) / 16):
        law, reach = Euler(rate), int(12 / rate)
        half = half_masses(rate, reach)
        for z in range(reach):
            folded = mpmath.fsum(half[x] * half[z - x] for x in range(z + 1))
            assert abs(folded / law.mass(z) - 1) < mpf(10) ** -25


def check_cut_off():
    for denominator in (1, 2, 5, 16, 128, 1000, 16384):
        rate = mpf(1) / denominator
        q, last = mpmath.exp(-rate), 75 * denominator
        clamp = (75 + mpmath.log(1 / rate)) / rate
        assert mpmath.exp(-rate * clamp) / (1 - q) <= mpf("1.6") * mpmath.exp(-75)
        if denominator <= 1000:
            rest = mpmath.fsum(q**m / (m * (1 - q**m)) for m in range(last + 1, last + 40 * denominator))
            assert rest <= mpf("1.01") * mpmath.exp(-75) / 75


def audit_instance():
    known, rate = [7, 11, 57, 21, 3, 24, 47, 28], mpf(1) / 10
    moved = [score - 10 for score in known]
    moved[6] = known[6] + 10
    return [max(found) - min(found) for found in (losses(law, known, moved) for law in (Euler(rate), Half(rate)))]


def vectors():
    for text in ("1", "3/10", "1/16", "1/128"):
        top, _, bottom = text.partition("/")
        rate = mpf(top) / mpf(bottom or 1)
        law = Euler(rate)
        scale = int(1 / rate) if rate < 1 else 1
        points = sorted({scale * k // 4 for k in (0, 2, 4, 6, 8, 12, 16, 20, 24, 28, 32)} | {0, 1})
        points = [z for z in points if law.below(z) > mpf(10) ** -4]
        half = half_masses(rate, int(8 / rate))
        inside = [x for x in points if x < len(half)]
        yield {
            "group": "euler",
            "inputs": {"lam": text},
            "expected": {"cdf": {str(z): mpmath.nstr(law.below(z), 30) for z in points}},
        }
        yield {
            "group": "half_share",
            "inputs": {"lam": text},
            "expected": {"cdf": {str(x): mpmath.nstr(mpmath.fsum(half[: x + 1]), 30) for x in inside}},
        }


def main():
    check_lemma()
    worst = check_selection(400, random.Random(14))
    print("Theorem 2 on 400 instances; largest excess over 2 lambda Delta:", mpmath.nstr(worst, 4), "lambda")
    check_divisibility()
    check_cut_off()
    print("audit instance, two unknown halves and one:", [mpmath.nstr(r, 5) for r in audit_instance()])
    script = pathlib.Path(__file__)
    listed = list(vectors())
    for number, vector in enumerate(listed):
        vector["id"] = f"euler-{number:04}"
    meta = {
        "name": "euler",
        "description": "exact cumulative probabilities of Euler noise, as the sum of two half shares, and of one half share",
        "formula": "P(Z<=z)=prod_{k>z}(1-exp(-lam k)); half share: generating function to the power 1/2",
        "generator": {
            "script": f"reference/{script.name}",
            "script_sha256": hashlib.sha256(script.read_bytes()).hexdigest(),
            "mp_decimal_digits": mpmath.mp.dps,
            "python": platform.python_version(),
        },
        "library_versions": {"mpmath": mpmath.__version__},
        "tolerance": {"kind": "statistical", "rule": "use >=2e5 draws; reject if |freq-p| > 6*sqrt(p(1-p)/N)"},
        "number_format": "decimal strings; inputs are exact (a/b), expected values rounded to 30 digits",
        "total": len(listed),
        "notes": [],
        "split": "public",
        "count": len(listed),
    }
    target = pathlib.Path(sys.argv[1]) / "euler.json"
    target.write_text(json.dumps({"meta": meta, "vectors": listed}, indent=1) + "\n")


if __name__ == "__main__":
    main()
