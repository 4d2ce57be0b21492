"""The options of ``plausibly serve`` and its help page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from .common import Inbox


@dataclass(frozen=True, kw_only=True)
class ServeOptions:
    """Run a collector: devices send reports over HTTP, analysts read estimates with a token.

    A report is stored before it is acknowledged, and counted once, however often it is sent and whenever the process is
    killed. The folder has ordinary files of reports and tallies. No address, agent, cookie or time is stored or logged.
    The collector listens on this machine; for others, put a proxy with TLS and rate limits in front. SIGTERM ends it
    in order. With its inbox in PostgreSQL, several collectors can share the folder and take over from each other.

    Example: plausibly serve collector --port 8080
    """

    folder: Annotated[Path, typer.Argument(help="The folder of the collector, which is made if it does not exist.")]
    inbox: Inbox = None
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1"
    port: Annotated[int, typer.Option(help="The port to listen on; 0 chooses a free one.")] = 8080
    behind_proxy: Annotated[
        bool,
        typer.Option(
            "--behind-proxy",
            help="Accept another --host than this machine, and ask operators for a token, because a proxy is in front.",
        ),
    ] = False
    as_json: Annotated[bool, typer.Option("--json", help="Print the log as JSON for machines.")] = False
