"""plausibly series: the trend of a repeated question."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..core import series as core_series
from ..core.arguments import whole_number
from ..core.errors import StateError
from ..core.measured import expect_level
from ..files.overwriting import refuse_replacing
from ..files.slots import expect_apart, slots_of
from ..files.tallies import Collected
from ..pages.trends import Trend, check_trend_name, write_trend
from .asking import asked_items, typed_items
from .common import echo_json, exit_on_error, key_of, messages, print_table, progress, results
from .inputs import inputs_of
from .options.series import SeriesOptions

_SHOWN, _SHOWN_WITH_MEANS = 4, 2


def series(request: SeriesOptions) -> None:
    """Run ``plausibly series``."""
    console = messages()
    with exit_on_error(console, request):
        for path in request.out or ():
            refuse_replacing(check_trend_name(path), inputs_of(request))
        expect_level(request.level)
        if request.mean is not None:
            whole_number("mean", request.mean, 1, core_series.MOST_SLOTS)
        trend = _trend(console, request)
        for path in request.out or ():
            write_trend(path, trend)
    if request.as_json:
        echo_json(trend.to_dict())
    else:
        _show(results(), trend, request.out or [])


def _trend(console: Console, request: SeriesOptions) -> Trend:
    key = key_of(console, request.key_file)
    named = sorted(zip(slots_of(request.tallies), request.tallies, strict=True))
    read = {place: (name, Collected.read(name, key=key)) for place, name in named}
    (_, first), *others = read.values()
    for name, each in others:
        if each.scheme != first.scheme:
            told = first.scheme.difference(each.scheme)
            raise StateError(f"{name}: expected the scheme of {request.tallies[0]}, got another: {told}")
    expect_apart(read.values())
    typed = typed_items(request.items, request.item)
    asked = asked_items(console, first.scheme.answers, request.tallies[0], typed, request.items_file)
    with progress(console, "estimating", "slots"):
        estimates = {slot: each.tally.estimate(asked) for (slot, _), (_, each) in read.items()}
        counts = core_series.series(estimates, rota=request.rota)
        shown = counts if request.counts else counts.shares()
        return Trend(
            shown,
            [label for _, label in read],
            first,
            any(each.simulated for _, each in read.values()),
            None if request.mean is None else shown.mean(request.mean),
            len(asked) if asked is not None else _SHOWN if request.mean is None else _SHOWN_WITH_MEANS,
            request.level,
            request.title,
        )


def _show(console: Console, trend: Trend, written: list[Path]) -> None:
    if trend.simulated:
        console.print("[bold yellow]SIMULATED[/] reports: not from real users.\n", highlight=False)
    console.print(f"{escape(trend.summary())}\n", highlight=False)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, name in enumerate(trend.header()):
        table.add_column(escape(name), justify="right" if place else "left", no_wrap=bool(place))
    for texts in trend.lines():
        table.add_row(*map(escape, texts))
    print_table(console, table)
    console.print(f"\n{escape(' '.join(trend.notes()))}", highlight=False)
    for path in written:
        console.print(f"Written: {escape(str(path))}", soft_wrap=True, highlight=False)
