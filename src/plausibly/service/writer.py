"""The writer: one thread that checks and commits everything that waits, and only then has it answered."""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, TypeVar

import numpy as np

from ..core.codec import batch_records, is_batch
from ..core.errors import ReportError
from ..core.scheme import Scheme
from .collections import Collection
from .inbox import Batch, FullError, Inbox, Outcome
from .log import fault

MOST_WAITING = 1 << 13
"""The most batches that wait for the writer."""
MOST_BYTES = 1 << 26
"""The most bytes that wait for the writer; they are in memory."""
MOST_COMMITTED = 1 << 21
"""The most reports of a commit, unless a single batch has more. A roll has whole commits in memory."""

BUSY = "busy"
"""The outcome of a batch for which there was no room, in the counters."""

_Result = TypeVar("_Result")


class Failure(Enum):
    """The reason why a batch could not be stored, although there is nothing wrong with it."""

    NO_ROOM = auto()
    BROKEN = auto()


@dataclass(frozen=True)
class Reply:
    """The answer to the sender of a batch."""

    outcome: Outcome | Failure
    reason: str = ""


@dataclass(frozen=True)
class Arrival:
    """A batch as it arrived. ``ticket`` is handed back with the reply."""

    collection: Collection
    key: bytes
    body: bytes
    ticket: Any = None


Replies = list[tuple[Arrival, Reply]]


@dataclass
class Counts:
    """Numbers of what the writer has done since it started."""

    commits: int = 0
    reports: int = 0
    batches: dict[str, int] = field(default_factory=lambda: defaultdict(int))


class Writer:
    """The only thread that writes to an inbox.

    ``deliver`` is called on this thread, once for each commit, with all replies.
    """

    def __init__(
        self,
        inbox: Inbox,
        deliver: Callable[[Replies], None],
        *,
        most_waiting: int = MOST_WAITING,
        most_bytes: int = MOST_BYTES,
        most_committed: int = MOST_COMMITTED,
    ) -> None:
        self.counts = Counts()
        self._inbox, self._deliver = inbox, deliver
        self._most_waiting, self._most_bytes, self._most_committed = most_waiting, most_bytes, most_committed
        self._arrived: deque[Arrival] = deque()
        self._jobs: deque[Callable[[], None]] = deque()
        self._bytes = 0
        self._stopping = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)

    def start(self) -> None:
        """Start the writer's thread."""
        self._thread.start()

    def stop(self, seconds: float | None = None) -> bool:
        """Commit and answer everything that waits, then end the writer's thread; whether it ended in this time."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        if self._thread.ident is not None:
            self._thread.join(seconds)
        return not self._thread.is_alive()

    @property
    def alive(self) -> bool:
        """Whether the writer takes batches."""
        return self._thread.is_alive() and not self._stopping

    @property
    def waiting(self) -> int:
        """Number of batches that wait for the writer."""
        return len(self._arrived)

    def submit(self, arrival: Arrival) -> bool:
        """Let a batch wait for the writer, until `wake` or an earlier commit; False if too many wait already."""
        with self._changed:
            full = len(self._arrived) >= self._most_waiting or self._bytes + len(arrival.body) > self._most_bytes
            if full or self._stopping:
                self.counts.batches[BUSY] += 1
                return False
            self._arrived.append(arrival)
            self._bytes += len(arrival.body)
        return True

    def wake(self) -> None:
        """Tell the writer that batches wait. Once for many is cheaper: it then commits them together."""
        with self._changed:
            self._changed.notify()

    def run(self, job: Callable[[], _Result]) -> Future[_Result]:
        """Run a job on the writer's thread, between two commits."""
        future: Future[_Result] = Future()

        def work() -> None:
            try:
                future.set_result(job())
            except BaseException as error:
                future.set_exception(error)

        with self._changed:
            if self._stopping:
                future.cancel()
                return future
            self._jobs.append(work)
            self._changed.notify()
        return future

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._arrived or self._jobs or self._stopping)
                if self._stopping and not self._arrived and not self._jobs:
                    return
                arrived, jobs = self._next(), list(self._jobs)
                self._jobs.clear()
            if arrived:
                self._deliver(self._committed(arrived))
            for job in jobs:
                job()

    def _next(self) -> list[Arrival]:
        # The batches of the next commit. Usually that is all of them: no report is smaller than a byte.
        arrived: list[Arrival] = []
        if self._bytes <= self._most_committed:
            arrived.extend(self._arrived)
            self._arrived.clear()
            self._bytes = 0
            return arrived
        room, collection, size = self._most_committed, None, 1
        for each in self._arrived:
            if each.collection is not collection:  # making the type of a record costs more than all else here
                collection, size = each.collection, each.collection.scheme.report_dtype.itemsize
            room -= len(each.body) // size
            if arrived and room < 0:
                break
            arrived.append(each)
        for each in arrived:
            self._arrived.popleft()
            self._bytes -= len(each.body)
        return arrived

    def _committed(self, arrived: Sequence[Arrival]) -> Replies:
        replies: dict[int, Reply] = {}
        checked: dict[str, list[tuple[int, Batch]]] = {}
        try:
            for identity, places in _by_collection(arrived).items():
                checked[identity] = []
                for place, found in check([arrived[place] for place in places], places):
                    if isinstance(found, Batch):
                        checked[identity].append((place, found))
                    else:
                        replies[place] = found
            outcomes = self._inbox.commit(
                {identity: [batch for _, batch in each] for identity, each in checked.items()}
            )
            for identity, each in checked.items():
                for (place, batch), outcome in zip(each, outcomes[identity], strict=True):
                    replies[place] = Reply(outcome)
                    self.counts.reports += batch.count * (outcome is Outcome.NEW)
            self.counts.commits += 1
        except Exception as error:
            # Nothing was committed; senders keep their batches and try again under the same keys.
            failure = Failure.NO_ROOM if isinstance(error, FullError) else Failure.BROKEN
            fault(error, "nothing could be stored")
            replies = {place: replies.get(place, Reply(failure)) for place in range(len(arrived))}
        for reply in replies.values():
            self.counts.batches[reply.outcome.name.lower()] += 1
        return [(arrival, replies[place]) for place, arrival in enumerate(arrived)]


