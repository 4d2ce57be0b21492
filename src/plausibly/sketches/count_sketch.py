"""CS: the Count-Sketch, whose items carry random signs so that collisions cancel out."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ..core.errors import ParameterError
from ..core.laws import VarianceLaw
from .rows import RowSketch


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CS(RowSketch):
    """Count-Sketch: each row adds up the signs of the users' items by cell (paper, section 4).

    ``oracle`` reports cell and sign, cell + c*[sign < 0], so its domain is twice the width c. The hash is uniform
    below 2c, which makes bucket and sign independent of each other.
    Privacy: the oracle's, for every row.
    Variance of the mean: about twice the oracle's noise, plus (n-f)/c + (F2 - f^2 - n + f)/(rc) for collisions, over
    a fresh ``hash_seed``; derivation in docs/adr/0009-sketches.md. By symmetry the median is unbiased, too.
    Cost: the same as CM's.

    >>> import plausibly
    >>> oracle = plausibly.make("HM", epsilon=3, domain_size=2048)
    >>> plausibly.make("CS", oracle=oracle, rows=32, domain_size=100_000).width
    1024
    """

    name = "CS"
    signed = True

    def validate(self) -> None:
        super().validate()
        if self.oracle.size % 2:
            raise ParameterError(f"oracle: expected an even domain_size, two signs a cell, got {self.oracle.size}")

    @property
    def width(self) -> int:
        return self.oracle.size // 2

    def contribution(self) -> tuple[Fraction, Fraction] | None:
        ends = self.oracle.contribution()
        return ends and (ends[0] - ends[1], ends[1] - ends[0])  # the difference of two cells

    def row_law(self, law: VarianceLaw, together: Fraction) -> VarianceLaw:
        c = self.width
        # The item's own users are in one of its two cells, so their contribution to the other is not the average one.
        beside, law = law.beyond_average(0, c), law.averaged
        shared, shared_holder = law.covariance
        # Two cells are read, and a user of another item is in one of them with probability 1/c.
        inside = law.per_holder - 2 * shared_holder
        noise = 2 * law.per_report - 2 * shared + inside / c
        holder = inside * Fraction(c - 1, c) + beside
        pairs = together * law.collision * Fraction(c - 1, c * c)
        return VarianceLaw(
            noise + Fraction(1, c),
            holder - Fraction(1, c),
            collision=together * (Fraction(1, c) + law.collision * (2 - Fraction(1, c))) - pairs,
            per_pair=pairs,
            per_fellow=law.collision * (together + (1 - together) * Fraction(1, c)),
        )
