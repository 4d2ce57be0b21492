"""The effect of fake reports on one item, on all items at once, and on a search.

A record adds scale * (support - offset) to the count of every item, so the effect of a fake follows from the items that
one record can support. It is exact if a record can support all items, or any set of a fixed size; if senders choose a
hash function, it is a bound. Several fakes may be different records. No mixture of records raises all of some items by
more than the best single record raises their mean: this bounds the effect on all items at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np
import numpy.typing as npt

from .. import kernels
from ..core.laws import CountMean, Estimator
from ..core.parts import PartDecoder
from ..core.scheme import Scheme
from ..search.base import Search
from ..search.string_parts import Part
from ..sketches.rows import RowSketch

__all__ = ["Fakes", "fakes_for_share", "fakes_of", "raise_of_part"]

_ASKED = 1 << 12
"""Number of items that represent the domain if it is large or cannot be listed; a bound for them is one for all."""
_HASHES = 1 << 24
"""Largest number of hash values to compute for a bound."""

_MOST_ROWS = 1 << 12
"""Largest number of rows of a sketch that are examined one by one."""

Codes = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Fakes:
    """Effect of one fake report with arbitrary content, in users; several fakes add up."""

    raises: float
    """Largest increase of one item's count."""
    lowers: float
    """Largest decrease of one item's count."""
    every: float
    """Largest increase of all items' counts at once, per fake report."""
    every_exact: bool
    """Whether fakes can reach ``every``; otherwise it is a bound."""
    total: float | None
    """Largest increase of the sum of all counts, to which an honest report adds 1; None if items cannot be listed."""
    total_exact: bool


def fakes_of(scheme: Scheme) -> Fakes | None:
    """Effect of fake reports on the counts of items; None if the effect of one report has no bound."""
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
    # Counts of given strings: those of the longest are scaled up from the users who report whole strings alone.
    part, share = scheme.parts[scheme.whole], scheme.whole_share
    cohorts = [each for each in scheme.parts if each.label == part.label]
    low, high = _ends(scheme)
    strings = scheme.domain.spread(_ASKED >> 4)
    every = max(each.read(_mean_of(each.scheme, each.items(strings))[0]) for each in cohorts) / share
    # Where further groups see shorter strings, no record reaches all of them.
    alone = isinstance(scheme.estimator(), PartDecoder)
    exact = alone and all(each.scheme.support().everything for each in cohorts)
    return Fakes(float(high), float(-low), float(every), exact, None, False)


def _ends(scheme: Scheme) -> tuple[Fraction, Fraction]:
    # Minimum and maximum that a record adds to a count.
    ends = scheme.contribution()
    assert ends is not None
    return ends


# --- every item at once -----------------------------------------------------------------------------------------


def _at_once(scheme: Scheme) -> tuple[Fraction, bool, Fraction | None, bool]:
    # Largest increase of all items at once and of the sum of all counts, each with whether fakes can reach it.
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
    # Some items represent all: few enough to hash (and, in rows, to sort) them cheaply.
    size, most = scheme.domain.size, max(16, min(_HASHES // functions, 16 * _ASKED))
    codes = scheme.domain.spread(most if size is None else min(most, size))
    every, attained = _mean_of(scheme, codes)
    if size is None:
        return every, False, None, False
    if size > most:
        return every, False, max(_ends(scheme)[1], Fraction(0)) * size, False
    return every, False, every * size, attained and len(codes) == size


def _shift(oracle: Scheme, supported: Fraction, items: Fraction) -> Fraction:
    # Increase of the sum of the items' counts if `supported` of them are supported.
    decoder = oracle.estimator()
    assert isinstance(decoder, Estimator)
    return decoder.scale * (supported - decoder.offset * items)


def _mean_of(scheme: Scheme, codes: Codes) -> tuple[Fraction, bool]:
    # Largest increase of the mean of these items (which may repeat) by one record; and whether a record reaches it.
    if isinstance(scheme, RowSketch):
        if scheme.rows > _MOST_ROWS or not (scheme.signed or scheme.oracle.support().known):
            return _ends(scheme)[1], False
        found = [_mean_of_row(scheme, row, codes) for row in range(scheme.rows)]
        return max(mean for mean, _ in found), all(attained for _, attained in found)
    number, attained = scheme.support().most(codes)
    return _shift(scheme, Fraction(number), Fraction(len(codes))) / len(codes), attained


def _mean_of_row(scheme: RowSketch, row: int, codes: Codes) -> tuple[Fraction, bool]:
    seeds = np.full(len(codes), scheme.seeds[row], dtype=np.uint64)
    cells = kernels.local_hash(seeds, codes, scheme.split, scheme.hash_range).astype(np.int64)
    if scheme.net:
        # A record moves each net count by at most one step in either direction; the row of ones moves all alike.
        net = np.bincount(cells % scheme.width, 1 - 2 * (cells // scheme.width)).astype(np.int64)
        steps = Fraction(int(np.abs(net).sum()), len(codes))
        return _ends(scheme)[1] * steps, bool((net >= 0).all() or (net <= 0).all())
    if not scheme.signed:
        mean, attained = _mean_of(scheme.oracle, cells.astype(np.uint64))
        return CountMean(scheme.width).contribution((mean, mean))[0], attained
    # An item's value is its cell minus the opposite cell.
    opposite = (cells + scheme.width) % scheme.oracle.size
    read, place = np.unique(np.concatenate([cells, opposite]), return_inverse=True)
    weights = np.bincount(place, np.repeat([1, -1], len(codes))).astype(np.int64)
    number, attained = scheme.oracle.support().best(read, weights)
    return _shift(scheme.oracle, Fraction(number), Fraction(int(weights.sum()))) / len(codes), attained


# --- searches ---------------------------------------------------------------------------------------------------


def raise_of_part(part: Part) -> float | None:
    """Largest increase by one fake report of a part, in users of that part; None without a variance law."""
    ends = part.contribution()
    return None if ends is None else float(ends[1])


def fakes_for_share(scheme: Search, n: int, share: float) -> int | None:
    """Number of fake reports that make a string without holders look as if a share of all reports were about it.

    This holds at every step of the search: senders choose the group of a report, so each part gets as many fakes as its
    own number of users requires. None if a part has no variance law, or if one fake does not weigh enough.
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
