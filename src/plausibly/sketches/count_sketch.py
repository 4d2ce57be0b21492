"""CS: the Count-Sketch, whose items carry random signs so that collisions cancel out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from ..core.blanket import Blanket
from ..core.domain import Integers
from ..core.errors import ParameterError
from ..core.hashing import MAX_CELLS
from ..core.laws import Cells, Decoder, VarianceLaw
from ..core.scheme import Reports, Scheme
from ..core.signs import TakesSigns
from ..core.wording import nearest, shown
from .rows import RowSketch

_SIGNS = ("cells", "coefficients")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CS(RowSketch):
    """Count-Sketch: each row adds up the signs of the users' items by cell (paper, section 4).

    The hash u is uniform below 2c, which makes the cell u mod c and the sign (-1)^(u div c) independent of each other.
    ``signs``: with "cells", the default, ``oracle`` reports u, so its domain is twice the width c. With "coefficients"
    it is HM over the c cells, a power of two, and the sign multiplies the sampled coefficients before they are
    perturbed: "HM handles negative inputs without any modification" (section 4).
    Privacy: the oracle's, for every row.
    Variance of the mean: about twice the oracle's noise, plus (n-f)/c + (F2 - f^2 - n + f)/(rc) for collisions, over
    a fresh ``hash_seed``; with signs on coefficients the noise is 2(e^eps + g - 1)^2/(g(e^eps - 1)^2) per report,
    g = 2^t, which for t = 1 is that of CM; derivation in docs/adr/0009-sketches.md. By symmetry the median is
    unbiased, too.
    Cost: the same as CM's.

    >>> import plausibly
    >>> oracle = plausibly.make("HM", epsilon=3, domain_size=2048)
    >>> plausibly.make("CS", oracle=oracle, rows=32, domain_size=100_000).width
    1024
    >>> plausibly.make("CS", oracle=oracle, rows=32, domain_size=100_000, signs="coefficients").width
    2048
    """

    name = "CS"
    signed = True

    signs: Literal["cells", "coefficients"] = "cells"

    def validate(self) -> None:
        super().validate()
        if self.signs not in _SIGNS:
            raise ParameterError(f"signs: unknown {shown(self.signs)}; {nearest(self.signs, _SIGNS)}")
        size = self.oracle.size
        if self.signs == "cells":
            if size % 2:
                raise ParameterError(f"oracle: expected an even domain_size, two signs a cell, got {size}")
        elif not isinstance(self.oracle, TakesSigns):
            raise ParameterError(f"oracle: expected HM for signs on coefficients, got {self.oracle.name}")
        elif size & (size - 1) or 2 * size > MAX_CELLS:
            expected = f"a power of two up to {MAX_CELLS // 2} as domain_size"
            raise ParameterError(f"oracle: expected {expected} for signs on coefficients, got {size}")

    @property
    def parameters(self) -> dict[str, Any]:
        # The default is left out: it is older than the parameter, and fingerprints stay.
        return super().parameters | ({"signs": self.signs} if self.net else {})

    @property
    def _carrier(self) -> TakesSigns | None:
        # The oracle, if its coefficients carry the signs.
        return self.oracle if self.signs == "coefficients" and isinstance(self.oracle, TakesSigns) else None

    @property
    def net(self) -> bool:
        return self._carrier is not None

    @property
    def width(self) -> int:
        return self.oracle.size // (1 if self.net else 2)

    def fold(self, cells: Cells, reports: Reports) -> None:
        if self._carrier is None:
            super().fold(cells, reports)
        else:
            self._carrier.fold_signs(cells, reports["report"])

    def check_cells(self, cells: Cells, n: int) -> None:
        if self._carrier is None:
            super().check_cells(cells, n)
        else:
            self._carrier.check_signs(cells, n)

    @property
    def cell_estimator(self) -> Callable[..., Decoder]:
        return super().cell_estimator if self._carrier is None else self._carrier.net_estimator

    def shrunk(self, size: int) -> Scheme:
        if not self.net:
            return super().shrunk(size)
        width = max(4, 1 << min(size, self.width).bit_length() - 1)
        return replace(self, domain=Integers(min(size, self.domain.size or size)), oracle=self.oracle.shrunk(width))

    def contribution(self) -> tuple[Fraction, Fraction] | None:
        if self._carrier is not None:
            return self._carrier.net_estimator().contribution
        ends = self.oracle.contribution()
        return ends and (ends[0] - ends[1], ends[1] - ends[0])  # the difference of two cells

    def blanket(self) -> Blanket:
        # The worst of all pairs of items has the same cell and opposite signs in every row.
        return super().blanket() if self._carrier is None else self._carrier.signed_blanket()

    def row_law(self, law: VarianceLaw, together: Fraction) -> VarianceLaw:
        c = self.width
        if self.net:
            # One cell is read, and a user of another item is in it with probability 1/c, with a random sign.
            inside = law.per_holder / c
            return VarianceLaw(
                law.per_report + inside + Fraction(1, c),
                law.per_holder - inside - Fraction(1, c),
                collision=together * Fraction(1, c),
            )
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
