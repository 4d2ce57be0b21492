"""The Java process of a Spark on this machine, without the notices that it prints."""

from __future__ import annotations

import os
import re
import sys
import threading
from typing import Any

_NOTICE = re.compile(
    r"WARNING: Using incubator modules"
    r"|Using Spark's default log4j profile"
    r"|Setting (default|Spark) log level to"
    r"|To adjust logging level use"
    r"|\S+ \S+ (WARN|INFO) "
)
"""The beginning of a line that is not about an error."""


def start_java(settings: Any) -> Any:
    """The gateway to a new Java process, whose errors are printed here and whose notices are not."""
    from pyspark.java_gateway import launch_gateway

    launch: Any = launch_gateway  # it has no types
    reader, writer = os.pipe()
    # A thread, because Java prints as long as it runs; it ends when all processes have closed the pipe.
    threading.Thread(target=pass_on, args=(reader,), daemon=True).start()
    try:
        return launch(settings, popen_kwargs={"stderr": writer})
    finally:
        os.close(writer)


def pass_on(reader: int) -> None:
    """Print the lines from a pipe that are not notices to the standard error stream, until the pipe ends."""
    with open(reader, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if not _NOTICE.match(line):
                sys.stderr.write(line)
