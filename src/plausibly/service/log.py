"""The collector's log: sentences of its own, without times, and nothing that a sender has sent.

No other module logs. Messages of libraries appear without the details of their exceptions.
"""

from __future__ import annotations

import json
import logging
import sys
import threading

from ..core.errors import PlausiblyError

_logger = logging.getLogger("plausibly.service")


def note(sentence: str) -> None:
    """Add a sentence to the log."""
    _logger.info("%s", sentence)


def fault(error: BaseException, consequence: str = "") -> None:
    """Add an error to the log: its message if it is one of ours or of a file, otherwise only its type."""
    told = str(error) if isinstance(error, PlausiblyError | OSError) else type(error).__name__
    _logger.error("%s", f"{consequence}: {told}" if consequence else told)


def log_to_stderr(*, lines: bool) -> None:
    """Write the log to standard error: for people, or as a line of JSON for each message."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines() if lines else _Words())
    # The warnings of uvicorn are about single requests: anyone could fill the disk with them.
    loggers = (("plausibly.service", logging.INFO), ("uvicorn.error", logging.ERROR), ("asyncio", logging.WARNING))
    for name, level in loggers:
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)
    threading.excepthook = _thread_ended


def _thread_ended(hook: threading.ExceptHookArgs) -> None:
    if hook.exc_value is not None:
        fault(hook.exc_value, "a thread ended")


class _Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        # The further lines of asyncio describe its objects, and a socket is described by the sender's address.
        said = {"level": record.levelname.lower(), "message": record.getMessage().strip().partition("\n")[0]}
        if record.exc_info and record.exc_info[0] is not None:
            said["exception"] = record.exc_info[0].__name__
        return json.dumps(said, ensure_ascii=False)


class _Words(_Lines):
    def format(self, record: logging.LogRecord) -> str:
        said = json.loads(super().format(record))
        level = said.pop("level")
        return ": ".join([*([] if level == "info" else [level]), *said.values()])
