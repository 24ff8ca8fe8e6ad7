"""Where the time and the memory of a fit go: python tests/profile_fit.py float64|float32 [C|F]."""

import cProfile
import pstats
import resource
import sys

import numpy as np

from sprifed import SparsePrivateRegressor


def main() -> None:
    dtype = np.dtype(sys.argv[1])
    order = sys.argv[2] if len(sys.argv) > 2 else "C"
    n_records, n_features = 2000, 10_000
    random = np.random.default_rng(0)
    warm_up = random.standard_normal((100, 20))
    model = SparsePrivateRegressor(
        epsilon=3, sparsity=10, bounds=(-4, 4), response_bounds=(-12, 12), simulate_noise=1
    )
    model.fit(warm_up, warm_up[:, 0])
    X = np.empty((n_records, n_features), dtype=dtype, order=order)
    for row in X:
        row[:] = random.standard_normal(n_features, dtype=dtype)
    y = X[:, :10].sum(axis=1).astype(np.float64)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    profile = cProfile.Profile()
    profile.runcall(model.fit, X, y)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    stats = pstats.Stats(profile).stats
    total = max(entry[3] for entry in stats.values())
    core = sum(entry[2] for key, entry in stats.items() if "fit_private" in key[2])
    print(
        f"{dtype.name} in {order} order, n = {n_records}, p = {n_features}: {total:.2f} s, "
        f"of which outside the core {total - core:.3f} s ({100 * (1 - core / total):.1f} %); "
        f"X {X.nbytes / 2**20:.0f} MiB, peak memory grew by {grown:.1f} MiB"
    )
    pstats.Stats(profile).sort_stats("tottime").print_stats(4)


if __name__ == "__main__":
    main()
