"""State: integer arrays (or a log of records) that add, merge and travel as bytes."""

from __future__ import annotations

import struct
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property, partial
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, cast, overload

import numpy as np
import numpy.typing as npt

from .arguments import as_bytes
from .basis import Basis
from .cross_table import CrossTable, chosen, crossed, one_way
from .diagnosis import (
    Agreeing,
    Check,
    Diagnosis,
    disagreement_checks,
    expect_rate,
    row_checks,
    shares_check,
    total_checks,
)
from .domain import Choices, InOrder, object_array
from .errors import ParameterError, ReportError, StateError
from .estimates import Estimates
from .group_numbers import Misfit
from .independence import MOST_CONTRASTS
from .laws import ByLaw, Cells, Codes, Decoder, choose_estimator, estimate_and_unheld
from .levers import OfTable, Widest
from .linear import linear_of
from .mean_only import MeanOnly
from .measured import Row
from .memory import copied, unshared
from .ordered_answers import MeanAnswer
from .ordered_estimates import in_order
from .parallel import in_chunks
from .table_law import transposed
from .tables_only import TablesOnly
from .words import Words, kind_of

if TYPE_CHECKING:
    from .scheme import Reports, Scheme

_MAGIC = b"PLA\x01"
_HEADER = struct.Struct("<4s16sq")
_FOLD_CHUNK = 1 << 16
_TASKS = 16
_COUNTER = 8
"""Size of a counter in bytes."""


class ChangedError(ReportError):
    """Reports that changed between their check and their use."""


class _Origin:
    """An accumulator to which reports were added, whatever copies of it there are."""

    def __deepcopy__(self, memo: object) -> _Origin:
        return self


@contextmanager
def _unchanged() -> Iterator[None]:
    """Turn the IndexError of a kernel, which checks every index once more, into a message of the accumulator."""
    try:
        yield
    except IndexError:
        raise ChangedError("reports: expected an array that stays as it is, got one that changed; add a copy") from None