def check(arrived: Sequence[Arrival], places: Sequence[int]) -> Iterable[tuple[int, Batch | Reply]]:
    """Batches of one collection, checked together; one by one only if one of them is wrong."""
    scheme = arrived[0].collection.scheme
    size = scheme.report_dtype.itemsize
    framed: list[tuple[int, Batch]] = []
    for place, arrival in zip(places, arrived, strict=True):
        try:
            records = _records(scheme, size, arrival.body)
            framed.append((place, Batch(arrival.key, records, len(records) // size)))
        except ReportError as error:
            yield place, _refused(error)
    try:
        _accept(scheme, [batch.records for _, batch in framed])
        yield from framed
    except ReportError:
        for place, batch in framed:
            try:
                _accept(scheme, [batch.records])
                yield place, batch
            except ReportError as error:
                yield place, _refused(error)


def _accept(scheme: Scheme, parts: Sequence[bytes | memoryview]) -> None:
    scheme.accept(np.frombuffer(b"".join(parts), dtype=scheme.report_dtype))


def _records(scheme: Scheme, size: int, body: bytes) -> bytes | memoryview:
    if is_batch(body):
        records: bytes | memoryview = batch_records(scheme, body)
    else:
        records = body
        if len(body) % size:
            raise ReportError(f"expected a batch, or records of {size} bytes each, got {len(body):,} bytes")
    if not len(records):
        raise ReportError("expected at least one report, got none")
    return records


def _refused(error: ReportError) -> Reply:
    return Reply(Outcome.REFUSED, str(error))


def _by_collection(arrived: Sequence[Arrival]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for place, arrival in enumerate(arrived):
        found[arrival.collection.id].append(place)
    return found
