"""plausibly simulate: the accuracy of a scheme on a known histogram."""

from __future__ import annotations

from pathlib import Path

from rich.markup import escape
from rich.table import Table

from ..core.errors import ParameterError
from ..core.scheme import Scheme
from ..core.tables_only import TablesOnly
from ..core.wording import label_of
from ..experiments import csv_files
from ..files.overwriting import refuse_replacing
from ..rehearsal import chart
from ..rehearsal.files import check_name, write_rehearsal
from ..rehearsal.repeats import rehearse
from ..rehearsal.result import Rehearsal
from ..rehearsal.truth import Truth, made_up, truth_of
from .common import echo_json, exit_on_error, messages, need_module, print_table, progress, results
from .inputs import inputs_of
from .naming import scheme_or_file
from .options.simulate import SimulateOptions

_DATA, _USERS = "zipf-1.1", 100_000


def simulate(request: SimulateOptions) -> None:
    """Run ``plausibly simulate``."""
    console = messages()
    with exit_on_error(console, request):
        if [request.counts, request.values, request.data].count(None) < 2:
            raise ParameterError("expected only one of --counts, --values and --data, got several")
        if request.column is not None and request.values is None:
            raise ParameterError("--column needs --values FILE")
        if request.out is not None:
            check_name(request.out)
            refuse_replacing(request.out, inputs_of(request))
            if request.out.suffix in chart.SUFFIXES:
                need_module("matplotlib", "pictures", "matplotlib")
        made, _ = scheme_or_file(console, request.scheme, request.key_file)
        if isinstance(made.estimator(), TablesOnly):
            raise ParameterError(
                f"{made.name} has tables of several attributes, and this command rehearses counts of single items; "
                "rehearse a table with plausibly privatize … --seed 1, plausibly collect … --simulated and plausibly "
                "table"
            )
        truth = _truth(
            made, request.counts, request.values, request.column, request.data or _DATA, request.users, request.seed
        )
        with progress(console, "Simulating", "collections") as advance:
            found = rehearse(
                made,
                truth,
                repeats=request.repeats,
                seed=request.seed,
                top=request.top,
                postprocess=request.postprocess,
                advance=advance,
            )
        if request.out is not None:
            write_rehearsal(found, request.out, title=request.title, unit=request.unit)
    if request.as_json:
        echo_json(found.to_dict())
    else:
        _print(found)
        if request.out is not None:
            results().print(f"Written: {escape(str(request.out))}", soft_wrap=True, highlight=False)


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
