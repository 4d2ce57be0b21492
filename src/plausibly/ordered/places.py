"""Decoders of counts whose variance depends on the item's place, and on the counts of all items."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ..core.laws import ByLaw, Codes, Floats, VarianceLaw


class Places(Protocol):
    """Variances of the counts of all items, place by place."""

    @property
    def size(self) -> int:
        """Number of places."""
        ...

    def variances(self, counts: Floats, n: int) -> Floats:
        """Variance of the estimated count of each item, in a crowd of n users with these counts."""
        ...

    def own_variances(self) -> Floats:
        """Variance of the estimated count of each item in a crowd of one user, who has that item."""
        ...


@dataclass(frozen=True)
class PlaceLaw(VarianceLaw):
    """Variance of the count of an item, which depends on its place and on the counts of all items.

    Without ``counts`` it is that of an average item, while the other users are spread evenly.
    """

    places: Places | None = None

    def at(self, n: Any, f: Any, *, f2: Any = None, counts: Floats | None = None) -> Any:
        if counts is None:
            return self.averaged.at(n, f, f2=f2)
        return self._own.variances(counts, n)

    def of_one(self, x: int, y: int) -> Fraction:
        counts = np.zeros(self._own.size)
        counts[x] = 1.0
        return Fraction(float(self._own.variances(counts, 1)[y]))

    @property
    def averaged(self) -> VarianceLaw:
        return VarianceLaw(self.per_report, self.per_holder)

    def context_of(self, counts: npt.NDArray[Any]) -> dict[str, Any]:
        return {"counts": np.asarray(counts, dtype=np.float64)}

    @property
    def _own(self) -> Places:
        assert self.places is not None
        return self.places


class PlaceDecoder(ByLaw):
    """A decoder that is linear in the reports of all groups, with a law for each place."""

    @property
    @abstractmethod
    def places(self) -> Places:
        """The law of each item's count by this decoder."""

    @abstractmethod
    def counts(self, evidence: Any, n: int) -> Floats:
        """Unbiased counts of all items from the evidence of all groups."""

    @cached_property
    def law(self) -> VarianceLaw:
        """The variance law of the count of an item."""
        places = self.places
        size = places.size
        total = float(places.variances(np.full(size, 1 / size), 1).mean())
        # By the same sums: what one holder adds to the variance of the own item, on average.
        holder = float(np.mean(places.own_variances()))
        per_holder = (holder - total) * size / (size - 1)
        return PlaceLaw(Fraction(total - per_holder / size), Fraction(per_holder), places=places)

    def estimate(self, evidence: Any, n: Any, codes: Codes | None) -> tuple[Floats, Floats | None]:
        """Unbiased counts and their exact variances by the law, at the estimated counts."""
        users = int(np.sum(n))
        counts = self.counts(evidence, users)
        variance = self.places.variances(counts, users)
        return (counts, variance) if codes is None else (counts[codes], variance[codes])
