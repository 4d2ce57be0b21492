"""plausibly demo: a complete collection on made-up data, command by command, with a picture and a page at the end."""

from __future__ import annotations

import shlex
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..core.atomic import expect_folder_name
from ..demo import story
from .common import echo_json, exit_on_error, messages, need_module, results


def demo(
    context: typer.Context,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The folder to write to; created if it does not exist.")
    ] = Path("plausibly-demo"),
    users: Annotated[int, typer.Option(help="Number of made-up users.")] = 1_000_000,
    seed: Annotated[int | None, typer.Option(help="Seed for reproducible noise. Default: fresh noise.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines; the story goes to stderr.")] = False,
) -> None:
    """Watch a histogram emerge from noise: plan, privatize, collect, estimate and search on made-up visits.

    The demo runs the other commands just as you would type them, in about half a minute, and leaves their files in a
    folder. At the end it does what no server can do: it looks up the truth.

    Example: plausibly demo
    """
    with exit_on_error(messages()):
        expect_folder_name(out)
        need_module("pyarrow", "files of reports", "pyarrow")
        need_module("matplotlib", "pictures", "matplotlib")
        tale = story.Story(out, users, seed)
        tale.begin()
    with redirect_stdout(sys.stderr if as_json else sys.stdout):
        console = results()
        for step in tale.steps():
            console.print(f"\n[bold]{escape(step.heading)}[/]", highlight=False)
            for words in step.commands:
                console.print(f"[bold cyan]$ plausibly {escape(shlex.join(words))}[/]", highlight=False, soft_wrap=True)
                _run(context, words)
    with exit_on_error(messages()):
        ending = tale.end()
    if as_json:
        echo_json(ending.to_dict())
    else:
        _print(results(), ending)


def _run(context: typer.Context, words: list[str]) -> None:
    # Run the words as typed: with the same parsing and the same messages.
    code = context.find_root().command.main(words, prog_name="plausibly", standalone_mode=False)
    if code:
        raise typer.Exit(code)


def _print(console: Console, ending: story.Ending) -> None:
    console.print("\n[bold]The truth, which only a demo can look up[/]", highlight=False)
    table = Table(box=None, pad_edge=False)
    for place, name in enumerate(ending.header):
        table.add_column(name, justify="right" if place else "left", no_wrap=True)
    for line in ending.lines:
        table.add_row(*map(escape, line))
    console.print(table, *ending.remarks, sep="\n", highlight=False)
    for kind, path in (("Picture", ending.picture), ("Page", ending.page)):
        console.print(f"{kind}: {escape(str(path))}", highlight=False, soft_wrap=True)
