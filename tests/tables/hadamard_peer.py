"""InpHT of Cormode, Kulkarni and Srivastava (SIGMOD 2018): one random coefficient of the Hadamard transform per user.

Only the coefficients of one and two attributes are sampled, as the paper does for tables of two. A baseline for tests.
"""

from __future__ import annotations

from itertools import combinations
from math import exp
from typing import Any

import numpy as np


def rms_of_inp_ht(records: Any, epsilon: float, runs: int) -> float:
    """Root mean squared error of a share in all tables of two yes/no attributes, in thousandths."""
    users, attributes = records.shape
    signs = 1 - 2 * records
    sets = [(j,) for j in range(attributes)] + list(combinations(range(attributes), 2))
    keep = exp(epsilon) / (exp(epsilon) + 1)
    random, squares = np.random.default_rng(3), []
    for _ in range(runs):
        chosen = random.integers(0, len(sets), users)
        honest = np.where(random.random(users) < keep, 1, -1)
        mean = {}
        for number, places in enumerate(sets):
            own = chosen == number
            mean[places] = (signs[own][:, list(places)].prod(axis=1) * honest[own]).mean() / (2 * keep - 1)
        for a, b in combinations(range(attributes), 2):
            for x, y in ((0, 0), (0, 1), (1, 0), (1, 1)):
                truth = ((records[:, a] == x) & (records[:, b] == y)).mean()
                u, v = 1 - 2 * x, 1 - 2 * y
                squares.append(((1 + u * mean[a,] + v * mean[b,] + u * v * mean[a, b]) / 4 - truth) ** 2)
    return 1000 * float(np.sqrt(np.mean(squares)))
