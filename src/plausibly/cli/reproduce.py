"""plausibly reproduce: measure the figures of the paper, or your own, and check the paper's findings."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..experiments.aol import log
from ..experiments.cells import Cell
from ..experiments.figure import wanted
from ..experiments.findings import Outcome
from ..experiments.planning import Plan, plan, write_plan
from ..experiments.results import held
from ..experiments.runner import run
from .common import KEPT, echo_json, exit_on_error, messages, need_module

_COLOURS = {
    Outcome.REPRODUCED: "green",
    Outcome.NOT_REPRODUCED: "red",
    **dict.fromkeys((Outcome.REVERSED, Outcome.DECODER, Outcome.NUMPY, Outcome.COMPILED), "yellow"),
    **dict.fromkeys((Outcome.UNCLEAR, Outcome.OTHER_DATA, Outcome.TOO_FEW, Outcome.OPEN), "dim"),
}


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="fig1 … fig11, table1, table2, extra1 …, a panel such as fig1a, or your own file. Default: all."
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Use fewer repeats, points and users.")] = False,
    rows: Annotated[Path | None, typer.Option(help="The file for measurements. Default: rows.jsonl in --out.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="The folder for pictures and report. Default: reproduced, or reproduced-quick."),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            help="The folder of the paper's experiments. Default: reproduction/ in a clone of the repository."
        ),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, max=256, help="Number of worker processes.")] = 2,
    aol: Annotated[
        Path | None,
        typer.Option(help="Your copy of the AOL search log: a file, .gz or folder. Only clicked URLs are read."),
    ] = None,
    show: Annotated[bool, typer.Option("--list", help="List the figures and tables without measuring.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Measure figures and tables of the paper, check its findings, and write a report.

    All users are simulated: no data are needed, and nothing leaves this machine. Finished measurements are kept: after
    an interrupt, run the same command to continue. The paper's experiments are in the repository, not in the installed
    package, so run this command in a clone. Your own files can be measured anywhere.

    Example: plausibly reproduce fig1 fig5c --quick
    """
    console = messages()
    with exit_on_error(console, KEPT):
        asked = plan(names or [], folder)
        if aol is not None:
            asked = asked.on_log(aol)
            if (unread := log()).malformed:
                places = "; ".join(unread.places)
                console.print(f"{unread.malformed:,} rows of the log could not be read: {escape(places)} …")
        if quick:
            asked = asked.quick()
        if show:
            if as_json:
                echo_json([{"name": f.name, "title": f.title, "measurements": len(wanted([f]))} for f in asked.figures])
            else:
                Console().print(_listed(asked))
            return
        need_pictures()
        cells = wanted(asked.figures)
        need_regression(cells)
        out = out or Path("reproduced-quick" if quick else "reproduced")
        with held(rows or out / "rows.jsonl") as results:
            run(cells, results, jobs=jobs, console=console, setup=asked.setup)
            report, verdicts = write_plan(asked, results, out)
    if as_json:
        found = [
            {
                "finding": finding.name,
                "outcome": verdict.outcome.value,
                "numbers": verdict.numbers,
                "rule": verdict.rule,
            }
            for finding, verdict in verdicts
        ]
        echo_json({"report": str(report), "findings": found})
        return
    printed = Console()
    if verdicts:
        table = Table("finding", "verdict", box=None, pad_edge=False)
        for finding, verdict in verdicts:
            table.add_row(escape(finding.name), f"[{_COLOURS[verdict.outcome]}]{escape(verdict.outcome)}[/]")
        printed.print(table)
    printed.print(f"Report: {escape(str(report))}", soft_wrap=True, highlight=False)


def need_pictures() -> None:
    """Fail before reproducing figures if matplotlib is missing."""
    need_module("matplotlib", "pictures", "matplotlib")


def need_regression(cells: Iterable[Cell]) -> None:
    """Fail before reproducing cells that need scikit-learn if it is missing."""
    if any(cell.extra for cell in cells):
        need_module("sklearn", "Bloom filters", "scikit-learn scipy")


def _listed(asked: Plan) -> Table:
    table = Table("name", "panels", "measurements", "", box=None, pad_edge=False)
    for figure in asked.figures:
        count = f"{len(wanted([figure])):,}"
        letters = "".join(figure.letters)
        table.add_row(
            escape(figure.name), f"{letters[:1]}–{letters[-1:]}" if letters else "", count, escape(figure.title)
        )
    return table
