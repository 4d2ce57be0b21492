"""Combine the rows of a sketch into estimates: their mean, median or minimum. Peeling is in its own file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from .. import kernels
from ..core.collisions import Collisions, MedianOfCells
from ..core.errors import StateError
from ..core.history import History, decoding
from ..core.laws import ByLaw, Cells, Codes, CountMean, Estimator, Floats, Scores, VarianceLaw, law_of
from ..core.parallel import in_chunks
from ..core.steps import apply
from .hashing import Hashing, hashes_of

Numbers = npt.NDArray[np.int64]

_ITEMS_AT_ONCE = 1 << 16
_CELLS_AT_ONCE = 1 << 16
_ROWS_AT_ONCE = 32
_Z95 = NormalDist().inv_cdf(0.975)


class HashedRows(Hashing, Protocol):
    """Hashed rows whose items may carry signs."""

    @property
    def signed(self) -> bool: ...
    @property
    def net(self) -> bool: ...


class RowLaws(NamedTuple):
    """Variance laws of the sum of all rows: ``whole``, and ``between``, its part that is common to different rows."""

    whole: VarianceLaw
    between: VarianceLaw


@dataclass(frozen=True)
class Rows:
    """The rows of a sketch as its oracle decodes them; ``laws`` is None if the oracle has no variance law."""

    sketch: HashedRows
    oracle: Estimator
    laws: RowLaws | None
    postprocess: str | None

    def scores(self, state: Cells, n: Numbers) -> Scores:
        """The oracle's integer scores of the cells in each row, for combining the rows into estimates."""
        cells = self.sketch.width * (1 if self.sketch.net else 1 + self.sketch.signed)
        scores = np.empty((len(state), cells), dtype=np.int64)

        def work(row: int, _: int) -> None:
            scores[row] = self.oracle.scores(state[row], int(n[row]), None)

        for _ in in_chunks(len(state), 1, work):
            pass
        return scores

    def counts(self, scores: Scores, n: Numbers) -> Floats:
        """Estimated count of each cell in each row, before rows are combined."""
        values: Floats = scores - n[:, None] * float(self.oracle.offset)
        values *= float(self.oracle.scale)
        return values

    def cells(self, state: Cells, n: Numbers) -> Floats:
        """Counts to be combined, of each cell in each row, after the post-processing of rows, if any."""
        if self.postprocess is None:
            return self.counts(self.scores(state, n), n)
        every = [*in_chunks(len(state), 1, lambda row, _: self.oracle.estimate(state[row], int(n[row]), None))]
        values, variances = zip(*every, strict=True)
        return apply(self.postprocess, np.stack(values), n, np.stack(variances))[0]

    @property
    def history(self) -> History:
        """Post-processing of the rows before they are combined, as decoding steps."""
        return () if self.postprocess is None else (decoding(f"{self.postprocess} in each row"),)

    def of_items(self, cells: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Values to be combined, which an item reads in each cell: the cell; with signs, cell minus opposite cell."""
        if not self.sketch.signed:
            return cells
        if self.sketch.net:
            return np.concatenate([cells, -cells], axis=1)
        plus, minus = np.split(cells, 2, axis=1)
        return np.concatenate([plus - minus, minus - plus], axis=1)

    def debiased(self, counts: Floats, n: Numbers) -> Floats:
        """Counts to be combined, minus the expected contribution of other items, which is 0 with signs."""
        if self.sketch.signed:
            return self.of_items(counts)
        debiased: Floats = CountMean(self.sketch.width).counts(counts, n[:, None])
        return debiased

    def f2(self, scores: Scores, n: Numbers) -> float:
        """Sum of squared item counts from the combined rows: users of one item share a cell, others by chance."""
        r, w = scores.shape
        law, total = law_of(self.oracle).averaged, int(n.sum())

        def work(first: int, last: int) -> Floats:
            counts = self.counts(scores[first:last], n[first:last])
            squares: Floats = np.einsum("ij,ij->i", counts, counts)
            return squares

        sums = np.concatenate([*in_chunks(r, max(1, _CELLS_AT_ONCE // w), work)])
        # Contribution of the noise and of the oracle's own hashing to the squared cells of a row.
        noise = n * float(w * law.per_report + law.per_holder)
        inflation = float(law.collision) * (w - 1)
        squares = (sums - noise + inflation * n) / (1 + inflation)
        meetings = r * float((squares - n).sum())
        if self.sketch.net:
            return self._possible(total + meetings, total)  # users of different items cancel out
        f2: float = total + (meetings - total * (total - 1) / w) * w / (w - 1)
        return self._possible(f2, total)

    def _possible(self, f2: float, total: int) -> float:
        size = self.sketch.listed_size
        return max(f2, float(total), 0.0 if size is None else total**2 / size)

    def items(self, codes: Codes | None) -> Codes:
        """Items whose rows are combined: those requested, or all if ``codes`` is None."""
        return np.arange(self.sketch.listed_size or 0, dtype=np.uint64) if codes is None else codes

    def read(self, table: Floats, codes: Codes | None, combine: Callable[[Floats], Floats]) -> Floats:
        """For each item, the combination of its values in the table, one value per row."""
        asked = self.items(codes)

        def work(first: int, last: int) -> Floats:
            items = asked[first:last]
            values = np.empty((len(items), len(table)))
            # Several rows at a time: writing one column at a time would touch a separate cache line for every item.
            some = np.empty((_ROWS_AT_ONCE, len(items)))
            for start in range(0, len(table), _ROWS_AT_ONCE):
                block = table[start : start + _ROWS_AT_ONCE]
                for row, cells in enumerate(block):
                    cells.take(hashes_of(self.sketch, start + row, items, len(cells)), out=some[row], mode="clip")
                values[:, start : start + len(block)] = some[: len(block)].T
            return combine(values)

        chunk = max(1, _ITEMS_AT_ONCE * 64 // len(table))
        return np.concatenate([np.zeros(0), *in_chunks(len(asked), chunk, work)])

    def totals(self, table: Floats, codes: Codes | None) -> Floats:
        """Combine the rows of a table by summing: for each item, the sum of its values."""
        asked = self.items(codes)

        def work(first: int, last: int) -> Floats:
            sums = np.zeros(last - first)
            for row, cells in enumerate(table):
                sums += cells.take(hashes_of(self.sketch, row, asked[first:last], len(cells)))
            return sums

        return np.concatenate([np.zeros(0), *in_chunks(len(asked), _ITEMS_AT_ONCE, work)])


@dataclass(frozen=True)
class MeanOfRows(ByLaw):
    """The sum of the debiased rows: linear and unbiased, with the variance law of ``Rows``."""

    rows: Rows

    @property
    def law(self) -> VarianceLaw | None:
        # Post-processing of rows is not linear.
        return None if self.rows.laws is None or self.rows.postprocess is not None else self.rows.laws.whole

    @property
    def history(self) -> History:
        return self.rows.history

    def scores(self, state: Cells, n: Numbers, codes: Codes | None, /) -> Scores:
        return self._sums(self.rows.scores(state, n), codes)

    def estimate(self, state: Cells, n: Numbers, codes: Codes | None) -> tuple[Floats, Floats | None]:
        return self.estimate_and_unheld(state, n, codes)[:2]

    def estimate_and_unheld(
        self, state: Cells, n: Numbers, codes: Codes | None
    ) -> tuple[Floats, Floats | None, Collisions | None]:
        """Sums of the combined rows and their variances, and the law of items without holders."""
        rows, total = self.rows, int(n.sum())
        if rows.postprocess is not None:
            return rows.totals(rows.debiased(rows.cells(state, n), n), codes), None, None
        scores = rows.scores(state, n)
        scale, offset = rows.oracle.scale, Fraction(0)
        if not rows.sketch.signed:
            scale, offset = CountMean(rows.sketch.width).decoded(scale, rows.oracle.offset)
        values: Floats = (self._sums(scores, codes).astype(np.float64) - float(total * offset)) * float(scale)
        if self.law is None:
            return values, None, None
        variance = self.law.at(total, np.clip(values, 0, total), f2=rows.f2(scores, n))
        unheld = Collisions.of_table(rows.of_items(scores), float(scale), float(total * offset))
        return values, np.maximum(np.broadcast_to(variance, values.shape), 0.0), unheld

    def _sums(self, scores: Scores, codes: Codes | None) -> Scores:
        sketch = self.rows.sketch
        table = np.ascontiguousarray(self.rows.of_items(scores))
        if codes is None and table.shape[1] <= _CELLS_AT_ONCE:
            assert sketch.listed_size is not None
            return kernels.table_support(sketch.seeds, table, sketch.listed_size, sketch.split)
        # Wide rows take this path even for the whole domain: the other kernel copies them.
        asked = self.rows.items(codes)

        def work(first: int, last: int) -> Scores:
            return kernels.table_support_of(sketch.seeds, table, asked[first:last], sketch.split)

        return np.concatenate([np.zeros(0, dtype=np.int64), *in_chunks(len(asked), _ITEMS_AT_ONCE, work)])


@dataclass(frozen=True)
class MedianOfRows:
    """The median of the rows, each scaled up to all users.

    An item without holders reads one random cell of each row, so the cells themselves show the distribution of its
    rows, collisions included: their median is subtracted, and two of their quantiles give the interval.
    """

    rows: Rows
    law: ClassVar[None] = None

    @property
    def history(self) -> History:
        return (*self.rows.history, decoding("the median of rows"))

    def scores(self, state: Cells, n: Numbers, codes: Codes | None, /) -> Scores:
        raise StateError("combine: median has no integer scores; ask for estimates, or use mean")

    def estimate(self, state: Cells, n: Numbers, codes: Codes | None) -> tuple[Floats, Floats | None]:
        return self.estimate_and_unheld(state, n, codes)[:2]

    def estimate_and_unheld(
        self, state: Cells, n: Numbers, codes: Codes | None
    ) -> tuple[Floats, Floats | None, MedianOfCells | None]:
        """Medians of the combined rows and their variances, and the law of items without holders."""
        rows, total = self.rows, int(n.sum())
        table = _scaled(rows.of_items(rows.cells(state, n)), n)
        used = table[n > 0] if total else table
        centre = 0.0 if rows.sketch.signed else float(np.median(used))
        table -= centre
        if len(used) < len(table):
            table[n == 0] = np.nan  # a row without users has no information
        values = rows.read(table, codes, _medians if len(used) == len(table) else _medians_of_numbers)
        if rows.postprocess is not None or rows.laws is None:
            return values, None, None
        cells = used - centre
        variance = self._variance(rows.laws, cells, total, np.clip(values, 0, total))
        return values, variance, MedianOfCells.of_table(cells)

    def _variance(self, laws: RowLaws, cells: Floats, n: int, f: Floats) -> Floats:
        # The variance of an item without holders comes from the quantiles of the cells; that of holders is added to it
        # as if normal, which it nearly is.
        rows, r = self.rows, len(cells)
        place = median_quantile(r)
        low, high = np.quantile(cells, [1 - place, place])
        factor = (NormalDist().inv_cdf(place) / _Z95) ** 2
        # Scores are integers: with few reports, the truth may lie anywhere within one step between cell values.
        step = r * float(rows.oracle.scale)
        rest, law, between = n - f, laws.whole, laws.between
        fellows = f * np.maximum(f - 1, 0)
        holders = r * (f * float(law.per_holder) + fellows * float(law.per_fellow - between.per_fellow))
        holders += (r - 1) * f * (1 - f / max(n, 1)) + step**2 / 12 * (n > 0)  # the users of a row are a sample
        shared = float(between.per_pair) * rest * np.maximum(rest - 1, 0) + float(between.per_fellow) * fellows
        variance: Floats = np.maximum(((high - low) / (2 * _Z95)) ** 2 + factor * holders, 0.0) + shared
        return variance


@dataclass(frozen=True)
class MinOfRows:
    """The minimum of the debiased rows, each scaled up to all users: noise biases it low, so it has no interval."""

    rows: Rows
    law: ClassVar[None] = None

    @property
    def history(self) -> History:
        return (*self.rows.history, decoding("the minimum of rows"))

    def scores(self, state: Cells, n: Numbers, codes: Codes | None, /) -> Scores:
        raise StateError("combine: min has no integer scores; ask for estimates, or use mean")

    def estimate(self, state: Cells, n: Numbers, codes: Codes | None) -> tuple[Floats, Floats | None]:
        rows = self.rows
        table = _scaled(rows.debiased(rows.cells(state, n), n), n)
        table[n == 0] = np.inf if n.any() else 0.0
        return rows.read(table, codes, lambda values: values.min(axis=1)), None


def _scaled(table: Floats, n: Numbers) -> Floats:
    # Each row scaled up as if it had all users.
    scaled: Floats = table * (int(n.sum()) / np.maximum(n, 1))[:, None]
    return scaled


def _medians(values: Floats) -> Floats:
    # Like np.median, which selects both middle values at once and takes three times as long.
    half = values.shape[1] // 2
    values.partition(half, axis=1)
    middle: Floats = values[:, half]
    return middle if values.shape[1] % 2 else (values[:, :half].max(axis=1) + middle) / 2


def _medians_of_numbers(values: Floats) -> Floats:
    medians: Floats = np.nanmedian(values, axis=1)
    return medians


@lru_cache(maxsize=64)
def median_quantile(rows: int) -> float:
    """Quantile of one row that ``rows`` rows, combined by their median, exceed with probability 2.5 %.

    For 2k + 1 numbers it is the quantile of Beta(k + 1, k + 1); the mean of the middle two of 2k numbers is nearly as
    precise.
    """
    shape = rows // 2 + 1
    half = min(0.5, 5 / np.sqrt(8 * shape))
    x = np.linspace(0.5 - half, 0.5 + half, 20_001)[1:-1]
    density = np.exp((shape - 1) * (np.log(4 * x * (1 - x))))
    return float(np.interp(0.975, np.cumsum(density) / density.sum(), x))
