"""The engine that runs on a Dask cluster, and functions for reports and values in Dask tables.

The workers and the scheduler need plausibly and pyarrow.
"""

from __future__ import annotations

import operator
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.accumulator import Accumulator
from ..core.errors import StateError
from ..core.scheme import Scheme
from ..files.privatizing import Privatized
from .gateway import Discreet, Gateway, Missing, attempts_in, not_computed, publish
from .masters import answer_of, expect_reachable, gave_up
from .running import State, Task
from .tables import Counting, arrays_of, expect_column, united
from .workers import Wave, combine, pack_job, pack_task, run, run_on

__all__ = ["Dask", "connect", "privatize", "tally"]

_FAN = 4
"""Number of replies that a worker merges at once."""
_FIRST, _EACH = 2, 8
"""Number of tasks for each thread in the first wave, and maximum number that a thread runs one after the other."""
_SHORT = 5.0
"""Duration in seconds below which the next wave is larger."""
_AHEAD = 2
"""Number of waves that the cluster has at a time: while one is merged, the threads read the next one."""
_RETRIES = 3
"""Number of times that a task is run again after an error that may pass."""
_ANSWER = 10
"""Number of seconds to wait for the scheduler, and for the first worker."""


@dataclass(frozen=True)
class Dask:
    """The engine that runs on a Dask cluster: ``Dask(distributed.Client("tcp://host:8786"))``.

    The tasks run in waves, after each of which the caller can save its progress. The states of a wave are merged on the
    workers, and one state comes back.
    """

    client: Any

    def reduce(
        self, work: Callable[[Task], State], merge: Callable[[State, State], State], tasks: Sequence[Task]
    ) -> Iterator[State]:
        """Run the tasks of a collection on the cluster, and yield one merged state for each wave."""
        if not tasks:
            return
        # As a task, not as scattered data, which would be lost with their worker.
        job = self._submit(bytes, pack_job(work, merge))
        cores = sum(self.client.nthreads().values()) or 1
        waves: deque[tuple[range, Any]] = deque()
        first, size, since = 0, _FIRST * cores, time.monotonic()
        try:
            while waves or first < len(tasks):
                while first < len(tasks) and len(waves) < _AHEAD:
                    numbers = range(first, min(len(tasks), first + size))
                    waves.append((numbers, self._wave(job, [pack_task(each, tasks[each]) for each in numbers], cores)))
                    first = numbers.stop
                numbers, reply = waves.popleft()
                wave = Wave(numbers)
                yield wave.state(_result(reply))
                wave.expect_all()
                now = time.monotonic()
                size, since = size * _FAN if now - since < _SHORT else size, now
        finally:
            if waves:
                self.client.cancel([reply for _, reply in waves])

    def _wave(self, job: Any, tasks: list[bytes], cores: int) -> Any:
        # The reply to all these tasks: parts run on one thread each, then a tree of merges.
        parts = min(len(tasks), max(cores, len(tasks) // _EACH))
        return _merged(self._submit, job, [self._submit(run, job, tasks[part::parts]) for part in range(parts)])

    def _submit(self, function: Callable[..., bytes], *arguments: object) -> Any:
        # Not pure: the files may be others when the same call is made again.
        return self.client.submit(function, *arguments, pure=False, retries=_RETRIES)


def tally(table: Any, scheme: Scheme, column: str = "report") -> Accumulator:
    """The tally of the reports in a column of a Dask DataFrame, or of a list of delayed tables.

    It does not know which reports it has counted: merging the tallies of two calls counts every report twice. Simulated
    reports are not recognized in a table. To count report files, use ``collect`` with the engine. The current Dask
    client computes the table. ``dask.dataframe.from_pandas`` turns bytes into texts, which are refused, unless its
    setting ``dataframe.convert-string`` is False; ``read_parquet`` keeps them.
    """
    reply = _planned(table, column, pack_job(Counting(scheme), united))
    state = _state(reply, gave_up)
    return scheme.accumulator() if state is None else state


def privatize(table: Any, column: str, scheme: Scheme, out: str | Path, *, missing: Missing = "refuse") -> Privatized:
    """Privatize the values in a column of a Dask DataFrame, or of a list of delayed tables: write new files of reports.

    All machines must share the folder ``out``. Missing values are refused or skipped, as in a Parquet file. The reports
    are written now and only once: a column of reports would have fresh noise each time that Dask computes it.
    """
    with attempts_in(Path(out)) as folder:
        reply = _planned(table, column, pack_job(Discreet(Gateway(str(folder), scheme, missing)), operator.add))
        return publish(folder, _state(reply, not_computed) or [])


def connect(master: str) -> Any:
    """A client of the Dask cluster whose scheduler is at an address such as ``tcp://host:8786``."""
    try:
        import distributed
    except ImportError as error:
        raise ImportError("Dask needs distributed: pip install distributed") from error
    expect_reachable(master, 8786)
    library: Any = distributed  # some of its functions have no types
    try:
        # Dask's own time-out does not end the wait for a server that takes the connection and says nothing.
        client = answer_of(lambda: library.Client(master, timeout=_ANSWER, set_as_default=False), master)
    except StateError:
        raise
    except (OSError, ValueError) as error:
        raise StateError(
            f"{master}: expected a Dask scheduler there, got another server; correct the address"
        ) from error
    try:
        client.wait_for_workers(1, timeout=_ANSWER)
    except TimeoutError as error:
        client.close()
        raise StateError(f"{master}: the cluster has no workers; start some: dask worker {master}") from error
    return client


def _planned(table: Any, column: str, job: bytes) -> Any:
    # The reply for all partitions, to be computed; None without partitions.
    import dask

    if hasattr(table, "columns"):
        expect_column(column, list(table.columns))
        table = table[[column]].to_delayed()
    library: Any = dask  # some of its functions have no types
    with library.annotate(retries=_RETRIES):
        packed = library.delayed(job)
        replies = [library.delayed(_run_on_part)(packed, *each, column) for each in enumerate(table)]
        return _merged(lambda function, *given: library.delayed(function)(*given), packed, replies)


def _state(reply: Any, refusal: Callable[[str, Exception], StateError]) -> Any:
    if reply is None:
        return None
    try:
        computed = reply.compute()
    except Exception as error:
        raise refusal("Dask", error) from None
    return Wave().state(computed)


def _run_on_part(job: bytes, number: int, table: Any, column: str) -> bytes:
    return run_on(job, number, (number, arrays_of(table, column)))


def _merged(submit: Callable[..., Any], job: Any, replies: list[Any]) -> Any:
    # A tree of merges on the cluster.
    while len(replies) > 1:
        replies = [submit(combine, job, replies[first : first + _FAN]) for first in range(0, len(replies), _FAN)]
    return replies[0] if replies else None


def _result(reply: Any) -> bytes:
    try:
        result: bytes = reply.result()
    except Exception as error:  # of the last attempt, or of Dask
        raise gave_up("Dask", error) from error
    return result
