"""The paper's experiments once more, in the plainest NumPy: naive code that imports nothing of ours.

Each function simulates a claim with mechanisms written from the paper's text, and returns the numbers that decide it.
Hash functions are tables of random values. Where every report has the same distribution given its item, the sums of
the reports are drawn instead of the reports.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Chance = np.random.Generator


# --- data and errors ----------------------------------------------------------------------------------------------


def zipf(chance: Chance, n: int, d: int) -> Counts:
    """Users with the d most common of many values drawn from a Zipf distribution with exponent 1.1."""
    _, drawn = np.unique(chance.zipf(1.1, 2_000_000), return_counts=True)
    common = np.sort(drawn)[::-1][:d]
    assert len(common) == d
    return chance.multinomial(n, common / common.sum())


def mse(estimates: Floats, truth: Counts, *, clip: bool = False) -> float:
    """The mean squared error; the paper's program sets negative estimates to zero first."""
    return float(np.mean(((np.maximum(estimates, 0) if clip else estimates) - truth) ** 2))


# --- oracles ------------------------------------------------------------------------------------------------------


def direct(chance: Chance, truth: Counts, epsilon: float) -> Floats:
    """DE: the item itself with probability p, else one of the others."""
    d, n = len(truth), int(truth.sum())
    p = np.exp(epsilon) / (np.exp(epsilon) + d - 1)
    q = (1 - p) / (d - 1)
    seen = np.zeros(d)
    for item in np.flatnonzero(truth):
        stay = chance.binomial(truth[item], p)
        others = chance.multinomial(truth[item] - stay, np.full(d - 1, 1 / (d - 1)))
        seen += np.insert(others, item, stay)
    return (seen - n * q) / (p - q)


def unary(chance: Chance, truth: Counts, p: float, q: float) -> Floats:
    """A bit for each item: one with probability p for the user's own, and q for all others."""
    n = int(truth.sum())
    return (chance.binomial(truth, p) + chance.binomial(n - truth, q) - n * q) / (p - q)


def oue(chance: Chance, truth: Counts, epsilon: float) -> Floats:
    return unary(chance, truth, 0.5, 1 / (np.exp(epsilon) + 1))


def sue(chance: Chance, truth: Counts, epsilon: float) -> Floats:
    p = np.exp(epsilon / 2) / (np.exp(epsilon / 2) + 1)
    return unary(chance, truth, p, 1 - p)


def olh(chance: Chance, truth: Counts, epsilon: float) -> Floats:
    """OLH: every user has their own hash function, so that the support of an item is a sum of independent bits."""
    g = round(np.exp(epsilon)) + 1
    return unary(chance, truth, np.exp(epsilon) / (np.exp(epsilon) + g - 1), 1 / g)


def flh(chance: Chance, truth: Counts, epsilon: float, hashes: int) -> Floats:
    """FLH: every user picks one of the hash functions."""
    g = round(np.exp(epsilon)) + 1
    p = np.exp(epsilon) / (np.exp(epsilon) + g - 1)
    d, n = len(truth), int(truth.sum())
    table = chance.integers(0, g, (hashes, d))
    items = np.repeat(np.arange(d), truth)
    picked = chance.integers(0, hashes, n)
    value = randomised(chance, table[picked, items], g, p)
    reports = np.bincount(picked * g + value, minlength=hashes * g).reshape(hashes, g)
    support = np.take_along_axis(reports, table, axis=1).sum(axis=0)
    return (support - n / g) / (p - 1 / g)


def randomised(chance: Chance, values: Counts, g: int, p: float) -> Counts:
    """Each value with probability p, else one of the g − 1 others."""
    moved = (values + chance.integers(1, g, len(values))) % g
    return np.where(chance.random(len(values)) < p, values, moved)


