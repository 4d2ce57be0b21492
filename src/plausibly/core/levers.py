"""The leverage of one report, whatever its content, on answers; and how far fake reports may have moved them.

Answers are sums over reports. A fake report is any record, so it adds at least ``low`` and at most ``high`` to an
answer, and k of them add at least k*low and at most k*high. Taking these away leaves what the honest reports say.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import floor
from typing import Any, NamedTuple, Protocol

import numpy as np

from .domain.scales import Mark, exact
from .errors import ParameterError, StateError
from .table_law import Axes, Floats
from .wording import shown
from .words import Setting, Words


class Reach(NamedTuple):
    """The least and the most that one report adds to each answer, or that several fakes have added together."""

    low: Floats
    high: Floats

    def added(self, constant: Floats | float) -> Reach:
        """The ends of answers to which every report adds a constant besides."""
        return Reach(self.low + constant, self.high + constant)

    def of_fakes(self, fakes: int) -> Reach:
        """What up to this number of fake reports have added, at least and at most."""
        return Reach(fakes * np.minimum(self.low, 0.0), fakes * np.maximum(self.high, 0.0))


class Counts(Protocol):
    """The members of a scheme that counts items which its leverage needs."""

    def ends(self) -> tuple[float, float] | None: ...

    def leverage(self, weights: Floats) -> Reach: ...


class Levers(ABC):
    """The leverage of one report on linear questions about the counts of all items."""

    @property
    @abstractmethod
    def one(self) -> tuple[float, float]:
        """Least and most that one report adds to the count of any single item."""

    @abstractmethod
    def reach_of(self, weights: Floats) -> Reach:
        """Least and most that one report adds to the answers to linear questions, one per row of weights."""


@dataclass(frozen=True)
class OfScheme(Levers):
    """The leverage of one report of a scheme that counts items."""

    scheme: Counts

    @property
    def one(self) -> tuple[float, float]:
        ends = self.scheme.ends()
        if ends is None:
            raise no_bound()
        return ends

    def reach_of(self, weights: Floats) -> Reach:
        return self.scheme.leverage(weights)


@dataclass(frozen=True)
class OfTable(Levers):
    """The leverage of one report on a table of some attributes of records; ``places`` are in the order of its axes."""

    decoder: Any
    places: Axes

    @property
    def one(self) -> tuple[float, float]:
        # By symmetry, that of the first cell.
        ends = self.reach_of(np.eye(1, int(np.prod(self._sizes))))
        return float(ends.low[0]), float(ends.high[0])

    @property
    def _sizes(self) -> tuple[int, ...]:
        return tuple(self.decoder.records.sizes[place] for place in self.places)

    def reach_of(self, weights: Floats) -> Reach:
        order = np.argsort(self.places).tolist()
        questions = weights.reshape(len(weights), *self._sizes).transpose(0, *(axis + 1 for axis in order))
        reach: Reach = self.decoder.leverage(tuple(self.places[axis] for axis in order), questions)
        return reach

    def margin(self, axis: int) -> OfTable:
        """The leverage of one report on the table of a single attribute of this one."""
        return OfTable(self.decoder, (self.places[axis],))


@dataclass(frozen=True)
class Widest(Levers):
    """The leverage of one report of any of several crowds on their counts together."""

    parts: tuple[Levers, ...]

    @property
    def one(self) -> tuple[float, float]:
        return min(part.one[0] for part in self.parts), max(part.one[1] for part in self.parts)

    def reach_of(self, weights: Floats) -> Reach:
        ends = [part.reach_of(weights) for part in self.parts]
        return Reach(np.min([each.low for each in ends], axis=0), np.max([each.high for each in ends], axis=0))


def widest(one: Levers | None, other: Levers | None) -> Levers | None:
    """The leverage of one report on the sums of two crowds' counts, if it is known for both."""
    return None if one is None or other is None else Widest((one, other))


def fakes_among(n: int, share: object) -> int:
    """Number of fake reports if this share of n reports is fake, rounded down. Raises unless it is a share below 1."""
    number = exact(share)
    if isinstance(number, Mark) or not 0 <= number < 1:
        raise ParameterError(Words(Setting("share"), f": expected a share below 1, such as 0.01, got {shown(share)}"))
    return floor(float(number) * n * (1 + 1e-12))  # 0.29 of 100 are 29


def no_bound() -> StateError:
    """The refusal to bound the effect of fake reports where it is not known."""
    return StateError(
        "no bound is known for the effect of fake reports: these numbers are not plain sums over reports; ask about "
        "estimates before any step, from a scheme with exact variances"
    )
