"""plausibly demo: a complete collection on made-up data, command by command, with a picture and a page at the end."""

from __future__ import annotations

import shlex
import sys
from contextlib import redirect_stdout

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..core.atomic import expect_folder_name
from ..demo import story
from . import app
from .common import echo_json, exit_on_error, messages, need_module, results
from .options.demo import DemoOptions


def demo(request: DemoOptions) -> None:
    """Run ``plausibly demo``."""
    with exit_on_error(messages(), request):
        expect_folder_name(request.out)
        need_module("pyarrow", "files of reports", "pyarrow")
        need_module("matplotlib", "pictures", "matplotlib")
        tale = story.Story(request.out, request.users, request.seed)
        tale.begin()
    with redirect_stdout(sys.stderr if request.as_json else sys.stdout):
        console = results()
        for step in tale.steps():
            console.print(f"\n[bold]{escape(step.heading)}[/]", highlight=False)
            for words in step.commands:
                console.print(f"[bold cyan]$ plausibly {escape(shlex.join(words))}[/]", highlight=False, soft_wrap=True)
                _run(words)
    with exit_on_error(messages(), request):
        ending = tale.end()
    if request.as_json:
        echo_json(ending.to_dict())
    else:
        _print(results(), ending)


def _run(words: list[str]) -> None:
    # Run the words as typed: with the same parsing and the same messages.
    code = typer.main.get_command(app).main(words, prog_name="plausibly", standalone_mode=False)
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
