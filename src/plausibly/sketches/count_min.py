"""CM: the Count-Min sketch, whose rows may also be averaged (count-mean) or their median taken."""

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
    """Count-Min: a row counts the users whose item falls into a cell (paper, section 4; Apple 2017 for the mean).

    ``oracle`` reports the cell, so its domain is the width c: at most 2^24, best a power of two. ``rows`` is r. What
    collides is subtracted on average.
    Privacy: the oracle's, for every row.
    Variance of the mean: (c/(c-1))^2 of the oracle's noise, plus (n-f)/(c-1) + (F2 - f^2 - n + f)/(r(c-1)) for what
    collides, over a fresh ``hash_seed``; derivation in docs/adr/0009-sketches.md.
    Cost: the oracle's report and a row number, O(1) more for the client; r oracles' states; O(r) for an item.

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
            return  # the oracle may as well report the items
        # One row at least: what does not fit is then known, with its size.
        most = max(1, min(memory // (8 * prod(oracle.cell_shape or ())), MAX_ROWS))
        yield from ({"rows": rows} for rows in sorted({min(tried, most) for tried in _TRIED}))

    def contribution(self) -> tuple[Fraction, Fraction] | None:
        ends = self.oracle.contribution()
        return ends and CountMean(self.width).contribution(ends)

    def row_law(self, law: VarianceLaw, together: Fraction) -> VarianceLaw:
        return CountMean(self.width).law(law, together)
