"""Schemes whose users are in public groups; each group reports through one or more parts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import kernels
from .accumulator import Accumulator
from .arguments import whole_number
from .blanket import Blanket, mixed, together
from .enumeration import Probe
from .errors import ParameterError
from .grouped_accumulator import GroupedAccumulator
from .laws import Cells
from .memoised import expect_no_memo
from .parts import Part, PartDecoder
from .randomness import Draws, Layout
from .records import RefusedReportsError, refuse_beyond, refuse_reports, unsigned
from .scheme import Component, Encoded, Reports, Scheme
from .words import Words, kind_of

_FEW = 16
"""Number of groups up to which comparing a ticket with each is faster than searching."""
MOST_SCHEMES = 2**8
"""Maximum number of schemes in a list of them."""


@dataclass(frozen=True)
class _Place:
    """Location of a part's words and bytes within those of its group's reports."""

    part: int
    columns: tuple[slice, ...]
    """Columns of the head bytes."""
    drawn: int
    record: slice


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Grouped(Scheme):
    """Users in public groups, drawn by weights. A group reports through its parts, and sends all reports together.

    A scheme of this kind defines ``parts``, ``groups`` and ``group_weights``, and how their evidence becomes estimates
    (``estimator``; ``PartDecoder`` reads one part). Its epsilon is that of its parts, and its record is the group and
    the records of the group's parts, filled up with zeros.
    """

    max_increment = 2**12  # the largest of any oracle

    epsilon: Fraction = field(init=False)

    def validate(self) -> None:
        self.check_domain()
        self._check_groups()
        object.__setattr__(self, "epsilon", self.spent)
        super().validate()
        self.places  # noqa: B018  refuses parts that do not fit together

    def _check_groups(self) -> None:
        if not self.groups or not all(self.groups):
            raise ParameterError("groups: expected at least one, and at least one part in each")
        numbers = range(len(self.parts))
        if not all(i in numbers for group in self.groups for i in group):
            raise ParameterError(f"groups: expected numbers of parts below {len(numbers)}, got others")
        weights_of(self.group_weights, len(self.groups), ())
        for part in self.parts:
            if isinstance(part.scheme, Grouped):
                raise ParameterError(f"{part.label}: expected an oracle, got a scheme whose users are in groups")
            expect_no_memo(part.scheme, part.label)

    @property
    @abstractmethod
    def parts(self) -> tuple[Part, ...]:
        """All parts of the grouped scheme, in any group."""

    @property
    @abstractmethod
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Numbers of the parts of each group of users of the grouped scheme."""

    @property
    @abstractmethod
    def group_weights(self) -> tuple[int, ...]:
        """Relative sizes of the groups of users in the grouped scheme."""

    @property
    def spent(self) -> Fraction:
        """Largest epsilon of any group of the scheme: parts of a group add up, and each user is in one group."""
        return max(sum((self.parts[i].scheme.epsilon for i in group), Fraction(0)) for group in self.groups)

    def share(self, part: int) -> Fraction:
        """Share of the users of the grouped scheme who report through this part."""
        weights = zip(self.groups, self.group_weights, strict=True)
        return Fraction(sum(weight for group, weight in weights if part in group), sum(self.group_weights))

    def blanket(self) -> Blanket:
        # The worst of all pairs of values differs in every part of every group. Many groups report through one oracle.
        shares: dict[tuple[Scheme, ...], int] = {}
        for group, weight in zip(self.groups, self.group_weights, strict=True):
            schemes = tuple(self.parts[i].scheme for i in group)
            shares[schemes] = shares.get(schemes, 0) + weight
        known = {scheme: scheme.blanket() for schemes in shares for scheme in schemes}
        blankets = [together([known[scheme] for scheme in schemes]) for schemes in shares]
        return mixed(blankets, [Fraction(weight, sum(self.group_weights)) for weight in shares.values()])

    @property
    def derived(self) -> dict[str, Any]:
        return {}

    @property
    def report_dtype(self) -> np.dtype[np.void]:
        return np.dtype([("group", unsigned(len(self.groups))), ("body", "u1", (self._body_bytes,))])

    @cached_property
    def _body_bytes(self) -> int:
        return max(sum(self.parts[i].scheme.report_dtype.itemsize for i in group) for group in self.groups)

    @property
    def report_bits(self) -> int:
        most = max(sum(self.parts[i].scheme.report_bits for i in group) for group in self.groups)
        return (len(self.groups) - 1).bit_length() + most

    @cached_property
    def layout(self) -> Layout:
        layouts = [[self.parts[i].scheme.layout for i in group] for group in self.groups]
        dense = [sum(layout.dense for layout in group) for group in layouts]
        split = [sum(layout.split for layout in group) for group in layouts]
        return Layout(dense=1 + max(dense), split=max(split))

    @cached_property
    def places(self) -> tuple[tuple[_Place, ...], ...]:
        """For each group of the grouped scheme, the locations of the words and bytes of its parts.

        A report draws its group, then the public draws of all its parts, then their private draws.
        """
        return tuple(tuple(self._places_of(group)) for group in self.groups)

    def _places_of(self, group: Sequence[int]) -> list[_Place]:
        layouts = [self.parts[i].scheme.layout for i in group]
        publics = [_public_words(self.parts[i].scheme) for i in group]
        private = [layout.dense - public for layout, public in zip(layouts, publics, strict=True)]
        dense = 1 + sum(layout.dense for layout in layouts)
        # One-byte words follow all eight-byte ones, in the report as in every part of it.
        if any(layout.split for layout in layouts) and (dense != self.layout.dense or any(private)):
            raise ParameterError("oracle: unary encoding goes only with unary encoding; take one of its kind for all")
        sizes = [self.parts[i].scheme.report_dtype.itemsize for i in group]
        starts = zip(
            accumulate(publics, initial=1),
            accumulate(private, initial=1 + sum(publics)),
            accumulate((layout.split for layout in layouts), initial=0),
            accumulate(sizes, initial=0),
            strict=True,
        )
        places = []
        for i, (public, own, bits, byte) in enumerate(list(starts)[:-1]):
            tops = 8 * self.layout.dense + bits
            columns = (
                slice(8 * public, 8 * (public + publics[i])),
                slice(8 * own, 8 * (own + private[i])),
                slice(tops, tops + layouts[i].split),
            )
            drawn = self.layout.dense + bits - layouts[i].dense
            places.append(_Place(group[i], _joined(columns), drawn, slice(byte, byte + sizes[i])))
        return places

    @property
    def cell_shape(self) -> None:
        return None  # only the parts have cells

    @property
    def accumulator_type(self) -> type[Accumulator]:
        return GroupedAccumulator

    def respond(self, values: Encoded, draws: Draws, out: Reports) -> npt.NDArray[np.int64]:
        tickets, refused, _ = draws.choose(sum(self.group_weights))
        group_of = self._groups_of(tickets)
        out["group"] = group_of
        order, bounds = self._by_group(group_of)
        redo = [refused]
        for places, first, last in zip(self.places, bounds, bounds[1:], strict=False):
            chosen = order[first:last]
            own = values.take(chosen, axis=0)
            for place in places if first < last else ():
                part = self.parts[place.part]
                reports = np.empty(last - first, dtype=part.scheme.report_dtype)
                items = part.scheme.domain.encoded(part.items(own))
                words = draws.part(chosen, place.columns, place.drawn)
                redo.append(chosen[part.scheme.respond(items, words, reports)])
                # The next part of the group, if there is one, overwrites the zeros.
                body = out["body"][:, place.record.start :]
                kernels.put_rows(reports.view(np.uint8).reshape(last - first, -1), chosen, body)
        return np.unique(np.concatenate(redo))

    def _groups_of(self, tickets: npt.NDArray[np.uint64]) -> npt.NDArray[np.integer[Any]]:
        # In few bytes each, which are sorted by counting.
        kind, ends = np.dtype(unsigned(len(self.groups))), np.cumsum(np.array(self.group_weights, dtype=np.uint64))
        if len(ends) > _FEW:
            return np.searchsorted(ends, tickets, side="right").astype(kind)
        groups = np.zeros(len(tickets), dtype=kind)
        for end in ends[:-1]:
            groups += tickets >= end
        return groups

    def _by_group(self, groups: npt.NDArray[np.integer[Any]]) -> tuple[npt.NDArray[np.int64], list[int]]:
        # The positions of the reports, sorted by group, and the boundaries between the groups.
        order, bounds = kernels.group_order(groups, len(self.groups))
        return order, bounds.tolist()

    def check(self, reports: Reports) -> None:
        self.records_by_part(reports, check=True)

    def _records(self, reports: Reports, chosen: npt.NDArray[np.int64], place: _Place) -> Reports:
        # The records of one part in the chosen reports.
        dtype = self.parts[place.part].scheme.report_dtype
        return kernels.take_rows(reports["body"][:, place.record], chosen).view(dtype)[:, 0]

    def records_by_part(
        self, reports: Reports, *, check: bool = False
    ) -> tuple[dict[int, Reports], npt.NDArray[np.int64]]:
        """The records of each part in grouped reports, omitting empty parts, and each group's number of reports."""
        if check:
            refuse_beyond(reports["group"], len(self.groups), f"a group below {len(self.groups)}")
        order, bounds = self._by_group(reports["group"])
        found: dict[int, list[Reports]] = {}
        for places, first, last in zip(self.places, bounds, bounds[1:], strict=False):
            chosen = order[first:last]
            if check and first < last:
                self._check_padding(reports, chosen, places[-1].record.stop)
            for place in places if first < last else ():
                records = self._records(reports, chosen, place)
                if check:
                    self._check_part(self.parts[place.part].scheme, records, len(reports), chosen)
                found.setdefault(place.part, []).append(records)
        joined = {part: own[0] if len(own) == 1 else np.concatenate(own) for part, own in found.items()}
        return joined, np.diff(bounds)

    def _check_padding(self, reports: Reports, chosen: npt.NDArray[np.int64], end: int) -> None:
        padding = kernels.take_rows(reports["body"][:, end:], chosen)
        if padding.any():
            refuse_reports(_marked(len(reports), chosen[padding.any(axis=1)]), "zeros after the record")

    def _check_part(self, scheme: Scheme, records: Reports, count: int, chosen: npt.NDArray[np.int64]) -> None:
        try:
            scheme.check(records)
        except RefusedReportsError as error:
            refuse_reports(_marked(count, chosen[error.wrong]), error.expected)

    def fold(self, cells: Cells, reports: Reports) -> None:
        raise TypeError("a grouped scheme has no cells; fold the records of its parts")

    @property
    def components(self) -> tuple[Component, ...]:
        return tuple(Component(part.scheme, self.share(i)) for i, part in enumerate(self.parts))

    def contribution(self) -> tuple[Fraction, Fraction] | None:
        decoder = self.estimator()
        if not isinstance(decoder, PartDecoder):
            return super().contribution()
        ends = decoder.part.scheme.contribution()
        return ends and (ends[0] / decoder.share, ends[1] / decoder.share)

    def shrunk(self, size: int) -> Scheme:
        """The grouped scheme itself; a scheme that can be made on a smaller domain overrides this."""
        return self

    def likelihood(self, report: np.void, item: int) -> Fraction:
        value, likelihood = self.domain.of_number(item), Fraction(1)
        alone = np.array([report])
        for place in self.places[int(report["group"])]:
            part = self.parts[place.part]
            seen = int(part.items(value)[0])
            [record] = self._records(alone, np.zeros(1, dtype=np.int64), place)
            likelihood *= part.scheme.likelihood(record, seen)
        return likelihood


