"""Writes ldl.csv and ldl-new.csv: made-up patients with age, sex, site, 10,000 markers and LDL cholesterol in mg/dl.

    python3 make_data.py FOLDER

Always the same files. Five markers matter (EFFECTS); sites and sexes differ in age and in LDL; some cells are empty.
"""

import pathlib
import random
import sys

MARKERS = 10_000
RECORDS = {"ldl.csv": 3000, "ldl-new.csv": 500}
# Change of LDL for each copy of the rarer allele.
EFFECTS = {"rs1204": 13.0, "rs2750": -12.0, "rs4411": 11.0, "rs6093": -10.0, "rs8877": 9.0}
# How LDL differs, how old patients are on average, and what share of all patients a site has.
SITES = {"aalen": (0.0, 52, 0.4), "basel": (8.0, 58, 0.35), "celle": (-6.0, 61, 0.25)}


def bell(stream):
    """Nearly a standard normal number."""
    return sum(stream.random() for _ in range(12)) - 6


def genotype(stream, share):
    draw, none = stream.random(), (1 - share) ** 2
    return 0 if draw < none else 2 if draw >= 1 - share**2 else 1


def patient(stream, names, shares):
    site = stream.choices(list(SITES), [share for _, _, share in SITES.values()])[0]
    shift, typical_age, _ = SITES[site]
    sex = stream.choice(["female", "male"])
    age = min(max(round(typical_age + 11 * bell(stream)), 30), 85)
    copies = [genotype(stream, share) for share in shares]
    by_name = dict(zip(names, copies))
    ldl = 95 + 0.5 * age + (7 if sex == "male" else 0) + shift + 25 * bell(stream)
    ldl += sum(effect * by_name[name] for name, effect in EFFECTS.items())
    cells = ["" if stream.random() < 0.002 else str(count) for count in copies]
    return ",".join([str(age), sex, site, f"{ldl:.0f}", *cells])


def main(folder):
    stream = random.Random(2026)
    names = [f"rs{number}" for number in range(1, MARKERS + 1)]
    shares = [0.1 + 0.4 * stream.random() for _ in names]
    for file, count in RECORDS.items():
        lines = [",".join(["age", "sex", "site", "ldl", *names])]
        lines += [patient(stream, names, shares) for _ in range(count)]
        (folder / file).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    target = pathlib.Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    main(target)
