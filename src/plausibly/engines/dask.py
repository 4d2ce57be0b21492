"""The engine that runs on a Dask cluster. Its workers need plausibly and pyarrow."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.errors import StateError
from .running import State, Task
from .workers import Wave, combine, pack_job, pack_task, run

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
        replies = [self._submit(run, job, tasks[part::parts]) for part in range(parts)]
        while len(replies) > 1:
            replies = [self._submit(combine, job, replies[i : i + _FAN]) for i in range(0, len(replies), _FAN)]
        return replies[0]

    def _submit(self, function: Callable[..., bytes], *arguments: object) -> Any:
        # Not pure: the files may be others when the same call is made again.
        return self.client.submit(function, *arguments, pure=False, retries=_RETRIES)


def connect(master: str) -> Any:
    """A client of the Dask cluster whose scheduler is at an address such as ``tcp://host:8786``."""
    try:
        import distributed
    except ImportError as error:
        raise ImportError("Dask needs distributed: pip install distributed") from error
    library: Any = distributed  # some of its functions have no types
    try:
        client = library.Client(master, timeout=_ANSWER, set_as_default=False)
    except (OSError, ValueError) as error:
        raise StateError(
            f"{master}: no Dask scheduler answers there; start one with: dask scheduler, or correct the address"
        ) from error
    try:
        client.wait_for_workers(1, timeout=_ANSWER)
    except TimeoutError as error:
        client.close()
        raise StateError(f"{master}: the cluster has no workers; start some with: dask worker {master}") from error
    return client


def _result(reply: Any) -> bytes:
    try:
        result: bytes = reply.result()
    except Exception as error:  # of the last attempt, or of Dask
        raise StateError(f"Dask gave up: {error}; repeat the call to go on") from error
    return result
