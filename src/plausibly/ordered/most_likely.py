"""The most likely distribution behind places that were reported near the values: the decoder of SW."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.errors import StateError
from ..core.history import History, decoding
from ..core.laws import Cells, Codes, Floats, Scores

CHANGE = 1e-3
"""Change of the log-likelihood in a step below which the decoder stops; e^epsilon times that without smoothing.

As in the published experiments (Li et al. 2020). Without smoothing, further steps would fit the noise, too.
"""
_MOST_STEPS = 10_000


@dataclass(frozen=True)
class MostLikely:
    """Decoder of the square wave: the most likely counts, smoothed after each step or not.

    ``near`` and ``far`` are the probabilities of one place near the value and of any other one. Both are given: for a
    large epsilon, one less the probability of all near places would be rounded to 0, and no place may be impossible.
    """

    size: int
    width: int
    near: float
    far: float
    least_change: float
    smooth: bool
    law: None = None

    @property
    def history(self) -> History:
        return (decoding("smoothed maximum likelihood" if self.smooth else "maximum likelihood"),)

    def scores(self, cells: Cells, n: Any, codes: Codes | None, /) -> Scores:
        raise StateError("SW decodes by maximum likelihood, which has no integer scores; ask for estimates")

    def estimate(self, cells: Cells, n: Any, codes: Codes | None, /) -> tuple[Floats, Floats | None]:
        counts = self._fitted(cells.astype(np.float64)) if int(np.sum(n)) else np.zeros(self.size)
        return (counts if codes is None else counts[codes]), None

    def _fitted(self, seen: Floats) -> Floats:
        far, step = self.far, self.near - self.far
        shares, before = np.full(self.size, 1 / self.size), -np.inf
        for _ in range(_MOST_STEPS):
            # Chance of each place, and then what the reports there say about the items near it.
            chances = far + step * _near(shares, self.width)
            ratio = np.divide(seen, chances, out=np.zeros_like(seen), where=seen > 0)
            shares = shares * (far * ratio.sum() + step * _sums_near(ratio, self.width)) / seen.sum()
            shares = _smoothed(shares) if self.smooth else shares
            likelihood = float(seen @ np.log(chances))
            if abs(likelihood - before) < self.least_change:
                break
            before = likelihood
        return np.asarray(shares * seen.sum())


def _near(shares: Floats, width: int) -> Floats:
    # For each place, the sum over the items that it is near to.
    totals = np.concatenate([np.zeros(width), np.cumsum(shares)])
    totals = np.concatenate([totals, np.full(width - 1, totals[-1])])
    return np.asarray(totals[width:] - totals[:-width])


def _sums_near(ratio: Floats, width: int) -> Floats:
    # For each item, the sum over the places near it.
    totals = np.concatenate([[0.0], np.cumsum(ratio)])
    return np.asarray(totals[width:] - totals[:-width])


def _smoothed(shares: Floats) -> Floats:
    # The weights 1, 2, 1 over the sum of those that are inside.
    weights = np.full(len(shares), 4.0)
    weights[0] = weights[-1] = 3.0
    total = 2 * shares
    total[1:] += shares[:-1]
    total[:-1] += shares[1:]
    smooth = total / weights
    return np.asarray(smooth / smooth.sum())
