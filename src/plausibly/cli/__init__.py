"""The command line: each command parses, calls and prints; what it computes lives elsewhere."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer

from . import audit as audit_command
from . import collect as collect_command
from . import compare as compare_command
from . import demo as demo_command
from . import doctor as doctor_command
from . import estimate as estimate_command
from . import merge as merge_command
from . import plan as plan_command
from . import privatize as privatize_command
from . import reproduce as reproduce_command
from . import sample as sample_command
from . import search as search_command
from . import show as show_command
from . import simulate as simulate_command
from .group import Commands

app = typer.Typer(
    cls=Commands,
    name="plausibly",
    help="Learn what is common in a crowd without learning anything about a person.",
    no_args_is_help=True,
    add_completion=True,
    # After an error of our own the report of it must not show variables: users' values are among them.
    pretty_exceptions_show_locals=False,
)
app.command(rich_help_panel="Start here")(demo_command.demo)
app.command(rich_help_panel="Start here")(sample_command.sample)
app.command(rich_help_panel="Prepare a collection")(plan_command.plan)
app.command(rich_help_panel="Prepare a collection")(show_command.show)
app.command(rich_help_panel="Prepare a collection")(audit_command.audit)
app.command(rich_help_panel="Prepare a collection")(simulate_command.simulate)
app.command(rich_help_panel="Collect")(privatize_command.privatize)
app.command(rich_help_panel="Collect")(collect_command.collect)
app.command(rich_help_panel="Collect")(merge_command.merge)
app.command(rich_help_panel="Learn")(estimate_command.estimate)
app.command(rich_help_panel="Learn")(search_command.search)
app.command(rich_help_panel="Research")(compare_command.compare)
app.command(rich_help_panel="Research")(reproduce_command.reproduce)
app.command(rich_help_panel="This installation")(doctor_command.doctor)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"plausibly {version('plausibly')}")
        raise typer.Exit


@app.callback()
def main(
    show_version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Learn what is common in a crowd without learning anything about a person."""
