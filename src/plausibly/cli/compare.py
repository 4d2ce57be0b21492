"""plausibly compare: several schemes on the same crowd, in one table and one picture."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from ..core.atomic import expect_folder_name
from ..core.errors import ParameterError
from ..core.wording import visible
from ..experiments import csv_files
from ..experiments.comparison import comparison, write_comparison
from ..experiments.figure import Figure, wanted
from ..experiments.results import held
from ..experiments.runner import run
from ..experiments.sheets import Sheet
from .common import KEPT, echo_json, exit_on_error, messages
from .common import results as printing
from .options.compare import CompareOptions
from .reproduce import need_pictures, need_regression

_PIPED = 132
"""Width in columns of a table that is piped to a file or another program."""
_EPSILONS = (1.0, 2.0, 3.0)


def compare(request: CompareOptions) -> None:
    """Run ``plausibly compare``."""
    console = messages()
    with exit_on_error(console, request, KEPT):
        expect_folder_name(request.out)
        need_pictures()
        figure, setup = _figure(request)
        cells = wanted([figure])
        need_regression(cells)
        with held(request.out / "rows.jsonl") as results:
            run(cells, results, jobs=request.jobs, console=console, setup=setup)
            report, lines, sheet = write_comparison(figure, results, request.out, _command(request))
    if request.as_json:
        echo_json(lines)
    else:
        _print(report, sheet)


def _figure(request: CompareOptions) -> tuple[Figure, Callable[[], None] | None]:
    # The comparison, and the function that makes the crowd of a file known to every worker process.
    data, n, d, setup = request.data or "zipf-1.1", request.n or 100_000, request.d or 1024, None
    if (read := _read(request)) is not None:
        data, crowd = read
        d = request.d or crowd.d
        n = request.n or crowd.users(d)
        setup = partial(csv_files.enter, data, crowd)
        setup()
    figure = comparison(
        request.schemes, data=data, n=n, d=d, epsilons=request.epsilon or _EPSILONS, repeats=request.repeats
    )
    return figure if request.title is None else replace(figure, title=visible(request.title)), setup


def _read(request: CompareOptions) -> tuple[str, csv_files.Held] | None:
    if [request.data, request.values, request.counts].count(None) < 2:
        raise ParameterError("expected only one of --data, --values and --counts, got several")
    if request.column is not None and request.values is None:
        raise ParameterError("--column needs --values FILE")
    if request.values is not None:
        return request.values.name, csv_files.read_values(request.values, request.column)
    return None if request.counts is None else (request.counts.name, csv_files.read_counts(request.counts))


def _command(request: CompareOptions) -> str:
    # The words that repeat the comparison.
    words = ["plausibly", "compare", *request.schemes]
    for name in ("data", "values", "column", "counts", "n", "d"):
        value = getattr(request, name)
        words += [] if value is None else [f"--{name}", str(value)]
    for epsilon in request.epsilon or ():
        words += ["--epsilon", f"{epsilon:g}"]
    return shlex.join([*words, "--repeats", str(request.repeats)])


def _print(report: Path, sheet: Sheet) -> None:
    printed = printing(_PIPED)
    table = Table(title=escape(sheet.title), caption=escape(sheet.caption), box=None, pad_edge=False)
    table.title_justify = table.caption_justify = "left"
    for place, name in enumerate(sheet.header):
        table.add_column(name, **{"justify": "right", "no_wrap": True} if place else {"overflow": "fold"})
    for line in sheet.lines:
        table.add_row(*map(escape, line))
    printed.print(table)
    printed.print(f"Report: {escape(str(report))}", soft_wrap=True, highlight=False)
