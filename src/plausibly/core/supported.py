"""Which items reports support: a report is more likely under these items than under all others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .laws import Floats
from .records import Reports

_BLOCK = 1 << 20
"""Number of bits of bitmaps that are expanded at a time."""


class Supported(ABC):
    """The items that each kind of report supports, as two sums; ``counts`` is the number of reports of each kind."""

    counts: Floats

    @abstractmethod
    def masses(self, shares: Floats) -> Floats:
        """For each kind of report, the sum of the shares of the items that it supports; shaped like ``counts``."""

    @abstractmethod
    def gathered(self, weights: Floats) -> Floats:
        """For each item, the sum of the weights of the kinds of reports that support it."""


class TwoLevels(ABC):
    """A scheme whose reports have one likelihood under all items that they support, and a lower one under all others.

    Their ratio is the largest that the scheme has. A factor that depends on the report alone, such as that of the other
    bits of a bitmap, does not matter.
    """

    @abstractmethod
    def supported(self, reports: Reports) -> Supported:
        """The items that each of these checked reports supports, for likelihoods."""


@dataclass(frozen=True)
class OneEach(Supported):
    """Reports that support one item each: ``counts`` of them by item."""

    counts: Floats

    def masses(self, shares: Floats) -> Floats:
        return shares

    def gathered(self, weights: Floats) -> Floats:
        return weights


@dataclass(frozen=True)
class Bitmaps(Supported):
    """Reports that support the items whose bits are set in their ``bits``."""

    bits: npt.NDArray[np.uint8]
    size: int

    @property
    def counts(self) -> Floats:  # type: ignore[override]
        return np.ones(len(self.bits))

    def masses(self, shares: Floats) -> Floats:
        return np.concatenate([block @ shares for _, block in self._blocks()])

    def gathered(self, weights: Floats) -> Floats:
        return np.asarray(np.sum([weights[part] @ block for part, block in self._blocks()], axis=0))

    def _blocks(self) -> Iterator[tuple[slice, Floats]]:
        length = max(1, _BLOCK // self.size)
        for part in (slice(first, first + length) for first in range(0, len(self.bits), length)):
            expanded = np.unpackbits(self.bits[part], axis=1, count=self.size, bitorder="little")
            yield part, expanded.astype(np.float64)
