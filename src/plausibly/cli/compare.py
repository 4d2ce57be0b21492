"""plausibly compare: several schemes on the same crowd, in one table and one picture."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from ..core.errors import ParameterError
from ..core.wording import visible
from ..experiments import csv_files
from ..experiments.comparison import comparison, write_comparison
from ..experiments.figure import wanted
from ..experiments.results import held
from ..experiments.runner import run
from .common import KEPT, Title, echo_json, exit_on_error, messages
from .common import results as printing
from .reproduce import need_pictures, need_regression

_PIPED = 132
"""Width in columns of a table that is piped to a file or another program."""
_EPSILONS = (1.0, 2.0, 3.0)


def compare(
    schemes: Annotated[
        list[str],
        typer.Argument(
            help="Names of schemes. Add parameters, as in FLH:hashes=500 or "
            "CM:oracle=TLH,width=1024,rows=16,combine=median, or post-processing, as in OLH+norm-sub."
        ),
    ],
    data: Annotated[str | None, typer.Option(help="A made-up crowd: zipf-1.1, uniform or url-clicks.")] = None,
    values: Annotated[
        Path | None, typer.Option(help="Your own crowd: a CSV file with one user's value in each row.")
    ] = None,
    column: Annotated[str | None, typer.Option(help="The column of --values to read.")] = None,
    counts: Annotated[
        Path | None, typer.Option(help="Your own crowd: a CSV file with the columns item and count.")
    ] = None,
    n: Annotated[
        int | None, typer.Option("--n", min=1, help="Number of users. Default: 100,000, or as in the file.")
    ] = None,
    d: Annotated[
        int | None, typer.Option("--d", min=2, help="Number of items. Default: 1,024, or as in the file.")
    ] = None,
    epsilon: Annotated[
        list[float] | None, typer.Option(help="Privacy parameter ε; may be repeated. Default: 1, 2 and 3.")
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, max=1000, help="Number of repeats of each measurement.")] = 5,
    out: Annotated[Path, typer.Option(help="The folder for picture, measurements and report.")] = Path("comparison"),
    title: Title = None,
    jobs: Annotated[int, typer.Option(min=1, max=256, help="Number of worker processes.")] = 2,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Compare schemes on a made-up crowd or on your own data: errors, F1, bytes, time.

    This is a simulation. It needs the true counts, makes every user's report on this machine, and sends nothing
    anywhere. It collects no data and protects none.

    Example: plausibly compare OUE OLH FLH:hashes=500 TLH --epsilon 1 --epsilon 3
    """
    console = messages()
    with exit_on_error(console, KEPT):
        need_pictures()
        if [data, values, counts].count(None) < 2:
            raise ParameterError("expected only one of --data, --values and --counts, got several")
        if column is not None and values is None:
            raise ParameterError("--column needs --values FILE")
        given = {"--data": data, "--values": values, "--column": column, "--counts": counts, "--n": n, "--d": d}
        command = _command(schemes, given, epsilon or [], repeats)
        setup, path = None, values or counts
        if path is not None:
            crowd = csv_files.read_counts(path) if values is None else csv_files.read_values(path, column)
            data, d = path.name, d or crowd.d
            n = n or int(crowd.counts[:d].sum())
            setup = partial(csv_files.enter, data, crowd)
            setup()
        data, n, d = data or "zipf-1.1", n or 100_000, d or 1024
        figure = comparison(schemes, data=data, n=n, d=d, epsilons=epsilon or _EPSILONS, repeats=repeats)
        figure = figure if title is None else replace(figure, title=visible(title))
        need_regression(wanted([figure]))
        with held(out / "rows.jsonl") as results:
            run(wanted([figure]), results, jobs=jobs, console=console, setup=setup)
            report, lines, sheet = write_comparison(figure, results, out, command)
    if as_json:
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
