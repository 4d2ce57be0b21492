"""What fake reports can do: to one item, to every item at once, and to a search.

A record adds scale * (support - offset) to the count of every item, so what a liar can do follows from which items one
record can support. That is exact where a record supports all of them, or any set of a fixed size; where senders choose
a hash function, it is a bound. Several fakes may be different records. No mixture of records raises the least raised of
some items by more than the best single record raises their mean: that bounds what fakes can do to every item at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np
import numpy.typing as npt

from .. import kernels
from ..core.laws import CountMean, Estimator
from ..core.scheme import Scheme
from ..search.base import Search
from ..search.parts import Part
from ..sketches.rows import RowSketch

__all__ = ["Fakes", "fakes_for_share", "fakes_of", "raise_of_part"]

_ASKED = 1 << 12
"""Items of a domain that stand for all where these cannot be listed, or are many: the bound stays a bound."""
_HASHES = 1 << 24
"""Hash values that may be computed for a bound."""

_MOST_ROWS = 1 << 12
"""Rows of a sketch that are looked at one by one."""

Codes = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Fakes:
    """What one fake report of whatever content can do, in users; of several, each."""

    raises: float
    """The most by which it raises the count of an item."""
    lowers: float
    """The most by which it lowers the count of an item."""
    every: float
    """The most by which fakes raise every item at once, for each of them."""
    every_exact: bool
    """Whether some fakes do; otherwise it is a bound."""
    total: float | None
    """The most by which it raises the sum of all counts, to which an honest report adds 1; None without a list."""
    total_exact: bool


def fakes_of(scheme: Scheme) -> Fakes | None:
    """What fake reports can do to counts of items; None where one report has no bound."""
    if scheme.contribution() is None:
        return None
    if isinstance(scheme, Search):
        return _fakes_of_search(scheme)
    low, high = _ends(scheme)
    every, every_exact, total, total_exact = _at_once(scheme)
    return Fakes(
        float(high), float(-low), float(every), every_exact, None if total is None else float(total), total_exact
    )


def _fakes_of_search(scheme: Search) -> Fakes:
    # Counts of given strings: the users who report whole ones stand for all users.
    part, share = scheme.parts[scheme.whole], scheme.whole_share
    cohorts = [each for each in scheme.parts if each.label == part.label]
    low, high = _ends(scheme)
    strings = scheme.domain.spread(_ASKED >> 4)
    every = max(each.read(_mean_of(each.scheme, each.items(strings))[0]) for each in cohorts) / share
    exact = all(each.scheme.support().everything for each in cohorts)
    return Fakes(float(high), float(-low), float(every), exact, None, False)


def _ends(scheme: Scheme) -> tuple[Fraction, Fraction]:
    # The least and the most that a record adds to a count.
    ends = scheme.contribution()
    assert ends is not None
    return ends


# --- every item at once -----------------------------------------------------------------------------------------


def _at_once(scheme: Scheme) -> tuple[Fraction, bool, Fraction | None, bool]:
    # By how much every item is raised, and the sum of all; each with whether fakes can do it.
    size, support, high = scheme.domain.size, scheme.support(), _ends(scheme)[1]
    if support.functions:
        return _at_once_by_hashing(scheme, support.functions)
    share, attained = support.turns(size)
    every = high if share == 1 else _shift(scheme, share, Fraction(1))
    if size is None:
        return every, attained, None, False
    number, found = support.total(size)
    return every, attained, high * size if number == size else _shift(scheme, Fraction(number), Fraction(size)), found


def _at_once_by_hashing(scheme: Scheme, functions: int) -> tuple[Fraction, bool, Fraction | None, bool]:
    # Some items stand for all, few enough that hashing, and in rows sorting, them stays cheap.
    size, most = scheme.domain.size, max(16, min(_HASHES // functions, 16 * _ASKED))
    codes = scheme.domain.spread(most if size is None else min(most, size))
    every, attained = _mean_of(scheme, codes)
    if size is None:
        return every, False, None, False
    if size > most:
        return every, False, max(_ends(scheme)[1], Fraction(0)) * size, False
    return every, False, every * size, attained and len(codes) == size


def _shift(oracle: Scheme, supported: Fraction, items: Fraction) -> Fraction:
    # What support of some of these items adds to the sum of their counts.
    decoder = oracle.estimator()
    assert isinstance(decoder, Estimator)
    return decoder.scale * (supported - decoder.offset * items)


def _mean_of(scheme: Scheme, codes: Codes) -> tuple[Fraction, bool]:
    # The most by which one record raises the mean of these items, which may repeat; and whether one does.
    if isinstance(scheme, RowSketch):
        if scheme.rows > _MOST_ROWS or not (scheme.signed or scheme.oracle.support().known):
            return _ends(scheme)[1], False
        found = [_mean_of_row(scheme, row, codes) for row in range(scheme.rows)]
        return max(mean for mean, _ in found), all(attained for _, attained in found)
    number, attained = scheme.support().most(codes)
    return _shift(scheme, Fraction(number), Fraction(len(codes))) / len(codes), attained


def _mean_of_row(scheme: RowSketch, row: int, codes: Codes) -> tuple[Fraction, bool]:
    seeds = np.full(len(codes), scheme.seeds[row], dtype=np.uint64)
    cells = kernels.local_hash(seeds, codes, scheme.split, scheme.oracle.size).astype(np.int64)
    if not scheme.signed:
        mean, attained = _mean_of(scheme.oracle, cells.astype(np.uint64))
        return CountMean(scheme.width).contribution((mean, mean))[0], attained
    # An item reads its cell less the opposite one.
    opposite = (cells + scheme.width) % scheme.oracle.size
    read, place = np.unique(np.concatenate([cells, opposite]), return_inverse=True)
    weights = np.bincount(place, np.repeat([1, -1], len(codes))).astype(np.int64)
    number, attained = scheme.oracle.support().best(read, weights)
    return _shift(scheme.oracle, Fraction(number), Fraction(int(weights.sum()))) / len(codes), attained


# --- searches ---------------------------------------------------------------------------------------------------


def raise_of_part(part: Part) -> float | None:
    """By how many of its own users one fake report of a part raises what it reports; None without a law."""
    ends = part.contribution()
    return None if ends is None else float(ends[1])


def fakes_for_share(scheme: Search, n: int, share: float) -> int | None:
    """Fake reports that make a string which none of n users holds look as if a share of all reports were about it.

    At every step of the search: the group of a report is its sender's choice, so each part gets as many fakes as its
    own users take. None where a part has no law, or where one fake does not weigh enough.
    """
    needed: dict[int, float] = {}
    for i, part in enumerate(scheme.parts):
        most = raise_of_part(part)
        if most is None or most <= share:
            return None
        needed[i] = ceil(share * n * float(scheme.share(i)) / (most - share))
    shared = {i for i in needed if sum(i in group for group in scheme.groups) > 1}
    apart = sum(max((needed[i] for i in group if i not in shared), default=0) for group in scheme.groups)
    return int(max([apart, *(needed[i] for i in shared)]))
