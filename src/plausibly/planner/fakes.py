"""What fake reports can do: to one item, to every item at once, and to a search.

A record adds scale * (support - offset) to the count of every item, so what a liar can do follows from which items one
record can support. That is exact where a record supports all of them, or any set of a fixed size; where senders choose
a hash function, it is a bound. Several fakes may be different records. No mixture of records raises the least raised of
some items by more than the best single record raises their mean: that bounds what fakes can do to every item at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np
import numpy.typing as npt

from .. import kernels
from ..core.grouped import Grouped
from ..core.hashing import HashedScheme
from ..core.laws import CountMean, Estimator
from ..core.scheme import Scheme
from ..core.unary import Unary
from ..oracles import AGR, DE, FLH, HM, HR, SS, TLH
from ..search.base import Search
from ..search.folding import Fold
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
Counts = npt.NDArray[np.int64]


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


@dataclass(frozen=True)
class _Reading:
    """How the shift of an oracle's cells becomes that of an item: times ``scale``, less ``bias`` for each report."""

    scale: Fraction = Fraction(1)
    bias: Fraction = Fraction(0)

    def of(self, shift: Fraction) -> Fraction:
        return (shift - self.bias) * self.scale


def fakes_of(scheme: Scheme) -> Fakes | None:
    """What fake reports can do to counts of items; None where estimates are not sums over reports."""
    if not scheme.linear:
        return None
    if isinstance(scheme, Search):
        return _fakes_of_search(scheme)
    if isinstance(scheme, Grouped):
        return _bounded(scheme)
    low, high = _ends(scheme)
    every, every_exact, total, total_exact = _at_once(scheme)
    return Fakes(
        float(high), float(-low), float(every), every_exact, None if total is None else float(total), total_exact
    )


def _bounded(scheme: Scheme) -> Fakes | None:
    # Of a scheme whose parts are not known here, by what it says of itself.
    ends = scheme.contribution()
    if ends is None:
        return None
    low, high = ends
    return Fakes(float(high), float(-low), max(float(high), 0.0), every_exact=False, total=None, total_exact=False)


def _fakes_of_search(scheme: Search) -> Fakes:
    # Counts of given strings: the users who report whole ones stand for all users.
    part = scheme.parts[scheme.whole]
    cohorts = [each for each in scheme.parts if each.label == part.label]
    share = sum((scheme.share(i) for i, each in enumerate(scheme.parts) if each.label == part.label), Fraction(0))
    low, high = (end / share for end in _part_ends(part))
    strings = scheme.domain.spread(_ASKED >> 4)
    found = [_mean_of(each.scheme, each.items(strings)) for each in cohorts]
    every = max(_reading(each).of(mean) for each, (mean, _) in zip(cohorts, found, strict=True)) / share
    exact = all(_supports_all(each.scheme) for each in cohorts)
    return Fakes(float(high), float(-low), float(every), exact, None, False)


# --- a single item ----------------------------------------------------------------------------------------------


def _ends(scheme: Scheme) -> tuple[Fraction, Fraction]:
    # The least and the most that a record adds to a count.
    if isinstance(scheme, RowSketch):
        low, high = _ends(scheme.oracle)
        if scheme.signed:
            return low - high, high - low  # one cell less another
        reading = _debiasing(scheme.width)
        return reading.of(low), reading.of(high)
    scale, offset = _law(scheme)
    return -scale * (offset or 1), scale * (1 - offset)


def _law(oracle: Scheme) -> tuple[Fraction, Fraction]:
    decoder = oracle.estimator()
    assert isinstance(decoder, Estimator)
    return decoder.scale, decoder.offset


def _debiasing(cells: int) -> _Reading:
    # What others are expected to add to a cell is subtracted, for each report.
    count_mean = CountMean(cells)
    return _Reading(count_mean.scale, count_mean.offset)


def _reading(part: Part) -> _Reading:
    return _debiasing(part.scheme.size) if isinstance(part, Fold) else _Reading()


def _part_ends(part: Part) -> tuple[Fraction, Fraction]:
    low, high = _ends(part.scheme)
    return _reading(part).of(low), _reading(part).of(high)


# --- every item at once -----------------------------------------------------------------------------------------


