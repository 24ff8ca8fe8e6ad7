"""Writes the generalised linear models that other programs fit to small tables, for the tests of the refit.

    python generalised_models.py FOLDER

FOLDER is crates/sprifed-recovery/src/outcome/refit/known. Needs numpy, scikit-learn and statsmodels. Features are multiples
of 1/16 from -1 to 1, so single precision holds them, and no record is longer than a refit's clip.
"""

import json
import pathlib
import platform
import sys

import numpy as np
import sklearn
import statsmodels
import statsmodels.api as sm
from sklearn.linear_model import LogisticRegression

N_RECORDS, N_FEATURES = 160, 3


def logistic(X, y):
    model = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-14, max_iter=200).fit(X, y)
    errors = sm.Logit(y, sm.add_constant(X)).fit(disp=0, tol=1e-14).bse
    return [float(model.intercept_[0]), *map(float, model.coef_[0])], errors


def poisson(X, y):
    model = sm.GLM(y, sm.add_constant(X), family=sm.families.Poisson()).fit(tol=1e-14)
    return model.params, model.bse


def write(folder, name, programs, fit, draw):
    generator = np.random.default_rng(20_26)
    X = generator.integers(-16, 17, size=(N_RECORDS, N_FEATURES)) / 16
    y = draw(generator, X @ [1.3, -0.8, 0.4] + 0.3)
    coefficients, errors = fit(X, y)
    meta = {"name": name, "programs": programs, "script": "reference/generalised_models.py"}
    known = {
        "meta": meta,
        "records": [[*row, float(response)] for row, response in zip(X.tolist(), y)],
        "coefficients": [float(value) for value in coefficients],
        "standard_errors": [float(value) for value in errors],
    }
    text = json.dumps(known, indent=1).replace("\n   ", " ").replace("\n  ]", "]")
    (folder / f"{name}.json").write_text(text + "\n")


def main():
    folder = pathlib.Path(sys.argv[1])
    python = f"Python {platform.python_version()}, numpy {np.__version__}"
    models = f"statsmodels {statsmodels.__version__}"
    write(
        folder,
        "logistic",
        f"{python}, scikit-learn {sklearn.__version__} (coefficients), {models} (standard errors)",
        logistic,
        lambda generator, odds: (generator.uniform(size=N_RECORDS) < 1 / (1 + np.exp(-odds))).astype(float),
    )
    write(
        folder,
        "poisson",
        f"{python}, {models}",
        poisson,
        lambda generator, logarithm: generator.poisson(np.exp(logarithm)).astype(float),
    )


if __name__ == "__main__":
    main()
