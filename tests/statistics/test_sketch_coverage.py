"""95 % intervals of sketches contain the truth, over hash functions of each run's own.

A cell has 20 runs of 20,000 items. The standard error of its coverage, from the spread of the runs, is at most 0.12 %.
Only where one item has half of the users is the mean near the edge of the band: the items that meet it in some row,
with probability 1 - (1 - 1/1024)^32 = 3.1 %, are missed and all others are not, whatever the level. There the coverage
must be the one computed from that. The median has no such tail.
"""

from __future__ import annotations

import zlib
from fractions import Fraction
from functools import cache
from math import comb, sqrt
from statistics import NormalDist

import numpy as np
import pytest

import plausibly

from .data import CROWDS

USERS, SIZE, ROWS, WIDTH, RUNS = 1_000_000, 20_000, 32, 1024, 20
LOWEST, HIGHEST = 0.93, 0.97
ORACLES = ("FLH", "OLH", "HM", "HR", "OUE", "TLH")
KINDS = ("CM", "CS")
AGREED = {("OLH", "CM", "zipf"), ("OLH", "CS", "zipf"), ("TLH", "CM", "half"), ("FLH", "CS", "half")}
"""The cells of the full tests; the others belong to the slow ones."""


def _scheme(oracle: str, kind: str, width: int, rows: int, hash_seed: int) -> plausibly.Scheme:
    own = {"hash_seed": hash_seed} if oracle == "FLH" else {}
    part = plausibly.make(oracle, epsilon=3, domain_size=width * (2 if kind == "CS" else 1), **own)
    return plausibly.make(kind, oracle=part, rows=rows, domain_size=SIZE, hash_seed=hash_seed)


@cache
def coverage(oracle: str, kind: str, crowd: str, width: int = WIDTH, rows: int = ROWS) -> dict[str, np.ndarray]:
    """By way to combine rows: whether each interval of each run contains the truth."""
    truth = CROWDS[crowd](SIZE, USERS)
    seed = zlib.crc32(f"{kind} over {oracle}, {crowd}, {rows} x {width}".encode())
    covered: dict[str, list[np.ndarray]] = {"mean": [], "median": []}
    for run in range(RUNS):
        scheme = _scheme(oracle, kind, width, rows, seed << 16 | run)
        tally = scheme.simulate(truth, plausibly.SeededRandom(seed + run))
        for combine, runs in covered.items():
            low, high = tally.estimate(combine=combine).interval(0.95)
            runs.append((low <= truth) & (truth <= high))
    return {combine: np.array(runs) for combine, runs in covered.items()}


def _meeting_a_giant(oracle: str, kind: str) -> float:
    """The coverage of the mean for an item other than the giant, whose users it meets in k of the rows."""
    truth = CROWDS["half"](SIZE, USERS)
    giant, f2 = int(truth[0]), float((truth.astype(float) ** 2).sum())
    scheme = _scheme(oracle, kind, WIDTH, ROWS, 0)
    law, variance = scheme.estimator().law, scheme.variance(USERS, truth[-1], f2=f2)
    met = float(Fraction(1, ROWS * (WIDTH - 1) if kind == "CM" else ROWS * WIDTH))
    assert met <= law.collision
    rest = NormalDist(0, sqrt(variance - giant * (giant - 1) * met))
    reach, expected = NormalDist().inv_cdf(0.975) * sqrt(variance), 0.0
    for k in range(ROWS + 1):
        chance = comb(ROWS, k) * (1 / WIDTH) ** k * (1 - 1 / WIDTH) ** (ROWS - k)
        for plus in range(k + 1):  # CM takes what it expects off; of CS's k signs, some are positive
            net, weight = 2 * plus - k, comb(k, plus) / 2**k
            if kind == "CM":
                net, weight = (k - ROWS / WIDTH) * WIDTH / (WIDTH - 1), float(plus == 0)
            shift = giant * net / ROWS
            expected += chance * weight * (rest.cdf(reach - shift) - rest.cdf(-reach - shift))
    return expected


@pytest.mark.parametrize("combine", ["mean", "median"])
@pytest.mark.parametrize(
    ("oracle", "kind", "crowd"),
    [
        pytest.param(*cell, marks=pytest.mark.full if cell in AGREED else pytest.mark.slow)
        for cell in ((oracle, kind, crowd) for crowd in CROWDS for oracle in ORACLES for kind in KINDS)
    ],
)
def test_intervals_of_sketches_cover_the_truth(oracle, kind, crowd, combine):
    covered = coverage(oracle, kind, crowd)[combine]
    if (crowd, combine) == ("half", "mean"):
        # Four standard errors: of 12 cells, one in 1,300 sets of seeds fails.
        others = covered[:, 1:].mean(axis=1)
        assert abs(others.mean() - _meeting_a_giant(oracle, kind)) <= 4 * others.std(ddof=1) / np.sqrt(RUNS)
    else:
        assert LOWEST <= covered.mean() <= HIGHEST
    # Ten items in 20 runs are few: 4.5 binomial standard errors (6.9 %) more room; of 72 cells, one in 4,000 fails.
    slack = 4.5 * np.sqrt(0.95 * 0.05 / (10 * RUNS))
    assert LOWEST - slack <= covered[:, :10].mean() <= min(1, HIGHEST + slack)


# Narrow rows are skewed: centred at their mean, the median of rows would be too low for nearly all items.
@pytest.mark.slow
@pytest.mark.parametrize(("rows", "width"), [(16, 256), (7, 64)])
@pytest.mark.parametrize("crowd", CROWDS)
def test_the_median_covers_the_truth_where_cells_are_few(crowd, rows, width):
    covered = coverage("OLH", "CM", crowd, width, rows)["median"]
    assert LOWEST <= covered.mean() <= HIGHEST
