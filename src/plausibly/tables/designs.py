"""Sets of attributes that users report together: all of one size, or enough that every pair is in one of them."""

from __future__ import annotations

from itertools import combinations
from math import comb

Sets = tuple[tuple[int, ...], ...]

MOST_CLIQUES = 4096
"""Largest number of sets of attributes that a scheme has, as on devices."""
_ALL = 512
"""Number of sets up to which all of a size are taken."""


def sets_of(attributes: int, size: int) -> Sets:
    """All sets of ``size`` attributes if there are few, else sets of this size that cover every pair.

    >>> sets_of(3, 2)
    ((0, 1), (0, 2), (1, 2))
    """
    if has_all(attributes, size):
        return tuple(combinations(range(attributes), size))
    return covering(attributes, size)


def has_all(attributes: int, size: int) -> bool:
    """Whether ``sets_of`` has every set of ``size`` attributes.

    >>> has_all(15, 3), has_all(16, 3), has_all(16, 2)
    (True, False, True)
    """
    return size <= 2 or comb(attributes, size) <= _ALL


def covering(attributes: int, size: int) -> Sets:
    """Sets of ``size`` attributes such that every pair is in at least one: greedily, and the same on every machine.

    >>> covering(7, 3)
    ((0, 1, 2), (0, 3, 4), (0, 5, 6), (1, 3, 5), (1, 4, 6), (2, 3, 6), (2, 4, 5))
    """
    left = set(combinations(range(attributes), 2))
    used = [0] * attributes
    found = []
    while left:
        chosen = list(min(left))
        while len(chosen) < size:
            others = [j for j in range(attributes) if j not in chosen]
            # The most new pairs; among equals the attribute that was used least, then the first.
            chosen.append(max(others, key=lambda j: (_new(left, chosen, j), -used[j], -j)))
        left -= set(combinations(sorted(chosen), 2))
        for j in chosen:
            used[j] += 1
        found.append(tuple(sorted(chosen)))
    return tuple(found)


def _new(left: set[tuple[int, int]], chosen: list[int], j: int) -> int:
    return sum((min(i, j), max(i, j)) in left for i in chosen)
