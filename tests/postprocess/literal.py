"""Slow twins of the post-processing steps: one item at a time, by reading the definitions and not the code."""

from __future__ import annotations

from itertools import combinations
from math import exp, log, sqrt
from statistics import NormalDist


def base_cut(values: list[float], n: float) -> list[float]:
    """Sorted, kept until the total is above n; the paper, section 6 (5)."""
    kept, total = [0.0] * len(values), 0.0
    for i in sorted(range(len(values)), key=lambda i: -values[i]):
        kept[i] = values[i]
        total += values[i]
        if total > n:
            return kept
    return list(values)


def norm_cut(values: list[float], n: float) -> list[float]:
    """Clipped, then the smallest dropped until the total is at most n; of equal ones the last."""
    kept = [max(value, 0.0) for value in values]
    while sum(sorted(kept, reverse=True)) > n * (1 + 1e-9):
        smallest = min(value for value in kept if value > 0)
        kept[max(i for i, value in enumerate(kept) if value == smallest)] = 0.0
    return kept


def norm_mul(values: list[float], n: float) -> list[float]:
    """Clipped and scaled; an even share where nothing is positive."""
    kept = [max(value, 0.0) for value in values]
    return [value * (n / sum(kept)) if sum(kept) else n / len(values) for value in kept]


def norm_sub_once(values: list[float], n: float) -> list[float]:
    """One delta for the positive ones; the paper, section 6 (3)."""
    positive = [value for value in values if value > 0]
    if not positive:
        return [n / len(values)] * len(values)
    delta = (n - sum(positive)) / len(positive)
    return [value + delta if value > 0 else 0.0 for value in values]


def projection(values: list[float], n: float) -> list[float]:
    """The nearest point of the simplex: the best of the solutions on each of its faces."""
    best: tuple[float, list[float]] | None = None
    for size in range(1, len(values) + 1):
        for face in combinations(range(len(values)), size):
            delta = (n - sum(values[i] for i in face)) / size
            point = [value + delta if i in face else 0.0 for i, value in enumerate(values)]
            if min(point) >= -1e-12 * (n + 1):
                distance = sum((a - b) ** 2 for a, b in zip(point, values, strict=True))
                if best is None or distance < best[0]:
                    best = distance, point
    assert best is not None
    return best[1]


def bisected(values: list[float], n: float) -> list[float]:
    """The shift at which what stays positive sums to n, by halving an interval."""
    low, high = -max(values), n - min(values)
    for _ in range(200):
        middle = (low + high) / 2
        if sum(max(value + middle, 0.0) for value in values) < n:
            low = middle
        else:
            high = middle
    return [max(value + high, 0.0) for value in values]


def significance_cut(values: list[float], variance: list[float], alpha: float) -> list[float]:
    """Kept above the quantile of the noise, an alpha shared among all items."""
    quantile = NormalDist().inv_cdf(1 - alpha / len(values))
    return [value if value > quantile * sqrt(v) else 0.0 for value, v in zip(values, variance, strict=True)]


def power_law(n: float, items: int) -> tuple[float, float]:
    """The lower end and the exponent of the density whose mean is n/d, by sums over a fine grid."""
    mean = n / items
    lowest = min(1.0, mean / 10)
    grid = _log_grid(lowest, n, 2_000)

    def excess(s: float) -> float:
        return sum(w * x ** (1 - s) * (x - mean) for x, w in grid)

    low, high = 0.0, 3.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return lowest, low


def posterior_mean(value: float, sigma: float, n: float, lowest: float, s: float) -> float:
    """E[x | value] with the prior x^-s on [lowest, n] and normal noise, by the midpoint rule."""
    around = [(x, 1.0 / x) for x in _even_grid(max(lowest, value - 12 * sigma), min(n, value + 12 * sigma), 2_000)]
    grid = around if value > 12 * sigma else _log_grid(lowest, n, 2_000)
    logs = [(1 - s) * log(x) - ((value - x) / sigma) ** 2 / 2 for x, _ in grid]
    top = max(logs)
    weights = [w * exp(at - top) for (_, w), at in zip(grid, logs, strict=True)]
    return sum(w * x for w, (x, _) in zip(weights, grid, strict=True)) / sum(weights)


def _log_grid(low: float, high: float, cells: int) -> list[tuple[float, float]]:
    # Midpoints, even in log x: dx = x d(log x), and the factor x is the caller's.
    return [(low * (high / low) ** ((i + 0.5) / cells), 1.0) for i in range(cells)]


def _even_grid(low: float, high: float, cells: int) -> list[float]:
    return [low + (high - low) * (i + 0.5) / cells for i in range(cells)]


def more_likely(likelihoods: list[list[float]], shares: list[float]) -> list[float]:
    """One step of expectation maximization: the mean probability of each item, given a report, over all reports.

    ``likelihoods`` has one row for each report, with its likelihood under every item.
    """
    found = [0.0] * len(shares)
    for row in likelihoods:
        joint = [share * likelihood for share, likelihood in zip(shares, row, strict=True)]
        for item, each in enumerate(joint):
            found[item] += each / sum(joint) / len(likelihoods)
    return found


def log_likelihood(likelihoods: list[list[float]], shares: list[float]) -> float:
    """The logarithm of the probability of all reports if users have the items with these shares."""
    return sum(log(sum(s * each for s, each in zip(shares, row, strict=True))) for row in likelihoods)
