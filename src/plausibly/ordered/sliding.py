"""The decoder of SLIDE: counts of items and sums of them, from the reports of all widths together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..cells import least_and_most
from ..core.history import History
from ..core.laws import Codes, Floats, Scores
from ..core.levers import Reach
from ..core.linear import Linear, range_variance
from ..core.parts import PartEvidence
from .agreeing import disagreements
from .blocks import Blocks
from .families import family
from .places import PlaceDecoder
from .system import DENSE, FewQuestions, Questions, System

_NUMBERS = 1 << 20
"""Size of the arrays in which questions are asked together."""
_NODES = 6
"""Number of prefixes that stand for all in a mean over all ranges."""
_ALL = 256
"""Number of items up to which such a mean takes all prefixes."""


@dataclass(frozen=True)
class SlidingPlaces:
    """Variances of the counts of all items by SLIDE; the item outside the order is asked about by itself."""

    system: System

    @property
    def size(self) -> int:
        """Number of items."""
        return self.system.size

    def variances(self, counts: Floats, n: int) -> Floats:
        """Variance of the estimated count of each item."""
        return self._with_other(family(self.system, "items").variance(counts, n), counts, n)

    def own_variances(self) -> Floats:
        """Variance of the estimated count of each item in a crowd of one user, who has that item."""
        return self._with_other(family(self.system, "items").own(), self._outside[0], 1)

    def _with_other(self, variances: Floats, counts: Floats, n: int) -> Floats:
        if not self.system.other:
            return variances
        return np.concatenate([variances, self.system.ask(self._outside).variance(counts, n)])

    @property
    def _outside(self) -> Floats:
        return np.eye(1, self.size, self.size - 1)


@dataclass(frozen=True)
class Sliding(PlaceDecoder):
    """Decoder of SLIDE: an unbiased estimator that is linear in the reports, with its exact variance."""

    blocks: tuple[Blocks, ...]
    system: System
    history: History = ()

    @property
    def places(self) -> SlidingPlaces:
        return SlidingPlaces(self.system)

    def scores(self, evidence: Any, n: Any, codes: Codes | None) -> Scores:
        # Supporting reports of the single items: the other widths have none of their own.
        own, first = evidence[0], self.blocks[0]
        supports = first.decoder.scores(own.evidence[0], int(own.numbers[0]), None)
        return supports if codes is None else supports[codes]

    def item_scores(self, evidence: Sequence[PartEvidence]) -> Floats:
        """The score of each item: the weighted counts of the blocks that contain it."""
        return np.asarray(np.sum(self._scores_by_width(evidence), axis=0))

    def _scores_by_width(self, evidence: Sequence[PartEvidence]) -> list[Floats]:
        length, found = self.system.length, []
        for own, blocks, width in zip(evidence, self.blocks, self.system.widths, strict=True):
            table, scores = blocks.counts(own), np.zeros(self.system.size)
            inside = blocks.windows.of_blocks(table[:, : blocks.windows.blocks])
            scores[:length] = width.weight * blocks.windows.spread(inside)
            if self.system.other:
                scores[-1] = width.weight * table[:, -1].sum()
            found.append(scores)
        return found

    def disagreements(self, evidence: Sequence[PartEvidence], n: int) -> dict[str, Floats]:
        """Chances of the differences between the widths of SLIDE."""
        return disagreements(self, self._scores_by_width(evidence), n)

    def counts(self, evidence: Any, n: int) -> Floats:
        return self.system.counts(self.item_scores(evidence), n)

    def linear(self, evidence: Any, n: Any) -> Linear:
        """Answers to linear questions from the evidence of an accumulator of SLIDE."""
        users, scores = int(np.sum(n)), self.item_scores(evidence)
        return Slid(self.system, scores, self.system.counts(scores, users), users)

    def predicted(self, counts: Floats, n: int) -> Linear:
        """The law of linear questions to SLIDE in a crowd with these counts."""
        system = self.system
        if system.length > _ALL:
            system = FewQuestions(system.widths, system.length, system.other)
        return Slid(system, system.kernel(counts), counts, n)

    @cached_property
    def contribution(self) -> tuple[float, float]:
        """Bounds of what one report of SLIDE adds to the count of an item."""
        system = self.system
        # Of many items, some represent all: the ends of the order, where they differ most, and the middle.
        places = range(system.length) if system.length <= DENSE else family(system, "items").places[::4].tolist()
        items = [*places, *[system.length] * system.other]
        at_once = max(1, _NUMBERS // system.size)
        ends = [
            self.leverage(system.ask(np.equal.outer(items[i : i + at_once], np.arange(system.size)).astype(np.float64)))
            for i in range(0, len(items), at_once)
        ]
        return min(float(low.min()) for low, _ in ends), max(float(high.max()) for _, high in ends)

    def leverage(self, questions: Questions) -> Reach:
        """Bounds of what one report of SLIDE, whatever its content, adds to the answer of each question."""
        ends = [self.ends_of(number, questions.solved) for number in range(len(self.blocks))]
        low, high = (np.array(each) for each in zip(*ends, strict=True))
        return Reach(low.min(axis=0), high.max(axis=0)).added(questions.level)

    def ends_of(self, number: int, solved: Floats) -> tuple[Floats, Floats]:
        """Least and most that one report of a width adds to the answers of questions with these solutions."""
        blocks, width, length = self.blocks[number], self.system.widths[number], self.system.length
        windows = blocks.windows
        table = windows.at_offsets(windows.sums(solved[:, :length]))
        if self.system.other:
            alone = np.broadcast_to(solved[:, -1:, None], (*table.shape[:2], 1))
            table = np.concatenate([table, alone], axis=2)
        least, most = least_and_most(table * width.weight, blocks.oracle, float(blocks.decoder.scale))
        return least.min(axis=1), most.max(axis=1)


@dataclass(frozen=True, eq=False)
class Slid(Linear):
    """Answers to linear questions from one tally of SLIDE."""

    system: System
    scores: Floats
    counts: Floats
    n: int

    @property
    def size(self) -> int:
        return self.system.size

    def weighted(self, weights: Floats) -> tuple[Floats, Floats]:
        questions = self.system.ask(weights)
        return questions.values(self.scores, self.n), questions.variance(self.counts, self.n)

    def prefixes(self, length: int) -> tuple[Floats, Floats]:
        values = np.cumsum(self.counts[: self.system.length])
        return values[:length], family(self.system, "prefixes").variance(self.counts, self.n)[:length]

    def range_variance(self, length: int) -> float:
        """Mean variance over all ranges of the first ``length`` items.

        Beyond 256 items, prefixes at the nodes of a quadrature stand for all of them. In a smooth crowd, variances
        change little but towards the ends, where the nodes are denser; the mean is then within 0.5 % of the exact one.
        """
        if length <= _ALL:
            return super().range_variance(length)
        nodes, weights = np.polynomial.legendre.leggauss(_NODES)
        along = (nodes + 1) / 2
        # Along x = t^2 (3 - 2 t), the logarithms at both ends become smooth.
        places = np.rint(along**2 * (3 - 2 * along) * length).astype(np.int64).clip(1, length)
        variances = self.weighted((np.arange(self.size) < places[:, None]).astype(np.float64))[1]
        total = length * float(weights @ (3 * along * (1 - along) * variances))
        return range_variance(total, self.prefix_sum_variance(length), length)
