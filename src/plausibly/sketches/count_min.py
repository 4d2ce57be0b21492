"""CM: the Count-Min sketch, whose rows may also be averaged (count-mean) or their median taken."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ..core.laws import CountMean, VarianceLaw
from .rows import RowSketch


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
    signed = False

    @property
    def width(self) -> int:
        return self.oracle.size

    def row_law(self, law: VarianceLaw, together: Fraction) -> VarianceLaw:
        return CountMean(self.width).law(law, together)
