"""References without noise: least squares on what stays in the model, OMP, and the lasso. Needs numpy.

Each is fitted to the same records as the private fits. Columns are moved into the bounds of the schema and standardised
by the fitted records.
"""

import concurrent.futures
import random

import numpy as np

from protocol import REFERENCES, THIN, Rows, split

# How far the solution of a lasso may be from optimal, as a share of the penalty, and when it is given up.
TOLERANCE = 1e-3
MOST_STEPS = 20_000


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
    """Coefficients for each penalty in turn, from the largest down; columns of squared length n.

    Each penalty is solved on the columns that may matter, and columns are added until no other one should enter.
    """
    records, count = features.shape
    coefficients = np.zeros(count)
    gradient = features.T @ response / records
    for penalty in penalties:
        active = np.zeros(0, int)
        while True:
            entering = (np.abs(gradient) > penalty * (1 + TOLERANCE)) | (coefficients != 0)
            if np.isin(np.flatnonzero(entering), active).all():
                break
            active = np.union1d(active, np.flatnonzero(entering))
            columns = features[:, active]
            gram, moments = columns.T @ columns / records, columns.T @ response / records
            coefficients[active] = accelerated(gram, moments, coefficients[active], penalty)
            gradient = features.T @ (response - columns @ coefficients[active]) / records
        yield coefficients


def accelerated(gram, moments, start, penalty):
    """The lasso of these moments by accelerated proximal steps, restarted whenever a step turns back."""
    direction = np.ones(len(start))
    for _ in range(30):
        direction = gram @ direction
        largest = np.linalg.norm(direction)
        direction /= largest
    step = 1 / (1.1 * largest)
    found, ahead, momentum = start, start, 1.0
    for _ in range(MOST_STEPS):
        moved_by = ahead + step * (moments - gram @ ahead)
        new = np.sign(moved_by) * np.maximum(np.abs(moved_by) - step * penalty, 0)
        if np.abs(ahead - new).max() < TOLERANCE * penalty * step:
            return new
        if (ahead - new) @ (new - found) > 0:
            momentum, ahead = 1.0, found
            continue
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = new + (momentum - 1) / following * (new - found)
        found, momentum = new, following
    return found


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


def references(data, problem, seed):
    """R2 of each reference on the records that were kept apart."""
    schema = problem.schema()
    fitted, apart = split(data, problem, seed)
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
    return found, null


def run(data, problems, jobs, progress):
    """Adds what is missing to the file of references."""
    rows = Rows(REFERENCES, ["problem", "split", "reference", "r2", "null_mse"], ["problem", "split"])
    missing = [
        (problem, seed)
        for problem in problems
        for seed in problem.reference_splits()
        if not rows.has(problem.name, seed)
    ]
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        running = {pool.submit(references, data, problem, seed): (problem, seed) for problem, seed in missing}
        for done, future in enumerate(concurrent.futures.as_completed(running), 1):
            problem, seed = running[future]
            found, null = future.result()
            for name, r2 in found.items():
                row = {"problem": problem.name, "split": seed, "reference": name}
                rows.add({**row, "r2": f"{r2:.4f}", "null_mse": f"{null:.6g}"})
            progress(f"references {done} of {len(missing)}: {problem.name}, split {seed}")
