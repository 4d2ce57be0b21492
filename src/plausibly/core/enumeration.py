"""The exact output distribution of a client: all paths of its coins, summed in integers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from ..device import Grouped, Randomizer
from .probability import WORD

Public = tuple[int, ...]
Outcome = TypeVar("Outcome")
Shape = tuple[int, ...]
"""The draws of one path: 0 for a bernoulli, m for a below(m)."""

_MOST_PUBLIC_PATHS = 4_096
"""Maximum number of tickets of a grouped scheme that are tried to list their outcomes."""


class DrawsError(Exception):
    """A client draws more often than allowed."""


class Branching:
    """A source that follows a path of choices; beyond its end, every draw takes its first option."""

    def __init__(self, path: list[int], most: int = WORD) -> None:
        self.path = path
        self.most = most
        self.shape: list[int] = []
        self.weight = 1

    def bernoulli(self, threshold: int) -> bool:
        """The next choice on the path under enumeration: True first, then False."""
        # The number of words below the threshold, whatever threshold the client passes.
        below = min(max(math.ceil(threshold), 0), WORD)
        choice = self._choose(0)
        self.weight *= WORD - below if choice else below
        return not choice

    def below(self, size: int) -> int:
        """The next choice on the path under enumeration: 0 first, then up to size - 1."""
        return self._choose(size)

    def _choose(self, kind: int) -> int:
        drawn = len(self.shape)
        if drawn == len(self.path):
            if drawn >= self.most:
                raise DrawsError
            self.path.append(0)
        self.shape.append(kind)
        return self.path[drawn]


class Probe:
    """A source that records all draws, and the words at which the result of a draw changes."""

    def __init__(self, most: int = WORD) -> None:
        self.most = most
        self.shape: list[int] = []
        self.critical = {0, WORD - 1}
        self.highest = 0
        """The largest threshold: for any word not below it, every bernoulli is False."""

    def bernoulli(self, threshold: int) -> bool:
        """Record the threshold of the draw for the enumeration and return True."""
        self._note(0)
        self.critical |= {threshold - 1, threshold}
        self.highest = max(self.highest, threshold)
        return True

    def below(self, size: int) -> int:
        """Record the size of the draw for the enumeration and return 0."""
        self._note(size)
        limit = WORD - WORD % size
        self.critical |= {size - 1, size % WORD, limit - 1, limit % WORD}
        return 0

    def _note(self, kind: int) -> None:
        if len(self.shape) >= self.most:
            raise DrawsError
        self.shape.append(kind)

    @property
    def paths(self) -> int:
        """Number of paths in an enumeration of all outcomes of the recorded draws, capped at 2^64."""
        paths = 1
        for kind in self.shape:
            paths = min(paths * (kind or 2), WORD)
        return paths


@dataclass(frozen=True)
class Law:
    """A probability distribution of records, as integer weights over a common denominator."""

    weights: dict[bytes, int]
    denominator: int
    shapes: frozenset[Shape] = frozenset()
    """The sequences of draws made on the paths: only one, unless draws depend on a coin."""
    paths: int = 0


def _every_path(run: Callable[[Branching], Outcome], most: int = WORD) -> Iterator[tuple[Outcome, Branching]]:
    # The result of a function on each path of its coins, and the source that it has drawn from.
    path: list[int] = []
    while True:
        source = Branching(path, most)
        yield run(source), source
        # The next path: the last draw with an option left takes it, and all later draws start again.
        while path and path[-1] + 1 >= (source.shape[len(path) - 1] or 2):
            path.pop()
        if not path:
            return
        path[-1] += 1


def output_law(client: Randomizer, item: int, public: Public, most: int = WORD) -> Law:
    """The exact law of the record of an item, given the public coins, by enumeration of the private ones.

    Raises ``DrawsError`` for a client that makes more than ``most`` draws on a path.
    """
    weights: dict[Shape, dict[bytes, int]] = {}
    paths = 0
    for record, source in _every_path(lambda source: client.perturb(item, public, source), most):
        alike = weights.setdefault(tuple(source.shape), {})
        alike[record] = alike.get(record, 0) + source.weight
        paths += 1
    parts = [Law(part, math.prod(kind or WORD for kind in shape)) for shape, part in weights.items()]
    total = _sum(parts)
    return Law(total.weights, total.denominator, frozenset(weights), paths)


def mixture(laws: Sequence[Law], chances: Sequence[Fraction] | None = None) -> Law:
    """The mixture of enumerated laws with the given probabilities; None weights them equally."""
    chances = [Fraction(1, len(laws))] * len(laws) if chances is None else chances
    return _sum([_weighed(law, chance) for law, chance in zip(laws, chances, strict=True)])


def _weighed(law: Law, chance: Fraction) -> Law:
    weights = {record: weight * chance.numerator for record, weight in law.weights.items()}
    return Law(weights, law.denominator * chance.denominator)


def _sum(laws: Sequence[Law]) -> Law:
    # Integers over a common denominator are twenty times faster than fractions.
    denominator = math.lcm(*(law.denominator for law in laws))
    weights: dict[bytes, int] = {}
    for law in laws:
        for record, weight in law.weights.items():
            if weight:
                weights[record] = weights.get(record, 0) + weight * (denominator // law.denominator)
    return Law(weights, denominator)


class Extremes:
    """The largest and smallest probability of every record under the laws added so far."""

    def __init__(self) -> None:
        self.records: dict[bytes, tuple[int, int, int]] = {}
        """Largest weight, smallest weight, and number of laws that have the record."""
        self._denominator = 1
        self._laws = 0

    def add(self, law: Law) -> None:
        """Add a law found by enumeration to the largest and smallest probabilities of the records."""
        common = math.lcm(self._denominator, law.denominator)
        if common != self._denominator:
            factor = common // self._denominator
            self.records = {r: (high * factor, low * factor, n) for r, (high, low, n) in self.records.items()}
            self._denominator = common
        factor = common // law.denominator
        for record, weight in law.weights.items():
            weight *= factor
            high, low, count = self.records.get(record, (weight, weight, 0))
            self.records[record] = (max(high, weight), min(low, weight), count + 1)
        self._laws += 1

    def worst_ratio(self) -> Fraction | float:
        """The largest ratio of a record's probabilities under two enumerated laws; infinite if one rules it out."""
        most = least = 1
        for high, low, count in self.records.values():
            if count < self._laws or low == 0:
                return math.inf
            if high * least > most * low:
                most, least = high, low
        return Fraction(most, least)


