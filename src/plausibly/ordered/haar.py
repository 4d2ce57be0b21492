"""HAAR: the Haar transform of the counts, whose coefficients are reported through the Hadamard mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ..core.blanket import Blanket, mixed
from ..core.domain import Integers
from ..core.history import History
from ..core.laws import Codes, Decoder, Estimator, Floats, Scores
from ..core.levers import Reach
from ..core.linear import Linear
from ..core.parts import PartEvidence
from ..oracles import HM
from .halves import Halves
from .levels import Levels
from .places import PlaceDecoder
from .signed import Half, Signed


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class HAAR(Levels):
    """HaarHRR: a user reports one coefficient of the Haar transform, of a public level, as one noisy sign.

    A coefficient is the number of users in the left half of a block less those in the right half; blocks have 2, 4,
    8, … items. ``weights``: relative numbers of the users of each level, by default equal. The sign of the half,
    times a sign of the block in a public row of the Hadamard matrix, is reported with the whole epsilon. Source:
    section 4.6 of the paper on range queries (Cormode, Kulkarni and Srivastava, VLDB 2019).
    Privacy: that of the Hadamard mechanism, because the level is drawn without looking at the value.
    Variance: exact for every sum of counts with given weights; close to that of HH up to eps = 1, and far above beyond,
    because a report has one bit whatever eps is.
    Cost: at most 4 bytes a report for 65,536 items; fewer than 2d cells; O(d) decode.

    >>> import plausibly
    >>> scheme = plausibly.make("HAAR", epsilon=1, domain=plausibly.Ordered(0, 120))
    >>> scheme.widths, scheme.weights
    ((2, 4, 8, 16, 32, 64, 128), (1, 1, 1, 1, 1, 1, 1))
    """

    name = "HAAR"

    def validate(self) -> None:
        self.check_order()
        self.set_weights((1,) * len(self.widths))
        super().validate()

    @property
    def widths(self) -> tuple[int, ...]:
        """The widths of the blocks of each level: powers of two, the last one all items."""
        return tuple(2 << level for level in range((self.size - 1).bit_length()))

    @cached_property
    def parts(self) -> tuple[Half, ...]:
        return tuple(Half(f"halves of {width}", self._oracle(width), width) for width in self.widths)

    def _oracle(self, width: int) -> Signed:
        # A power of two, as coefficients with signs require, and at least two items: a single block has a sign, too.
        blocks = max(2, self.widths[-1] // width)
        oracle = HM(epsilon=self.epsilon, domain=Integers(blocks), coefficients=1)
        return Signed(oracle=oracle, domain=Integers(2 * blocks))

    @property
    def parameters(self) -> dict[str, Any]:
        return {"weights": list(self.group_weights)}

    def blanket(self) -> Blanket:
        # Two values have opposite signs at one level only. Above it they are in the same half, and below it in
        # different blocks, whose signs are independent. All levels have the same probabilities.
        one, share = self.parts[0].scheme, Fraction(max(self.group_weights), sum(self.group_weights))
        return mixed([one.blanket(), one.oracle.blanket()], [share, 1 - share])

    @property
    def derived(self) -> dict[str, Any]:
        return {"oracles": [part.scheme.oracle.to_dict() for part in self.parts]}

    def estimator(self) -> Decoder:
        return self._decoder

    @cached_property
    def _decoder(self) -> Differences:
        return Differences(self.halves, tuple(part.scheme.decoder for part in self.parts))

    @cached_property
    def halves(self) -> Halves:
        """The Haar transform of questions about the items of this scheme, and the law of their answers."""
        noise = [(float(self.share(i)), float(part.scheme.decoder.scale)) for i, part in enumerate(self.parts)]
        return Halves(tuple(noise), self.size)

    def leverage(self, weights: Floats) -> Reach:
        return self.halves.leverage(weights)

    def contribution(self) -> tuple[Fraction, Fraction] | None:
        low, high = self.halves.contribution()
        return Fraction(low), Fraction(high)

    def shrunk(self, size: int) -> HAAR:
        # The weights follow from the new number of levels.
        return HAAR(epsilon=self.epsilon, domain=Integers(size))


@dataclass(frozen=True)
class Differences(PlaceDecoder):
    """Decoder of the Haar transform: counts from the differences between the halves of blocks."""

    halves: Halves
    decoders: tuple[Estimator, ...]
    history: History = ()

    @property
    def places(self) -> Halves:
        return self.halves

    def scores(self, evidence: Any, n: Any, codes: Codes | None) -> Scores:
        # Net reports of the halves that are single items.
        own: PartEvidence = evidence[0]
        net = self.decoders[0].scores(own.evidence, own.users, None)
        scores = np.stack([net, -net], axis=1).reshape(-1)[: self.halves.size]
        return scores if codes is None else scores[codes]

    def differences(self, evidence: Sequence[PartEvidence]) -> list[Floats]:
        """Unbiased differences between the halves of all blocks, level by level, for all users."""
        blocks, found = self.halves.size, []
        for own, decoder, (share, _) in zip(evidence, self.decoders, self.halves.noise, strict=True):
            blocks = -(-blocks // 2)
            found.append(decoder.values(own.evidence, own.users, None)[:blocks] / share)
        return found

    def counts(self, evidence: Any, n: int) -> Floats:
        return self.halves.counts(self.differences(evidence), n)

    def linear(self, evidence: Any, n: Any) -> Linear:
        """Answers to linear questions from the evidence of an accumulator of the Haar transform."""
        users = int(np.sum(n))
        return OfHalves(self.halves, self.counts(evidence, users), users)

    def predicted(self, counts: Floats, n: int) -> Linear:
        """The law of linear questions to the Haar transform in a crowd with these counts."""
        return OfHalves(self.halves, counts, n)


@dataclass(frozen=True, eq=False)
class OfHalves(Linear):
    """Answers to linear questions from one tally of the Haar transform."""

    halves: Halves
    counts: Floats
    n: int

    @property
    def size(self) -> int:
        return self.halves.size

    def weighted(self, weights: Floats) -> tuple[Floats, Floats]:
        return weights @ self.counts, self.halves.variance(weights, self.counts, self.n)

    def prefixes(self, length: int) -> tuple[Floats, Floats]:
        variances = self.halves.along(True, self.counts, self.n)
        return np.cumsum(self.counts)[:length], variances[:length]
