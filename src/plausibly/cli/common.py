"""Shared parts of the commands: consoles, exit codes, progress bars and key files."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table
from rich.text import Text

from ..core.errors import ParameterError, PlausiblyError, StateError
from ..core.skipped import Skipped, left_out
from ..core.wording import visible
from ..device import DeviceError
from ..files.authentication import Key
from .spelling import spelled

_PIPED = 110
"""Width in columns of output that is piped to a file or another program."""
_NARROWEST = 12
"""Minimum width in columns of the items in a table on a narrow terminal."""
_GAP = 2
"""Spaces between two columns of a table."""

KEPT = "Interrupted. All finished measurements are kept; run the same command to continue."

Advance = Callable[[int, int | None], None]
"""Called with the amount done, and with the total if it is known."""


def messages() -> Console:
    """The console of every command for messages to people: standard error."""
    return Console(stderr=True)


def results(piped: int = _PIPED) -> Console:
    """The console of every command for results: standard output, as wide as the terminal or ``piped`` columns."""
    console = Console()
    return console if console.is_terminal else Console(width=piped)


def print_table(console: Console, table: Table) -> None:
    """Print a command's table. If the terminal is too narrow, wrap long items; never truncate a number."""
    for place, column in enumerate(table.columns):
        texts = [Text.from_markup(str(each)) for each in (column.header, *column.cells)]
        longest = max(text.cell_len for text in texts)
        column.min_width = longest if place else min(longest, _NARROWEST)
    needed = sum((column.min_width or 0) + _GAP for column in table.columns)
    width, console.width = console.width, max(console.width, needed)
    console.print(table, highlight=False)
    console.width = width


def echo_json(result: object) -> None:
    """Print a command's result for machines: one JSON value on standard output, and nothing else."""
    # Escape non-ASCII characters unless the stream is UTF-8: escapes are valid JSON in any encoding.
    whole = getattr(sys.stdout, "encoding", "utf-8").lower().replace("-", "") == "utf8"
    typer.echo(json.dumps(result, indent=2, ensure_ascii=not whole, allow_nan=False))


@contextmanager
def exit_on_error(
    console: Console, request: Any, interrupted: str = "Interrupted; nothing was written."
) -> Iterator[None]:
    """End the command with a message for people if its body raises an error, spelled for the options of the request.

    Exit code 2 if the request makes no sense (as with an unknown option), 1 if something went wrong (data, files,
    states), 130 if it was interrupted.
    """
    try:
        yield
    except KeyboardInterrupt:
        console.print(interrupted, soft_wrap=True, highlight=False)
        raise typer.Exit(130) from None
    except BrokenExecutor:
        console.print(
            "A worker process ended early: because of an error printed above, or killed from outside, perhaps for lack "
            "of memory. All finished measurements are kept; run the same command to continue, with --jobs 1 to use "
            "less memory."
        )
        raise typer.Exit(1) from None
    except (PlausiblyError, DeviceError, OSError, ImportError) as error:
        words = spelled(error.words, request) if isinstance(error, PlausiblyError) else str(error)
        if isinstance(error, OSError) and error.filename:
            words = f"{error.filename}: {error.strerror}"
        console.print(escape(visible(words)), style="red", soft_wrap=True, highlight=False)
        raise typer.Exit(2 if isinstance(error, ParameterError) else 1) from None


@contextmanager
def progress(console: Console, doing: str, unit: str = "reports") -> Iterator[Advance]:
    """A command's progress bar with rate and time left, on a terminal only; a spinner if the total is unknown."""
    columns = (SpinnerColumn(), TextColumn(doing), BarColumn(), _Rate(unit), TimeElapsedColumn(), _TimeLeft())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        task = bars.add_task("", total=None)
        yield lambda done, total: bars.update(task, completed=done, total=total)


class _Rate(ProgressColumn):
    def __init__(self, unit: str) -> None:
        self._unit = unit
        super().__init__()

    def render(self, task: Task) -> Text:
        rate = _rate(task)
        return Text(f"{int(task.completed):,} {self._unit}{f', {rate:,.0f}/s' if rate else ''}")


class _TimeLeft(ProgressColumn):
    max_refresh = 0.5

    def render(self, task: Task) -> Text:
        rate = _rate(task)
        if task.total is None or not rate:
            return Text("")
        minutes, seconds = divmod(round(max(0, task.total - task.completed) / rate), 60)
        return Text(f"{minutes // 60}:{minutes % 60:02}:{seconds:02} left")


def _rate(task: Task) -> float:
    # From the second second on, even if nothing has happened since the first update.
    elapsed = task.elapsed or 0
    return task.speed or (task.completed / elapsed if elapsed >= 1 else 0)


def key_of(console: Console, path: Path | None) -> Key | None:
    """The key in a command's key file, or None without one. Print a warning if every user can read or change it."""
    if path is None:
        return None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        key = Key.read(path)
    for each in caught:
        console.print(escape(str(each.message)), style="yellow", soft_wrap=True, highlight=False)
    return key


def tell_skipped(console: Console, skipped: Sequence[Skipped]) -> None:
    """List the damaged files and row groups that a command has left out."""
    if skipped:
        console.print(f"Left out: {left_out(skipped)}.", style="yellow", highlight=False)
    for each in skipped:
        place = visible(each.file if each.group is None else f"{each.file}, row group {each.group}")
        console.print(f"  {escape(place)}: {escape(each.reason)}", style="yellow", soft_wrap=True, highlight=False)


def need_module(module: str, what: str, install: str) -> None:
    """Fail with the install command unless the module that a command needs is installed, before any work is done."""
    if find_spec(module) is None:
        raise StateError(f"{what} need {install.partition(' ')[0]}: pip install {install}")
