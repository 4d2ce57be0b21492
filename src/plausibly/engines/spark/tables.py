"""Reports that are already in a Spark table, and values that a trusted gateway privatizes."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from functools import partial, reduce
from pathlib import Path
from typing import Any

from ...core.accumulator import Accumulator
from ...core.scheme import Scheme, expect_scheme
from ...files.privatizing import Privatized
from ..batches import COLUMNS, run_on_batches
from ..gateway import Discreet, Gateway, Missing, attempts_in, not_computed, publish
from ..pacing import FAN
from ..tables import Counting, expect_column, expect_table, united
from ..workers import Wave, pack_job
from .replies import cores_of, merged_replies, replies_of


def tally(table: Any, scheme: Scheme, column: str = "report") -> Accumulator:
    """The tally of the reports in a binary column of a Spark DataFrame.

    It does not know which reports it has counted: merging the tallies of two calls counts every report twice. Simulated
    reports are not recognized in a table. To count report files, use ``collect`` with the engine.
    """
    expect_scheme(scheme)
    job = pack_job(Counting(scheme), united)
    replies = merged_replies(_run_on(table, column, job), job, FAN * cores_of(table.sparkSession))
    return reduce(united, map(Wave().state, replies), scheme.accumulator())


def privatize(table: Any, column: str, scheme: Scheme, out: str | Path, *, missing: Missing = "refuse") -> Privatized:
    """Privatize the values in a column of a Spark DataFrame: write one report per value to new files in a folder.

    All machines must share the folder. Missing values are refused or skipped, as in a Parquet file. The reports are
    written now and only once: a column of reports would have fresh noise each time that Spark evaluates it.
    """
    expect_scheme(scheme)
    with attempts_in(out) as folder:
        job = pack_job(Discreet(Gateway(str(folder), scheme, missing)), operator.add)
        replies = replies_of(_run_on(table, column, job), not_computed)
        return publish(folder, reduce(operator.add, map(Wave().state, replies), []))


def _run_on(table: Any, column: str, job: bytes) -> Any:
    # A task for each partition of the table.
    expect_table(table, "mapInArrow", "a Spark DataFrame, such as spark.createDataFrame(table)")
    expect_column(column, table.columns)
    # In quotes, and then renamed: a name may have dots, which Spark takes for fields.
    return (
        table.select("`" + column.replace("`", "``") + "`")
        .toDF("value")
        .mapInArrow(partial(_run_on_part, job), COLUMNS)
    )


def _run_on_part(job: bytes, batches: Iterable[Any]) -> Iterator[Any]:
    from pyspark import TaskContext

    context: Any = TaskContext.get()
    return run_on_batches(job, context.partitionId(), batches)
