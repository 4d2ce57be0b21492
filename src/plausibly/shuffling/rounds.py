"""The privacy of several shuffled batches, to each of which the same users send a fresh report.

At all epsilons, the deltas of a batch are at most those of a pair of laws on a grid of losses: between two points of
the grid, delta is a convex function of e^ε, hence below the line that connects them (Doroshenko et al., PoPETs 2022).
The losses of independent batches add up, whatever later batches ask in view of earlier ones (Zhu, Dong and Wang,
AISTATS 2022).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .crowd import Crowd, Pair, least
from .sums import COARSE, Floats, Sum

_POINTS = 100
"""Number of positive losses in the grid: with a sixteenth of a standard deviation between them, they cost 0.1 %."""
_FORGONE = 1e-3
"""Share of delta for losses beyond the grid."""
_ROUNDING = 1e-15


@dataclass(frozen=True)
class Rounds:
    """``rounds`` batches of the same users, with fresh reports in each; ``delta`` is that of all batches together."""

    crowd: Crowd
    rounds: int
    delta: float

    def epsilon(self) -> float:
        """Upper bound of the smallest epsilon of all batches together."""
        most = self.rounds * self.crowd.local
        guess = math.sqrt(self.rounds) * self.crowd.pairs[0].guess
        return least(self.delta_at, self.delta, guess, most, 1e-5)[1]

    def delta_at(self, epsilon: float) -> float:
        """Upper bound of the smallest delta of all batches together at this epsilon."""
        return max(self._loss(masses, epsilon) for masses in self._laws)

    def _loss(self, masses: Floats, epsilon: float) -> float:
        # Losses beyond the grid count as lost. So does the rounding of the deltas that the masses come from.
        beyond = max(0.0, 1 - float(masses.sum())) + _ROUNDING
        lost = -math.expm1(self.rounds * math.log1p(-beyond))
        return Sum(self._losses, masses, 0.0, self.rounds, epsilon).loss(COARSE) + lost

    @cached_property
    def _losses(self) -> Floats:
        # A batch is hidden to an epsilon where what is beyond it hardly counts.
        reach = self.crowd.epsilon(max(1e-18, _FORGONE * self.delta / self.rounds))
        return reach / _POINTS * np.arange(-_POINTS, _POINTS + 1, dtype=np.float64)

    @cached_property
    def _laws(self) -> tuple[Floats, ...]:
        # The law of the losses of each pair; the order of a symmetric pair does not matter.
        pairs = self.crowd.pairs
        return tuple(self._law(pair, other) for pair, other in zip(pairs, pairs[::-1], strict=True))

    def _law(self, pair: Pair, other: Pair) -> Floats:
        ratios = np.exp(self._losses)
        forward = np.array([pair.delta(epsilon, COARSE).high for epsilon in self._losses[_POINTS:]])
        backward = forward if other is pair else np.array([other.delta(e, COARSE).high for e in self._losses[_POINTS:]])
        # δ(-ε) = 1 - e^-ε + e^-ε δ'(ε), where δ' is that of the other order.
        negative = 1 - ratios[:_POINTS] * (1 - backward[:0:-1])
        return _connected(ratios, np.concatenate([negative, forward]))


def _connected(ratios: Floats, deltas: Floats) -> Floats:
    # The masses of the losses whose deltas connect the points: those of the other law are the changes of slope. The
    # points may be a little too high, so that some are above the line between others; they count for nothing.
    x, y = np.concatenate([[0.0], ratios]), np.concatenate([[1.0], deltas])
    kept = _lower_hull(x, y)
    slopes = np.append(np.diff(y[kept]) / np.diff(x[kept]), 0.0)
    masses = np.zeros(len(x))
    masses[kept[1:]] = np.maximum(np.diff(slopes), 0.0) * x[kept[1:]]
    return masses[1:]


def _lower_hull(x: Floats, y: Floats) -> list[int]:
    kept: list[int] = []
    for i in range(len(x)):
        while len(kept) > 1 and _turns_down(x, y, kept[-2], kept[-1], i):
            kept.pop()
        kept.append(i)
    return kept


def _turns_down(x: Floats, y: Floats, a: int, b: int, c: int) -> bool:
    return bool((y[b] - y[a]) * (x[c] - x[b]) >= (y[c] - y[b]) * (x[b] - x[a]))
