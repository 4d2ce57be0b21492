"""A shuffled batch of reports: how well it hides one report, for the blanket of a scheme and a number of users.

With b the blanket and R_x the law of a report of value x, the shuffled batch hides which of the values x and x' one of
n users has up to

    δ(ε) <= E[(X_1 + ... + X_n)_+]/n,   X = (R_x(Y) - e^ε R_x'(Y))/b(Y) with probability b(Y), else 0

(Balle et al. 2019, lemma 5.3, with b for γω; proof in docs/adr/0042-shuffling.md). With the law of one value for b, a
third one or x, this is the exact divergence if all other users have that value, hence a lower bound of what any proof
can show.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..core.blanket import Atom, Blanket
from .sums import COARSE, FINE, Enclosure, Floats, Sum

_TOLERANCE = 1e-7
"""Relative width at which the search for an epsilon ends."""


@dataclass(frozen=True)
class Pair:
    """Two values of one user among ``users``, in an order: the law of the likelihood ratios of their reports."""

    atoms: Sequence[Atom]
    users: int

    @cached_property
    def _arrays(self) -> tuple[Floats, Floats, Floats, float]:
        masses, ones, others = (np.array([float(part) for part in parts]) for parts in zip(*self.atoms, strict=True))
        return masses, ones, others, float(1 - sum(atom.mass for atom in self.atoms))

    def delta(self, epsilon: float, noise: float = FINE) -> Enclosure:
        """Bounds of the smallest delta at this epsilon."""
        masses, ones, others, rest = self._arrays
        low, high = Sum(ones - math.exp(epsilon) * others, masses, rest, self.users).excess(noise)
        return Enclosure(low / self.users, min(1.0, high / self.users))

    @property
    def guess(self) -> float:
        """An epsilon of the right order of magnitude: five standard deviations of a normal law."""
        masses, ones, others, _ = self._arrays
        return 5 * math.sqrt(float(masses @ (ones - others) ** 2) / self.users)


@dataclass(frozen=True)
class Crowd:
    """``users`` whose reports are shuffled together, given the blanket of their scheme."""

    blanket: Blanket
    users: int
    local: float
    """The epsilon of one report by itself, which no shuffling exceeds."""

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """The two values that differ most, in both orders; in one order if the other is the same."""
        orders = self.blanket.atoms, self.blanket.reversed.atoms
        return tuple(Pair(atoms, self.users) for atoms in dict.fromkeys(orders))

    def delta(self, epsilon: float, noise: float = FINE) -> float:
        """Upper bound of the smallest delta of the batch at this epsilon."""
        return max(pair.delta(epsilon, noise).high for pair in self.pairs) if epsilon < self.local else 0.0

    def epsilon(self, delta: float) -> float:
        """Upper bound of the smallest epsilon of the batch at this delta."""
        guess = self.pairs[0].guess
        rough = least(lambda epsilon: self.delta(epsilon, COARSE), delta, guess, self.local, 1e-3)[1]
        return least(self.delta, delta, rough, self.local, _TOLERANCE)[1]

    def lower(self, delta: float) -> float | None:
        """Lower bound of the smallest epsilon of the batch at this delta: the worst of some crowds that are all alike.

        None if the law of a third value is not known.
        """
        return max((self.exact(atoms, delta) for atoms in self.blanket.alike), default=None)

    def exact(self, alike: Sequence[Atom], delta: float) -> float:
        """The smallest epsilon of the batch if all others have one value with this law, rounded down a little."""
        pair = Pair(alike, self.users)
        rough = least(lambda epsilon: pair.delta(epsilon, COARSE).low, delta, pair.guess, self.local, 1e-3)[0]
        return least(lambda epsilon: pair.delta(epsilon).low, delta, rough, self.local, _TOLERANCE)[0]


def least(
    delta_at: Callable[[float], float], delta: float, guess: float, most: float, tolerance: float
) -> tuple[float, float]:
    """Two close epsilons from 0 to ``most``: one where the decreasing ``delta_at`` exceeds ``delta``, one where not."""

    def above(epsilon: float) -> float:
        found = delta_at(epsilon)
        return math.log(found / delta) if found > 0 else -math.inf

    guess = min(guess, most)
    low, high = guess * (1 - 4 * tolerance), min(most, guess * (1 + 4 * tolerance))
    at_high = above(high) if high < most else -math.inf
    while at_high > 0:
        low, high = high, min(most, high + 4 * (high - low))
        at_high = above(high) if high < most else -math.inf
    while (at_low := above(low)) <= 0:
        if low == 0:
            return 0.0, 0.0
        low, high, at_high = max(0.0, low - 4 * (high - low)), low, at_low
    # The rule of false position, with the Illinois correction; halving where a delta is 0.
    side = 0
    while high - low > tolerance * high:
        middle = (low + high) / 2 if at_high == -math.inf else (low * at_high - high * at_low) / (at_high - at_low)
        middle = min(max(middle, low + tolerance * high / 4), high - tolerance * high / 4)
        found = above(middle)
        if found > 0:
            low, at_low = middle, found
            at_high = at_high / 2 if side == 1 else at_high
            side = 1
        else:
            high, at_high = middle, found
            at_low = at_low / 2 if side == -1 else at_low
            side = -1
    return low, high
