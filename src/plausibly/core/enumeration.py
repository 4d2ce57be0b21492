"""The exact output law of a client: every path of its coins, summed in integers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from ..device import Grouped, Randomizer
from .probability import WORD

Public = tuple[int, ...]
Shape = tuple[int, ...]
"""The draws of one path: 0 for a bernoulli, m for a below(m)."""


class Branching:
    """A source that follows a path of choices and takes the first option of every draw beyond its end."""

    def __init__(self, path: list[int]) -> None:
        self.path = path
        self.shape: list[int] = []
        self.weight = 1

    def bernoulli(self, threshold: int) -> bool:
        """True first, then False."""
        # The number of words below the threshold, whatever a client hands over as one.
        below = min(max(math.ceil(threshold), 0), WORD)
        choice = self._choose(0)
        self.weight *= WORD - below if choice else below
        return not choice

    def below(self, size: int) -> int:
        """0 first, then up to size - 1."""
        return self._choose(size)

    def _choose(self, kind: int) -> int:
        if len(self.shape) == len(self.path):
            self.path.append(0)
        self.shape.append(kind)
        return self.path[len(self.shape) - 1]


class Probe:
    """A source that notes what is drawn, and the words at which a draw changes its mind."""

    def __init__(self) -> None:
        self.shape: list[int] = []
        self.critical = {0, WORD - 1}

    def bernoulli(self, threshold: int) -> bool:
        """True, always."""
        self.shape.append(0)
        self.critical |= {threshold - 1, threshold}
        return True

    def below(self, size: int) -> int:
        """0, always."""
        self.shape.append(size)
        limit = WORD - WORD % size
        self.critical |= {size - 1, size % WORD, limit - 1, limit % WORD}
        return 0

    @property
    def paths(self) -> int:
        """The number of outcomes of the draws, or 2^64 if there are more."""
        paths = 1
        for kind in self.shape:
            paths = min(paths * (kind or 2), WORD)
        return paths


@dataclass(frozen=True)
class Law:
    """Integer weights of the possible records over one denominator."""

    weights: dict[bytes, int]
    denominator: int
    shapes: frozenset[Shape] = frozenset()
    """The lists of draws that paths made: only one, unless draws depend on a coin."""
    paths: int = 0


def output_law(client: Randomizer, item: int, public: Public) -> Law:
    """The law of the record of an item, given the public coins."""
    weights: dict[Shape, dict[bytes, int]] = {}
    path: list[int] = []
    paths = 0
    while path or not paths:
        source = Branching(path)
        record = client.perturb(item, public, source)
        alike = weights.setdefault(tuple(source.shape), {})
        alike[record] = alike.get(record, 0) + source.weight
        paths += 1
        # The next path: the last draw that has another option takes it, and what follows starts anew.
        while path and path[-1] + 1 >= (source.shape[len(path) - 1] or 2):
            path.pop()
        if path:
            path[-1] += 1
    parts = [Law(part, math.prod(kind or WORD for kind in shape)) for shape, part in weights.items()]
    total = _sum(parts)
    return Law(total.weights, total.denominator, frozenset(weights), paths)


def mixture(laws: Sequence[Law]) -> Law:
    """The law of a record that follows each of these laws with equal probability."""
    total = _sum(laws)
    return Law(total.weights, total.denominator * len(laws))


def _sum(laws: Sequence[Law]) -> Law:
    # Integers over a common denominator are twenty times faster than fractions.
    denominator = math.lcm(*(law.denominator for law in laws))
    weights: dict[bytes, int] = {}
    for law in laws:
        for record, weight in law.weights.items():
            if weight:
                weights[record] = weights.get(record, 0) + weight * (denominator // law.denominator)
    return Law(weights, denominator)


def worst_ratio(laws: Sequence[Law]) -> Fraction | float:
    """The largest ratio of the probabilities of one record under two laws; infinite if one rules it out."""
    common = math.lcm(*(law.denominator for law in laws))
    most = least = 1
    for record in set().union(*(law.weights for law in laws)):
        weights = [law.weights.get(record, 0) * (common // law.denominator) for law in laws]
        high, low = max(weights), min(weights)
        if low == 0:
            return math.inf
        if high * least > most * low:
            most, least = high, low
    return Fraction(most, least)


def private_paths(client: Randomizer) -> int:
    """The number of outcomes of a client's private coins, in its worst group, or 2^64 if there are more."""
    most = 0
    for public in one_of_each_group(client):
        probe = Probe()
        client.perturb(0, public, probe)
        most = max(most, probe.paths)
    return most


def one_of_each_group(client: Randomizer) -> list[Public]:
    """An outcome of the public coins for each group of a search; for other schemes just one."""
    return [client.public(Branching(ticket)) for ticket in _tickets(client)]


def public_outcomes(client: Randomizer, most: int) -> list[Public] | None:
    """All outcomes of a client's public coins; None if there are more than ``most``.

    They are equally likely, but for those of a search, whose groups have weights.
    """
    outcomes: list[Public] = []
    for ticket in _tickets(client):
        probe = Branching(list(ticket))
        client.public(probe)
        rest = probe.shape[len(ticket) :]
        if not all(rest) or len(outcomes) + math.prod(rest) > most:
            return None
        outcomes += [client.public(Branching([*ticket, *path])) for path in product(*map(range, rest))]
    return outcomes


def _tickets(client: Randomizer) -> list[list[int]]:
    # The first draw that leads to each group of a search; nothing for other schemes.
    if not isinstance(client, Grouped):
        return [[]]
    return [[sum(client.weights[:number])] for number in range(len(client.weights))]
