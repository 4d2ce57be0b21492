"""The group of all commands: loads a command when it is called, and ends it cleanly on signals and stream errors."""

from __future__ import annotations

import gc
import io
import os
import signal
import sys
import threading
from typing import Any

import typer
from typer.core import TyperGroup

from .deferred import Deferred, hide_types_of_flags
from .summaries import SUMMARIES


class Commands(TyperGroup):
    """The group of all commands of the program. A command is imported only when it is called."""

    def __init__(self, **options: Any) -> None:
        listed = {
            name: Deferred(name, panel, summary)
            for panel, summaries in SUMMARIES.items()
            for name, summary in summaries.items()
        }
        super().__init__(**options | {"commands": listed})

    def get_params(self, ctx: Any) -> Any:
        """The options of the group itself, where a flag that is not given is False."""
        found = super().get_params(ctx)
        for parameter in found:
            # Flags that typer adds itself, such as --help, default to None. To turn None into a truth value, it would
            # load pydantic for every command.
            if parameter.default is None and getattr(parameter, "is_flag", False):
                parameter.default = False
        hide_types_of_flags(found)
        return found

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The name, the loaded command of the group, and its arguments."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command.load() if isinstance(command, Deferred) else command, rest

    def main(self, *given: Any, **options: Any) -> Any:
        """Run a command of the group. Escape characters that a stream cannot encode; exit if writing fails."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        # Reading the words and drawing a help page make no garbage worth a search; a command switches it on again.
        collecting = gc.isenabled()
        gc.disable()
        before = _end_cleanly() if threading.current_thread() is threading.main_thread() else None
        try:
            return super().main(*given, **options)
        except OSError as error:  # errors of the commands' own files are handled before
            if not options.get("standalone_mode", True):
                raise
            if sys.stderr is not None:
                typer.echo(f"standard output: {error.strerror or 'cannot be written to'}", err=True)
            sys.exit(1)
        finally:
            if collecting:
                gc.enable()
            if before is not None:
                signal.signal(signal.SIGTERM, before)


def _end_cleanly() -> Any:
    # On termination, unfinished files are removed and collected reports are kept, as after an interrupt. Forked worker
    # processes just end.
    owner, code = os.getpid(), 128 + signal.SIGTERM
    return signal.signal(signal.SIGTERM, lambda *_: sys.exit(code) if os.getpid() == owner else os._exit(code))
