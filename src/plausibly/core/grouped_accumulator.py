"""The accumulator of a grouped scheme: one accumulator per part, and the number of users in each group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Protocol, cast

import numpy as np
import numpy.typing as npt

from .accumulator import Accumulator, expect_bytes
from .diagnosis import Check, shares_check
from .errors import StateError
from .group_numbers import Misfit, misfit_text, misfits
from .laws import Codes, Floats
from .parallel import in_chunks
from .parts import Part, PartEvidence, part_decoder, scaled_up_with_unheld
from .scheme import Reports, Scheme
from .tails import Unheld


class Groups(Protocol):
    """The members of ``Grouped`` that the accumulator uses: how users and reports are divided among parts."""

    @property
    def parts(self) -> Sequence[Part]: ...

    @property
    def groups(self) -> Sequence[Sequence[int]]: ...

    @property
    def group_weights(self) -> Sequence[int]: ...

    def share(self, part: int) -> Fraction: ...

    def records_by_part(
        self, reports: Reports, *, check: bool = False
    ) -> tuple[dict[int, Reports], npt.NDArray[np.int64]]: ...


class GroupedAccumulator(Accumulator):
    """Reports of a grouped scheme, folded part by part."""

    def __init__(self, scheme: Scheme) -> None:
        super().__init__(scheme)
        self._groups = _groups_of(scheme)
        # One attribute for both, so that an interrupt cannot separate them.
        self._held: tuple[tuple[Accumulator, ...], npt.NDArray[np.int64]] = (
            tuple(part.scheme.accumulator() for part in self._groups.parts),
            np.zeros(len(self._groups.groups), dtype=np.int64),
        )

    @property
    def parts(self) -> tuple[Accumulator, ...]:
        """The accumulator of each part of the grouped accumulator."""
        return self._held[0]

    @property
    def n(self) -> npt.NDArray[np.int64]:
        """Number of reports of each group in the grouped accumulator."""
        return self._held[1]

    def __len__(self) -> int:
        return int(self.n.sum())

    @property
    def cells(self) -> int:
        return sum(part.cells for part in self.parts)

    def lost_groups(self) -> list[Misfit]:
        """The groups with far fewer or far more reports than their share, because some were lost or added.

        The probability that a complete collection has any is at most one in a million.
        """
        return misfits(self.n.tolist(), self._groups.group_weights)

    def own_checks(self) -> list[Check]:
        groups = shares_check("reports of each group", self.n.tolist(), self._groups.group_weights)
        parts = [
            Check(f"{part.label}: {check.name}", check.p_value)
            for part, tally in zip(self._groups.parts, self.parts, strict=True)
            for check in tally.own_checks()
        ]
        return [*groups, *parts]

    @property
    def cautions(self) -> tuple[str, ...]:
        names = [" and ".join(self._groups.parts[part].label for part in group) for group in self._groups.groups]
        told = misfit_text(self.lost_groups(), names, len(self))
        return (told,) if told else ()

    def estimate_part(
        self, number: int, items: Codes | None = None, options: Mapping[str, Any] = MappingProxyType({})
    ) -> tuple[Floats, Floats | None]:
        """Counts for all users from one part of the grouped accumulator, and their variances if known.

        ``items`` are encoded items of the part; None stands for all items.
        """
        return self.estimate_part_and_unheld(number, items, options)[:2]

    def estimate_part_and_unheld(
        self, number: int, items: Codes | None = None, options: Mapping[str, Any] = MappingProxyType({})
    ) -> tuple[Floats, Floats | None, Unheld | None]:
        """Like ``GroupedAccumulator.estimate_part``, and the law of items without holders if hashes are public."""
        decoder = part_decoder(self._groups.parts[number], options)
        return scaled_up_with_unheld(decoder, self._evidence_of(number), items, float(self._groups.share(number)))

    def check_and_absorb(self, reports: Reports, *, single_threaded: bool = False) -> None:
        # Sorted by part once, for the check and for the fold.
        records, added = self._groups.records_by_part(reports, check=True)
        (self._absorb_alone if single_threaded else self._absorb)(records, added)

    def absorb(self, reports: Reports) -> None:
        self._absorb(*self._groups.records_by_part(reports))

    def absorb_single_threaded(self, reports: Reports) -> None:
        self._absorb_alone(*self._groups.records_by_part(reports))

    def _absorb(self, records: dict[int, Reports], added: npt.NDArray[np.int64]) -> None:
        parts, numbers = list(self.parts), list(records)

        def work(first: int, last: int) -> list[Accumulator]:
            # Added to copies, so that an interrupt changes nothing.
            fresh = [copy(parts[number]) for number in numbers[first:last]]
            for part, number in zip(fresh, numbers[first:last], strict=True):
                part.absorb_single_threaded(records[number])
            return fresh

        fresh = [part for found in in_chunks(len(numbers), 1, work) for part in found]
        for number, part in zip(numbers, fresh, strict=True):
            parts[number] = part
        self._held = tuple(parts), self.n + added

    def _absorb_alone(self, records: dict[int, Reports], added: npt.NDArray[np.int64]) -> None:
        for number, own in records.items():
            self.parts[number].absorb_single_threaded(own)
        self._held = self.parts, self.n + added

    def unite(self, other: GroupedAccumulator) -> None:
        parts = []
        for mine, theirs in zip(self.parts, other.parts, strict=True):
            united = mine if not len(theirs) else copy(mine)
            if len(theirs):
                united.unite(theirs)
            parts.append(united)
        self._held = tuple(parts), self.n + other.n

    def to_payload(self) -> bytes:
        return b"".join([self.n.astype("<i8").tobytes(), *(part.to_payload() for part in self.parts)])

    def restore(self, count: int, payload: memoryview) -> None:
        n = self.n
        n[...] = _group_numbers(self._groups, payload)
        if int(n.min()) < 0 or sum(n.tolist()) != count:
            raise StateError("accumulator: the reports of the groups do not add up to their number")
        first = n.nbytes
        for part, own in zip(self.parts, _part_numbers(self._groups, n), strict=True):
            last = first + part.payload_bytes(part.scheme, own)
            part.restore(own, payload[first:last])
            first = last

    @classmethod
    def expect_payload(cls, scheme: Scheme, count: int, payload: memoryview) -> None:
        grouped = _groups_of(scheme)
        n = _group_numbers(grouped, payload)
        expected = n.nbytes
        for part, own in zip(grouped.parts, _part_numbers(grouped, n), strict=True):
            expected += part.scheme.accumulator_type.payload_bytes(part.scheme, own)
        expect_bytes(expected, payload)

    @classmethod
    def payload_bytes(cls, scheme: Scheme, count: int) -> int:
        # It depends on the distribution of the reports over the groups.
        raise StateError("a grouped scheme is not a part of another")

    @property
    def evidence(self) -> tuple[PartEvidence, ...]:
        """The evidence of each part of the grouped accumulator, for a decoder."""
        return tuple(self._evidence_of(number) for number in range(len(self.parts)))

    def _evidence_of(self, number: int) -> PartEvidence:
        part = self.parts[number]
        return PartEvidence(part.evidence, part.numbers)

    @property
    def numbers(self) -> npt.NDArray[np.int64]:
        return self.n


def _groups_of(scheme: Scheme) -> Groups:
    return cast(Groups, scheme)


def _group_numbers(scheme: Groups, payload: memoryview) -> npt.NDArray[np.int64]:
    # The number of reports of each group, from the beginning of an untrusted payload.
    size = 8 * len(scheme.groups)
    if len(payload) < size:
        raise StateError(f"accumulator: expected at least {size} bytes of state, got {len(payload)}")
    return np.frombuffer(payload[:size], dtype="<i8").astype(np.int64)


def _part_numbers(scheme: Groups, n: npt.NDArray[np.int64]) -> list[int]:
    # The number of reports of each part: those of all groups that report through it.
    numbers = [0] * len(scheme.parts)
    for members, own in zip(scheme.groups, n.tolist(), strict=True):
        for part in members:
            numbers[part] += own
    return numbers
