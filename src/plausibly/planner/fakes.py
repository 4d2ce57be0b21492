"""The effect of fake reports on one item, on all items at once, and on a search.

A record adds scale * (support - offset) to the count of every item, so the effect of a fake follows from the items that
one record can support. It is exact if a record can support all items, or any set of a fixed size; if senders choose a
hash function, it is a bound. Several fakes may be different records. No mixture of records raises all of some items by
more than the best single record raises their mean: this bounds the effect on all items at once.
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
"""Number of items that represent the domain if it is large or cannot be listed; a bound for them is one for all."""
_HASHES = 1 << 24
"""Largest number of hash values to compute for a bound."""

_MOST_ROWS = 1 << 12
"""Largest number of rows of a sketch that are examined one by one."""

Codes = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.int64]


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


@dataclass(frozen=True)
class _Reading:
    """Conversion from the shift of an oracle's cell to that of an item: times ``scale``, minus ``bias`` per report."""

    scale: Fraction = Fraction(1)
    bias: Fraction = Fraction(0)

    def of(self, shift: Fraction) -> Fraction:
        return (shift - self.bias) * self.scale


def fakes_of(scheme: Scheme) -> Fakes | None:
    """Effect of fake reports on the counts of items; None if estimates are not sums over reports."""
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
    # Counts of given strings: they are scaled up from the users who report whole strings.
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
    # Minimum and maximum that a record adds to a count.
    if isinstance(scheme, RowSketch):
        low, high = _ends(scheme.oracle)
        if scheme.signed:
            return low - high, high - low  # the difference of two cells
        reading = _debiasing(scheme.width)
        return reading.of(low), reading.of(high)
    scale, offset = _law(scheme)
    return -scale * (offset or 1), scale * (1 - offset)


def _law(oracle: Scheme) -> tuple[Fraction, Fraction]:
    decoder = oracle.estimator()
    assert isinstance(decoder, Estimator)
    return decoder.scale, decoder.offset


def _debiasing(cells: int) -> _Reading:
    # The expected contribution of other items to a cell is subtracted, for each report.
    count_mean = CountMean(cells)
    return _Reading(count_mean.scale, count_mean.offset)


def _reading(part: Part) -> _Reading:
    return _debiasing(part.scheme.size) if isinstance(part, Fold) else _Reading()


def _part_ends(part: Part) -> tuple[Fraction, Fraction]:
    low, high = _ends(part.scheme)
    return _reading(part).of(low), _reading(part).of(high)


# --- every item at once -----------------------------------------------------------------------------------------