class Accumulator(ABC):
    """The tally of one scheme's reports. Merging is associative and commutative; an empty one is neutral.

    One accumulator belongs to one thread at a time; make one per thread and merge.
    """

    _keeps: ClassVar[bool] = False
    """Whether the reports themselves are kept, and must therefore be copied out of the caller's memory."""

    def __init__(self, scheme: Scheme) -> None:
        self.scheme = scheme

    if not TYPE_CHECKING:  # type checkers are to find every missing attribute

        def __getattr__(self, name: str) -> Any:
            if name != "search" or "scheme" not in self.__dict__:
                return object.__getattribute__(self, name)  # raises, in Python's own words
            raise AttributeError(
                f"search: expected a scheme for searches, got {self.scheme.name}, which counts items by name; use "
                "tally.estimate"
            )

    @abstractmethod
    def __len__(self) -> int:
        """Number of users' reports in the accumulator."""

    @property
    def cells(self) -> int:
        """Number of counters of the accumulator; 0 if it keeps the reports themselves."""
        return 0

    def lost_groups(self) -> list[Misfit]:
        """The groups with far fewer or far more reports than their share, if the scheme has groups."""
        return []

    @property
    def cautions(self) -> tuple[str, ...]:
        """Sentences about reports of the accumulator that do not fit the scheme, such as a group that was lost."""
        return ()

    # --- for accumulators made of others, and for decoders ------------------------------------------------------
    #
    # The public methods check their arguments; these trust them. A composite accumulator checks its reports once and
    # passes their parts on. Reports are never changed, and evidence is read-only.

    @abstractmethod
    def absorb(self, reports: Reports) -> None:
        """Add checked reports to the accumulator on all threads, or change nothing if interrupted."""

    @abstractmethod
    def absorb_single_threaded(self, reports: Reports) -> None:
        """Add checked reports on the calling thread. After an interrupt, the accumulator must be discarded."""

    @abstractmethod
    def unite(self, other: Any) -> None:
        """Add all reports of another accumulator, which is known to be of the same scheme."""

    @abstractmethod
    def to_payload(self) -> bytes:
        """The accumulator's state as bytes; the order of the reports does not matter."""

    @abstractmethod
    def restore(self, count: int, payload: memoryview) -> None:
        """Fill an empty accumulator from a payload of the right size. Raise if no ``count`` reports produce it."""

    @classmethod
    @abstractmethod
    def payload_bytes(cls, scheme: Scheme, count: int) -> int:
        """Size in bytes of an accumulator's payload for ``count`` reports, computed without the state."""

    @classmethod
    def expect_payload(cls, scheme: Scheme, count: int, payload: memoryview) -> None:
        """Raise unless the payload of an accumulator has the size of ``count`` reports."""
        expect_bytes(cls.payload_bytes(scheme, count), payload)

    @property
    @abstractmethod
    def evidence(self) -> Any:
        """The accumulator as input of a decoder: its cells, its reports, or the evidence of each part."""

    @property
    def numbers(self) -> Any:
        """Number of reports behind the accumulator's evidence; an array if the scheme has channels or groups."""
        return len(self)

    # --- public methods -----------------------------------------------------------------------------------------

    def add(self, reports: object) -> None:
        """Add reports to the accumulator. If any is invalid, raise and add none of them.

        Reports are an array of records, or a column or one-column table of pyarrow, Polars, pandas or DuckDB with
        records as bytes, which carries neither the scheme's fingerprint nor the mark of simulated reports.
        Reports that another process may change meanwhile, such as those in a memory-mapped file, are copied part by
        part before they are checked.
        """
        records = self.scheme.expect_records(reports)
        self._check_room(len(records))
        with _unchanged():
            if unshared(records) and not self._keeps:
                self.check_and_absorb(records)
                return
            apart = self.scheme.accumulator()
            for part in self.scheme.accept_parts(records):
                apart.absorb(part)
        self.unite(apart)

    def add_single_threaded(self, reports: object) -> None:
        """Like ``Accumulator.add``, but on the calling thread, for code that distributes the work itself.

        The caller ensures that the reports do not change meanwhile. After an interrupt or a ``ChangedError``, the state
        must be discarded.
        """
        if self._keeps:
            self.add(reports)
            return
        records = self.scheme.expect_records(reports)
        self._check_room(len(records))
        with _unchanged():
            self.check_and_absorb(records, single_threaded=True)

    def check_and_absorb(self, reports: Reports, *, single_threaded: bool = False) -> None:
        """Add reports to the accumulator, or raise and change nothing if any is invalid."""
        self.scheme.check(reports)
        (self.absorb_single_threaded if single_threaded else self.absorb)(reports)

    def merge(self, other: Accumulator) -> None:
        """Add all reports of another accumulator of the same scheme."""
        if not isinstance(other, Accumulator):
            raise StateError(Words("merge: expected an Accumulator, got ", kind_of(other)))
        if other.scheme != self.scheme:
            raise StateError(f"merge: expected the same scheme, got another: {self.scheme.difference(other.scheme)}")
        self._check_room(len(other))
        self.unite(other)
        if len(other):
            self._origins.update(other._origins)

    def estimate(self, items: object = None, **options: Any) -> Estimates:
        """Unbiased counts from the accumulated reports, with variances, for the whole domain or for given items.

        The estimates name items as users report them: a text that is cut on devices is cut here, too. Items that
        cannot be told apart from others outside the domain are refused.
        """
        estimator = self._estimator(options)
        codes, names = self._asked(items)
        values, variance, unheld = estimate_and_unheld(estimator, self.evidence, self.numbers, codes)
        # If the answers are not the values themselves, they need not add up to the number of users.
        complete = items is None and self.scheme.answers is self.scheme.domain
        ends = self.scheme.ends() if not options or self._usual(estimator) else None
        found = Estimates(
            names,
            values,
            variance,
            len(self),
            complete,
            estimator.history,
            arrangement=self.scheme.answers.arrangement,
            ends=ends,
            collisions=unheld,
            basis=self._basis(estimator),
            cautions=self.cautions,
            levers=None if ends is None else self.scheme.levers(len(names)),
        )
        order = self.scheme.answers
        if not (complete and isinstance(order, InOrder)):
            return found
        return in_order(found, order, linear_of(estimator, self.evidence, self.numbers, values))

    def mean(self, **options: Any) -> Row:
        """The mean of the values in order, as one row: that of ``estimate(**options)``, also if there are no counts."""
        return Row(self.mean_answer(**options))

    def mean_answer(self, **options: Any) -> MeanAnswer:
        """The mean of the accumulated values as a table of one row, like other answers about an order."""
        decoder = self._estimator(options)
        if not isinstance(decoder, MeanOnly):
            return self.estimate(**options).mean_answer()
        if not len(self):
            raise StateError("a mean needs reports, got none")
        value, variance = (np.array([each]) for each in decoder.mean_and_variance(self.evidence, len(self)))
        order = cast(InOrder, self.scheme.answers)
        basis = self._basis(decoder).changed
        given = object_array(["mean"]), value, variance, order, len(self), decoder.history, self.cautions
        return MeanAnswer(*given, centres=value, worth=decoder.worth(), basis=basis)

    @overload
    def table(self, name: str = ..., /) -> Estimates: ...

    @overload
    def table(self, row: str, column: str, /, *others: str) -> CrossTable: ...

    def table(self, *names: str) -> Estimates | CrossTable:
        """The table of some attributes of the accumulated records, by their names.

        One attribute: ordinary estimates. Two or more: a ``CrossTable``, with the first attribute in its rows. No name,
        of ``Choices``: how many users have chosen each item.
        """
        decoder = self._estimator({})
        if not isinstance(decoder, TablesOnly):
            raise StateError(
                f"table: expected a scheme for records of several attributes, such as CLIQUE, got {self.scheme.name}; "
                "use tally.estimate"
            )
        given: dict[str, Any] = {"basis": self._basis(decoder), "cautions": self.cautions}
        if not names:
            if not isinstance(decoder.records, Choices):
                raise ParameterError("table: expected names of attributes, got none")
            singles = range(len(decoder.records.names))
            tables = [decoder.tabulated(self.evidence, len(self), (place,)) for place in singles]
            every = Widest(tuple(OfTable(decoder, (place,)) for place in singles))
            return chosen(decoder.records, tables, len(self), levers=every, **given)
        places = [decoder.records.place(name) for name in names]
        if len(set(places)) != len(places):
            raise ParameterError("table: expected different attributes, got one of them twice")
        order = tuple(int(axis) for axis in np.argsort(places))
        found = decoder.tabulated(self.evidence, len(self), tuple(sorted(places)))
        attributes = tuple(decoder.records.attributes[place] for place in places)
        given["levers"] = OfTable(decoder, tuple(places))
        if len(places) == 1:
            return one_way(attributes[0], found.counts, found.law, len(self), **given)
        ranks = tuple(order.index(axis) for axis in range(len(order)))
        counts = np.ascontiguousarray(found.counts.transpose(ranks))
        if len(places) == 2 and (counts.shape[0] - 1) * (counts.shape[1] - 1) <= MOST_CONTRASTS:
            given["sized"] = decoder.sized(self.evidence, len(self), (min(places), max(places)))
        return crossed(attributes, counts, transposed(found.law, ranks), len(self), **given)

    def diagnose(self, rate: float = 0.01) -> Diagnosis:
        """Test whether the accumulated reports agree with each other as honest ones do.

        The tests compare numbers that are known twice: public choices with their probabilities, sums of counts with the
        number of reports, answers from different groups. ``rate`` is the probability that honest reports raise any
        alarm. Fakes that look like honest holders raise none; ``plausibly.diagnose_reports`` sees more of them.
        """
        return Diagnosis(tuple(self.checks()), expect_rate(rate))

    def checks(self) -> list[Check]:
        """The tests of ``diagnose`` for this accumulator, with those of its parts."""
        decoder = self._estimator({})
        if not (isinstance(decoder, Agreeing) and len(self)):
            return self.own_checks()
        return [*self.own_checks(), *disagreement_checks(decoder.disagreements(self.evidence, len(self)))]

    def own_checks(self) -> list[Check]:
        """The tests of ``diagnose`` that need no decoder of this accumulator."""
        return []

    def _usual(self, estimator: Decoder) -> bool:
        # Whether the analyst's options lead to the same estimates as none.
        return isinstance(estimator, ByLaw) and estimator.law == self.scheme.estimator().law

    def _estimator(self, options: Mapping[str, Any]) -> Decoder:
        return choose_estimator(self.scheme.estimator, options)

    def _basis(self, estimator: Decoder) -> Basis:
        law = estimator.law if isinstance(estimator, ByLaw) else None
        memo = self.scheme.memo_law
        memos = frozenset[str]() if memo is None else frozenset([memo.memo])
        return Basis(frozenset(self._origins), self.scheme.hash_seeds, law, memos, memo)

    @cached_property
    def _origins(self) -> set[object]:
        # The accumulators to which these reports were added: estimates from the same reports are not independent.
        return {_Origin()}

    def scores(self, items: object = None, **options: Any) -> npt.NDArray[np.int64]:
        """The accumulator's exact integers behind the estimates: supporting reports of an item, or a sum of signs."""
        estimator = self._estimator(options)
        return estimator.scores(self.evidence, self.numbers, self._asked(items)[0]).copy()

    def _asked(self, items: object) -> tuple[Codes | None, npt.NDArray[Any]]:
        # The requested items, encoded (None for the whole domain), and their names in the answer.
        domain = self.scheme.answers
        if items is None:
            if domain.size is None:
                raise StateError(f"items: {domain.title} cannot be listed; say which items to estimate")
            return None, domain.decode(np.arange(domain.size, dtype=np.uint64))
        return domain.ask(items)

    def to_bytes(self) -> bytes:
        """The accumulator as bytes, with the scheme's fingerprint and a checksum."""
        fingerprint = bytes.fromhex(self.scheme.fingerprint())[:16]
        body = _HEADER.pack(_MAGIC, fingerprint, len(self)) + self.to_payload()
        return body + struct.pack("<I", zlib.crc32(body))

    @classmethod
    def from_bytes(cls, scheme: Scheme, blob: bytes) -> Accumulator:
        """The accumulator that ``to_bytes`` wrote. Raises for another scheme, and for damaged or left-over bytes.

        Bytes of the wrong length are rejected before any memory is allocated; others need at most three times their
        length. A state that no reports can produce is rejected as far as the scheme can tell
        (docs/adr/0016-states.md), so that a forged state of n reports shifts no count further than n fake reports
        could. Fake reports look like honest ones: a state is as trustworthy as its sender.
        """
        view = as_bytes(blob, StateError)
        if len(view) < _HEADER.size + 4:
            raise StateError(f"accumulator: expected at least {_HEADER.size + 4} bytes, got {len(view)}")
        magic, fingerprint, count = _HEADER.unpack_from(view)
        if magic != _MAGIC:
            raise StateError("accumulator: these bytes are not an accumulator of a version known here")
        if zlib.crc32(view[:-4]) != struct.unpack("<I", view[-4:])[0]:
            raise StateError("accumulator: the checksum does not fit; the bytes are damaged or cut off")
        if fingerprint != bytes.fromhex(scheme.fingerprint())[:16]:
            raise StateError(f"accumulator: expected the same scheme, got another: {scheme.misfit(fingerprint.hex())}")
        if count < 0:
            raise StateError("accumulator: the number of reports is negative")
        payload = view[_HEADER.size : -4]
        scheme.accumulator_type.expect_payload(scheme, count, payload)
        restored = scheme.accumulator()
        restored._check_room(count)
        restored.restore(count, payload)
        return restored

    usual: ClassVar[tuple[str, ...]] = (
        "add",
        "merge",
        "estimate",
        "mean",
        "table",
        "scores",
        "diagnose",
        "scheme",
        "to_bytes",
        "from_bytes",
    )
    """Names that completion suggests for an accumulator."""

    def __dir__(self) -> list[str]:
        return sorted(self.usual)

    def __copy__(self) -> Accumulator:
        """An independent accumulator with the same reports."""
        copied = self.scheme.accumulator()
        copied.unite(self)
        if len(self):
            copied._origins.update(self._origins)
        return copied

    def __repr__(self) -> str:
        return f"<accumulator of {len(self):,} reports of {self.scheme!r}>"

    def _check_room(self, more: int) -> None:
        if (len(self) + more) * self.scheme.max_increment >= 2**63:
            raise StateError(f"{len(self)} and {more} more reports would overflow the 64-bit counters")


