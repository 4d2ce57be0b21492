"""Counts of given strings, from all groups that report the whole of them: an unbiased linear law.

A group sees the whole of a string if its prefixes end after the string does: what follows is padding. Each such group
provides an unbiased count, and their mean is weighted by the inverse of their variances, which are public: no weight
depends on the reports. A folded group counts cells, and a cell may hold several strings. What the other strings that
were asked for add to a cell follows from their own counts, so all of these are solved for together. What the remaining
strings add averages to zero over the hash functions; its variance grows with the sum of their squared counts.
Derivation: docs/adr/0024-counts-of-found-strings.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..core.history import History
from ..core.laws import Codes, CountMean, Estimator, Floats, Scores, VarianceLaw, thinned
from ..core.parts import PartEvidence
from .evidence import Numbers
from .folded_parts import Fold
from .string_parts import Part

SOLVED = 1000
"""Number of strings whose shared cells are solved jointly; if more are asked for, those with the largest counts."""
_INSEPARABLE = 50.0
"""Factor by which solving may increase the error of a string; beyond it, its cells are those of other strings."""


@dataclass(frozen=True)
class Group:
    """One group that reports prefixes: its part, the part's index among all parts, and its share of the users."""

    part: Part
    number: int
    share: Fraction

    @cached_property
    def oracle(self) -> Estimator:
        """The estimator of the group's cells or prefixes."""
        estimator = self.part.scheme.estimator()
        assert isinstance(estimator, Estimator)  # an oracle over integers is linear
        return estimator

    @property
    def folds(self) -> CountMean | None:
        """How the group debiases the cells of its strings; None if it counts each prefix separately."""
        return CountMean(self.part.scheme.size) if isinstance(self.part, Fold) else None

    @cached_property
    def law(self) -> VarianceLaw | None:
        """Variance law of a string's count for all users, from this group alone."""
        law = self.oracle.law
        if law is None:
            return None
        return thinned(law.averaged if self.folds is None else self.folds.law(law, Fraction(1)), self.share)

    @property
    def precision(self) -> Fraction:
        """Weight of the group: the inverse of the variance of a string without holders, for one user."""
        return self.share if self.law is None else 1 / self.law.per_report

    def sees(self, rows: Codes, length: int) -> Any:
        """Mask of the strings that the group sees whole."""
        lengths = np.count_nonzero(rows, axis=1)
        return (lengths < self.part.last) | (self.part.last == length)

    def counts(self, own: PartEvidence) -> tuple[Floats, float]:
        """Count of each cell for all users, without the expected number of other users, and the number of pairs.

        These are the ordered pairs among all users who have the same prefix; 0 if the group does not fold prefixes.
        """
        table = self.oracle.values(own.evidence, own.users, None)
        if self.folds is None:
            return table / float(self.share), 0.0
        table = table - own.users / self.folds.cells
        pairs = self._pairs(table, own.users)
        return table * (float(self.folds.scale) / float(self.share)), pairs / float(self.share) ** 2

    def _pairs(self, table: Floats, users: int) -> float:
        # Ordered pairs of the group's users who hold the same prefix, from the spread of the cells beyond their noise.
        if self.oracle.law is None:
            return 0.0
        law, cells = self.oracle.law.averaged, len(table)
        noise = users * (cells * float(law.per_report) + float(law.per_holder))
        beyond = float((table**2).sum()) - noise - users + users * users / cells
        # An oracle with its own hash functions increases the spread of cells that hold many users.
        in_one_cell = beyond / (1 + float(law.collision) * (cells - 1))
        return (in_one_cell - users * (users - 1) / cells) * cells / (cells - 1)


