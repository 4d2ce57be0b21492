"""CM: the Count-Min sketch, which can also take the mean (count-mean) or the median of its rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any

from ..core.domain import Domain
from ..core.laws import CountMean, VarianceLaw
from ..core.scheme import Scheme
from .rows import MAX_ROWS, RowSketch

_TRIED = (8, 32, 256, MAX_ROWS)
"""Numbers of rows that a plan tries."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CM(RowSketch):
    """Count-Min: each row counts users by the cell of their item (paper, section 4; Apple 2017 for the mean).

    ``oracle`` reports the cell, so its domain is the width c: at most 2^24, best a power of two. ``rows`` is r. The
    expected contribution of collisions is subtracted.
    Privacy: the oracle's, for every row.
    Variance of the mean: (c/(c-1))^2 times the oracle's noise, plus (n-f)/(c-1) + (F2 - f^2 - n + f)/(r(c-1)) for
    collisions, over a fresh ``hash_seed``; derivation in docs/adr/0009-sketches.md.
    Cost: the oracle's report and a row number, O(1) more for the client; r oracle states; O(r) per item.

    >>> import plausibly
    >>> oracle = plausibly.make("OLH", epsilon=3, domain_size=1024)
    >>> scheme = plausibly.make("CM", oracle=oracle, rows=32, domain=plausibly.Keys())
    >>> scheme.width, scheme.report_dtype.itemsize
    (1024, 10)
    """

    name = "CM"
    advice = 'combine="median" or "peel" do better than stated where some items are frequent.'
    signed = False

    @property
    def width(self) -> int:
        return self.oracle.size

    @classmethod
    def variants_over(cls, oracle: Scheme, domain: Domain, memory: int) -> Iterator[Mapping[str, Any]]:
        if domain.size is not None and oracle.size >= domain.size:
            return  # the oracle can report the items directly
        # At least one row, even beyond the memory: the plan can then show the size of a scheme that does not fit.
        most = max(1, min(memory // (8 * prod(oracle.cell_shape or ())), MAX_ROWS))
        yield from ({"rows": rows} for rows in sorted({min(tried, most) for tried in _TRIED}))

    def contribution(self) -> tuple[Fraction, Fraction] | None:
        ends = self.oracle.contribution()
        return ends and CountMean(self.width).contribution(ends)

    def row_law(self, law: VarianceLaw, together: Fraction) -> VarianceLaw:
        return CountMean(self.width).law(law, together)
