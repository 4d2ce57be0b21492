"""Show the results of estimates and searches on a terminal, and write them to files."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..core.history import Kind, history_text, without_steps
from ..core.wording import label_of, plural
from ..pages.answers import Answer
from ..pages.estimates import write_estimates, write_tree
from .common import print_table


def write_answer(console: Console, answer: Answer, paths: Sequence[Path], trees: Sequence[Path] = ()) -> None:
    """Write an answer to the requested files, and print any warnings on the terminal."""
    with warnings_printed(console):
        for path in paths:
            write_estimates(path, answer)
        for path in trees:
            write_tree(path, answer)


@contextmanager
def warnings_printed(console: Console) -> Iterator[None]:
    """Print the warnings of writing an answer on the terminal, each once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for words in dict.fromkeys(str(each.message) for each in caught):
        console.print(escape(words), style="yellow", soft_wrap=True, highlight=False)


def show_answer(console: Console, answer: Answer, written: Sequence[Path] = ()) -> None:
    """Print an answer on the terminal: its table, then the number of reports, the privacy and any remarks."""
    if answer.source.simulated:
        console.print("[bold yellow]SIMULATED[/] reports: not from real users.\n", highlight=False)
    if answer.panels:
        _show_panels(console, answer)
    elif len(answer.estimates):
        print_table(console, _items_table(answer))
    else:
        console.print("Nothing found.", highlight=False)
    scheme, made = answer.source.scheme, answer.estimates
    of = f"{plural(made.n, 'report')} of {scheme.name}, {answer.privacy.partition(':')[0]}."
    steps = without_steps(made.history, Kind.SELECTION, Kind.SEARCH)
    after = [f"After {history_text(steps)}."] if steps else []
    console.print(f"\n{escape(' '.join([of, *after, *answer.notes(), *answer.needed()]))}", highlight=False)
    for path in written:
        console.print(f"Written: {escape(str(path))}", soft_wrap=True, highlight=False)


def _show_panels(console: Console, answer: Answer) -> None:
    for place, asked in enumerate(answer.panels):
        if place:
            console.print()
        shown = asked.short
        names = shown.texts(answer.level)
        table = Table(box=None, pad_edge=False, header_style="bold")
        for column, name in enumerate(names):
            table.add_column(escape(name), justify="right" if column else "left", no_wrap=True)
        for texts in zip(*names.values(), strict=True):
            table.add_row(*map(escape, texts))
        print_table(console, table)
        if len(shown) < len(asked):
            console.print(f"… {len(shown):,} of {len(asked):,} items; --out FILE.csv has all", highlight=False)


def _items_table(answer: Answer) -> Table:
    first, *others = answer.header()
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(first, overflow="fold")
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    for (item, *texts), apart in zip(answer.lines(), answer.shown.apart, strict=True):
        if apart and len(answer.shown) > 1:
            table.add_row()
        table.add_row(escape(label_of(item)) or "[italic](empty)[/]", *map(escape, texts))
    return table
