"""Commands that are imported only when they are called."""

from __future__ import annotations

import gc
import sys
from importlib import import_module
from types import ModuleType
from typing import Any

import typer
from typer.core import TyperCommand


class Deferred(TyperCommand):
    """A deferred command in the list of commands: its name and summary. ``load`` imports the command itself.

    The command `name` is the function `name` of the module `name` beside this one.
    """

    def __init__(self, name: str, panel: str, summary: str) -> None:
        super().__init__(name, help=summary, rich_help_panel=panel)

    def load(self) -> Any:
        """Import the module of the deferred command, and return the command with its options."""
        alone = typer.Typer(add_completion=False)
        alone.command(self.name)(getattr(_imported(f"{__package__}.{self.name}"), str(self.name)))
        return typer.main.get_command(alone)


def _imported(name: str) -> ModuleType:
    # Imported objects live until the process ends. Searching them for garbage, during the import and at exit, would
    # take a quarter of the start-up time.
    if name in sys.modules:
        return sys.modules[name]
    active = gc.isenabled()
    gc.disable()
    try:
        return import_module(name)
    finally:
        gc.freeze()
        if active:
            gc.enable()
