"""The mean of values from bits whose probabilities are linear in them: the decoder of MEAN."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np

from ..core.history import History
from ..core.laws import Cells, Codes
from ..core.mean_only import no_counts
from ..core.probability import WORD


@dataclass(frozen=True)
class MeanOfBits:
    """Decoder of MEAN: the mean of the values from the number of bits that are 1."""

    first: int
    step: int
    places: Sequence[int]
    ends: tuple[float, float]
    """The first and the last value on the scale of the domain."""
    law: None = None
    history: History = ()

    def scores(self, cells: Cells, n: Any, codes: Codes | None, /) -> NoReturn:
        raise no_counts()

    def estimate(self, cells: Cells, n: Any, codes: Codes | None, /) -> NoReturn:
        raise no_counts()

    def place(self, item: int, /) -> int:
        return self.places[item]

    def total(self, cells: Cells, n: int, /) -> Fraction:
        return Fraction(WORD * int(cells[1]) - n * self.first, self.step)

    def variance_of_one(self, item: int, /) -> Fraction:
        threshold = self.first + self.step * self.place(item)
        return Fraction(threshold * (WORD - threshold), self.step**2)

    def mean_and_variance(self, cells: Cells, n: int, /) -> tuple[float, float]:
        # Two ones and two zeros more (Agresti and Coull 1998): a few equal bits do not make the mean certain.
        share = (int(cells[1]) + 2) / (n + 4)
        reach = WORD / self.step * self.unit  # from a 0 to a 1
        return self._value(self.total(cells, n) / n), share * (1 - share) / n * reach * reach

    def worth(self) -> tuple[float, float]:
        none, one = (self.total(np.array([1 - bit, bit]), 1) for bit in (0, 1))
        return self._value(none), self._value(one)

    def largest_error(self, n: int, /) -> float:
        return float(Fraction(WORD, 2 * self.step)) * self.unit / float(n**0.5)

    @property
    def unit(self) -> float:
        """Distance of two neighbouring places of the mean on the scale of the domain."""
        return (self.ends[1] - self.ends[0]) / self.places[-1]

    def _value(self, place: Fraction) -> float:
        return self.ends[0] + float(place) * self.unit
