"""The options of ``plausibly demo`` and its help page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from .common import Names


@dataclass(frozen=True, kw_only=True)
class DemoOptions:
    """Watch a histogram emerge from noise: plan, privatize, collect, estimate and search on made-up visits.

    The demo runs the other commands just as you would type them, in about half a minute, and leaves their files in a
    folder. At the end it does what no server can do: it looks up the truth.

    Example: plausibly demo
    """

    out: Annotated[
        Path, typer.Option("--out", "-o", help="The folder to write to; created if it does not exist."), Names.OUTPUT
    ] = Path("plausibly-demo")
    users: Annotated[int, typer.Option(help="Number of made-up users.")] = 1_000_000
    seed: Annotated[int | None, typer.Option(help="Seed for reproducible noise. Default: fresh noise.")] = None
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines; the story goes to stderr.")] = False