def worst_ratio(laws: Sequence[Law]) -> Fraction | float:
    """The largest ratio of a record's probabilities under two enumerated laws; infinite if one rules it out."""
    extremes = Extremes()
    for law in laws:
        extremes.add(law)
    return extremes.worst_ratio()


def private_paths(client: Randomizer, most: int = WORD) -> int:
    """Number of outcomes of a client's private coins to enumerate in its worst group, capped at 2^64.

    Raises ``DrawsError`` for a client that draws more than ``most`` of them.
    """
    paths = 0
    for public in one_of_each_group(client):
        probe = Probe(most)
        client.perturb(0, public, probe)
        paths = max(paths, probe.paths)
    return paths


def one_of_each_group(client: Randomizer) -> list[Public]:
    """Enumerate one outcome of the public coins for each group of users; a single one for schemes without groups."""
    return [client.public(Branching(ticket)) for ticket in _tickets(client)]


def count_public_outcomes(client: Randomizer) -> int:
    """Number of outcomes of a client's public draws to enumerate; for grouped schemes, of tickets."""
    total = 0
    for ticket, weight in zip(_tickets(client), client.weights if isinstance(client, Grouped) else [1], strict=True):
        probe = Branching(list(ticket))
        client.public(probe)
        total += weight * math.prod(kind or 2 for kind in probe.shape[len(ticket) :])
    return total


def public_outcomes(client: Randomizer, most: int) -> list[Public] | None:
    """Enumerate all outcomes of a client's public coins; None if there are more than ``most``."""
    law = public_law(client, most)
    return None if law is None else list(law)


def public_law(client: Randomizer, most: int) -> dict[Public, Fraction] | None:
    """Enumerate all outcomes of a client's public coins with probabilities; None if there are more than ``most``.

    Different draws may have the same outcome: many tickets lead to one group of users.
    """
    if count_public_outcomes(client) > (max(most, _MOST_PUBLIC_PATHS) if isinstance(client, Grouped) else most):
        return None
    law: dict[Public, Fraction] = {}
    for public, source in _every_path(client.public):
        # The weight of a path is the product of its coins' weights; uniform draws are equally likely.
        chance = Fraction(source.weight, math.prod(kind or WORD for kind in source.shape))
        law[public] = law.get(public, Fraction(0)) + chance
    return law if len(law) <= most else None


def _tickets(client: Randomizer) -> list[list[int]]:
    # The first draw that leads to each group of users; empty for schemes without groups.
    if not isinstance(client, Grouped):
        return [[]]
    return [[sum(client.weights[:number])] for number in range(len(client.weights))]
