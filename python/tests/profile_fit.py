"""Where the time of a fit goes: python tests/profile_fit.py [records features]."""

import cProfile
import pstats
import resource
import sys

import numpy as np

from sprifed import SparsePrivateRegressor


def main() -> None:
    n_records, n_features = (int(word) for word in sys.argv[1:] or (2000, 10_000))
    random = np.random.default_rng(0)
    warm_up = random.standard_normal((100, 20))
    for dtype in (np.float64, np.float32):
        model = SparsePrivateRegressor(
            epsilon=3, sparsity=10, bounds=(-4, 4), response_bounds=(-12, 12), simulate_noise=1
        )
        model.fit(warm_up, warm_up[:, 0])
        X = random.standard_normal((n_records, n_features), dtype=dtype)
        y = X[:, :10].sum(axis=1).astype(np.float64)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        profile = cProfile.Profile()
        profile.runcall(model.fit, X, y)
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        stats = pstats.Stats(profile).stats
        total = max(entry[3] for entry in stats.values())
        core = sum(entry[2] for key, entry in stats.items() if "fit_private" in key[2])
        print(
            f"{np.dtype(dtype).name}: n = {n_records}, p = {n_features}: {total:.2f} s, "
            f"of which outside the core {total - core:.3f} s ({100 * (1 - core / total):.1f} %); "
            f"X {X.nbytes / 2**20:.0f} MiB, peak memory grew by {grown:.1f} MiB"
        )
        pstats.Stats(profile).sort_stats("tottime").print_stats(6)
        del X


if __name__ == "__main__":
    main()