def _at_once(scheme: Scheme) -> tuple[Fraction, bool, Fraction | None, bool]:
    # By how much every item is raised, and the sum of all; each with whether fakes can do it.
    size = scheme.domain.size
    every, every_exact, total_exact = _every(scheme, size)
    if isinstance(scheme, HR):
        # All positions of a code's first place are +1: a record raises one block, and fakes take turns.
        scale = _law(scheme)[0]
        return scale / min(scheme.blocks, scheme.size), True, scale * -(-scheme.size // scheme.blocks), True
    if size is None:
        return every, every_exact, None, False
    if not total_exact and isinstance(scheme, FLH | RowSketch) and size > _asked(scheme):
        return every, every_exact, max(_ends(scheme)[1], Fraction(0)) * size, False  # some items stood for all
    return every, every_exact, every * size, total_exact


def _every(scheme: Scheme, size: int | None) -> tuple[Fraction, bool, bool]:
    high = _ends(scheme)[1]
    if isinstance(scheme, DE | SS):
        # A set of a fixed size, any one: all of them in turn raise every item alike, by 1/d.
        assert size is not None
        scale, offset = _law(scheme)
        return scale * (Fraction(_named(scheme), size) - offset), True, True
    if isinstance(scheme, AGR):
        scale, offset = _law(scheme)
        whole = scheme.size == scheme.g**scheme.m
        return scale * (Fraction(_named(scheme), scheme.size) - offset), whole, whole
    if _supports_all(scheme):
        return high, True, True
    if isinstance(scheme, FLH | RowSketch):
        codes = scheme.domain.spread(_asked(scheme))
        mean, exact = _mean_of(scheme, codes)
        return mean, False, exact and len(codes) == size
    return high, False, False


def _asked(scheme: Scheme) -> int:
    # How many items stand for all: few enough that hashing, and in rows sorting, them stays cheap.
    most = _HASHES // scheme.hashes if isinstance(scheme, FLH) else _ASKED
    if isinstance(scheme, RowSketch):
        most = _HASHES // (4 * scheme.rows)
    most = max(16, min(most, 16 * _ASKED))
    return min(most, scheme.domain.size or most)


def _supports_all(scheme: Scheme) -> bool:
    # Whether one record supports every item: all bits set, all rows or all of a matrix zero.
    if isinstance(scheme, RowSketch):
        return not scheme.signed and _supports_all(scheme.oracle)
    return isinstance(scheme, Unary | HM | TLH)


def _named(oracle: Scheme) -> int:
    # The most items that one record supports; all of them where that is not known to be impossible.
    if isinstance(oracle, DE):
        return 1
    if isinstance(oracle, SS):
        return oracle.w
    if isinstance(oracle, AGR):
        return min(oracle.size, oracle.w << oracle.t * (oracle.m - 1))
    raise AssertionError(oracle.name)


def _mean_of(scheme: Scheme, codes: Codes) -> tuple[Fraction, bool]:
    # The most by which one record raises the mean of these items, which may repeat; and whether one does.
    if isinstance(scheme, RowSketch):
        if scheme.rows > _MOST_ROWS or (not scheme.signed and isinstance(scheme.oracle, HashedScheme)):
            return _ends(scheme)[1], False
        found = [_mean_of_row(scheme, row, codes) for row in range(scheme.rows)]
        return max(mean for mean, _ in found), all(exact for _, exact in found)
    if scheme.domain.size is None or isinstance(scheme, FLH):
        return _mean_of_hashes(scheme, codes)
    return _mean_of_cells(scheme, *np.unique(codes.astype(np.int64), return_counts=True), len(codes))


def _mean_of_row(scheme: RowSketch, row: int, codes: Codes) -> tuple[Fraction, bool]:
    seeds = np.full(len(codes), scheme.seeds[row], dtype=np.uint64)
    cells = kernels.local_hash(seeds, codes, scheme.split, scheme.oracle.size).astype(np.int64)
    if not scheme.signed:
        mean, exact = _mean_of_cells(scheme.oracle, *np.unique(cells, return_counts=True), len(codes))
        return _debiasing(scheme.width).of(mean), exact
    # An item reads its cell less the opposite one.
    opposite = (cells + scheme.width) % scheme.oracle.size
    read, place = np.unique(np.concatenate([cells, opposite]), return_inverse=True)
    weights = np.bincount(place, np.repeat([1, -1], len(codes))).astype(np.int64)
    return _mean_of_cells(scheme.oracle, read, weights, len(codes))


def _mean_of_cells(oracle: Scheme, cells: Counts, weights: Counts, items: int) -> tuple[Fraction, bool]:
    # The largest sum of weight * shift over the cells of one record, for each of these items; other cells weigh 0.
    scale, offset = _law(oracle)
    positive = np.sort(weights[weights > 0])[::-1]
    if isinstance(oracle, HR):
        _, block = np.unique(cells % oracle.blocks, return_inverse=True)
        return scale * int(np.bincount(block, np.abs(weights)).max()) / items, bool((weights >= 0).all())
    if isinstance(oracle, DE | SS):
        # This number of cells exactly: those that weigh nothing before those that weigh less.
        negative = np.sort(weights[weights < 0])[::-1]
        others = max(0, _named(oracle) - len(positive) - (oracle.size - len(positive) - len(negative)))
        best = int(positive[: _named(oracle)].sum() + negative[:others].sum())
    else:
        best = int(positive[: _named(oracle) if isinstance(oracle, AGR) else None].sum())
    exact = isinstance(oracle, DE | SS | Unary) or (_supports_all(oracle) and bool((weights >= 0).all()))
    return scale * (best - offset * int(weights.sum())) / items, exact


def _mean_of_hashes(scheme: Scheme, codes: Codes) -> tuple[Fraction, bool]:
    # Of functions that are listed, the fullest of their values; a sender who chooses the seed may do better.
    high = _ends(scheme)[1]
    if not isinstance(scheme, FLH) or scheme.hashes * len(codes) > 16 * _HASHES:
        return high, _supports_all(scheme)
    scale, offset = _law(scheme)
    fullest = max(int(np.bincount(hashed).max()) for hashed in _hashed(scheme, codes))
    return scale * (Fraction(fullest, len(codes)) - offset), True


def _hashed(scheme: FLH, codes: Codes) -> Iterator[npt.NDArray[np.int64]]:
    # For a few functions at a time, the value of each item; those of different functions apart.
    chunk = max(1, (1 << 20) // len(codes))
    for first in range(0, scheme.hashes, chunk):
        seeds = scheme._seeds[first : first + chunk]
        values = kernels.local_hash(np.repeat(seeds, len(codes)), np.tile(codes, len(seeds)), scheme.split, scheme.g)
        yield values.astype(np.int64) + np.repeat(np.arange(len(seeds)), len(codes)) * scheme.g


# --- searches ---------------------------------------------------------------------------------------------------


def raise_of_part(part: Part) -> float | None:
    """By how many of its own users one fake report of a part raises what it reports; None without a law."""
    return float(_part_ends(part)[1]) if part.scheme.linear else None


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