class CellAccumulator(Accumulator):
    """Reports folded into int64 cells: ``state[channel, ...]`` and ``n[channel]``, in constant memory."""

    def __init__(self, scheme: Scheme) -> None:
        super().__init__(scheme)
        shape = _state_shape(scheme)
        try:
            self.state = np.zeros(shape, dtype=np.int64)
        except (MemoryError, ValueError):  # ValueError if the size does not fit into 64 bits
            raise StateError(
                f"accumulator: expected memory for a state of {_COUNTER * prod(shape):,} bytes, got none; "
                "make a scheme with fewer cells"
            ) from None
        self.n = np.zeros(len(self.state), dtype=np.int64)

    def __len__(self) -> int:
        return int(self.n.sum())

    @property
    def cells(self) -> int:
        return self.state.size

    def absorb(self, reports: Reports) -> None:
        # Folded apart and added at the end: whatever interrupts the fold, the state is as before.
        delta = np.zeros_like(self.state)

        def work(first: int, last: int) -> npt.NDArray[np.int64]:
            part: npt.NDArray[np.int64] = np.zeros_like(self.state[0])
            self.scheme.fold(part, reports[first:last])
            return part

        # Each task allocates its own cells: with fewer reports than cells, that would be most of its work.
        for part in in_chunks(len(reports), max(_FOLD_CHUNK, self.state[0].size), work):
            delta[0] += part
        added = len(reports)
        # Nothing is called from here on: an interrupt cannot come between the cells and their number.
        self.state += delta
        self.n[0] += added

    def absorb_single_threaded(self, reports: Reports) -> None:
        self.scheme.fold(self.state[0], reports)
        self.n[0] += len(reports)

    def unite(self, other: CellAccumulator) -> None:
        self.state += other.state
        self.n += other.n

    def to_payload(self) -> bytes:
        return self.state.astype("<i8").tobytes()

    def restore(self, count: int, payload: memoryview) -> None:
        state = self.state
        state[...] = np.frombuffer(payload, dtype="<i8").reshape(state.shape)
        self.scheme.check_cells(state[0], count)
        self.n[0] = count

    def own_checks(self) -> list[Check]:
        found = total_checks(self.scheme, [(self.evidence, len(self))])
        return found + row_checks(self.scheme, self.evidence, self.n)

    @classmethod
    def payload_bytes(cls, scheme: Scheme, count: int) -> int:
        return _COUNTER * prod(_state_shape(scheme))

    @property
    def evidence(self) -> Cells:
        cells: Cells = self.state[0]
        return cells


