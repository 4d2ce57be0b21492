"""The decoder of tables: components of tables, each estimated from all reports that know it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import prod, sqrt
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from ..cells import least_and_most
from ..core.bounds import either_side, variance_at_most
from ..core.domain import Table
from ..core.errors import StateError
from ..core.history import History
from ..core.laws import Codes, Estimator, Floats
from ..core.levers import Reach
from ..core.parts import PartEvidence
from ..core.scheme import Scheme
from ..core.sized_table import Reporters, SizedTable
from ..core.table_law import Axes, TableLaw, component, subsets
from ..core.tables_only import Estimated, no_histogram
from ..core.wording import shown
from ..core.words import Setting, Words
from .designs import has_all

_COMPARED = 64
"""Number of sets that are compared with all others, at most."""


@dataclass(frozen=True, eq=False)
class Sent:
    """The users who report the cell of one set of attributes."""

    attributes: Axes
    share: float
    oracle: Scheme
    decoder: Estimator
    noise: float
    """V_c: variance per report of a sum of cells with coefficients that add up to 0."""
    own: float
    """H: what the user's own cell adds to it."""
    cells: int

    @property
    def trust(self) -> float:
        """Inverse of the variance of a component from these reports, if users are spread evenly, up to a factor."""
        return 1 / (self.noise * self.cells + self.own)


