"""Writes vectors/selection.json: p-values and intervals after a selection, by mpmath and numpy.

    python selection.py VECTORS

VECTORS is the folder vectors/. Needs mpmath, numpy and scipy. Everything is computed from the mathematical
definitions of docs/proofs/selective_inference.md, by other means than the program's:

- p-values of picks by integration by parts, p = e^(2 lambda) (G(0) + integral of S(u) G'(u) du), with mpmath;
- conditional laws by Gauss-Legendre panels of 20 points with all integrals written out, with numpy;
- the noncentral chi-square distribution by scipy, the tilted norm by mpmath.
"""

import hashlib
import json
import pathlib
import platform
import sys

import mpmath as mp
import numpy as np
import scipy
from scipy import optimize, special, stats
from scipy.interpolate import CubicSpline

mp.mp.dps = 30
HERE = pathlib.Path(__file__)


def number(value):
    return repr(float(value))


# The normal distribution.


def normal_vectors():
    for x in (-300, -60, -37.6, -35, -34.9, -12, -5, -1, -0.1, 0, 0.1, 1, 5, 8, 8.3, 20):
        x = mp.mpf(repr(x))
        tail = mp.erfc(-x / mp.sqrt(2)) / 2
        logarithm = mp.log1p(-mp.erfc(x / mp.sqrt(2)) / 2) if x > 0 else mp.log(tail)
        yield "normal", {"x": number(x)}, {"log_cumulative": mp.nstr(logarithm, 20)}
    for tail in (1e-250, 1e-60, 1e-16, 2e-16, 5e-13, 1e-5, 0.00125, 0.025, 0.09, 0.11, 0.3, 0.7, 0.975, 0.9999):
        goal = mp.log(mp.mpf(repr(tail)))

        def excess(x):
            return mp.log(mp.erfc(x / mp.sqrt(2)) / 2) - goal

        low, high = mp.mpf(-10), mp.mpf(40)
        for _ in range(120):
            middle = (low + high) / 2
            low, high = (middle, high) if excess(middle) > 0 else (low, middle)
        yield "quantile", {"tail": number(tail)}, {"upper_quantile": mp.nstr(low, 20)}


# Picks.


def phi(x):
    return mp.npdf(x)