class ChannelAccumulator(CellAccumulator):
    """Reports of a scheme that divides its users among channels: each report is added to the cells of one channel."""

    def absorb(self, reports: Reports) -> None:
        # Folded apart and added at the end: whatever interrupts the fold, the state is as before.
        delta = np.zeros_like(self.state)
        order, bounds = self._by_channel(reports)
        # No two tasks share a channel, hence none share a cell.
        task = partial(self._fold, delta, reports, order, bounds)
        for _ in in_chunks(len(delta), -(-len(delta) // _TASKS), task):
            pass
        added = np.diff(bounds)
        # Nothing is called from here on: an interrupt cannot come between the cells and their number.
        self.state += delta
        self.n += added

    def absorb_single_threaded(self, reports: Reports) -> None:
        order, bounds = self._by_channel(reports)
        self._fold(self.state, reports, order, bounds, 0, len(self.state))
        self.n += np.diff(bounds)

    def _by_channel(self, reports: Reports) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        # The positions of the reports, sorted by channel, and the boundaries between the channels.
        channels = self.scheme.channel_of(reports).copy()
        numbers = np.bincount(channels, minlength=len(self.state))
        if len(numbers) > len(self.state):
            raise IndexError("expected reports of the channels that there are, got others")
        return np.argsort(channels, kind="stable"), np.concatenate([[0], np.cumsum(numbers)])

    def _fold(
        self,
        cells: Cells,
        reports: Reports,
        order: npt.NDArray[np.int64],
        bounds: npt.NDArray[np.int64],
        first: int,
        last: int,
    ) -> None:
        for channel in range(first, last):
            own = order[bounds[channel] : bounds[channel + 1]]
            if len(own):
                self.scheme.fold(cells[channel], reports[own])

    def to_payload(self) -> bytes:
        return self.n.astype("<i8").tobytes() + super().to_payload()

    def restore(self, count: int, payload: memoryview) -> None:
        state, n = self.state, self.n
        n[...] = np.frombuffer(payload[: n.nbytes], dtype="<i8")
        if int(n.min()) < 0 or sum(n.tolist()) != count:
            raise StateError("accumulator: the reports of the channels do not add up to their number")
        state[...] = np.frombuffer(payload[n.nbytes :], dtype="<i8").reshape(state.shape)
        for cells, reports in zip(state, n.tolist(), strict=True):
            self.scheme.check_cells(cells, reports)

    def own_checks(self) -> list[Check]:
        tables = list(zip(self.state, self.n.tolist(), strict=True))
        found = shares_check("reports of each row or offset", self.n.tolist(), [1] * len(self.n))
        for oracle, _ in self.scheme.components:
            found += total_checks(oracle, tables)
        return found + row_checks(self.scheme, self.evidence, self.n)

    @classmethod
    def payload_bytes(cls, scheme: Scheme, count: int) -> int:
        return _COUNTER * (scheme.channels or 1) + super().payload_bytes(scheme, count)

    @property
    def evidence(self) -> Cells:
        return self.state

    @property
    def numbers(self) -> npt.NDArray[np.int64]:
        return self.n


class LogAccumulator(Accumulator):
    """Reports kept as received, for schemes whose items cannot be listed; decoded for given candidates."""

    _keeps = True

    def __init__(self, scheme: Scheme) -> None:
        super().__init__(scheme)
        self._parts: list[Reports] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def reports(self) -> Reports:
        """All reports of the accumulator as one read-only array."""
        if len(self._parts) != 1:
            parts = [np.zeros(0, dtype=self.scheme.report_dtype), *self._parts]
            joined = np.concatenate(parts).astype(self.scheme.report_dtype)
            joined.flags.writeable = False
            self._parts = [joined]
        return self._parts[0]

    def absorb(self, reports: Reports) -> None:
        # A copy, not the caller's array. Merged accumulators share it.
        kept = reports.view(self.scheme.report_dtype)
        kept.flags.writeable = False
        added = len(kept)
        # Nothing is called from here on: an interrupt cannot come between the reports and their number.
        self._parts += [kept]
        self._count += added

    absorb_single_threaded = absorb

    def unite(self, other: LogAccumulator) -> None:
        self._parts += other._parts
        self._count += other._count

    def to_payload(self) -> bytes:
        # Sorted as bytes: equal multisets of reports give equal bytes, and the order of arrival is dropped.
        size = self.scheme.report_dtype.itemsize
        rows = np.frombuffer(self.reports.tobytes(), dtype=np.uint8).reshape(-1, size)
        return rows[np.lexsort(rows.T[::-1])].tobytes()

    def restore(self, count: int, payload: memoryview) -> None:
        # NumPy compares fixed-length strings byte by byte; the trailing zeros it drops are the smallest bytes.
        reports = copied(np.frombuffer(payload, dtype=self.scheme.report_dtype))
        rows = reports.view(f"S{self.scheme.report_dtype.itemsize}")
        if (rows[1:] < rows[:-1]).any():
            raise StateError("accumulator: expected records in ascending order, as to_bytes writes them, got others")
        try:
            self.absorb(self.scheme.accept(reports))
        except ReportError as error:
            raise StateError(f"accumulator: {error}") from None

    @classmethod
    def payload_bytes(cls, scheme: Scheme, count: int) -> int:
        return count * scheme.report_dtype.itemsize

    @property
    def evidence(self) -> Cells:
        return self.reports


def expect_bytes(expected: int, payload: memoryview) -> None:
    """Raise unless the payload of an accumulator has the expected size."""
    if len(payload) != expected:
        raise StateError(f"accumulator: expected {expected} bytes of state, got {len(payload)}")


def _state_shape(scheme: Scheme) -> tuple[int, ...]:
    return (scheme.channels or 1, *(scheme.cell_shape or ()))


def own_accumulator(scheme: Scheme, reports: Reports) -> Accumulator:
    """The accumulator of reports that this process has just made, folded on the calling thread."""
    tally = scheme.accumulator()
    tally.absorb_single_threaded(reports)
    return tally
