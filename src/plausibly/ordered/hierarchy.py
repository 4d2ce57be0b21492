"""HH: hierarchical histograms, blocks of one tree whose counts are made consistent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, cast

import numpy as np

from ..cells import cell_oracle, contrast_noise, least_and_most
from ..core.arguments import whole_number
from ..core.domain import Domain, Integers
from ..core.history import History
from ..core.laws import Codes, Decoder, Estimator, Floats, Scores
from ..core.levers import Reach
from ..core.linear import Linear
from ..core.parts import Digit, PartEvidence
from ..core.scheme import Scheme
from .agreeing import disagreements
from .levels import Levels
from .nested import Aligned, Nested
from .places import PlaceDecoder
from .system import Width

_NUMBERS = 1 << 20
"""Size of the arrays in which questions are asked together."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class HH(Levels):
    """Hierarchical histograms: a user reports which block of a public level of a tree holds the value.

    ``branching``: the number of blocks within a block of the next level; ``weights``: relative numbers of the users of
    each level, from single items upwards, by default equal. A block is reported through the oracles of SLIDE, with the
    whole epsilon. The counts of all levels are made consistent by weighted least squares, and the number of users is
    known. Source: section 4 of the paper on range queries (Cormode, Kulkarni and Srivastava, VLDB 2019).
    Privacy: that of the oracles, because the level is drawn without looking at the value.
    Variance: exact for every sum of counts with given weights; averaged over all ranges of 64 to 1,024 items 1.1 to 1.4
    times that of SLIDE with the best weights, 1.4 to 1.7 times with equal ones (eps <= 3).
    Cost: at most 7 bytes a report for 1,024 items and eps = 1; fewer than 2d cells; O(d) decode.

    >>> import plausibly
    >>> scheme = plausibly.make("HH", epsilon=1, domain=plausibly.Ordered(0, 120), branching=4)
    >>> scheme.widths, scheme.weights
    ((1, 4, 16, 64), (1, 1, 1, 1))
    """

    name = "HH"

    branching: int = 4

    def validate(self) -> None:
        self.check_order()
        object.__setattr__(self, "branching", whole_number("branching", self.branching, 2, 2**16))
        self.set_weights((1,) * len(self.widths))
        super().validate()

    @property
    def widths(self) -> tuple[int, ...]:
        """The widths of the blocks of each level, from single items upwards."""
        widths = [1]
        while widths[-1] * self.branching < self.size:
            widths.append(widths[-1] * self.branching)
        return tuple(widths)

    @cached_property
    def parts(self) -> tuple[Digit, ...]:
        # An item that has no place in the order is the last leaf.
        blocks = [-(-self.size // width) for width in self.widths]
        return tuple(
            Digit(f"blocks of {width}", cell_oracle(self.epsilon, count), width, count, role="branching")
            for width, count in zip(self.widths, blocks, strict=True)
        )

    @property
    def parameters(self) -> dict[str, Any]:
        return {"branching": self.branching, "weights": list(self.group_weights)}

    @property
    def derived(self) -> dict[str, Any]:
        return {"oracles": [part.scheme.to_dict() for part in self.parts]}

    @cached_property
    def system(self) -> Nested:
        """The equations between the counts of items and the reports of all levels of the tree."""
        widths = [self._width(i, decoder) for i, decoder in enumerate(self._decoders)]
        return Nested(tuple(widths), self.size, False)

    def _width(self, level: int, decoder: Estimator) -> Width:
        noise, own = contrast_noise(decoder)
        return Width(Aligned(self.size, self.widths[level]), float(self.share(level)), float(noise), float(own))

    @cached_property
    def _decoders(self) -> tuple[Estimator, ...]:
        return tuple(cast(Estimator, part.scheme.estimator()) for part in self.parts)

    def estimator(self) -> Decoder:
        return self._decoder

    @cached_property
    def _decoder(self) -> Consistent:
        return Consistent(self.system, self._decoders, tuple(part.scheme for part in self.parts))

    def contribution(self) -> tuple[Fraction, Fraction] | None:
        low, high = 0.0, 0.0
        # Items differ only in the level at which their blocks become the last one, which may be incomplete.
        items = sorted({0, *((self.size - 1) // width * width for width in self.widths)})
        at_once = max(1, _NUMBERS // self.size)
        for first in range(0, len(items), at_once):
            ends = self.leverage(np.equal.outer(items[first : first + at_once], np.arange(self.size)).astype(float))
            low, high = min(low, float(ends.low.min())), max(high, float(ends.high.max()))
        return Fraction(low), Fraction(high)

    def leverage(self, weights: Floats) -> Reach:
        questions = self.system.ask(weights)
        ends = [self._decoder.ends_of(number, questions.solved) for number in range(len(self.parts))]
        low, high = (np.array(each) for each in zip(*ends, strict=True))
        return Reach(low.min(axis=0), high.max(axis=0)).added(questions.level)

    @classmethod
    def variants_in_order(cls, epsilon: Fraction, domain: Domain, memory: int) -> Iterator[Mapping[str, Any]]:
        yield from ({"branching": branching} for branching in (2, 4, 8, 16))

    def shrunk(self, size: int) -> HH:
        # The weights follow from the new number of levels; the smallest tree has two of them, too, if there are any.
        branching = 2 if len(self.parts) > 1 and size <= self.branching else self.branching
        return HH(epsilon=self.epsilon, domain=Integers(size), branching=branching)


@dataclass(frozen=True)
class Consistent(PlaceDecoder):
    """Decoder of a tree of blocks: counts of items that agree with the reports of all levels as well as possible."""

    system: Nested
    decoders: tuple[Estimator, ...]
    oracles: tuple[Scheme, ...]
    history: History = ()

    @property
    def places(self) -> Nested:
        return self.system

    def scores(self, evidence: Any, n: Any, codes: Codes | None) -> Scores:
        # Supporting reports of the single items: the other levels have none of their own.
        own: PartEvidence = evidence[0]
        return self.decoders[0].scores(own.evidence, own.users, codes)

    def item_scores(self, evidence: Sequence[PartEvidence]) -> Floats:
        """The score of each item: the weighted counts of the blocks that contain it."""
        return np.asarray(np.sum(self._scores_by_width(evidence), axis=0))

    def _scores_by_width(self, evidence: Sequence[PartEvidence]) -> list[Floats]:
        return [
            width.weight * width.windows.spread(decoder.values(own.evidence, own.users, None))
            for own, decoder, width in zip(evidence, self.decoders, self.system.widths, strict=True)
        ]

    def disagreements(self, evidence: Sequence[PartEvidence], n: int) -> dict[str, Floats]:
        """Chances of the differences between the levels of the tree."""
        return disagreements(self, self._scores_by_width(evidence), n)

    def ends_of(self, number: int, solved: Floats) -> tuple[Floats, Floats]:
        """Least and most that one report of a level adds to the answers of questions with these solutions."""
        width, decoder = self.system.widths[number], self.decoders[number]
        return least_and_most(width.windows.sums(solved) * width.weight, self.oracles[number], float(decoder.scale))

    def counts(self, evidence: Any, n: int) -> Floats:
        return self.system.counts(self.item_scores(evidence), n)

    def linear(self, evidence: Any, n: Any) -> Linear:
        """Answers to linear questions from the evidence of an accumulator of a tree."""
        users, scores = int(np.sum(n)), self.item_scores(evidence)
        return OfTree(self.system, scores, self.system.counts(scores, users), users)

    def predicted(self, counts: Floats, n: int) -> Linear:
        """The law of linear questions to a tree in a crowd with these counts."""
        return OfTree(self.system, self.system.kernel(counts), counts, n)


@dataclass(frozen=True, eq=False)
class OfTree(Linear):
    """Answers to linear questions from one tally of a tree of blocks."""

    system: Nested
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
        variances = self.system.prefixes.variance(self.counts, self.n)
        return np.cumsum(self.counts)[:length], variances[:length]
