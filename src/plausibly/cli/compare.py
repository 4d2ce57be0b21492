"""plausibly compare: several schemes on the same crowd, in one table and one picture."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from rich.markup import escape
from rich.table import Table

from ..core.atomic import expect_folder_name
from ..core.errors import ParameterError
from ..core.wording import visible
from ..experiments import csv_files
from ..experiments.comparison import comparison, write_comparison
from ..experiments.figure import wanted
from ..experiments.results import held
from ..experiments.runner import run
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
        if [request.data, request.values, request.counts].count(None) < 2:
            raise ParameterError("expected only one of --data, --values and --counts, got several")
        if request.column is not None and request.values is None:
            raise ParameterError("--column needs --values FILE")
        given = {
            "--data": request.data,
            "--values": request.values,
            "--column": request.column,
            "--counts": request.counts,
            "--n": request.n,
            "--d": request.d,
        }
        command = _command(request.schemes, given, request.epsilon or [], request.repeats)
        setup, path = None, request.values or request.counts
        data, n, d = request.data or "zipf-1.1", request.n or 100_000, request.d or 1024
        if path is not None:
            crowd = (
                csv_files.read_counts(path) if request.values is None else csv_files.read_values(path, request.column)
            )
            data, d = path.name, request.d or crowd.d
            n = request.n or int(crowd.counts[:d].sum())
            setup = partial(csv_files.enter, data, crowd)
            setup()
        figure = comparison(
            request.schemes, data=data, n=n, d=d, epsilons=request.epsilon or _EPSILONS, repeats=request.repeats
        )
        if request.title is not None:
            figure = replace(figure, title=visible(request.title))
        need_regression(wanted([figure]))
        with held(request.out / "rows.jsonl") as results:
            run(wanted([figure]), results, jobs=request.jobs, console=console, setup=setup)
            report, lines, sheet = write_comparison(figure, results, request.out, command)
    if request.as_json:
        echo_json(lines)
        return
    printed = printing(_PIPED)
    table = Table(title=escape(sheet.title), caption=escape(sheet.caption), box=None, pad_edge=False)
    table.title_justify = table.caption_justify = "left"
    for place, name in enumerate(sheet.header):
        table.add_column(name, **{"justify": "right", "no_wrap": True} if place else {"overflow": "fold"})
    for line in sheet.lines:
        table.add_row(*map(escape, line))
    printed.print(table)
    printed.print(f"Report: {escape(str(report))}", soft_wrap=True, highlight=False)


def _command(schemes: Sequence[str], given: Mapping[str, object], epsilons: Sequence[float], repeats: int) -> str:
    words = ["plausibly", "compare", *schemes]
    for name, value in [*given.items(), *(("--epsilon", f"{epsilon:g}") for epsilon in epsilons)]:
        words += [] if value is None else [name, str(value)]
    return shlex.join([*words, "--repeats", str(repeats)])
