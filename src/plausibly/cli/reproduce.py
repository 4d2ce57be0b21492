"""plausibly reproduce: measure the figures of the paper, or your own, and check the paper's findings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..core.atomic import expect_folder_name
from ..core.wording import visible
from ..experiments.aol import log
from ..experiments.cells import Cell
from ..experiments.figure import wanted
from ..experiments.findings import Finding, Outcome, Verdict
from ..experiments.planning import Plan, plan, write_plan
from ..experiments.results import held
from ..experiments.runner import run
from ..files.overwriting import refuse_inputs
from .common import KEPT, echo_json, exit_on_error, messages, need_module
from .inputs import inputs_of
from .options.reproduce import ReproduceOptions

_COLOURS = {
    Outcome.REPRODUCED: "green",
    **dict.fromkeys((Outcome.NOT_REPRODUCED, Outcome.FAILED), "red"),
    **dict.fromkeys((Outcome.REVERSED, Outcome.DECODER, Outcome.NUMPY, Outcome.COMPILED), "yellow"),
    **dict.fromkeys((Outcome.UNCLEAR, Outcome.OTHER_DATA, Outcome.TOO_FEW, Outcome.OPEN), "dim"),
}


def reproduce(request: ReproduceOptions) -> None:
    """Run ``plausibly reproduce``."""
    console = messages()
    with exit_on_error(console, request, KEPT):
        if request.out is not None:
            expect_folder_name(request.out)
        if request.rows is not None:
            refuse_inputs(request.rows, inputs_of(request))
        asked = _asked(request, console)
        if request.show:
            _list(asked, request)
            return
        need_pictures()
        cells = wanted(asked.figures)
        need_regression(cells)
        out = request.out or Path("reproduced-quick" if request.quick else "reproduced")
        with held(request.rows or out / "rows.jsonl") as results:
            run(cells, results, jobs=request.jobs, console=console, setup=asked.setup)
            report, verdicts = write_plan(asked, results, out)
    if request.as_json:
        echo_json({"report": str(report), "findings": [_for_machines(*each) for each in verdicts]})
    else:
        _print(report, verdicts)
    _exit_if_failed(console, verdicts)


def _asked(request: ReproduceOptions, console: Console) -> Plan:
    asked = plan(request.names or [], request.folder)
    if request.aol is not None:
        asked = asked.on_log(request.aol)
        if (unread := log()).malformed:
            places = "; ".join(unread.places)
            console.print(f"{unread.malformed:,} rows of the log could not be read: {escape(places)} …")
    return asked.quick() if request.quick else asked


def _for_machines(finding: Finding, verdict: Verdict) -> dict[str, str]:
    told = {"outcome": verdict.outcome.value, "numbers": verdict.numbers, "rule": verdict.rule}
    return {"finding": finding.name} | told


def _print(report: Path, verdicts: Sequence[tuple[Finding, Verdict]]) -> None:
    printed = Console()
    if verdicts:
        table = Table("finding", "verdict", box=None, pad_edge=False)
        for finding, verdict in verdicts:
            table.add_row(escape(finding.name), f"[{_COLOURS[verdict.outcome]}]{escape(verdict.outcome)}[/]")
        printed.print(table)
    printed.print(f"Report: {escape(str(report))}", soft_wrap=True, highlight=False)


def _exit_if_failed(console: Console, verdicts: Sequence[tuple[Finding, Verdict]]) -> None:
    # The report is written all the same: the measurements are right, only these checks are not.
    failed = [(finding, verdict) for finding, verdict in verdicts if verdict.outcome is Outcome.FAILED]
    for finding, verdict in failed:
        told = f"{finding.name}: its check failed with {verdict.numbers}"
        console.print(escape(visible(told)), style="red", soft_wrap=True, highlight=False)
    if failed:
        raise typer.Exit(1)


def need_pictures() -> None:
    """Fail before reproducing figures if matplotlib is missing."""
    need_module("matplotlib", "pictures", "matplotlib")


def need_regression(cells: Iterable[Cell]) -> None:
    """Fail before reproducing cells that need scikit-learn if it is missing."""
    if any(cell.extra for cell in cells):
        need_module("sklearn", "Bloom filters", "scikit-learn scipy")


def _list(asked: Plan, request: ReproduceOptions) -> None:
    if request.as_json:
        echo_json([{"name": f.name, "title": f.title, "measurements": len(wanted([f]))} for f in asked.figures])
        return
    table = Table("name", "panels", "measurements", "", box=None, pad_edge=False)
    for figure in asked.figures:
        count = f"{len(wanted([figure])):,}"
        letters = "".join(figure.letters)
        table.add_row(
            escape(figure.name), f"{letters[:1]}–{letters[-1:]}" if letters else "", count, escape(figure.title)
        )
    Console().print(table)