def weights_of(given: object, count: int, default: Sequence[int]) -> tuple[int, ...]:
    """The checked weights of the ``count`` groups of a grouped scheme; None selects the default."""
    if given is None:
        return tuple(default)
    if not isinstance(given, Sequence) or isinstance(given, str | bytes) or len(given) != count:
        raise ParameterError(f"weights: expected {count} positive integers, one for each group")
    return tuple(whole_number("weights", weight, 1, 2**32 - 1) for weight in given)


def schemes_of(name: str, given: object) -> tuple[Scheme, ...]:
    """The checked schemes of a grouped scheme's parameter that takes several; devices accept the same number."""
    if not isinstance(given, Sequence) or not 1 <= len(given) <= MOST_SCHEMES:
        raise ParameterError(f"{name}: expected a list of 1 to {MOST_SCHEMES} schemes")
    for scheme in given:
        if not isinstance(scheme, Scheme):
            raise ParameterError(Words(f"{name}: expected a list of schemes, got one with ", kind_of(scheme), " in it"))
    return tuple(given)


def _marked(count: int, places: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    marked = np.zeros(count, dtype=np.bool_)
    marked[places] = True
    return marked


def _public_words(scheme: Scheme) -> int:
    probe = Probe()
    scheme.randomizer.public(probe)
    return len(probe.shape)


def _joined(columns: Sequence[slice]) -> tuple[slice, ...]:
    # Adjacent columns are joined and empty ones dropped: usually a single copy remains.
    joined: list[slice] = []
    for column in columns:
        if column.start == column.stop:
            continue
        if joined and joined[-1].stop == column.start:
            joined[-1] = slice(joined[-1].start, column.stop)
        else:
            joined.append(column)
    return tuple(joined)
