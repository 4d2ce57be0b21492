"""The engine: tasks in waves, each of which is a table with a row for each Spark task."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ...core.arguments import whole_number
from ..batches import COLUMNS, run_batches
from ..pacing import Waves
from ..running import State, Task
from ..workers import Wave, pack_job, pack_task
from .replies import cores_of, merged_replies


@dataclass(frozen=True)
class Spark:
    """The engine that runs on a Spark cluster, classic or through Spark Connect.

    The tasks run in waves, after each of which the caller can save its progress. ``wave`` is the number of tasks in a
    wave; without it, waves grow until they take some seconds.
    """

    session: Any
    wave: int | None = None

    def __post_init__(self) -> None:
        if self.wave is not None:
            whole_number("wave", self.wave, 1, 10**9)

    def reduce(
        self, work: Callable[[Task], State], merge: Callable[[State, State], State], tasks: Sequence[Task]
    ) -> Iterator[State]:
        """Run the tasks of a collection on the cluster, and yield a few merged states for each wave."""
        if not tasks:
            return
        job, waves = pack_job(work, merge), Waves(len(tasks), cores_of(self.session), self.wave)
        while waves:
            begin, numbers = time.monotonic(), waves.next_wave()
            packed, parts = [pack_task(each, tasks[each]) for each in numbers], waves.parts(numbers)
            rows = self.session.range(0, parts, 1, parts)
            replies = merged_replies(rows.mapInArrow(partial(run_batches, job, packed, parts), COLUMNS), job, parts)
            waves.took(time.monotonic() - begin)
            wave = Wave(numbers)
            yield from map(wave.state, replies)
            wave.expect_all()
