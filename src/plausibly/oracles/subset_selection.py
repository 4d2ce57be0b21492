"""SS: subset selection, which reports a random subset of fixed size that favours the true item."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import kernels
from ..core.arguments import whole_number
from ..core.bitmaps import bitmap_dtype, bitmap_seconds, fold_bitmaps, refuse_spare_bits
from ..core.blanket import Blanket, support_blanket
from ..core.domain import Domain, Integers
from ..core.laws import Cells, Codes, Estimator, Scores, pure, support_of_both
from ..core.probability import WORD, keep_threshold, within_exp
from ..core.randomness import Draws, Layout
from ..core.records import exact_sum, refuse_cells, refuse_reports
from ..core.scheme import Encoded, Reports, Scheme
from ..core.support import Subsets, Support
from ..core.supported import Bitmaps, Supported, TwoLevels


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SS(Scheme, TwoLevels):
    """Subset selection: report w = ``subset_size`` items, with probability p including the true one.

    Sources: Ye and Barg (IEEE Trans. Inf. Theory 2018) and Wang et al. (2016).
    Privacy: p(d-w)/((1-p)w) <= e^eps with p = floor(2^64 * w*e^eps/(w*e^eps + d - w))/2^64. The set is sent as a
    bitmap, because the order in which it was drawn would reveal the item.
    Variance: that of a pure protocol with q = (w-p)/(d-1), the lowest of all schemes for every d; w = 1, the best
    choice if (d-1)(d-2) <= 2e^(2 eps), is DE.
    Cost: ceil(d/8) bytes a report, O(w) client, O(n*d) bits to fold.

    >>> import plausibly
    >>> scheme = plausibly.make("SS", epsilon=1, domain_size=16)
    >>> scheme.w, round(scheme.variance(n=1), 2)
    (4, 3.11)
    """

    name = "SS"
    advice = "Subset selection (SS), which is not in the paper, is exactly optimal for every number of items."

    subset_size: int | None = None

    def validate(self) -> None:
        super().validate()
        if self.subset_size is not None:
            object.__setattr__(self, "subset_size", whole_number("subset_size", self.subset_size, 1, self.size - 1))

    @cached_property
    def w(self) -> int:
        """Number of items in the subset, by default about d/(e^eps + 1), which minimises the total error."""
        if self.subset_size is not None:
            return self.subset_size
        # The smallest w with (d-w)(d-w-1) <= w(w+1)e^(2 eps): the left side falls with w, the right side grows.
        low, high = 1, self.size - 1
        while low < high:
            w = (low + high) // 2
            rest = self.size - w
            enough = within_exp(Fraction(rest * (rest - 1), w * (w + 1)), 2 * self.epsilon)
            low, high = (low, w) if enough else (w + 1, high)
        return low

    @property
    def parameters(self) -> dict[str, Any]:
        return {"subset_size": self.w}

    @cached_property
    def keep(self) -> int:
        """Probability p that the subset includes the true item, times 2^64."""
        return keep_threshold(self.epsilon, self.w, self.size - self.w)

    @property
    def derived(self) -> dict[str, Any]:
        return {"keep": str(self.keep)}

    @property
    def report_dtype(self) -> np.dtype[np.void]:
        return bitmap_dtype(self.size)

    @property
    def report_bits(self) -> int:
        return (comb(self.size, self.w) - 1).bit_length()

    @property
    def layout(self) -> Layout:
        return Layout(dense=1 + self.w)

    @property
    def cell_shape(self) -> tuple[int, ...]:
        return (self.size,)

    def respond(self, values: Encoded, draws: Draws, out: Reports) -> npt.NDArray[np.int64]:
        return kernels.subset_response(values, draws.words, self.keep, self.size, out["bits"])

    def check(self, reports: Reports) -> None:
        refuse_spare_bits(reports, self.size)
        refuse_reports(kernels.row_sums(reports["bits"]) != self.w, f"a subset of {self.w} items")

    def fold(self, cells: Cells, reports: Reports) -> None:
        fold_bitmaps(cells, reports)

    def check_cells(self, cells: Cells, n: int) -> None:
        super().check_cells(cells, n)
        refuse_cells(exact_sum(cells) != n * self.w)

    def estimator(self) -> Estimator:
        p = Fraction(self.keep, WORD)
        both = support_of_both(p, self.w, self.size)
        return pure(p, (self.w - p) / (self.size - 1), self._scores, both=both, joint=True)

    def _scores(self, cells: Cells, n: int, codes: Codes | None) -> Scores:
        return cells if codes is None else cells[codes]

    def shrunk(self, size: int) -> SS:
        share = None if self.subset_size is None else max(1, self.subset_size * size // self.size)
        return replace(self, domain=Integers(size), subset_size=share)

    @classmethod
    def variants(cls, epsilon: Fraction, domain: Domain, memory: int) -> Iterator[Mapping[str, Any]]:
        # The default minimises the error over all items; rare items may prefer a smaller subset, common ones a larger.
        default = cls(epsilon=epsilon, domain=domain).w
        yield from ({"subset_size": w} for w in (default, default - 1, default + 1))

    @classmethod
    def variants_for_cells(cls, epsilon: Fraction, cells: int) -> Iterator[Mapping[str, Any]]:
        yield from ()  # AGR is as accurate, in a few bytes instead of a bit for each cell

    def seconds(self, n: int, asked: int) -> float:
        return bitmap_seconds(n, self.report_dtype.itemsize)

    def blanket(self) -> Blanket:
        w, d = self.w, self.size
        both = Fraction(w * (w - 1), d * (d - 1))
        three = both * Fraction(w - 2, d - 2) if d > 2 else None
        return support_blanket(Fraction(self.keep, WORD), Fraction(w, d), both, three=three)

    def support(self) -> Support:
        return Subsets(self.w, self.size)

    def supported(self, reports: Reports) -> Supported:
        return Bitmaps(reports["bits"], self.size)

    def likelihood(self, report: np.void, item: int) -> Fraction:
        p = Fraction(self.keep, WORD)
        if report["bits"][item >> 3] >> (item & 7) & 1:
            return p / comb(self.size - 1, self.w - 1)
        return (1 - p) / comb(self.size - 1, self.w)
