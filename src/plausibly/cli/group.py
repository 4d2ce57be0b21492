"""How commands run: what a stream cannot say or take ends in words, and a termination cleans up."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from typing import Any

import typer
from typer.core import TyperGroup


class Commands(TyperGroup):
    """All commands of the program."""

    def main(self, *given: Any, **options: Any) -> Any:
        """Runs a command. What a stream cannot say, or cannot take, ends in words."""
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
