"""Decode and peel: the mean of the rows, once what frequent candidates lend to others has been taken out of them."""

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
"""The chance that noise has one of the candidates peeled, if nobody holds any."""
_AT_ONCE = 1 << 12
"""Candidates of a round: each step looks at all of them."""


@dataclass(frozen=True)
class PeelOfRows:
    """The mean of the rows, without what frequent candidates add to the cells that they share with others.

    The largest estimate e is credited to its candidate and taken out of its cells, n_l/n of it in row l; candidates
    that share a cell with it lose what it had lent them. Repeated while an estimate exceeds z standard errors (and one
    user); of a candidate peeled before, also while it is as far below zero, since it was credited what others had lent
    it. In the end each candidate has what it was credited and what it still reads.
    An item that nobody holds reads a cell drawn from each row, hence the standard error is that of the cells, which
    falls as frequent items leave them; z = Phi^-1(1 - 0.05/N) for N candidates.
    """

    rows: Rows
    law: ClassVar[None] = None

    @property
    def history(self) -> History:
        return (*self.rows.history, decoding("peeling the rows"))

    def scores(self, state: Cells, n: Numbers, codes: Codes | None, /) -> Scores:
        raise StateError('combine="peel" takes estimates out of the rows: there are no integer scores')

    def estimate(self, state: Cells, n: Numbers, codes: Codes | None) -> tuple[Floats, Floats | None]:
        candidates, places = np.unique(self.rows.items(codes), return_inverse=True)
        if not n.any() or not len(candidates):
            return np.zeros(len(places)), None
        table = self.rows.of_items(self.rows.cells(state, n))
        return self._peeled(table, n / n.sum(), candidates)[places], None

    def _peeled(self, table: Floats, shares: Floats, candidates: Codes) -> Floats:
        # Each step takes its atom's whole part out of the table, in the norm that weights a row by 1/share: it loses
        # e^2(1 - 1/c) of its square, so that the steps come to an end.
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
        # What the candidates of a round are credited; `left` is what they still read, and follows each step.
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
        # The mean of the cells, which is subtracted, has the item's own users among others'; signs do without.
        return 1.0 if self.rows.sketch.signed else float(CountMean(self.rows.sketch.width).scale)

    def _opposite(self, cells: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
        width = np.uint32(self.rows.sketch.width)
        opposite: npt.NDArray[np.uint32] = (cells + width) % (2 * width)
        return opposite


def _excess(left: Floats, credited: Floats) -> Floats:
    # How much stands out: what was credited may have been too much.
    return np.where(credited != 0, np.abs(left), left)


def _moments(table: Floats) -> tuple[Floats, Floats]:
    # Mean and variance of the cells of each row, without a copy of it.
    means = table.mean(axis=1)
    return means, np.maximum(np.einsum("ij,ij->i", table, table) / table.shape[1] - means**2, 0.0)
