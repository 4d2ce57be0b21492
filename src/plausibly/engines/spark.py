"""The engine that runs on a Spark cluster, and functions for reports and values in Spark tables.

It uses DataFrames only: Spark Connect and shared clusters refuse RDDs. The workers need plausibly and pyarrow.
"""

from __future__ import annotations

import operator
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path
from typing import Any, TypeVar

from ..core.accumulator import Accumulator
from ..core.errors import StateError
from ..core.scheme import Scheme
from ..files.privatizing import Privatized
from .batches import COLUMNS, combine_batches, replies_in, run_batches, run_on_batches
from .gateway import Discreet, Gateway, Missing, attempts_in, not_computed, publish
from .masters import answer_of, expect_java, expect_reachable, gave_up
from .tables import Counting, expect_column, united
from .workers import Wave, pack_job, pack_task

Task = TypeVar("Task")
State = TypeVar("State")

__all__ = ["Spark", "connect", "privatize", "tally"]

_FAN = 4
"""Number of replies that one worker merges, and that the driver receives at once."""
_FIRST, _EACH = 2, 8
"""Number of tasks for each core in the first wave, and for each Spark task in a wave with more tasks than cores."""
_SHORT = 5.0
"""Duration in seconds below which the next wave is larger."""
_LOCAL: dict[str, bool | float | int | str | None] = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
"""Settings of a Spark that runs on this machine only: Spark otherwise listens to the whole network."""


@dataclass(frozen=True)
class Spark:
    """The engine that runs on a Spark cluster, classic or through Spark Connect.

    The tasks run in waves, after each of which the caller can save its progress. ``wave`` is the number of tasks in a
    wave; without it, waves grow until they take some seconds.
    """

    session: Any
    wave: int | None = None

    def reduce(
        self, work: Callable[[Task], State], merge: Callable[[State, State], State], tasks: Sequence[Task]
    ) -> Iterator[State]:
        """Run the tasks of a collection on the cluster, and yield a few merged states for each wave."""
        job, cores = pack_job(work, merge), _cores(self.session) if tasks else 0
        first, size = 0, self.wave or _FIRST * cores
        while first < len(tasks):
            begin, numbers = time.monotonic(), range(first, min(len(tasks), first + size))
            packed = [pack_task(number, tasks[number]) for number in numbers]
            parts = min(len(packed), max(cores, len(packed) // _EACH))
            rows = self.session.range(0, parts, 1, parts)
            replies = _merged(rows.mapInArrow(partial(run_batches, job, packed, parts), COLUMNS), job, parts)
            if self.wave is None and time.monotonic() - begin < _SHORT:
                size *= _FAN
            wave = Wave(numbers)
            yield from map(wave.state, replies)
            wave.expect_all()
            first = numbers.stop


def tally(table: Any, scheme: Scheme, column: str = "report") -> Accumulator:
    """The tally of the reports in a binary column of a Spark DataFrame.

    It does not know which reports it has counted: merging the tallies of two calls counts every report twice. Simulated
    reports are not recognized in a table. To count report files, use ``collect`` with the engine.
    """
    expect_column(column, table.columns)
    job = pack_job(Counting(scheme), united)
    rows = table.select(table[column]).mapInArrow(partial(_run_on_part, job), COLUMNS)
    replies = _merged(rows, job, _FAN * _cores(table.sparkSession))
    return reduce(united, map(Wave().state, replies), scheme.accumulator())


def privatize(table: Any, column: str, scheme: Scheme, out: str | Path, *, missing: Missing = "refuse") -> Privatized:
    """Privatize the values in a column of a Spark DataFrame: write one report per value to new files in a folder.

    All machines must share the folder. Missing values are refused or skipped, as in a Parquet file. The reports are
    written now and only once: a column of reports would have fresh noise each time that Spark evaluates it.
    """
    expect_column(column, table.columns)
    with attempts_in(out) as folder:
        job = pack_job(Discreet(Gateway(str(folder), scheme, missing)), operator.add)
        rows = table.select(table[column]).mapInArrow(partial(_run_on_part, job), COLUMNS)
        return publish(folder, reduce(operator.add, map(Wave().state, _replies(rows, not_computed)), []))


def connect(master: str) -> Any:
    """A Spark session on the cluster at an address such as ``sc://host:15002``, or on this machine: ``local[2]``."""
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise ImportError("Spark needs pyspark: pip install pyspark") from error
    if master.startswith("sc://"):
        _expect_answer(master)
        return SparkSession.builder.remote(master).getOrCreate()
    expect_java()
    if master.startswith("spark://"):
        expect_reachable(master, 7077)
    builder = SparkSession.builder.master(master)
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = builder.config(map=_LOCAL)
    return builder.getOrCreate()


def _expect_answer(master: str) -> None:
    # A session would try for ten minutes, and again when the process ends.
    expect_reachable(master, 15002)
    try:
        import grpc
        from pyspark.sql.connect.client import DefaultChannelBuilder
    except ImportError as error:
        raise ImportError("Spark Connect needs more packages: pip install 'pyspark[connect]'") from error
    with DefaultChannelBuilder(master).toChannel() as channel:
        answer_of(grpc.channel_ready_future(channel).result, master)


def _cores(session: Any) -> int:
    # Spark Connect does not say, but a table has as many partitions unless we choose another number.
    return len(_collected(session.range(1 << 16).mapInArrow(_one_row, "id long")))


def _one_row(batches: Iterable[Any]) -> Iterator[Any]:
    # All of them are read: Spark ends a worker that leaves some, and the next one imports everything again.
    first, *_ = batches
    yield first[:1]


def _run_on_part(job: bytes, batches: Iterable[Any]) -> Iterator[Any]:
    from pyspark import TaskContext

    context: Any = TaskContext.get()
    return run_on_batches(job, context.partitionId(), batches)


def _merged(rows: Any, job: bytes, replies: int) -> list[bytes]:
    # A tree of merges on the cluster, until few replies are left.
    while replies > _FAN:
        replies = -(-replies // _FAN)
        rows = rows.repartitionById(replies, rows["reply"] % replies)
        rows = rows.mapInArrow(partial(combine_batches, job, replies), COLUMNS)
    return _replies(rows)


def _replies(rows: Any, refusal: Callable[[str, Exception], StateError] = gave_up) -> list[bytes]:
    return replies_in(_collected(rows, refusal).to_batches())


def _collected(rows: Any, refusal: Callable[[str, Exception], StateError] = gave_up) -> Any:
    try:
        return rows.toArrow()
    except Exception as error:  # of Spark, Py4J or gRPC
        raise refusal("Spark", error) from (error if refusal is gave_up else None)
