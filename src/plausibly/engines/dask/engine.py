"""The engine: tasks in waves, whose states are merged on the workers."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..masters import gave_up
from ..pacing import Waves
from ..running import State, Task
from ..workers import Wave, pack_job, pack_task, run
from .trees import RETRIES, merged

_AHEAD = 2
"""Number of waves that the cluster has at a time: while one is merged, the threads read the next one."""


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
        waves = Waves(len(tasks), sum(self.client.nthreads().values()) or 1)
        running: deque[tuple[range, Any]] = deque()
        since = time.monotonic()
        try:
            while waves or running:
                while waves and len(running) < _AHEAD:
                    numbers = waves.next_wave()
                    packed = [pack_task(each, tasks[each]) for each in numbers]
                    running.append((numbers, self._reply(job, packed, waves.parts(numbers))))
                numbers, reply = running.popleft()
                wave = Wave(numbers)
                yield wave.state(_result(reply))
                wave.expect_all()
                now = time.monotonic()
                waves.took(now - since)
                since = now
        finally:
            if running:
                self.client.cancel([reply for _, reply in running])

    def _reply(self, job: Any, tasks: list[bytes], parts: int) -> Any:
        # The reply to all tasks of a wave: each part runs on one thread, then comes a tree of merges.
        return merged(self._submit, job, [self._submit(run, job, tasks[part::parts]) for part in range(parts)])

    def _submit(self, function: Callable[..., bytes], *arguments: object) -> Any:
        # Not pure: the files may be others when the same call is made again.
        return self.client.submit(function, *arguments, pure=False, retries=RETRIES)


def _result(reply: Any) -> bytes:
    try:
        result: bytes = reply.result()
    except Exception as error:  # of the last attempt, or of Dask
        raise gave_up("Dask", error) from error
    return result