def hm(chance: Chance, items: Counts, d: int, epsilon: float, t: int) -> Floats:
    """HM: t coefficients of the item's Hadamard row, randomised as a whole; d is a power of two."""
    n, size = len(items), 2**t
    p = np.exp(epsilon) / (np.exp(epsilon) + size - 1)
    columns = chance.integers(0, d, (n, t))
    sent = randomised(chance, parity(columns & items[:, None]) @ (1 << np.arange(t)), size, p)
    keep = (np.exp(epsilon) + size / 2 - 1) / (np.exp(epsilon) + size - 1)  # probability that a bit is right
    sums = np.zeros(d)
    for place in range(t):
        sums += np.bincount(columns[:, place], weights=1.0 - 2.0 * (sent >> place & 1), minlength=d)
    return walsh(sums) / (t * (2 * keep - 1))


def parity(values: Counts) -> Counts:
    """Whether each value has an odd number of ones; below 2^32."""
    for shift in (16, 8, 4, 2, 1):
        values = values ^ values >> shift
    return values & 1


def walsh(values: Floats) -> Floats:
    """The Hadamard transform."""
    found, half = values.copy(), 1
    while half < len(found):
        pairs = found.reshape(-1, 2, half)
        found = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
        half *= 2
    return found


# --- sketches -----------------------------------------------------------------------------------------------------


def hm_rows(chance: Chance, cells: list[Counts], width: int, epsilon: float, t: int) -> Floats:
    """The cells of every row of a sketch, estimated by HM."""
    return np.array([hm(chance, own, width, epsilon, t) for own in cells])


def flh_rows(chance: Chance, cells: list[Counts], width: int, epsilon: float, hashes: int) -> Floats:
    """The cells of every row of a sketch, estimated by FLH."""
    return np.array([flh(chance, np.bincount(own, minlength=width), epsilon, hashes) for own in cells])


def count_min(
    chance: Chance, items: Counts, width: int, rows: int, oracle: Callable[[list[Counts]], Floats]
) -> Callable[[Counts], Floats]:
    """Count-Min: every user reports the cell of their item in one row. The result estimates given items in each row.

    A row's estimate is debiased by the expected collisions: (r·cell − n/c)·c/(c − 1).
    """
    # A random linear function of the item modulo a prime, and its lowest digits.
    prime = (1 << 31) - 1
    a, b = chance.integers(1, prime, rows), chance.integers(0, prime, rows)

    def cell_of(row: int, wanted: Counts) -> Counts:
        return (a[row] * wanted + b[row]) % prime % width

    row_of = chance.integers(0, rows, len(items))
    estimated = oracle([cell_of(row, items[row_of == row]) for row in range(rows)])
    n = len(items)

    def estimates(wanted: Counts) -> Floats:
        found = np.array([estimated[row][cell_of(row, wanted)] for row in range(rows)])
        return (rows * found - n / width) * width / (width - 1)

    return estimates


# --- searches -----------------------------------------------------------------------------------------------------


