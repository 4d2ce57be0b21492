"""plausibly table: how the answers to two questions go together."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..core.cross_table import CrossTable
from ..core.domain import Choices
from ..core.errors import ParameterError, StateError
from ..core.tables_only import TablesOnly
from ..core.wording import nearest, shown, visible
from ..files.overwriting import refuse_replacing
from ..files.tallies import Collected
from ..pages.answers import Answer
from ..pages.estimates import check_name
from ..pages.table_files import write_table
from ..pages.tables import TableAnswer, TextGrid
from .answers import show_answer, warnings_printed, write_answer
from .common import echo_json, exit_on_error, key_of, messages, print_table, progress, results
from .inputs import inputs_of
from .options.estimate import EstimateOptions
from .options.table import TableOptions
from .questions import ordered_answers

_WIDEST, _LONGEST = 8, 40
"""Numbers of columns and rows of a table on a terminal."""


def table(request: TableOptions) -> None:
    """Run ``plausibly table``."""
    console = messages()
    written = request.out or ()
    with exit_on_error(console, request):
        for path in written:
            refuse_replacing(check_name(path), inputs_of(request))
        if Path(request.tally).suffix == ".parquet":
            fix = f"plausibly collect {shlex.quote(str(request.tally))} --out answers.tally"
            raise ParameterError(f"{request.tally}: expected a tally, got a file of reports; make one with {fix}")
        source = Collected.read(request.tally, key=key_of(console, request.key_file))
        names = _attributes(source, request)
        if not len(source):
            raise StateError(f"{request.tally}: the tally has no reports; add some with plausibly collect")
        with progress(console, "estimating", "cells"):
            answer = _answer(source, names, request)
            if isinstance(answer, Answer):
                write_answer(console, answer, written)
            else:
                with warnings_printed(console):
                    for path in written:
                        write_table(path, answer)
    if request.as_json:
        echo_json(answer.to_dict())
    elif isinstance(answer, Answer):
        show_answer(results(), answer, written)
    else:
        _show(results(), answer, written)


def _attributes(source: Collected, request: TableOptions) -> list[str]:
    # The names of the attributes that the user asks about. Unknown ones are refused where their table is made.
    decoder = source.scheme.estimator()
    if not isinstance(decoder, TablesOnly):
        raise ParameterError(
            f"{request.tally}: expected a scheme for several attributes, such as CLIQUE, got {source.scheme.name}; use "
            f"plausibly estimate {request.tally}"
        )
    if request.rows is None and request.columns is None and isinstance(decoder.records, Choices):
        return []
    if request.rows is None:
        known = ", ".join(map(visible, decoder.records.names))
        raise ParameterError(f"expected --rows NAME, and --columns NAME for a table of two; the attributes are {known}")
    for option, name in (("rows", request.rows), ("columns", request.columns)):
        if name is not None and name not in decoder.records.names:
            raise ParameterError(f"--{option}: unknown attribute {shown(name)}; {nearest(name, decoder.records.names)}")
    if request.columns is None:
        return [request.rows]
    for question in ("ranges", "quantiles", "mean"):
        if getattr(request, question):
            raise ParameterError(f"--{question} is about a single attribute; leave out --columns")
    if request.columns == request.rows:
        raise ParameterError("--columns: expected another attribute than --rows, got the same; leave it out")
    return [request.rows, request.columns]


def _answer(source: Collected, names: Sequence[str], request: TableOptions) -> Answer | TableAnswer:
    found = source.tally.table(*names)
    if isinstance(found, CrossTable):
        return TableAnswer(found, source, request.level, request.title, request.unit)
    asked = EstimateOptions(
        inputs=[request.tally], ranges=request.ranges, quantiles=request.quantiles, mean=request.mean
    )
    answers = ordered_answers(found, asked)
    title = ", ".join(names) or None if request.title is None else request.title
    return Answer(found, source, request.level, found.usual_number, title=title, unit=request.unit, asked=answers)


def _show(console: Console, answer: TableAnswer, written: Sequence[Path]) -> None:
    if answer.source.simulated:
        console.print("[bold yellow]SIMULATED[/] reports: not from real users.\n", highlight=False)
    _print(console, answer.counts_grid())
    console.print(f"\nShares by {escape(visible(answer.rows.name))}, approximate:\n", highlight=False)
    _print(console, answer.shares_grid())
    interval = f"± is half the width of the {100 * answer.level:g} % interval."
    told = " ".join([answer.summary(), interval, *answer.notes()])
    console.print(f"\n{escape(answer.finding())}\n{escape(told)}", highlight=False)
    for path in written:
        console.print(f"Written: {escape(str(path))}", soft_wrap=True, highlight=False)


def _print(console: Console, grid: TextGrid) -> None:
    printed = Table(box=None, pad_edge=False, header_style="bold")
    printed.add_column(escape(grid.corner), overflow="fold")
    columns, rows = _some(len(grid.columns), _WIDEST), _some(len(grid.rows), _LONGEST)
    for column in columns:
        printed.add_column(escape(grid.columns[column]), justify="right", no_wrap=True)
    for row in rows:
        cells = (escape(str(grid.cells[row][column])) for column in columns)
        printed.add_row(escape(grid.rows[row]), *cells)
    print_table(console, printed)
    if len(columns) < len(grid.columns) or len(rows) < len(grid.rows):
        size = f"{len(grid.rows):,} rows and {len(grid.columns):,} columns"
        console.print(f"… {len(rows):,} × {len(columns):,} of {size}; --out FILE.html has all", highlight=False)


def _some(number: int, most: int) -> list[int]:
    # The first ones, and the last one, which has the sums.
    return list(range(number)) if number <= most + 1 else [*range(most), number - 1]
