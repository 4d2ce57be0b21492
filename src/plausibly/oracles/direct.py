"""DE: direct encoding, also known as k-ary (generalised) randomized response."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import kernels
from ..core.blanket import Blanket, support_blanket
from ..core.costs import REPORT
from ..core.laws import Cells, Codes, Estimator, Scores, pure
from ..core.probability import WORD, keep_threshold
from ..core.randomness import Draws, Layout
from ..core.records import fields_of, refuse_beyond, refuse_unless_histogram, unsigned
from ..core.scheme import Encoded, Reports, Scheme
from ..core.support import Subsets, Support
from ..core.supported import OneEach, Supported, TwoLevels


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DE(Scheme, TwoLevels):
    """Direct encoding: report the true item with probability p, each other one with q (paper, section 3.1).

    Privacy: p/q <= e^eps with p = floor(2^64 * e^eps/(e^eps + d - 1))/2^64.
    Variance: n*q(1-q)/(p-q)^2 + f*(1-p-q)/(p-q), about n*(e^eps + d - 2)/(e^eps - 1)^2: the lowest of all oracles
    on small domains, (d-1)(d-2) <= 2e^(2 eps), and high on large ones.
    Cost: 1, 2 or 4 bytes a report, O(1) client, O(n + d) decode.

    >>> import plausibly
    >>> scheme = plausibly.make("DE", epsilon=1, domain_size=4)
    >>> scheme.report_bits, float(scheme.privacy_loss()) <= 1
    (2, True)
    """

    name = "DE"

    @property
    def parameters(self) -> dict[str, Any]:
        return {}

    @cached_property
    def keep(self) -> int:
        """Keep probability p of direct encoding, times 2^64."""
        return keep_threshold(self.epsilon, 1, self.size - 1)

    @property
    def derived(self) -> dict[str, Any]:
        return {"keep": str(self.keep)}

    @property
    def report_dtype(self) -> np.dtype[np.void]:
        return np.dtype([("item", unsigned(self.size))])

    @property
    def report_bits(self) -> int:
        return (self.size - 1).bit_length()

    @property
    def layout(self) -> Layout:
        return Layout(dense=2)

    @property
    def cell_shape(self) -> tuple[int, ...]:
        return (self.size,)

    def respond(self, values: Encoded, draws: Draws, out: Reports) -> npt.NDArray[np.int64]:
        return kernels.direct_response(values, draws.words, self.keep, self.size, out["item"])

    def check(self, reports: Reports) -> None:
        refuse_beyond(reports["item"], self.size, f"an item below {self.size}")

    def fold(self, cells: Cells, reports: Reports) -> None:
        kernels.histogram(fields_of(reports), cells)

    def check_cells(self, cells: Cells, n: int) -> None:
        refuse_unless_histogram(cells, n)

    def estimator(self) -> Estimator:
        p = Fraction(self.keep, WORD)
        return pure(p, (1 - p) / (self.size - 1), self._scores, both=(Fraction(0), Fraction(0)), joint=True)

    def _scores(self, cells: Cells, n: int, codes: Codes | None) -> Scores:
        return cells if codes is None else cells[codes]

    def seconds(self, n: int, asked: int) -> float:
        return n * REPORT

    def blanket(self) -> Blanket:
        three = Fraction(0) if self.size > 2 else None
        return support_blanket(Fraction(self.keep, WORD), Fraction(1, self.size), Fraction(0), three=three)

    def support(self) -> Support:
        return Subsets(1, self.size)

    def supported(self, reports: Reports) -> Supported:
        return OneEach(np.bincount(reports["item"], minlength=self.size).astype(np.float64))

    def likelihood(self, report: np.void, item: int) -> Fraction:
        p = Fraction(self.keep, WORD)
        return p if int(report["item"]) == item else (1 - p) / (self.size - 1)