@dataclass(frozen=True)
class WholeStrings:
    """Counts of given strings: for each, the weighted mean of all groups that see the whole of it."""

    groups: tuple[Group, ...]
    length: int
    """Length of the longest strings, which only the groups of whole strings distinguish from longer ones."""
    history: History = ()

    @property
    def _of_longest(self) -> tuple[Group, ...]:
        return tuple(group for group in self.groups if group.part.last == self.length)

    @cached_property
    def law(self) -> VarianceLaw | None:
        """The variance law of the longest strings; shorter ones are seen by more groups, which have smaller errors."""
        whole = self._of_longest
        share = sum((group.share for group in whole), Fraction(0))
        oracle, folds = whole[0].oracle.law, whole[0].folds
        if oracle is None:
            return None
        return thinned(oracle.averaged if folds is None else folds.law(oracle, Fraction(1, len(whole))), share)

    def contribution(self) -> tuple[Fraction, Fraction] | None:
        """Minimum and maximum that one report adds to the count of a given string of any length."""
        if any(group.law is None for group in self.groups):
            return None
        ends = []
        for last in sorted({group.part.last for group in self.groups}):
            # The longest strings that the groups of this length see whole.
            seeing = [group for group in self.groups if group.part.last >= last]
            total = sum((group.precision for group in seeing), Fraction(0))
            for group in seeing:
                own = group.oracle.contribution
                own = own if group.folds is None else group.folds.contribution(own)
                ends += [group.precision / total / group.share * end for end in own]
        return min(ends), max(ends)

    def scores(self, evidence: Any, n: Any, codes: Codes | None) -> Scores:
        assert codes is not None
        # Supporting reports in the groups that distinguish all strings: weighted means of groups are not integers.
        found = np.zeros(len(codes), dtype=np.int64)
        for group in self._of_longest:
            own: PartEvidence = evidence[group.number]
            found += group.oracle.scores(own.evidence, own.numbers, group.part.items(codes))
        return found

    def estimate(self, evidence: Any, n: Any, codes: Codes | None) -> tuple[Floats, Floats | None]:
        assert codes is not None  # strings cannot be listed
        rows, places = np.unique(codes, axis=0, return_inverse=True)
        if not len(rows):
            return np.zeros(0), np.zeros(0)
        values, variance = _Reading(self, rows, evidence, int(np.sum(n))).solved()
        places = places.reshape(-1)
        return values[places], None if variance is None else variance[places]

    def of_found(self, evidence: Any, n: int, rows: Codes, real: Any) -> tuple[Floats, Floats | None]:
        """Counts of different strings that a search found, of which only those in ``real`` are solved for together.

        The others were found because they share cells with these, or by luck: solved for, they would take users away.
        """
        return _Reading(self, rows, evidence, n).solved(np.flatnonzero(real)) if len(rows) else (np.zeros(0),) * 2


class _Seen(NamedTuple):
    """A group that sees some of the strings whole: the cell of each string, and the group's weight in its mean."""

    group: Group
    cells: Numbers
    weight: Floats
    pairs: float
    """Ordered pairs of users, among all users, who hold the same prefix."""


