"""plausibly simulate: the accuracy of a scheme on a known histogram."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from ..core.errors import ParameterError
from ..core.scheme import Scheme
from ..core.wording import label_of
from ..experiments import csv_files
from ..files.overwriting import refuse_replacing
from ..rehearsal import chart
from ..rehearsal.files import check_name, write_rehearsal
from ..rehearsal.repeats import rehearse
from ..rehearsal.result import Rehearsal
from ..rehearsal.truth import Truth, made_up, truth_of
from .common import (
    KeyFile,
    Title,
    Unit,
    echo_json,
    exit_on_error,
    messages,
    need_module,
    print_table,
    progress,
    results,
)
from .naming import scheme_or_file

_DATA, _USERS = "zipf-1.1", 100_000


def simulate(
    scheme: Annotated[
        str, typer.Argument(help="A scheme: its file, or a text such as OLH:epsilon=1,domain_size=1000.")
    ],
    counts: Annotated[Path | None, typer.Option(help="A CSV file with the columns item and count.")] = None,
    values: Annotated[Path | None, typer.Option(help="A CSV file with one user's value in each row.")] = None,
    column: Annotated[str | None, typer.Option(help="The column of --values to read.")] = None,
    data: Annotated[str | None, typer.Option(help="A made-up crowd: zipf-1.1, uniform or url-clicks.")] = None,
    users: Annotated[
        int | None, typer.Option(min=1, max=2**31 - 1, help="Number of users. Default: 100,000, or as in the file.")
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, max=10_000, help="Number of simulated collections.")] = 20,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="The same seed gives the same numbers.")] = 1,
    postprocess: Annotated[str | None, typer.Option(help="A post-processing step, such as norm-sub.")] = None,
    top: Annotated[int, typer.Option(min=1, max=10_000, help="Number of most common items to show.")] = 10,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="A file to write: .png, .svg, .csv or .json.")] = None,
    title: Title = None,
    unit: Unit = "users",
    key_file: KeyFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Rehearse a collection on known counts: the actual errors, beside those that the scheme predicts.

    This is a simulation. It needs the true counts, makes every user's report on this machine, and sends nothing
    anywhere. It protects nobody's data. Items match a scheme with labels by name, and a scheme with numbers by number.
    A scheme for searches has to find the strings; a scheme for any text counts the texts of the file.

    Example: plausibly simulate OLH:epsilon=1,domain_size=100 --data zipf-1.1 --users 50000
    """
    console = messages()
    with exit_on_error(console):
        if [counts, values, data].count(None) < 2:
            raise ParameterError("expected only one of --counts, --values and --data, got several")
        if column is not None and values is None:
            raise ParameterError("--column needs --values FILE")
        if out is not None:
            check_name(out)
            refuse_replacing(out, [counts, values, Path(scheme)])
            if out.suffix in chart.SUFFIXES:
                need_module("matplotlib", "pictures", "matplotlib")
        made, _ = scheme_or_file(console, scheme, key_file)
        truth = _truth(made, counts, values, column, data or _DATA, users, seed)
        with progress(console, "Simulating", "collections") as advance:
            found = rehearse(made, truth, repeats=repeats, seed=seed, top=top, postprocess=postprocess, advance=advance)
        if out is not None:
            write_rehearsal(found, out, title=title, unit=unit)
    if as_json:
        echo_json(found.to_dict())
    else:
        _print(found)
        if out is not None:
            results().print(f"Written: {escape(str(out))}", soft_wrap=True, highlight=False)


def _truth(
    scheme: Scheme,
    counts: Path | None,
    values: Path | None,
    column: str | None,
    data: str,
    users: int | None,
    seed: int,
) -> Truth:
    if counts is None and values is None:
        return made_up(scheme, data, users or _USERS, seed)
    found = csv_files.labelled_counts(counts) if counts is not None else csv_files.labelled_values(values or "", column)
    truth = truth_of(scheme, found)
    return truth if users is None or users == truth.n else truth.drawn(users, seed)


def _print(found: Rehearsal) -> None:
    console = results()
    table = Table(box=None, pad_edge=False, title=escape(_title(found)), title_justify="left")
    table.add_column("item", overflow="fold")
    for name in ("true count", "mean estimate", "RMSE", "predicted", "95 % covers", "found in"):
        table.add_column(name, justify="right", no_wrap=True)
    for each in found.top:
        predicted = "–" if each.predicted is None else f"{each.predicted:,.1f}"
        coverage = "–" if each.coverage is None else f"{each.coverage:.0%}"
        numbers = (f"{each.count:,}", f"{each.mean:,.1f}", f"{each.rmse:,.1f}", predicted, coverage)
        table.add_row(escape(label_of(each.item)), *numbers, f"{each.found:.0%}")
    print_table(console, table)
    console.print()
    facts = Table.grid(padding=(0, 2))
    for name, value in found.facts():
        facts.add_row(name, escape(value))
    console.print(facts, highlight=False)


def _title(found: Rehearsal) -> str:
    after = f" + {found.postprocess}" if found.postprocess else ""
    size = f"{found.truth.n:,} users, {found.repeats:,} simulated collections"
    return f"{found.scheme.name}{after} on {label_of(found.truth.name)}: {size}"
