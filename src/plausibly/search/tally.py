"""The accumulator of a search: one for each part, and how many users each group has."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from ..core.accumulator import Accumulator, expect_bytes
from ..core.domain import Encoded
from ..core.errors import ParameterError, StateError
from ..core.laws import Cells, Floats
from ..core.parallel import in_chunks
from ..core.wording import nearest, shown
from .given_strings import scaled_up

if TYPE_CHECKING:
    from ..core.scheme import Reports, Scheme
    from .grouped import Search
    from .result import HeavyHitters


class SearchTally(Accumulator):
    """Reports of a search, folded part by part. ``search`` may be asked any number of times, with other choices."""

    scheme: Search

    def __init__(self, scheme: Scheme) -> None:
        super().__init__(scheme)
        # One name for both, so that they change in one step whatever interrupts.
        self._held: tuple[tuple[Accumulator, ...], npt.NDArray[np.int64]] = (
            tuple(part.scheme.accumulator() for part in self.scheme.parts),
            np.zeros(len(self.scheme.groups), dtype=np.int64),
        )

    @property
    def parts(self) -> tuple[Accumulator, ...]:
        """The accumulator of each part."""
        return self._held[0]

    @property
    def n(self) -> npt.NDArray[np.int64]:
        """The number of reports of each group."""
        return self._held[1]

    def __len__(self) -> int:
        return int(self.n.sum())

    @property
    def cells(self) -> int:
        return sum(part.cells for part in self.parts)

    def search(self, **options: Any) -> HeavyHitters:
        """The heavy hitters; the choices are those of the scheme's ``search``: ``tally.search(k=10)``."""
        for name in options:
            if name not in self.scheme.choices:
                raise ParameterError(f"unknown option {shown(name)}; {nearest(name, self.scheme.choices)}")
        return self.scheme.search(self, **options)

    def estimate_part(
        self, number: int, items: Encoded, options: Mapping[str, Any] = MappingProxyType({})
    ) -> tuple[Floats, Floats | None]:
        """Counts among all users of items of one part, and their variances if they have any."""
        share = float(self.scheme.share(number))
        return scaled_up(self.scheme.parts[number], self.parts[number], items, share, options)

    def _absorb(self, reports: Reports) -> None:
        records, added = self._records(reports)
        parts, numbers = list(self.parts), list(records)

        def work(first: int, last: int) -> list[Accumulator]:
            # Copies take them in, so that an interrupt leaves everything as it was.
            fresh = [copy(parts[number]) for number in numbers[first:last]]
            for part, number in zip(fresh, numbers[first:last], strict=True):
                part._absorb_here(records[number])
            return fresh

        fresh = [part for found in in_chunks(len(numbers), 1, work) for part in found]
        for number, part in zip(numbers, fresh, strict=True):
            parts[number] = part
        self._held = tuple(parts), self.n + added

    def _absorb_here(self, reports: Reports) -> None:
        records, added = self._records(reports)
        for number, own in records.items():
            self.parts[number]._absorb_here(own)
        self._held = self.parts, self.n + added

    def _records(self, reports: Reports) -> tuple[dict[int, Reports], npt.NDArray[np.int64]]:
        # The records that each part is to take in, and how many reports each group has sent.
        groups = reports["group"]
        added = np.bincount(groups, minlength=len(self.scheme.groups))
        order = np.argsort(groups, kind="stable")
        ends = np.cumsum(added)
        found: dict[int, list[Reports]] = {}
        for number, places in enumerate(self.scheme.places):
            if added[number]:
                body = reports["body"][order[ends[number] - added[number] : ends[number]]]
                for place in places:
                    found.setdefault(place.part, []).append(self.scheme.records(body, place))
        return {part: np.concatenate(records) for part, records in found.items()}, added

    def _unite(self, other: SearchTally) -> None:
        parts = []
        for mine, theirs in zip(self.parts, other.parts, strict=True):
            united = mine if not len(theirs) else copy(mine)
            if len(theirs):
                united._unite(theirs)
            parts.append(united)
        self._held = tuple(parts), self.n + other.n

    def _payload(self) -> bytes:
        return b"".join([self.n.astype("<i8").tobytes(), *(part._payload() for part in self.parts)])

    def _restore(self, count: int, payload: memoryview) -> None:
        n = self.n
        n[...] = _group_numbers(self.scheme, payload)
        if int(n.min()) < 0 or sum(n.tolist()) != count:
            raise StateError("accumulator: the reports of the groups do not add up to their number")
        first = n.nbytes
        for part, own in zip(self.parts, _part_numbers(self.scheme, n), strict=True):
            last = first + part._payload_bytes(part.scheme, own)
            part._restore(own, payload[first:last])
            first = last

    @classmethod
    def _check_size(cls, scheme: Scheme, count: int, payload: memoryview) -> None:
        search = cast("Search", scheme)
        n = _group_numbers(search, payload)
        expected = n.nbytes
        for part, own in zip(search.parts, _part_numbers(search, n), strict=True):
            expected += part.scheme.accumulator_type._payload_bytes(part.scheme, own)
        expect_bytes(expected, payload)

    @classmethod
    def _payload_bytes(cls, scheme: Scheme, count: int) -> int:
        raise StateError("a search is not a part of another")

    def _evidence(self) -> Cells:
        return self.parts  # type: ignore[return-value]

    def _numbers(self) -> npt.NDArray[np.int64]:
        return self.n


def _group_numbers(scheme: Search, payload: memoryview) -> npt.NDArray[np.int64]:
    # How many reports each group has, by the beginning of a payload, in which they may be anything.
    size = 8 * len(scheme.groups)
    if len(payload) < size:
        raise StateError(f"accumulator: expected at least {size} bytes of state, got {len(payload)}")
    return np.frombuffer(payload[:size], dtype="<i8").astype(np.int64)


def _part_numbers(scheme: Search, n: npt.NDArray[np.int64]) -> list[int]:
    # How many reports each part has: those of all groups that report through it.
    numbers = [0] * len(scheme.parts)
    for members, own in zip(scheme.groups, n.tolist(), strict=True):
        for part in members:
            numbers[part] += own
    return numbers