def cdf(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


def signal_of_clipped(q):
    """E[z clip(z, q)] of a standard normal z, by its definition."""
    inside = mp.quad(lambda z: z * z * phi(z), [-q, 0, q])
    return inside + 2 * mp.quad(lambda z: z * q * phi(z), [q, q + 3, q + 8, q + 20])


def variance_of_clipped(q):
    """E[clip(z/q, 1)^2] of a standard normal z, by its definition."""
    inside = mp.quad(lambda z: (z / q) ** 2 * phi(z), [-q, 0, q])
    return inside + 2 * mp.quad(phi, [q, q + 3, q + 8, q + 20])


class Pick:
    def __init__(self, n, scale, b, q, v, steps, rate, candidates):
        n, scale, b, q, v, rate = (mp.mpf(repr(x)) for x in (n, scale, b, q, v, rate))
        self.inputs = {"n": n, "residual_scale": scale, "b": b, "q": q, "v": v, "rate": rate}
        self.inputs = {key: number(value) for key, value in self.inputs.items()}
        self.inputs |= {"steps": steps, "candidates": candidates}
        self.n, self.scale, self.rate, self.candidates = n, scale, rate, candidates
        self.beta = 1 / (steps * rate)
        relative = b / mp.sqrt(v)
        self.kappa = v * (signal_of_clipped(relative) / b) * (signal_of_clipped(q) / q)
        self.tau = mp.sqrt(n * variance_of_clipped(relative) * variance_of_clipped(q))

    def covariance(self, sampling):
        return min(self.kappa * self.n * sampling / self.scale, mp.mpf("0.999") * self.tau * mp.sqrt(sampling))

    def survival(self, u):
        tilted = cdf(self.tau / self.beta - u / self.tau) / cdf(self.tau / self.beta)
        outside = mp.erfc(u / self.tau / mp.sqrt(2))
        largest = -mp.expm1(self.candidates * mp.log1p(-outside)) if outside < 1 else mp.mpf(1)
        return min(tilted, largest)

    def p_value(self, value, sampling, variance):
        value, sampling, variance = (mp.mpf(repr(x)) for x in (value, sampling, variance))
        c = self.covariance(sampling)
        w = c / self.tau**2
        d = mp.sqrt(variance - c * c / self.tau**2)
        t = abs(value)

        def derivative(u):
            return (w / d) * (phi((w * u - t) / d) - phi((w * u + t) / d))

        def integrand(u):
            return self.survival(u) * derivative(u)

        def apart(u):
            tilted = cdf(self.tau / self.beta - u / self.tau) / cdf(self.tau / self.beta)
            outside = mp.erfc(u / self.tau / mp.sqrt(2))
            return tilted + mp.expm1(self.candidates * mp.log1p(-outside))

        end = self.tau * (12 + self.tau / self.beta)
        cuts = {mp.mpf(0), end}
        for step in range(-10, 11):
            cuts.add(t / w + step * d / w)
        for step in range(0, 60):
            cuts.add(self.tau * step / 4)
        # The kink where the two bounds cross.
        grid = [self.tau * mp.mpf(step) / 16 for step in range(1, 200)]
        for low, high in zip(grid, grid[1:]):
            if (apart(low) > 0) != (apart(high) > 0):
                for _ in range(90):
                    middle = (low + high) / 2
                    low, high = (middle, high) if (apart(low) > 0) == (apart(middle) > 0) else (low, middle)
                cuts.add(low)
        cuts = sorted(cut for cut in cuts if 0 <= cut <= end)
        inside = mp.quad(integrand, cuts, maxdegree=6)
        return min(mp.mpf(1), mp.exp(2 * self.rate) * (2 * cdf(-t / d) + inside))


PICKS = [
    # n, residual scale, b, q, v, steps, rate, candidates
    (154, 1.3, 1.5, 1.5, 1.0, 512, 1 / (512 * 3.0), 2500),
    (600, 1.0, 1.5, 2.0, 1.0, 512, 1 / (512 * 5.0), 2496),
    (600, 1.41, 1.25, 1.25, 0.3, 512, 1 / (512 * 8.0), 10000),
    (3000, 1.0, 2.0, 2.0, 1.0, 512, 1 / (512 * 3.0), 2500),
    (1500, 0.8, 1.0, 1.0, 2.2, 512, 1 / (512 * 30.0), 2491),
    (1500, 1.0, 0.7, 0.7, 1.0, 63, 1 / (63 * 12.0), 400),
    (300, 1.0, 3.0, 3.0, 1.0, 512, 1 / (512 * 100.0), 20),
    (100000, 2.0, 3.0, 2.5, 1.0, 512, 1 / (512 * 2.0), 1000000),
]


def pick_vectors():
    for numbers in PICKS:
        pick = Pick(*numbers)
        for inflation, privacy in ((1.0, 0.1), (1.4, 1.0), (0.7, 6.0)):
            sampling = float(inflation * pick.scale**2 * mp.mpf("0.6") / (pick.n * mp.mpf(repr(numbers[4]))))
            variance = sampling * (1 + privacy)
            for ratio in (0.3, 2.0, 3.7, 5.5, -7.0):
                value = ratio * variance**0.5
                inputs = pick.inputs | {
                    "estimate": number(value),
                    "sampling_variance": number(sampling),
                    "variance": number(variance),
                }
                p = pick.p_value(value, sampling, variance)
                expected = {
                    "transfer": mp.nstr(pick.kappa, 18),
                    "score_std_dev": mp.nstr(pick.tau, 18),
                    "covariance": mp.nstr(pick.covariance(mp.mpf(repr(sampling))), 18),
                    "p_value": mp.nstr(p, 15),
                }
                yield "pick", inputs, expected


# Conditional laws.

NODES, WEIGHTS = np.polynomial.legendre.leggauss(20)


def rule(cuts, width):
    """Nodes and weights between sorted cuts, in panels of at most this width."""
    nodes, weights = [], []
    for low, high in zip(cuts, cuts[1:]):
        if high <= low:
            continue
        edges = np.linspace(low, high, int(np.ceil((high - low) / width)) + 1)
        half = np.diff(edges) / 2
        middle = (edges[:-1] + edges[1:]) / 2
        nodes.append((middle[:, None] + half[:, None] * NODES).ravel())
        weights.append((half[:, None] * WEIGHTS).ravel())
    return np.concatenate(nodes), np.concatenate(weights)


def share_below(log_weight, theta, value, se, least):
    """F_theta(value): the integral of phi W up to the value, over that of all."""
    reach = 45 * se
    ends = sorted({theta - reach, theta + reach, -least, least, value, value - reach, value + reach})
    nodes, weights = rule(ends, se / 2)
    keep = np.abs(nodes) >= least
    nodes, weights = nodes[keep], weights[keep]
    exponent = log_weight(theta, nodes) - ((nodes - theta) / se) ** 2 / 2
    mass = weights * np.exp(exponent - exponent.max())
    below = mass[nodes < value].sum()
    above = mass[nodes >= value].sum()
    return below, above


def conditional_interval(log_weight, value, se, least, level):
    def log_odds(theta):
        below, above = share_below(log_weight, theta, value, se, least)
        return np.log(max(below, 1e-300)) - np.log(max(above, 1e-300))

    down, up = (12, 5) if value > 0 else (5, 12)
    low, high = value - down * se, value + up * se
    goal = np.log((1 - level / 2) / (level / 2))
    ends = []
    for goal in (goal, -goal):
        if log_odds(low) <= goal:
            ends.append(low)
        elif log_odds(high) >= goal:
            ends.append(high)
        else:
            ends.append(optimize.brentq(lambda theta: log_odds(theta) - goal, low, high, xtol=1e-11 * se))
    return ends


def pooled_vectors():
    cases = [
        # U, V_U, t_z, t_T, T, V_s, V, level
        (3.9, 1.0, 3.2, 0.0, 3.1, 0.6, 0.7, 0.05),
        (-3.3, 1.0, 3.2, 0.0, -2.2, 0.6, 0.7, 0.05),
        (3.3, 1.0, 3.2, 2.0, 2.1, 0.5, 0.6, 0.025),
        (0.09, 0.0004, 4.1, 0.05, 0.061, 0.0002, 0.00021, 0.05),
        (0.2, 0.0004, 4.1, 0.05, 0.21, 0.0002, 0.0005, 0.0025),
        (2.9, 1.0, 3.2, 0.0, 4.0, 2.0, 2.5, 0.05),
        (9.0, 1.0, 8.5, 0.0, 6.0, 0.9, 1.0, 0.05),
        (5.0, 1.0, 0.0, 0.0, 2.5, 0.3, 1.0, 0.05),
        (-0.4, 0.01, 3.5, 0.3, -0.35, 0.004, 0.02, 0.01),
    ]
    for u, variance_u, tz, tt, value, sampling, variance, level in cases:
        se, deviation = variance**0.5, variance_u**0.5
        c = min(sampling, 0.95 * variance_u)
        d = (variance_u - c * c / variance) ** 0.5
        limit = min(tz * deviation, abs(u) * (1 - 1e-9))
        least = min(tt, abs(value) * (1 - 1e-9))

        def log_weight(theta, t):
            m = theta + (c / variance) * (t - theta)
            return np.logaddexp(special.log_ndtr((m - limit) / d), special.log_ndtr((-m - limit) / d))

        below, above = share_below(log_weight, 0.0, value, se, least)
        low, high = conditional_interval(log_weight, value, se, least, level)
        half = stats.norm.isf(level / 2) * se
        inputs = {
            "pooled": u, "pooled_variance": variance_u, "largest_ratio": tz, "largest_estimate": tt,
            "estimate": value, "sampling_variance": sampling, "variance": variance, "level": level,
        }
        expected = {
            "p_value": number(2 * min(below, above) / (below + above)),
            "low": number(low), "high": number(high),
            "hull_low": number(min(low, value - half)), "hull_high": number(max(high, value + half)),
        }
        yield "pooled", {key: number(x) for key, x in inputs.items()}, expected


def argmax_vectors():
    cases = [
        # pick, V_s factor, privacy, T in standard errors, later rivals, all kept (in T units), s_max, level
        (0, 1.0, 0.3, 4.5, [0.9, 0.5], [0.9, 0.5, 0.6], 5, 0.05),
        (1, 1.0, 0.3, 4.0, [], [0.25], 10, 0.005),
        (1, 1.0, 0.3, 4.0, [0.2, 0.3], [0.2, 0.3, 0.25, 0.7], 10, 0.02),
        (1, 1.3, 2.0, -3.5, [0.2], [0.2, 0.22], 5, 0.02),
        (2, 1.0, 0.5, 5.0, [0.6], [0.6, 0.7], 5, 0.05),
        (3, 1.0, 0.1, 4.4, [0.1], [0.1, 0.11], 5, 0.02),
        (3, 1.0, 4.0, 4.4, [0.1], [0.1, 0.11], 5, 0.02),
        (4, 1.0, 1.0, 3.4, [0.07], [0.07, 0.08], 10, 0.01),
        (5, 1.0, 1.0, 3.0, [], [0.08], 3, 0.05),
        (6, 1.0, 0.5, 2.5, [], [0.2], 1, 0.05),
        (7, 1.0, 0.2, 30.0, [0.02], [0.02, 0.5], 5, 0.05),
    ]
    for index, inflation, privacy, ratio, later, kept, most, level in cases:
        numbers = PICKS[index]
        pick = Pick(*numbers)
        sampling = inflation * float(pick.scale) ** 2 / (numbers[0] * numbers[4])
        variance = sampling * (1 + privacy)
        se = variance**0.5
        value = ratio * se
        tau, beta, kappa = float(pick.tau), float(pick.beta), float(pick.kappa)
        c = float(pick.covariance(mp.mpf(repr(sampling))))
        p = numbers[7]
        largest = tau * stats.norm.isf(1 / (2 * p))
        tilt = tau / beta
        if tau**2 / beta < largest:
            null = np.log(p) + np.log(2) + special.log_ndtr(tilt) + tilt**2 / 2
        else:
            null = largest / beta
        unit = numbers[0] * kappa / (numbers[1] * beta)
        terms = [null] + [unit * other for other in later] + [np.log(most) + unit * min(kept)]
        log_rivals = special.logsumexp(terms)
        slope = min(numbers[0] * kappa / numbers[1], tau**2 / c)
        spread = (tau**2 - c * c / variance) ** 0.5

        def log_weight(theta, t):
            m = np.abs(slope * theta + (c / variance) * (t - theta))
            out = np.empty_like(m)
            for place, mean in enumerate(m):
                top = max(mean + spread**2 / beta, mean) + 14 * spread
                start = max(0.0, mean - 14 * spread)
                even = beta * log_rivals
                cuts = sorted({start, top, *(x for x in (even, even - 30 * beta, even + 30 * beta) if start < x < top)})
                u, weights = rule(cuts, 3 * min(spread, beta))
                chance = -np.logaddexp(0, log_rivals - u / beta)
                near = -((u - mean) / spread) ** 2 / 2
                far = -((u + mean) / spread) ** 2 / 2
                exponent = chance + np.logaddexp(near, far)
                out[place] = special.logsumexp(exponent, b=weights)
            return out - np.log(spread * np.sqrt(2 * np.pi))

        # W is a function of the mean of U given T alone: it is tabulated once, densely, for the roots.
        reach = 60 * se
        bounds = (abs(value) + 12 * se + reach) * max(slope, c / variance)
        table = np.unique(np.concatenate([np.linspace(0, bounds, 3000), np.linspace(0, 8 * spread, 400)]))
        values = log_weight(0.0, table / (c / variance))
        # Even in the mean, so its slope at zero is zero.
        spline = CubicSpline(table, values, bc_type=((1, 0.0), "not-a-knot"))

        def tabulated(theta, t):
            return spline(np.abs(slope * theta + (c / variance) * (t - theta)))

        below, above = share_below(tabulated, 0.0, value, se, 0.0)
        low, high = conditional_interval(tabulated, value, se, 0.0, level)
        weight = log_weight(0.5 * value, np.array([value]))[0]
        inputs = pick.inputs | {
            "estimate": number(value), "sampling_variance": number(sampling), "variance": number(variance),
            "later": [number(x) for x in later], "kept": [number(x) for x in kept], "most": most, "level": number(level),
        }
        expected = {
            "log_rivals": number(log_rivals), "log_weight_at_half": number(weight),
            "share_below_zero_effect": number(below / (below + above)),
            "low": number(low), "high": number(high),
        }
        yield "argmax_interval", inputs, expected


# Groups.


def group_vectors():
    cases = [
        # g, t^2, correlation, tau, beta, rate, P
        (1, 9.0, 0.6, 12.0, 5.0, 1 / (512 * 5.0), 300),
        (2, 14.0, 0.6, 12.0, 5.0, 1 / (512 * 5.0), 300),
        (3, 25.0, 0.9, 12.0, 5.0, 1 / (512 * 5.0), 2500),
        (3, 25.0, 0.9, 12.0, 1.5, 1 / (512 * 1.5), 2500),
        (4, 60.0, 0.999, 20.0, 5.0, 1 / (512 * 5.0), 2500),
        (7, 20.0, 0.3, 12.0, 30.0, 1 / (512 * 30.0), 50),
        (12, 70.0, 0.8, 12.0, 12.0, 1 / (512 * 12.0), 1000),
        (5, 3.0, 0.5, 12.0, 5.0, 1 / (512 * 5.0), 300),
    ]
    for g, squared, correlation, tau, beta, rate, candidates in cases:
        rest = 1 - correlation**2
        tilt = tau / beta

        def density(x):
            return mp.exp((g - 1) * mp.log(x) + x * tilt - x * x / 2) if x > 0 else mp.mpf(g == 1)

        end = tilt + 12 + g**0.5
        edges = [mp.mpf(step) * end / 400 for step in range(401)]
        pieces = [mp.quad(density, [low, high]) for low, high in zip(edges, edges[1:])]
        whole = sum(pieces)
        tails = [sum(pieces[step:]) / whole for step in range(400)] + [mp.mpf(0)]
        logs = [mp.log(tail) for tail in tails[:-1]]
        spline_cut = float(edges[-2])
        log_tail = CubicSpline([float(edge) for edge in edges[:-1]], [float(value) for value in logs])

        def survival(u):
            outside = stats.chi2.sf(u * u, g)
            largest = -np.expm1(candidates * np.log1p(-np.minimum(outside, 1 - 1e-16)))
            return np.minimum(np.exp(log_tail(np.minimum(u, spline_cut))), np.minimum(largest, 1.0))

        def exceeds(u):
            return stats.ncx2.sf(squared / rest, g, np.maximum(correlation**2 * u * u / rest, 1e-12))

        # Riemann-Stieltjes sum on a fine grid, with the mean of both ends.
        u = np.linspace(0, float(spline_cut), 400001)
        s = survival(u)
        s[0] = 1.0
        e = exceeds(u)
        p = float(np.sum((s[:-1] - s[1:]) * (e[:-1] + e[1:]) / 2) + s[-1])
        p = min(1.0, p * float(np.exp(2 * rate)))
        inputs = {
            "columns": g, "squared_distance": number(squared), "correlation": number(correlation),
            "score_std_dev": number(tau), "noise_scale": number(beta), "rate": number(rate), "candidates": candidates,
        }
        yield "group", inputs, {"p_value": number(p)}


def main():
    vectors = []
    for made in (normal_vectors, pick_vectors, pooled_vectors, argmax_vectors, group_vectors):
        for group, inputs, expected in made():
            vectors.append(
                {"id": f"selection-{len(vectors):04}", "group": group, "inputs": inputs, "expected": expected}
            )
        print(made.__name__, len(vectors), file=sys.stderr)
    meta = {
        "name": "selection",
        "description": "p-values and intervals after a selection: picks by a private choice, pooled sums, groups of columns",
        "formula": "docs/proofs/selective_inference.md",
        "generator": {
            "script": "reference/selection.py",
            "script_sha256": hashlib.sha256(HERE.read_bytes()).hexdigest(),
            "python": platform.python_version(),
            "command": "python reference/selection.py vectors",
        },
        "library_versions": {"mpmath": mp.__version__, "numpy": np.__version__, "scipy": scipy.__version__},
        "tolerance": {
            "kind": "by group",
            "rule": "normal and quantile: relative 1e-13; p-values of picks and groups: relative 1e-4 and absolute 5e-12; of sums: relative 1e-6 and absolute 1e-15; ends of intervals: 1e-5 standard errors; weights and shares below: absolute 1e-6; the rest: relative 1e-9",
        },
        "count": len(vectors),
    }
    lines = ",\n".join("  " + json.dumps(vector) for vector in vectors)
    text = json.dumps({"meta": meta}, indent=1)[:-2] + ',\n "vectors": [\n' + lines + "\n ]\n}\n"
    (pathlib.Path(sys.argv[1]) / "selection.json").write_text(text)


main()
