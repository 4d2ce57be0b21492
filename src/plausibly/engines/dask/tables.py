"""Reports that are already in a Dask table, and values that a trusted gateway privatizes."""

from __future__ import annotations

import operator
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...core.accumulator import Accumulator
from ...core.errors import StateError
from ...core.scheme import Scheme, expect_scheme
from ...files.privatizing import Privatized
from ..gateway import Discreet, Gateway, Missing, attempts_in, not_computed, publish
from ..masters import gave_up
from ..tables import Counting, arrays_of, expect_column, expect_table, united
from ..workers import Wave, pack_job, run_on
from .trees import RETRIES, merged


def tally(table: Any, scheme: Scheme, column: str = "report") -> Accumulator:
    """The tally of the reports in a column of a Dask DataFrame, or of a list of delayed tables.

    It does not know which reports it has counted: merging the tallies of two calls counts every report twice. Simulated
    reports are not recognized in a table. To count report files, use ``collect`` with the engine. The current Dask
    client computes the table. ``dask.dataframe.from_pandas`` turns bytes into texts, which are refused, unless its
    setting ``dataframe.convert-string`` is False; ``read_parquet`` keeps them.
    """
    expect_scheme(scheme)
    reply = _planned(table, column, pack_job(Counting(scheme), united))
    state = _state(reply, gave_up)
    return scheme.accumulator() if state is None else state


def privatize(table: Any, column: str, scheme: Scheme, out: str | Path, *, missing: Missing = "refuse") -> Privatized:
    """Privatize the values in a column of a Dask DataFrame, or of a list of delayed tables: write new files of reports.

    All machines must share the folder ``out``. Missing values are refused or skipped, as in a Parquet file. The reports
    are written now and only once: a column of reports would have fresh noise each time that Dask computes it.
    """
    expect_scheme(scheme)
    with attempts_in(out) as folder:
        reply = _planned(table, column, pack_job(Discreet(Gateway(str(folder), scheme, missing)), operator.add))
        return publish(folder, _state(reply, not_computed) or [])


def _planned(table: Any, column: str, job: bytes) -> Any:
    # The reply for all partitions, to be computed; None without partitions.
    import dask

    if hasattr(table, "columns"):
        expect_table(table, "to_delayed", "a Dask DataFrame, such as dask.dataframe.from_pandas(table, npartitions=4)")
        expect_column(column, list(table.columns))
        table = table[[column]].to_delayed()
    library: Any = dask  # some of its functions have no types
    with library.annotate(retries=RETRIES):
        packed = library.delayed(job)
        replies = [library.delayed(_run_on_part)(packed, *each, column) for each in enumerate(table)]
        return merged(lambda function, *given: library.delayed(function)(*given), packed, replies)


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
