"""How commands run: loaded when called, ended by a message if a stream fails, cleaned up after a termination."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from typing import Any

import typer
from typer.core import TyperGroup

from .deferred import Deferred
from .summaries import SUMMARIES


class Commands(TyperGroup):
    """All commands of the program, none of them imported before it is called."""

    def __init__(self, **options: Any) -> None:
        listed = {
            name: Deferred(name, panel, summary)
            for panel, summaries in SUMMARIES.items()
            for name, summary in summaries.items()
        }
        super().__init__(**options | {"commands": listed})

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The name, the loaded command and its arguments."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command.load() if isinstance(command, Deferred) else command, rest

    def main(self, *given: Any, **options: Any) -> Any:
        """Run a command. Escape characters that a stream cannot encode; end with a message if it cannot be written."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        before = _end_cleanly() if threading.current_thread() is threading.main_thread() else None
        try:
            return super().main(*given, **options)
        except OSError as error:  # of commands' own files it was told before
            if not options.get("standalone_mode", True):
                raise
            if sys.stderr is not None:
                typer.echo(f"standard output: {error.strerror or 'cannot be written to'}", err=True)
            sys.exit(1)
        finally:
            if before is not None:
                signal.signal(signal.SIGTERM, before)


def _end_cleanly() -> Any:
    # When terminated, what is half written is removed and what is collected is kept, as after an interrupt. Processes
    # that were forked to measure just end.
    owner, code = os.getpid(), 128 + signal.SIGTERM
    return signal.signal(signal.SIGTERM, lambda *_: sys.exit(code) if os.getpid() == owner else os._exit(code))