class _Reading:
    """The groups' counts of some different strings, and which of the strings share cells."""

    def __init__(self, decoder: WholeStrings, rows: Codes, evidence: Sequence[PartEvidence], n: int) -> None:
        self._n = n
        self._known = all(group.law is not None for group in decoder.groups)
        seen: list[_Seen] = []
        precision, total = np.zeros((2, len(rows)))
        for group in decoder.groups:
            weight = group.sees(rows, decoder.length) * float(group.precision)
            if not weight.any():
                continue
            table, pairs = group.counts(evidence[group.number])
            seen.append(_Seen(group, group.part.items(rows).astype(np.int64), weight, pairs))
            total += weight * table[seen[-1].cells]
            precision += weight
        self._seen = [each._replace(weight=each.weight / precision) for each in seen]
        self._separate = total / precision
        folded = [each for each in self._seen if each.group.folds is not None]
        # A string that does not share the cells of another lowers its count: its users were expected there.
        self._elsewhere = np.zeros(len(rows))
        for each in folded:
            self._elsewhere -= each.weight / (each.group.part.scheme.size - 1)
        self._room = min([each.group.part.scheme.size // 8 for each in folded], default=SOLVED)

    def solved(self, some: Numbers | None = None) -> tuple[Floats, Floats | None]:
        """Counts of the strings without what they add to each other's cells, and their variances.

        ``some``: the strings whose additions count; by default all.
        """
        values = self._separate.copy()
        some = np.arange(len(values)) if some is None else some
        heavy = some[np.argsort(-values[some], kind="stable")][: max(1, min(SOLVED, self._room))]
        mixed = self._mixed(heavy)
        while (hidden := mixed.hidden()) is not None:
            heavy = np.delete(heavy, hidden)
            mixed = self._mixed(heavy)
        met, both, at, inverse = mixed.met, mixed.both, mixed.at, mixed.inverse
        values[heavy] = inverse @ values[heavy]
        light, rest = met.of(~both), np.ones(len(values), dtype=bool)
        rest[heavy] = False
        values[rest] -= self._elsewhere[rest] * values[heavy].sum()
        np.subtract.at(values, light.string, light.weight * values[heavy[light.other]])
        if not self._known:
            return values, None
        variance = self._variance(heavy, values)
        noise = np.diag(variance[heavy])
        np.add.at(noise, at, met.covariance[both])
        variance[heavy] = np.einsum("ij,jk,ik->i", inverse, noise, inverse, optimize=True)
        np.add.at(variance, light.string, light.weight**2 * variance[heavy[light.other]])
        return values, np.maximum(variance, 0.0)

    def _mixed(self, heavy: Numbers) -> _Mixed:
        met, place = self._meetings(heavy), np.full(len(self._separate), -1)
        place[heavy] = np.arange(len(heavy))
        both = place[met.string] >= 0
        at = place[met.string[both]], met.other[both]
        mixing = np.repeat(self._elsewhere[heavy, None], len(heavy), axis=1)
        np.fill_diagonal(mixing, 1.0)
        np.add.at(mixing, at, met.weight[both])
        return _Mixed(met, both, at, mixing)

    def _meetings(self, heavy: Numbers) -> _Meetings:
        none = np.zeros(0, dtype=np.int64)
        found = [_Meetings(none, none, np.zeros(0), np.zeros(0))]
        for group, cells, weight, _ in self._seen:
            if group.folds is None:
                continue  # strings that it sees whole share their prefix with no other
            order = np.argsort(cells[heavy], kind="stable")
            held = cells[heavy][order]
            first, last = np.searchsorted(held, cells), np.searchsorted(held, cells, side="right")
            string = np.repeat(np.arange(len(cells)), last - first)
            before = np.cumsum(last - first) - (last - first)
            other = order[np.repeat(first - before, last - first) + np.arange(len(string))]
            real = (heavy[other] != string) & (weight[string] > 0)
            string, other = string[real], other[real]
            own, noise = weight[string], 0.0 if group.law is None else self._n * float(group.law.per_report)
            added = own * float(group.folds.scale)
            found.append(_Meetings(string, other, added, own * weight[heavy[other]] * noise))
        return _Meetings(*(np.concatenate(parts) for parts in zip(*found, strict=True)))

    def _variance(self, heavy: Numbers, values: Floats) -> Floats:
        # Of the separate counts. A user is in one group: the groups' samples of a string's holders exclude each other.
        held = np.clip(values, 0, self._n)
        least, shared, squares = np.zeros((3, len(values)))
        for group, cells, weight, pairs in self._seen:
            assert group.law is not None
            least += weight**2 * group.law.of_coins.at(self._n, held)
            shared += weight**2 * self._of_shared_cells(group, cells[heavy], values[heavy], pairs)
            shared += weight**2 * float(group.law.per_pair) * (self._n - held) ** 2
            squares += weight**2
        return np.asarray(np.maximum(shared, 0.0) + least - held * (1 - squares))

    def _of_shared_cells(self, group: Group, cells: Numbers, values: Floats, pairs: float) -> float:
        # Variance due to users with the same cell. The cells of the strings that are solved for are known.
        if group.law is None or group.folds is None:
            return 0.0
        known = np.bincount(np.unique(cells, return_inverse=True)[1], np.maximum(values, 0.0))
        chance = 1 / (group.folds.cells - 1)
        spared = chance * (float((known**2).sum()) + min(float(known.sum()), self._n) / float(group.share))
        return float(group.law.collision) * pairs - spared


class _Meetings(NamedTuple):
    """Cells in which a string meets one of the heavy ones: both places, the weight, the covariance of their counts."""

    string: Numbers
    other: Numbers
    weight: Floats
    covariance: Floats

    def of(self, some: Any) -> _Meetings:
        """Some of the meetings of strings."""
        return _Meetings(self.string[some], self.other[some], self.weight[some], self.covariance[some])


@dataclass(frozen=True)
class _Mixed:
    """How the counts of the heavy strings, largest first, add to each other."""

    met: _Meetings
    both: npt.NDArray[np.bool_]
    """Mask of the meetings of two heavy strings."""
    at: tuple[Numbers, Numbers]
    """Places of these two among the heavy strings."""
    mixing: Floats

    @cached_property
    def inverse(self) -> Floats:
        """What the separate counts add to the counts that are solved for."""
        return np.asarray(np.linalg.inv(self.mixing))

    def hidden(self) -> int | None:
        """Place of a string whose count cannot be separated from those of larger ones, if there is any."""
        with suppress(np.linalg.LinAlgError):
            if np.abs(self.inverse).max(initial=0.0) < _INSEPARABLE:
                return None
        part = np.abs(np.linalg.svd(self.mixing)[2][-1])
        return int(np.flatnonzero(part > 0.1 * part.max())[-1])