def _at_once(scheme: Scheme) -> tuple[Fraction, bool, Fraction | None, bool]:
    # Largest increase of all items at once and of the sum of all counts, each with whether fakes can reach it.
    size = scheme.domain.size
    every, every_exact, total_exact = _every(scheme, size)
    if isinstance(scheme, HR):
        # At the first position all codes are +1: a record can raise a whole block, and fakes take turns at the blocks.
        scale = _law(scheme)[0]
        return scale / min(scheme.blocks, scheme.size), True, scale * -(-scheme.size // scheme.blocks), True
    if size is None:
        return every, every_exact, None, False
    if not total_exact and isinstance(scheme, FLH | RowSketch) and size > _asked(scheme):
        return every, every_exact, max(_ends(scheme)[1], Fraction(0)) * size, False  # some items represented all
    return every, every_exact, every * size, total_exact


def _every(scheme: Scheme, size: int | None) -> tuple[Fraction, bool, bool]:
    high = _ends(scheme)[1]
    if isinstance(scheme, DE | SS):
        # Any set of a fixed size is possible: all of them in turn raise every item equally.
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
    # Number of items that represent all: few enough to hash (and, in rows, to sort) them cheaply.
    most = _HASHES // scheme.hashes if isinstance(scheme, FLH) else _ASKED
    if isinstance(scheme, RowSketch):
        most = _HASHES // (4 * scheme.rows)
    most = max(16, min(most, 16 * _ASKED))
    return min(most, scheme.domain.size or most)


def _supports_all(scheme: Scheme) -> bool:
    # Whether one record can support every item: with all bits set, or with a zero matrix or zero rows.
    if isinstance(scheme, RowSketch):
        return not scheme.signed and _supports_all(scheme.oracle)
    return isinstance(scheme, Unary | HM | TLH)


def _named(oracle: Scheme) -> int:
    # Largest number of items that one record supports; all of them unless that is known to be impossible.
    if isinstance(oracle, DE):
        return 1
    if isinstance(oracle, SS):
        return oracle.w
    if isinstance(oracle, AGR):
        return min(oracle.size, oracle.w << oracle.t * (oracle.m - 1))
    raise AssertionError(oracle.name)


def _mean_of(scheme: Scheme, codes: Codes) -> tuple[Fraction, bool]:
    # Largest increase of the mean of these items (which may repeat) by one record; and whether a record reaches it.
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
    # An item's value is its cell minus the opposite cell.
    opposite = (cells + scheme.width) % scheme.oracle.size
    read, place = np.unique(np.concatenate([cells, opposite]), return_inverse=True)
    weights = np.bincount(place, np.repeat([1, -1], len(codes))).astype(np.int64)
    return _mean_of_cells(scheme.oracle, read, weights, len(codes))


def _mean_of_cells(oracle: Scheme, cells: Counts, weights: Counts, items: int) -> tuple[Fraction, bool]:
    # Largest sum of weight * shift over the cells of one record, per item; other cells have weight 0.
    scale, offset = _law(oracle)
    positive = np.sort(weights[weights > 0])[::-1]
    if isinstance(oracle, HR):
        _, block = np.unique(cells % oracle.blocks, return_inverse=True)
        return scale * int(np.bincount(block, np.abs(weights)).max()) / items, bool((weights >= 0).all())
    if isinstance(oracle, DE | SS):
        # Exactly this number of cells: cells of weight 0 come before cells of negative weight.
        negative = np.sort(weights[weights < 0])[::-1]
        others = max(0, _named(oracle) - len(positive) - (oracle.size - len(positive) - len(negative)))
        best = int(positive[: _named(oracle)].sum() + negative[:others].sum())
    else:
        best = int(positive[: _named(oracle) if isinstance(oracle, AGR) else None].sum())
    exact = isinstance(oracle, DE | SS | Unary) or (_supports_all(oracle) and bool((weights >= 0).all()))
    return scale * (best - offset * int(weights.sum())) / items, exact


def _mean_of_hashes(scheme: Scheme, codes: Codes) -> tuple[Fraction, bool]:
    # For listed functions, the hash value with the most items; a sender who chooses the seed may do better.
    high = _ends(scheme)[1]
    if not isinstance(scheme, FLH) or scheme.hashes * len(codes) > 16 * _HASHES:
        return high, _supports_all(scheme)
    scale, offset = _law(scheme)
    fullest = max(int(np.bincount(hashed).max()) for hashed in _hashed(scheme, codes))
    return scale * (Fraction(fullest, len(codes)) - offset), True


def _hashed(scheme: FLH, codes: Codes) -> Iterator[npt.NDArray[np.int64]]:
    # The hash of each item for a few functions at a time, with disjoint ranges for different functions.
    chunk = max(1, (1 << 20) // len(codes))
    for first in range(0, scheme.hashes, chunk):
        seeds = scheme._seeds[first : first + chunk]
        values = kernels.local_hash(np.repeat(seeds, len(codes)), np.tile(codes, len(seeds)), scheme.split, scheme.g)
        yield values.astype(np.int64) + np.repeat(np.arange(len(seeds)), len(codes)) * scheme.g


# --- searches ---------------------------------------------------------------------------------------------------


def raise_of_part(part: Part) -> float | None:
    """Largest increase by one fake report of a part, in users of that part; None without a variance law."""
    return float(_part_ends(part)[1]) if part.scheme.linear else None


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
