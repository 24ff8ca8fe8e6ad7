"""Writes the fixtures of crates/sprifed-cli/tests/it/reference.rs: the answers of scikit-learn's
orthogonal_mp to ten random problems and to two real data sets.

    python orthogonal_mp.py FIXTURES [DATA]

FIXTURES is crates/sprifed-recovery/tests/fixtures; DATA holds riboflavin/data.csv.gz and
cookie/data.csv.gz; only the answers are stored. Needs numpy and scikit-learn.
"""

import csv
import gzip
import json
import pathlib
import sys

import numpy as np
import sklearn
from sklearn.linear_model import orthogonal_mp

N_RECORDS, N_FEATURES, SPARSITY = 40, 60, 5


def answer(features, response, sparsity):
    """Support and coefficients of orthogonal_mp, in increasing order of the features."""
    coefficients = orthogonal_mp(features, response, n_nonzero_coefs=sparsity)
    support = np.flatnonzero(coefficients)
    return {
        "sparsity": sparsity,
        "support": support.tolist(),
        "coefficients": coefficients[support].tolist(),
    }


def single(values):
    """Values that single precision holds exactly, with few decimals."""
    return np.round(values, 3).astype(np.float32)


def random_problem(seed):
    generator = np.random.default_rng(seed)
    features = single(generator.normal(size=(N_RECORDS, N_FEATURES)))
    if seed % 2:  # Neighbours at distance d with correlation 0.6^d.
        for column in range(1, N_FEATURES):
            features[:, column] = single(0.6 * features[:, column - 1] + 0.8 * features[:, column])
    support = generator.choice(N_FEATURES, SPARSITY, replace=False)
    signal = features[:, support] @ generator.normal(2, 1, SPARSITY)
    response = single(signal + 0.3 * generator.normal(size=N_RECORDS))
    # Written as the shortest decimals of single precision; read back as the same numbers.
    return {
        "seed": seed,
        "features": [float(str(value)) for value in features.ravel()],
        "response": [float(str(value)) for value in response],
        **answer(features.astype(float), response.astype(float), SPARSITY),
    }


def column_means(table):
    """Row after row, so that another language can add in the same order."""
    total = np.zeros(table.shape[1:])
    for row in table:
        total = total + row
    return total / len(table)


def real_problem(path):
    """Columns centred and scaled to unit root mean square in double precision, then rounded to
    single precision."""
    with gzip.open(path, "rt", newline="") as file:
        rows = csv.reader(file)
        header = next(rows)
        table = np.array([[float(cell or "nan") for cell in row] for row in rows])
    features = table[:, [index for index, name in enumerate(header) if name.startswith("x_")]]
    response = table[:, header.index("y")]
    features = features - column_means(features)
    features = (features / np.sqrt(column_means(features * features))).astype(np.float32)
    response = (response - column_means(response)).astype(np.float32)
    assert np.isfinite(features).all() and np.isfinite(response).all()
    return {
        "n_records": int(features.shape[0]),
        "n_features": int(features.shape[1]),
        **answer(features.astype(float), response.astype(float), 6),
    }


def main():
    fixtures = pathlib.Path(sys.argv[1])
    shape = {"n_records": N_RECORDS, "n_features": N_FEATURES, "scikit_learn": sklearn.__version__}
    random = {**shape, "problems": [random_problem(seed) for seed in range(10)]}
    (fixtures / "orthogonal_mp.json").write_text(json.dumps(random, separators=(",", ":")) + "\n")
    if len(sys.argv) > 2:
        data = pathlib.Path(sys.argv[2])
        real = {"scikit_learn": sklearn.__version__}
        for name in ("riboflavin", "cookie"):
            real[name] = real_problem(data / name / "data.csv.gz")
        text = json.dumps(real, indent=1) + "\n"
        (fixtures / "orthogonal_mp_real.json").write_text(text)


if __name__ == "__main__":
    main()
