"""Counts of given strings, from all groups that report the whole of them: an unbiased linear law.

A group sees the whole of a string if its prefixes end after the string does: what follows is padding. Each such group
provides an unbiased count, and their mean is weighted by the inverse of their variances, which are public: no weight
depends on the reports. A folded group counts cells, and a cell may hold several strings. What the other strings that
were asked for add to a cell is known from their own counts, so these are solved jointly; what all other strings add is
zero on average over the hash functions, and its variance is that of the sum of their squared counts.
Derivation: docs/adr/0024-counts-of-found-strings.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..core.history import History
from ..core.laws import Codes, CountMean, Estimator, Floats, Scores, VarianceLaw, thinned
from ..core.parts import PartEvidence
from .evidence import Numbers
from .folded_parts import Fold
from .string_parts import Part

SOLVED = 1000
"""Number of strings whose shared cells are solved jointly; if more are asked for, those with the largest counts."""


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

    def sees(self, rows: Codes, length: int) -> Any:
        """Mask of the strings that the group sees whole."""
        lengths = np.count_nonzero(rows, axis=1)
        return (lengths < self.part.last) | (self.part.last == length)

    def counts(self, own: PartEvidence) -> tuple[Floats, float]:
        """Count of each cell for all users, without the expected number of other users, and the sum of squares.

        The sum, for all users, of the squared counts of what the group distinguishes.
        """
        table, _ = self.oracle.estimate(own.evidence, own.numbers, None)
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

    def scores(self, evidence: Any, n: Any, codes: Codes | None) -> Scores:
        assert codes is not None
        # Supporting reports, from the groups that distinguish all strings; weighted means are no integers.
        found = np.zeros(len(codes), dtype=np.int64)
        for group in self._of_longest:
            own: PartEvidence = evidence[group.number]
            found += group.oracle.scores(own.evidence, own.numbers, group.part.items(codes))
        return found

    def estimate(self, evidence: Any, n: Any, codes: Codes | None) -> tuple[Floats, Floats | None]:
        assert codes is not None  # strings cannot be listed
        return _Reading(self, codes, evidence, int(np.sum(n))).solved()


class _Reading:
    """The groups' counts of some strings, and which of them share cells."""

    def __init__(self, decoder: WholeStrings, rows: Codes, evidence: Sequence[PartEvidence], n: int) -> None:
        self._n, self._rows = n, rows
        self._known = all(group.law is not None for group in decoder.groups)
        self._seen: list[tuple[Group, Any, Floats, float]] = []
        precision, total = np.zeros((2, len(rows)))
        for group in decoder.groups:
            weight = group.sees(rows, decoder.length) * _precision(group)
            if not weight.any():
                continue
            table, pairs = group.counts(evidence[group.number])
            cells = group.part.items(rows).astype(np.int64)
            total += weight * table[cells]
            precision += weight
            self._seen.append((group, cells, weight, pairs))
        self._seen = [(group, cells, weight / precision, pairs) for group, cells, weight, pairs in self._seen]
        self._separate = total / precision

    def solved(self) -> tuple[Floats, Floats | None]:
        """Counts of the strings without what they add to each other's cells, and their variances."""
        values = self._separate.copy()
        heavy = np.sort(np.argsort(-values, kind="stable")[:SOLVED])
        place = np.full(len(values), -1)
        place[heavy] = np.arange(len(heavy))
        met = self._meetings(heavy)
        both = place[met.string] >= 0
        mixing = np.eye(len(heavy))
        np.add.at(mixing, (place[met.string[both]], met.other[both]), met.weight[both])
        values[heavy] = np.linalg.solve(mixing, values[heavy])
        light = met.of(~both)
        np.subtract.at(values, light.string, light.weight * values[heavy[light.other]])
        if not self._known:
            return values, None
        variance = self._variance(heavy, values)
        noise = np.diag(variance[heavy])
        np.add.at(noise, (place[met.string[both]], met.other[both]), met.covariance[both])
        inverse = np.linalg.inv(mixing)
        variance[heavy] = np.einsum("ij,jk,ik->i", inverse, noise, inverse, optimize=True)
        np.add.at(variance, light.string, light.weight**2 * variance[heavy[light.other]])
        return values, np.maximum(variance, 0.0)

    def _meetings(self, heavy: Numbers) -> _Meetings:
        found = [_Meetings(*np.zeros((2, 0), dtype=np.int64), *np.zeros((2, 0)))]
        for group, cells, weight, _ in self._seen:
            if group.folds is None:
                continue  # strings that it sees whole share their prefix with no other
            order = np.argsort(cells[heavy], kind="stable")
            held = cells[heavy][order]
            first, last = np.searchsorted(held, cells), np.searchsorted(held, cells, side="right")
            string = np.repeat(np.arange(len(cells)), last - first)
            start = np.repeat(first - np.concatenate([[0], np.cumsum(last - first)[:-1]]), last - first)
            other = order[start + np.arange(len(string))]
            real = (heavy[other] != string) & (weight[string] > 0)
            string, other = string[real], other[real]
            own = weight[string]
            noise = 0.0 if group.law is None else self._n * float(group.law.per_report)
            found.append(_Meetings(string, other, own, own * weight[heavy[other]] * noise))
        return _Meetings(*(np.concatenate(parts) for parts in zip(*found, strict=True)))

    def _variance(self, heavy: Numbers, values: Floats) -> Floats:
        # Of the separate counts. A user is in one group: the groups' samples of a string's holders exclude each other.
        held = np.clip(values, 0, self._n)
        variance, squares = np.zeros(len(values)), np.zeros(len(values))
        for group, cells, weight, pairs in self._seen:
            assert group.law is not None
            if group.folds is not None:
                known = np.bincount(np.unique(cells[heavy], return_inverse=True)[1], np.maximum(values[heavy], 0.0))
                pairs = max(0.0, pairs - float((known**2).sum()))
            own = group.law.at(self._n, held, f2=self._n + pairs + held * (held - 1))
            variance += weight**2 * own
            squares += weight**2
        return variance - held * (1 - squares)


class _Meetings(NamedTuple):
    """Cells in which a string meets one of the heavy ones: both places, the weight, the covariance of their counts."""

    string: Numbers
    other: Numbers
    weight: Floats
    covariance: Floats

    def of(self, some: Any) -> _Meetings:
        """Some of the meetings of strings."""
        return _Meetings(self.string[some], self.other[some], self.weight[some], self.covariance[some])


def _precision(group: Group) -> float:
    # The inverse of the variance of a string without holders, per user.
    return float(group.share if group.law is None else 1 / group.law.per_report)
