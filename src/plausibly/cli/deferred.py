"""Commands whose options are imported when they are called, and whose code is imported when they run."""

from __future__ import annotations

import gc
import inspect
import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import Any, get_type_hints

import typer
from typer.core import TyperCommand

_WEB = ("starlette", "uvicorn", "httptools")
"""Packages that only a collector needs, and imports with its code."""


class Deferred(TyperCommand):
    """A deferred command in the list of commands: its name and summary. ``load`` imports its options.

    The options of the command `plan` are the class `PlanOptions` of the module `options/plan`, whose docstring is the
    help page; its code is the function `plan` of the module `plan` beside this one, which takes those options.
    """

    def __init__(self, name: str, panel: str, summary: str) -> None:
        super().__init__(name, help=summary, rich_help_panel=panel)

    def load(self) -> Any:
        """Import the options of the deferred command, and return the command with them."""
        alone = typer.Typer(add_completion=False)
        alone.command(self.name, cls=_Command)(_callback(str(self.name)))
        return typer.main.get_command(alone)


class _Command(TyperCommand):
    def get_params(self, ctx: Any) -> Any:
        found = super().get_params(ctx)
        hide_types_of_flags(found)
        return found


def hide_types_of_flags(parameters: Sequence[Any]) -> None:
    """Let the help pages of commands and group show no type for flags, which take no value: typer 0.29 shows <bool>."""
    for each in parameters:
        if getattr(each, "is_flag", False):
            each.metavar = ""


def _callback(name: str) -> Any:
    options = getattr(import_module(f"{__package__}.options.{name}"), f"{name.capitalize()}Options")

    def command(**given: Any) -> None:
        run = getattr(_imported(f"{__package__}.{name}"), name)
        run(options(**given))

    # Typer reads the options from the signature of a function.
    # A help page is as wide as the terminal, so only paragraphs break its lines.
    paragraphs = inspect.cleandoc(options.__doc__).split("\n\n")
    command.__doc__ = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(
                field,
                inspect.Parameter.KEYWORD_ONLY,
                default=getattr(options, field, inspect.Parameter.empty),
                annotation=hint,
            )
            for field, hint in get_type_hints(options, include_extras=True).items()
        ]
    )
    return command


def _imported(name: str) -> ModuleType:
    # Imported objects live until the process ends. Searching them for garbage, during the import and at exit, would
    # take a quarter of the start-up time: the group has switched that off.
    try:
        if name not in sys.modules:
            import_module(name)
            gc.freeze()
        return sys.modules[name]
    except ModuleNotFoundError as error:
        missing = str(error.name).partition(".")[0]
        if missing not in _WEB:
            raise
        typer.echo(f"A collector needs {missing}: pip install {' '.join(_WEB)}", err=True)
        raise typer.Exit(1) from None
    finally:
        gc.enable()