def pem(
    chance: Chance,
    strings: Counts,
    counts: Counts,
    symbols: int,
    keep: int,
    estimator: Callable[[Counts], Callable[[Counts], Floats]],
) -> list[int]:
    """PEM on strings of six characters, with prefixes of four and then six: half of the users report each.

    ``strings`` are numbers in base ``symbols``. The ten found strings with the highest estimates are returned.
    """
    users = np.repeat(strings, counts)
    first = chance.random(len(users)) < 0.5
    prefixes = np.arange(symbols**4)
    found = estimator(users[first] // symbols**2)(prefixes)
    kept = prefixes[np.argsort(-found)[:keep]]
    children = (kept[:, None] * symbols**2 + np.arange(symbols**2)).reshape(-1)
    return children[np.argsort(-estimator(users[~first])(children))[:10]].tolist()


# --- claims -------------------------------------------------------------------------------------------------------


def oue_beats_de(chance: Chance) -> list[float]:
    """MSE of DE relative to OUE at several ε."""
    truth = zipf(chance, 100_000, 1024)
    return [mse(direct(chance, truth, e), truth) / mse(oue(chance, truth, e), truth) for e in (0.5, 2.0, 3.5, 5.0)]


def sue_at_five(chance: Chance) -> float:
    """MSE of DE relative to SUE at ε = 5, where it is lowest."""
    truth = zipf(chance, 100_000, 1024)
    return mse(direct(chance, truth, 5), truth) / mse(sue(chance, truth, 5), truth)


def flh_against_olh(chance: Chance) -> float:
    """MSE of FLH with k′ = 10,000 relative to OLH for 1,000,000 users."""
    truth = zipf(chance, 1_000_000, 500)
    return mse(flh(chance, truth, 3, 10_000), truth) / mse(olh(chance, truth, 3), truth)


def uniform_against_zipf(chance: Chance) -> dict[str, tuple[float, float]]:
    """MSE on uniform data relative to Zipf data, as it is and clipped, of two oracles: geometric mean over large ε."""
    skewed, even = zipf(chance, 100_000, 1024), chance.multinomial(100_000, np.full(1024, 1 / 1024))
    oracles: dict[str, Callable[[Counts, float], Floats]] = {
        "OUE": lambda truth, epsilon: oue(chance, truth, epsilon),
        "FLH": lambda truth, epsilon: flh(chance, truth, epsilon, 10_000),
    }
    found = {}
    for name, oracle in oracles.items():
        logs = []
        for epsilon in (4.0, 4.5, 5.0) * 6:
            flat, steep = oracle(even, epsilon), oracle(skewed, epsilon)
            logs.append([np.log(mse(flat, even, clip=c) / mse(steep, skewed, clip=c)) for c in (False, True)])
        plain, clipped = np.exp(np.mean(logs, axis=0))
        found[name] = (float(plain), float(clipped))
    return found


def coefficients_in_a_sketch(chance: Chance) -> float:
    """MSE of Apple's HCMS relative to the same sketch with three coefficients: means over 32 rows of 1024 cells."""
    truth = zipf(chance, 1_000_000, 10_000)
    items, everything = np.repeat(np.arange(len(truth)), truth), np.arange(len(truth))

    def error(t: int) -> float:
        sketch = count_min(chance, items, 1024, 32, lambda cells: hm_rows(chance, cells, 1024, 3, t))
        return mse(sketch(everything).mean(axis=0), truth)

    return float(np.mean([error(1) for _ in range(3)]) / np.mean([error(3) for _ in range(3)]))


def right_in_searches(chance: Chance, strings: Counts, counts: Counts, symbols: int) -> dict[str, float]:
    """Fraction of the ten most common strings that PEM finds over two sketches: means over HM, medians over FLH."""
    best = set(strings[np.argsort(-counts)[:10]].tolist())

    def over_hm(items: Counts) -> Callable[[Counts], Floats]:
        rows = count_min(chance, items, 1024, 32, lambda cells: hm_rows(chance, cells, 1024, 3, 1))
        return lambda wanted: in_parts(wanted, lambda part: rows(part).mean(axis=0))

    def over_flh(items: Counts) -> Callable[[Counts], Floats]:
        rows = count_min(chance, items, 1024, 32, lambda cells: flh_rows(chance, cells, 1024, 3, 500))
        return lambda wanted: in_parts(wanted, lambda part: np.median(rows(part), axis=0))

    return {
        name: float(np.mean([len(best & set(pem(chance, strings, counts, symbols, 20, own))) / 10 for _ in range(3)]))
        for name, own in (("HM", over_hm), ("FLH", over_flh))
    }


def in_parts(wanted: Counts, function: Callable[[Counts], Floats]) -> Floats:
    """The function of many items, of some at a time."""
    return np.concatenate([function(wanted[first : first + 50_000]) for first in range(0, len(wanted), 50_000)])
