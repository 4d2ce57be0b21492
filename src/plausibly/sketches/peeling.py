"""Peeling: the mean of the rows after removing what frequent candidates contribute to the cells of others."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..core.errors import StateError
from ..core.history import History, decoding
from ..core.laws import Cells, Codes, CountMean, Floats, Scores
from .combining import Numbers, Rows
from .hashing import hashes_of

_ALARM = 0.05
"""Probability that noise alone makes the decoder peel a candidate, if no candidate has holders."""
_AT_ONCE = 1 << 12
"""Number of candidates per round: each step examines all of them."""


@dataclass(frozen=True)
class PeelOfRows:
    """The mean of the rows, without what frequent candidates add to the cells that they share with others.

    The largest estimate e is credited to its candidate and subtracted from its cells, n_l/n of it in row l, which also
    lowers the estimates of candidates that share these cells. This repeats while an estimate exceeds z standard errors
    (and one user). A candidate that was peeled before is corrected as well if its estimate is as far below zero: its
    credit then included users of others. The final estimate is the total credit plus what is left in the cells.
    An item without holders reads one random cell of each row, so the standard error is that of the cells, which falls
    as frequent items are removed; z = Phi^-1(1 - 0.05/N) for N candidates.
    """

    rows: Rows
    law: ClassVar[None] = None

    @property
    def history(self) -> History:
        return (*self.rows.history, decoding("peeling the rows"))

    def scores(self, state: Cells, n: Numbers, codes: Codes | None, /) -> Scores:
        raise StateError("combine: peel has no integer scores; ask for estimates, or use mean")

    def estimate(self, state: Cells, n: Numbers, codes: Codes | None) -> tuple[Floats, Floats | None]:
        candidates, places = np.unique(self.rows.items(codes), return_inverse=True)
        if not n.any() or not len(candidates):
            return np.zeros(len(places)), None
        table = self.rows.of_items(self.rows.cells(state, n))
        return self._peeled(table, n / n.sum(), candidates)[places], None

    def _peeled(self, table: Floats, shares: Floats, candidates: Codes) -> Floats:
        # Each step removes the full component of one candidate from the table. In the norm that weights a row by
        # 1/share, the squared norm falls by e^2(1 - 1/c), so the steps come to an end.
        rows, credited = self.rows, np.zeros(len(candidates))
        z = NormalDist().inv_cdf(1 - _ALARM / len(candidates))
        while True:
            means, variances = _moments(table)
            left: Floats = (rows.totals(table, candidates) - means.sum()) * self._stretch
            limit = max(z * self._stretch * float(np.sqrt(variances.sum())), 1.0)
            pool = np.flatnonzero(_excess(left, credited) > limit)
            if not len(pool):
                return credited + left
            pool = pool[np.argsort(-np.abs(left[pool]), kind="stable")[:_AT_ONCE]]
            size = table.shape[1]
            cells = np.stack([hashes_of(rows.sketch, row, candidates[pool], size) for row in range(len(table))])
            before = credited[pool]
            credited[pool] = self._credits(left[pool], before, cells, shares, limit)
            for row, share in enumerate(shares):
                taken = share * (credited[pool] - before)
                np.subtract.at(table[row], cells[row], taken)
                if rows.sketch.signed:
                    np.add.at(table[row], self._opposite(cells[row]), taken)

    def _credits(
        self, left: Floats, credited: Floats, cells: npt.NDArray[np.uint32], shares: Floats, limit: float
    ) -> Floats:
        # The credits of a round's candidates; `left` is what is still in their cells, updated at each step.
        credited, width = credited.copy(), self.rows.sketch.width
        while True:
            excess = _excess(left, credited)
            best = int(np.argmax(excess))
            if not excess[best] > limit:
                return credited
            taken, own = left[best], cells[:, best, None]
            credited[best] += taken
            if self.rows.sketch.signed:
                left -= taken * (shares @ (cells == own) - shares @ (cells == self._opposite(own)))
            else:
                left -= taken * (shares @ (cells == own) - 1 / width) * self._stretch

    @property
    def _stretch(self) -> float:
        # The mean of the cells, which is subtracted, includes the item's own users; with signs nothing is subtracted.
        return 1.0 if self.rows.sketch.signed else float(CountMean(self.rows.sketch.width).scale)

    def _opposite(self, cells: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
        width = np.uint32(self.rows.sketch.width)
        opposite: npt.NDArray[np.uint32] = (cells + width) % (2 * width)
        return opposite


def _excess(left: Floats, credited: Floats) -> Floats:
    # How far an estimate stands out, in either direction if it was credited before: the credit may be too high.
    return np.where(credited != 0, np.abs(left), left)


def _moments(table: Floats) -> tuple[Floats, Floats]:
    # Mean and variance of the cells of each row, without copying the table.
    means = table.mean(axis=1)
    return means, np.maximum(np.einsum("ij,ij->i", table, table) / table.shape[1] - means**2, 0.0)
