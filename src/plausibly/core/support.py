"""The items that one record can support, which limits the effect of fake records."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

Items = npt.NDArray[Any]
Weights = npt.NDArray[Any]


class Found(NamedTuple):
    """A number of supported items, and whether some record attains it; otherwise it is an upper bound."""

    number: Any
    """An integer, or the sum of weights that are not."""
    attained: bool


class Turns(NamedTuple):
    """The effect of fakes that take turns: the share that supports each item, and whether it is attained."""

    share: Fraction
    attained: bool


@dataclass(frozen=True)
class Support:
    """Nothing is known: a record may support every item, so that all numbers are bounds."""

    everything: ClassVar[bool] = False
    """Whether some record supports every item."""
    known: ClassVar[bool] = False
    """Whether more is known than that a record may support everything."""

    @property
    def functions(self) -> int:
        """Number of public hash functions to evaluate per item to learn its support; 0 if that is not necessary."""
        return 0

    def turns(self, size: int | None) -> Turns:
        """The largest share of fakes that can support each of all items."""
        return Turns(Fraction(1), self.everything)

    def total(self, size: int) -> Found:
        """The most items that one record supports."""
        return Found(size, self.everything)

    def best(self, items: Items, weights: Weights) -> Found:
        """The largest sum of the weights of the items that one record supports; all other items weigh nothing."""
        return Found(weights[weights > 0].sum().item(), self.everything and bool((weights >= 0).all()))

    def most(self, items: Items) -> Found:
        """The most of these items, which may repeat, that one record supports."""
        return self.best(*np.unique(items, return_counts=True))


@dataclass(frozen=True)
class Everything(Support):
    """Some record supports every item; the other possible sets are unknown."""

    everything = known = True


@dataclass(frozen=True)
class AnySet(Everything):
    """Every set of items is supported by some record."""

    def best(self, items: Items, weights: Weights) -> Found:
        return Found(super().best(items, weights).number, True)


@dataclass(frozen=True)
class AtMost(Support):
    """A record supports at most ``number`` of ``size`` items; ``evenly``: records in turn support all items equally."""

    number: int
    size: int
    evenly: bool

    known = True

    def turns(self, size: int | None) -> Turns:
        return Turns(Fraction(self.number, self.size), self.evenly)

    def total(self, size: int) -> Found:
        return Found(self.number, self.evenly)

    def best(self, items: Items, weights: Weights) -> Found:
        return Found(_positive(weights)[: self.number].sum().item(), False)


@dataclass(frozen=True)
class Subsets(AtMost):
    """A record supports ``number`` items, and every set of that size is possible."""

    evenly: bool = True

    def best(self, items: Items, weights: Weights) -> Found:
        # This number of items exactly: those that weigh nothing before those that weigh less.
        positive, negative = _positive(weights), -np.sort(-weights[weights < 0])
        without = self.size - len(positive) - len(negative)
        others = max(0, self.number - len(positive) - without)
        return Found((positive[: self.number].sum() + negative[:others].sum()).item(), True)


@dataclass(frozen=True)
class Blocks(Support):
    """Item x of ``size`` items is in block x mod ``blocks``; a record raises or lowers all items of one block."""

    blocks: int
    size: int

    known = True

    def turns(self, size: int | None) -> Turns:
        return Turns(Fraction(1, min(self.blocks, self.size)), True)

    def total(self, size: int) -> Found:
        return Found(-(-self.size // self.blocks), True)

    def best(self, items: Items, weights: Weights) -> Found:
        _, block = np.unique(items % self.blocks, return_inverse=True)
        most = np.bincount(block, np.abs(weights)).max()
        return Found(most.astype(weights.dtype).item(), bool((weights >= 0).all()))


def _positive(weights: Weights) -> Weights:
    # The largest first.
    return -np.sort(-weights[weights > 0])
