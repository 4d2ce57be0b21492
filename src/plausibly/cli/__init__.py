"""The command line: each command parses its options, calls the library and prints the result.

``plausibly --version`` and ``plausibly --help`` import no command: neither NumPy nor the rest of the package.
"""

from __future__ import annotations

from typing import Annotated

import typer

from ..version import __version__
from .group import Commands

app = typer.Typer(
    cls=Commands,
    name="plausibly",
    help="Learn what is popular in a crowd without learning what any one person said.",
    no_args_is_help=True,
    add_completion=True,
    # The traceback of an unexpected error must not show local variables: they may hold users' values.
    pretty_exceptions_show_locals=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"plausibly {__version__}")
        raise typer.Exit


@app.callback()
def main(
    show_version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Learn what is popular in a crowd without learning what any one person said."""