class _Compared(NamedTuple):
    # The table of an attribute from the reports of one set, and from all others. Their difference has the variance
    # ``inside`` for each user in a cell, and ``outside`` for each other; a report adds ``low`` to ``high`` to it. The
    # count of the cell has a variance of ``spread`` per user at most, and a report is at most ``below`` its mean.
    number: int
    place: int
    alone: Residuals
    rest: Residuals
    inside: float
    outside: float
    spread: float
    below: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Residuals:
    """Decoder of CLIQUE: every table is the sum of its components, which are estimated one by one.

    The components of a table are its mean, what each attribute adds to that, what each pair adds to those, and so on.
    A component is a weighted mean over all sets of attributes that contain its own; it is therefore the same in all
    tables, which agree with each other and add up to n. Unbiased, with the exact variance of ``TableLaw``.
    """

    records: Table
    sent: tuple[Sent, ...]
    law: None = None
    history: History = ()

    def scores(self, evidence: Any, n: Any, codes: Codes | None, /) -> NoReturn:
        raise no_histogram()

    def estimate(self, evidence: Any, n: Any, codes: Codes | None, /) -> NoReturn:
        raise no_histogram()

    @cached_property
    def _members(self) -> npt.NDArray[np.bool_]:
        # [set, attribute]: whether the set has the attribute.
        numbers = range(len(self.records.names))
        return np.array([[j in sent.attributes for j in numbers] for sent in self.sent])

    @cached_property
    def _facts(self) -> Floats:
        # Share, noise, own, cells and trust of each set, one a row.
        return np.array([(s.share, s.noise, s.own, s.cells, s.trust) for s in self.sent]).T

    def weights(self, places: Axes) -> Floats:
        """How much a report of each set counts in the component of these attributes: 0 if the set lacks one of them."""
        share, *_, trust = self._facts
        knows = self._members[:, list(places)].all(axis=1) * trust
        return np.asarray(knows / (share * knows).sum())

    def known(self, places: Axes) -> bool:
        """Whether all components of the table of these attributes are known."""
        return bool(self._members[:, list(places)].all(axis=1).any())

    def known_tables(self, attributes: int, /) -> Iterator[Axes]:
        return (places for places in combinations(range(len(self.records.names)), attributes) if self.known(places))

    def _expect_known(self, places: Axes) -> None:
        if self.known(places):
            return
        given = [self.records.names[j] for j in places]
        unknown = f"no reports know {' and '.join(map(shown, given))} together"
        most, asked = max(len(sent.attributes) for sent in self.sent), len(places)
        if most < asked and has_all(len(self.records.names), asked):
            limit = f"{unknown}; this scheme has tables of {most} of its attributes at a time. "
            fix = f"{limit}Collect with CLIQUE, each user reporting {asked} attributes ("
            raise StateError(Words(fix, Setting("cliques", asked), ")"))
        # A size alone would not say which sets.
        listed = Setting("cliques", python=f"cliques=[{json.dumps(given, ensure_ascii=False)}, ...]")
        fix = f"{unknown}; no set of this scheme has all of them. Collect with CLIQUE and a set of these attributes ("
        raise StateError(Words(fix, listed, ")"))

    def law_at(self, places: Axes, /) -> TableLaw:
        self._expect_known(places)
        share, noise, own, cells, _ = self._facts
        sizes = tuple(self.records.sizes[j] for j in places)
        parts = [kept for kept in subsets(tuple(range(len(places)))) if kept]
        weights = {kept: self.weights(tuple(places[axis] for axis in kept)) for kept in parts}
        squares = {kept: float((share * noise * cells * weights[kept] ** 2).sum()) for kept in parts}
        met = {(a, b): float((share * own * weights[a] * weights[b]).sum()) for a in parts for b in parts}
        return TableLaw(
            sizes,
            {kept: squares[kept] / float(np.prod([sizes[axis] for axis in kept])) for kept in parts},
            {pair: factor for pair, factor in met.items() if factor},
        )

    def tabulated(self, evidence: Any, n: int, places: Axes, /) -> Estimated:
        law = self.law_at(places)
        counts = np.full(law.sizes, n / float(np.prod(law.sizes)))
        for kept in law.noise:
            chosen = tuple(places[axis] for axis in kept)
            found = self._component(evidence, chosen)
            others = float(np.prod([size for axis, size in enumerate(law.sizes) if axis not in kept]))
            shape = [size if axis in kept else 1 for axis, size in enumerate(law.sizes)]
            counts += found.reshape(shape) / others
        return Estimated(counts, law)

    def sized(self, evidence: Sequence[PartEvidence], n: int, places: Axes, /) -> SizedTable | None:
        some = [i for i, own in enumerate(evidence) if own.users and {*places} & {*self.sent[i].attributes}]
        given = tuple(replace(self.sent[i], share=evidence[i].users / n) for i in some)
        if not any({*places} <= {*sent.attributes} for sent in given):
            return None
        decoder = Residuals(self.records, given)
        found = decoder.tabulated([evidence[i] for i in some], n, places)
        reporters = tuple(decoder._reporters(number, evidence[i].users, places) for number, i in enumerate(some))
        return SizedTable(found.counts, found.law, reporters)

    def _reporters(self, number: int, reports: int, places: Axes) -> Reporters:
        sent = self.sent[number]
        axes = tuple(axis for axis, place in enumerate(places) if place in sent.attributes)
        parts = {kept: tuple(places[axis] for axis in kept) for kept in subsets(axes) if kept}
        weights = {kept: float(self.weights(part)[number]) for kept, part in parts.items()}
        law, scale = sent.decoder.law, float(sent.decoder.scale)
        assert law is not None
        # The variance of a coin, from which its smaller chance follows.
        other = (1 - sqrt(max(0.0, 1 - 4 * float(law.per_report) / scale**2))) / 2
        return Reporters(reports, axes, weights, sent.cells, scale, other)

    def _component(self, evidence: Sequence[PartEvidence], places: Axes) -> Floats:
        sizes = [self.records.sizes[j] for j in places]
        total = np.zeros(sizes)
        for number, weight in enumerate(self.weights(places).tolist()):
            if not weight:
                continue
            sent, own = self.sent[number], evidence[number]
            table = sent.decoder.values(own.evidence, int(np.sum(own.numbers)), None)
            table = table.reshape([self.records.sizes[j] for j in sent.attributes])
            total += weight * table.sum(axis=tuple(i for i, j in enumerate(sent.attributes) if j not in places))
        axes = tuple(range(len(places)))
        return component(total, axes, axes)

    def disagreements(self, evidence: Sequence[PartEvidence], n: int, /) -> dict[str, Floats]:
        """Chances of the differences between each set's table of each of its attributes and that of all other sets.

        A report adds a number with a mean of 0 to the difference, whatever the record of its user. Its variance depends
        on whether the record is in the cell: it is bounded by the count of the cell, and by the worst crowd.
        """
        found = []
        tests = sum(self.records.sizes[own.place] for own in self._compared)
        for own in self._compared:
            others = [evidence[i] for i in range(len(self.sent)) if i != own.number]
            counts = self.tabulated(evidence, n, (own.place,)).counts
            apart = own.alone.tabulated([evidence[own.number]], n, (own.place,)).counts
            apart = apart - own.rest.tabulated(others, n, (own.place,)).counts
            slope, largest = own.inside - own.outside, np.array(n * max(own.inside, own.outside))
            estimate, spread = n * own.outside + slope * counts, np.array(n * slope**2 * own.spread)
            variance = variance_at_most(estimate, largest, spread, np.array(abs(slope) * own.below), tests)
            found.append(either_side(apart, variance, np.array(own.low), np.array(own.high)))
        return {"sets of attributes": np.concatenate(found)} if found else {}

    @cached_property
    def _compared(self) -> list[_Compared]:
        numbers = np.unique(np.linspace(0, len(self.sent) - 1, min(_COMPARED, len(self.sent))).round().astype(int))
        found = []
        for number in numbers.tolist():
            others = [i for i in range(len(self.sent)) if i != number]
            alone, rest = (self._of(some) for some in ([number], others))
            known = (place for place in self.sent[number].attributes if others and rest.known((place,)))
            found += [self._comparison(number, place, alone, rest) for place in known]
        return found

    def _comparison(self, number: int, place: int, alone: Residuals, rest: Residuals) -> _Compared:
        # Of the first cell; by symmetry, of any.
        size = self.records.sizes[place]
        question, users = np.eye(1, size), np.eye(size)[[0, 1]]
        whole, *both = (tables.law_at((place,)) for tables in (self, alone, rest))
        # A user is in one set: the covariance is less than 0 by the product of both expectations.
        inside, outside = (
            sum(float(law.cell_variances(user, 1)[0]) for law in both) + 2 * (user[0] - 1 / size) ** 2 for user in users
        )
        spread = max(float(whole.cell_variances(user, 1)[0]) for user in users)
        reach = self.leverage((place,), question)
        # The more users are in the cell, the larger is the variance, or the smaller.
        below = 1 - float(reach.low[0]) if inside > outside else float(reach.high[0])
        low, high = (float(end[0]) for end in alone._ends_of(0, (place,), question))
        for other in range(len(rest.sent)):
            least, most = (float(end[0]) for end in rest._ends_of(other, (place,), question))
            low, high = min(low, -most), max(high, -least)
        return _Compared(number, place, alone, rest, inside, outside, spread, below, low, high)

    def _of(self, numbers: Sequence[int]) -> Residuals:
        # The decoder of the reports of some sets only.
        return Residuals(self.records, tuple(self.sent[number] for number in numbers))

    def even_variance(self, attributes: int) -> float:
        """Mean variance per user of a cell in all tables of this number of attributes, if users are spread evenly."""
        return float(np.mean([self.law_at(places).even_variance() for places in self.known_tables(attributes)]))

    @cached_property
    def contribution(self) -> tuple[float, float]:
        """Bounds of what one report adds to the count of a cell in any known table of two attributes, or of one."""
        low = high = 0.0
        seen: set[Any] = set()
        for places in [*self.known_tables(2)] or [*self.known_tables(1)]:
            for number, sent in enumerate(self.sent):
                shared = tuple(j for j in places if j in sent.attributes)
                weights = {kept: float(self.weights(kept)[number]) for kept in subsets(shared) if kept}
                sizes = [self.records.sizes[j] for j in places]
                # Tables of equal sizes and weights have equal bounds.
                key = (
                    tuple(sizes),
                    tuple(weights.values()),
                    [j in shared for j in places].index(bool(shared)),
                    sent.cells,
                )
                if key in seen or not shared:
                    continue
                seen.add(key)
                # The count of the first cell; by symmetry, of any.
                least, most = self._ends_of(number, places, np.eye(1, prod(sizes)).reshape(1, *sizes))
                low, high = min(low, float(least[0]) + 1 / prod(sizes)), max(high, float(most[0]) + 1 / prod(sizes))
        return low, high

    def leverage(self, places: Axes, questions: Floats, /) -> Reach:
        axes = tuple(range(1, questions.ndim))
        ends = [self._ends_of(number, places, questions) for number in range(len(self.sent))]
        low, high = (np.array(each) for each in zip(*ends, strict=True))
        return Reach(low.min(axis=0), high.max(axis=0)).added(questions.mean(axis=axes))

    def _ends_of(self, number: int, places: Axes, questions: Floats) -> tuple[Floats, Floats]:
        # What a report of one set adds to the answers, beyond that of a report of which nothing is known.
        sent = self.sent[number]
        shared = tuple(j for j in places if j in sent.attributes)
        axes = tuple(range(1, questions.ndim))
        table = np.zeros((len(questions), *(self.records.sizes[j] for j in sent.attributes)))
        for kept in subsets(shared):
            weight = float(self.weights(kept)[number]) if kept else 0.0
            if weight:
                own = component(questions, tuple(1 + places.index(j) for j in kept), axes)
                shape = [self.records.sizes[j] if j in kept else 1 for j in sent.attributes]
                table += weight * own.reshape(len(questions), *shape)
        return least_and_most(table.reshape(len(questions), -1), sent.oracle, float(sent.decoder.scale))
